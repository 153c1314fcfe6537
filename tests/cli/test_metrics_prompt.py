"""`valor metrics NAME --prompt`: what judges are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cli.conftest import Valor
from valor_cli.cli.prompt_text import as_json, as_text, prompts_of
from valor_cli.errors import ConfigError
from valor_cli.evaluators.overlap.metrics.exact_match import EXACT_MATCH
from valor_cli.models.judge.prompts import Prompts

JUDGED = replace(EXACT_MATCH, prompts=("opinions", "bias"))


def test_prompts_are_shown_as_a_judge_sees_them() -> None:
    opinions, bias = shown = prompts_of("bias", [JUDGED, JUDGED])
    text = as_text(shown)
    assert [opinions.name, bias.name] == ["opinions", "bias"]
    assert text.startswith(f"opinions, version 1, sha256 {opinions.sha256}\n\n--- system ---\nYou ")
    assert text.count("--- user ---\n") == 2
    for prompt in shown:
        assert prompt.system in text
        assert prompt.user in text
    assert "{response}" in text
    assert "<<<NAME …>>>" in text


def test_prompts_as_json() -> None:
    listed = json.loads(as_json(prompts_of("bias", [JUDGED])))
    assert [one["name"] for one in listed] == ["opinions", "bias"]
    assert listed[0]["sha256"] == Prompts().of("opinions").sha256
    assert listed[0]["fields"] == ["response"]
    assert [one["role"] for one in listed[0]["messages"]] == ["system", "user"]


def test_a_name_is_needed() -> None:
    with pytest.raises(ConfigError, match="--prompt: which metric's"):
        prompts_of(None, [JUDGED])


def test_a_metric_that_asks_nobody(valor: Valor) -> None:
    done = valor("metrics", "exact_match", "--prompt")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "metric exact_match: has no prompts of its own" in done.stderr


def test_the_program_shows_them(valor: Valor) -> None:
    done = valor("metrics", "faithfulness", "--prompt")
    assert done.returncode == 0, done.stderr
    assert [
        line.split(",")[0] for line in done.stdout.splitlines() if ", version 1, sha256 " in line
    ] == ["statements", "faithfulness"]


def test_the_file_of_a_prompt_can_stand_under_prompts(valor: Valor, tmp_path: Path) -> None:
    done = valor("metrics", "faithfulness", "--prompt", "--format", "yaml")
    assert done.returncode == 0, done.stderr
    assert "# Sent before it: statements" in done.stdout
    path = tmp_path / "own.yaml"
    path.write_text(done.stdout)
    prompts = Prompts({"faithfulness": str(path)})
    own, shipped = prompts.of("faithfulness"), Prompts().of("faithfulness")
    assert (own.own, own.user, own.system) == (True, shipped.user, shipped.system)


def test_a_prompt_that_metrics_share_goes_by_its_own_name(valor: Valor) -> None:
    done = valor("metrics", "statements", "--prompt")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("statements, version 1")
    assert valor("metrics", "statements").returncode == 2


def test_yaml_is_for_prompts(valor: Valor) -> None:
    done = valor("metrics", "faithfulness", "--format", "yaml")
    assert done.returncode == 2
    assert "--format yaml: is for --prompt" in done.stderr
