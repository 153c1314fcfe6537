"""Models that are not on this machine, or cannot be used: told in time, and how to mend it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Valor, refused
from tests.cli.test_model_runs import by_metric, configured, results

FETCH = "the model bge/small is not on this machine; fetch it: hf download bge/small"
ABSENT = {"backend": "onnx", "model": "bge/small"}


def out(folder: Path, name: str) -> str:
    return (folder / "out" / name).read_text("utf-8")


def hidden(folder: Path, *packages: str) -> str:
    """What PYTHONPATH has to be for packages to look as if they were not installed."""
    (folder / "hidden").mkdir(exist_ok=True)
    for name in packages:
        (folder / "hidden" / f"{name}.py").write_text(
            f"raise ModuleNotFoundError('hidden', name={name!r})", encoding="utf-8"
        )
    return f"{folder / 'hidden'}:{ROOT}"


def test_a_missing_model_is_told_wherever_people_look(valor: Valor, tmp_path: Path) -> None:
    report = {"out": "out", "formats": ["json", "markdown", "html"]}
    metrics = ["semantic_similarity", "rouge_l"]
    config = configured(tmp_path, embedder=ABSENT, metrics=metrics, report=report)
    ran = valor("evaluate", config)
    assert ran.returncode == 3
    verdict = "the model of semantic_similarity is not on this machine"
    for text in (ran.stdout, out(tmp_path, "report.md"), out(tmp_path, "report.html")):
        assert verdict in " ".join(text.split())
        assert FETCH in " ".join(text.split())
    result = results(tmp_path)
    assert result["warnings"][0].startswith(FETCH)
    rows = by_metric(result)
    assert rows["rouge_l"]["value"] is not None
    assert rows["semantic_similarity"]["value"] is None
    # It is named all the same; which bytes it would have been nobody knows.
    assert rows["semantic_similarity"]["parameters"]["model"] == "bge/small"
    assert "model_sha256" not in rows["semantic_similarity"]["parameters"]


def test_gates_and_a_baseline_hide_no_missing_model(valor: Valor, tmp_path: Path) -> None:
    metrics = ["semantic_similarity", "exact_match"]
    assert valor("evaluate", configured(tmp_path, metrics=metrics)).returncode == 0
    (tmp_path / "out").rename(tmp_path / "before")
    gates = [{"metric": name, "max_drop": 0.1} for name in metrics]
    config = configured(
        tmp_path, metrics=metrics, embedder=ABSENT, gates=[*gates, {"coverage": 0.5}]
    )
    ran = valor("evaluate", config, "--baseline", tmp_path / "before")
    assert ran.returncode == 3, ran.stderr
    told = " ".join(ran.stdout.split())
    assert "the model of semantic_similarity is not on this machine; coverage too low" in told
    assert FETCH in told
    held = {(one["metric"], one["rule"]): one for one in results(tmp_path)["gates"]}
    assert held["semantic_similarity", "max_drop"]["status"] == "not checked"
    assert held["exact_match", "max_drop"]["status"] == "passed"


def test_who_was_asked_in_one_run_alone_does_not_part_them(valor: Valor, tmp_path: Path) -> None:
    both = ["semantic_similarity", "exact_match"]
    assert valor("evaluate", configured(tmp_path, metrics=both)).returncode == 0
    (tmp_path / "out").rename(tmp_path / "before")
    gates = [{"metric": "exact_match", "max_drop": 0.1}]
    config = configured(tmp_path, metrics=["exact_match"], gates=gates)
    ran = valor("evaluate", config, "--baseline", tmp_path / "before")
    assert ran.returncode == 0, ran.stderr


def test_a_gate_names_the_model_whose_value_it_holds(valor: Valor, tmp_path: Path) -> None:
    gate = {"metric": "semantic_similarity", "min": -1}
    for model, code in (("minilm-int8", 0), ("./minilm-int8", 0), ("other", 2)):
        gates = [{**gate, "parameters": {"model": model}}]
        ran = valor("evaluate", configured(tmp_path, gates=gates))
        assert ran.returncode == code, ran.stderr
    assert "no value of semantic_similarity is computed so" in ran.stderr
    assert '"model": "minilm-int8"' in ran.stderr
    # One that is not there has no value; the gate says so, and the run ends as it should.
    gates = [{**gate, "parameters": {"model": "bge/small"}}]
    ran = valor("evaluate", configured(tmp_path, gates=gates, embedder=ABSENT))
    assert ran.returncode == 3, ran.stderr


def test_validate_tells_of_a_model_that_is_not_there(valor: Valor, tmp_path: Path) -> None:
    ran = valor("validate", configured(tmp_path, embedder=ABSENT), cwd=Path("/"))
    assert ran.returncode == 0
    assert FETCH in ran.stderr
    assert ran.stdout.endswith("run.yaml: ok\n")


@pytest.mark.parametrize(
    ("command", "package"), [("validate", "onnxruntime"), ("evaluate", "tokenizers")]
)
def test_what_is_not_installed_is_told(
    valor: Valor, tmp_path: Path, command: str, package: str
) -> None:
    ran = valor(command, configured(tmp_path), PYTHONPATH=hidden(tmp_path, package))
    assert ran.returncode == 2
    assert "pip install 'valor-cli[embed]'" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("own", "made", "told"),
    [
        ({"model": "model"}, {}, "has no model.onnx"),
        ({"model": "model"}, {"model.onnx": "no graph"}, "has no tokenizer.json"),
        (
            {"model": "model"},
            {"model.onnx": "no graph", "tokenizer.json": "{"},
            "is not a readable tokenizer",
        ),
        ({"backend": "precomputed", "vectors": "none.jsonl"}, {}, "none.jsonl: cannot be read"),
        # Names that no file can have are no accident.
        ({"model": "m" * 300}, {}, ""),
        ({"model": "loop"}, {}, ""),
        ({"model": "nul\0"}, {}, ""),
    ],
)
def test_what_opens_in_a_moment_is_opened_by_validate_too(
    valor: Valor, tmp_path: Path, own: dict[str, str], made: dict[str, str], told: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "model").mkdir()
    for name, content in made.items():
        (tmp_path / "model" / name).write_text(content)
    for command in ("validate", "evaluate"):
        ran = valor(command, configured(tmp_path, embedder=own), cwd=Path("/"))
        refused(ran, told, folder=tmp_path)
        assert "report it" not in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_must_not_be_looked_into(valor: Valor, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        for own in ({"model": "closed"}, {"backend": "static", "model": "closed"}):
            ran = valor("evaluate", configured(tmp_path, embedder=own))
            assert ran.returncode == 2
            assert "closed: cannot be read: Permission denied" in ran.stderr
    finally:
        closed.chmod(0o700)


@pytest.mark.models
def test_folders_of_models_are_looked_at_before_anything_is_embedded(
    valor: Valor, tmp_path: Path
) -> None:
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"")
    metrics = ["semantic_similarity", {"toxicity_detoxify": {"model": "pickled"}}]
    cache = tmp_path / "cache"
    for command in ("validate", "evaluate"):
        ran = valor(command, configured(tmp_path, metrics=metrics), VALOR_CACHE_DIR=str(cache))
        assert ran.returncode == 2
        assert "valor reads safetensors, never pickles" in ran.stderr
    told = json.loads(valor("cache", "info", "--format", "json", VALOR_CACHE_DIR=str(cache)).stdout)
    assert told["vectors"]["vectors"] == 0


@pytest.mark.models
def test_every_missing_model_is_told_with_what_fetches_it(valor: Valor, tmp_path: Path) -> None:
    metrics = [
        "toxicity_detoxify",
        {"semantic_similarity": {"method": "cross_encoder"}},
        {"bertscore": {"model": "roberta-large"}},
        "perplexity",
        "exact_match",
    ]
    config = configured(tmp_path, metrics=metrics, language_model={"model": "gpt/none"})
    home = {"HF_HOME": str(tmp_path / "hub")}
    wanted = ["unitary/toxic-bert", "cross-encoder/stsb-roberta-base", "roberta-large", "gpt/none"]
    ran = valor("validate", config, **home)
    assert ran.returncode == 0
    for model in wanted:
        assert f"hf download {model}\n" in ran.stderr
    assert valor("evaluate", config, **home).returncode == 3
    result = results(tmp_path)
    for model in wanted:
        assert any(one.endswith(f"hf download {model}") for one in result["warnings"])
    assert by_metric(result)["exact_match"]["value"] is not None
    assert by_metric(result)["bertscore"]["parameters"]["model"] == "roberta-large"


def test_offline_forbids_embedders_of_others_alone(valor: Valor, tmp_path: Path) -> None:
    far = {"backend": "litellm", "model": "openai/text-embedding-3-small"}
    ran = valor("evaluate", configured(tmp_path, embedder=far), "--offline")
    assert ran.returncode == 2
    assert "--offline forbids that" in ran.stderr
    assert "leave `embedder:` out" in ran.stderr
    assert valor("evaluate", configured(tmp_path), "--offline").returncode == 0


def test_a_silent_embedder_is_no_judge(valor: Valor, tmp_path: Path) -> None:
    near = {
        "backend": "litellm",
        "model": "openai/x",
        "api_base": "http://127.0.0.1:9/v1",
        "max_retries": 0,
    }
    config = configured(tmp_path, embedder=near, metrics=["semantic_similarity"])
    ran = valor("evaluate", config, VALOR_CACHE_DIR=str(tmp_path / "cache"))
    assert ran.returncode == 3, ran.stderr
    assert "the embedder did not always reply: run again" in ran.stdout


def test_a_cache_that_cannot_be_made_says_how_to_do_without(valor: Valor, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    here = {"VALOR_CACHE_DIR": str(tmp_path / "file")}
    ran = valor("evaluate", configured(tmp_path), **here)
    assert ran.returncode == 2
    assert "set `cache: false` under `embedder:`" in ran.stderr
    ran = valor("evaluate", configured(tmp_path), "--set", "embedder.cache=false", **here)
    assert ran.returncode == 0
