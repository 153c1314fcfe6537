"""Judges that workers are to ask: by which engine, and without keys of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli import catalogue
from valor_cli.config import RunConfig, load_config
from valor_cli.errors import ConfigError
from valor_cli.pipeline.distributed_judges import check_engine
from valor_cli.pipeline.workers import Engine

HEAD = "task: text_generation\ndata: {samples: a.jsonl}\nmetrics: [faithfulness]\n"
NEAR = "judge: {model: openai/x}\n"
ONE = "judge: {model: openai/x, distribute: true}\n"
TWO = """judges:
  - {name: a, model: openai/x, distribute: true, api_base: "http://me:geheim@127.0.0.1:9/v1"}
  - {name: b, model: openai/x}
  - name: c
    model: openai/x
    distribute: true
    parameters: {extra_headers: [{X-Api-Key: geheim}], prompt_cache_key: mine, user: me}
"""


def _refused(folder: Path, judges: str, engine: Engine) -> list[str]:
    """The problems told, less the file's name."""
    with pytest.raises(ConfigError) as caught:
        check_engine(_config(folder, judges), engine)
    assert "geheim" not in str(caught.value)
    return [str(one).removeprefix(f"{folder}/run.yaml:") for one in caught.value.problems]


def _config(folder: Path, judges: str) -> RunConfig:
    (folder / "run.yaml").write_text(HEAD + judges)
    return load_config(folder / "run.yaml", catalogue, ())


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_judges_that_are_asked_from_here(tmp_path: Path, engine: Engine) -> None:
    check_engine(_config(tmp_path, NEAR), engine)


def test_only_a_cluster_has_workers(tmp_path: Path) -> None:
    told = "only `--engine dask` has workers that could ask"
    check_engine(_config(tmp_path, ONE), "dask")
    assert _refused(tmp_path, ONE, "local") == [f"4:38: judge.distribute: {told}"]
    assert _refused(tmp_path, TWO, "local") == [
        f"5:44: judges.0.distribute: {told}",
        f"9:17: judges.2.distribute: {told}",
    ]


def test_keys_are_not_sent(tmp_path: Path) -> None:
    assert _refused(tmp_path, TWO, "dask") == [
        "5:60: judges.0.api_base: has a name or password, and would be sent",
        "10:46: judges.2.parameters.extra_headers.0.X-Api-Key: looks like a key, and would be sent",
    ]
