"""One entry of the catalogue in full, as text, JSON and a line of a config; its prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from tests.cli.conftest import Valor
from valor_cli import catalogue
from valor_cli.cli import prompt_text
from valor_cli.cli.catalogue_text import as_json, explained, in_config, needed_by
from valor_cli.cli.prompt_text import prompts_of
from valor_cli.errors import ConfigError
from valor_cli.evaluators.overlap.metrics.squad import EXACT_MATCH
from valor_cli.metric import ByParameters, Metric
from valor_cli.models.judge.prompts import Prompts
from valor_cli.results import MetricValue

TASK = catalogue.task("object_detection")


def hits(
    evidence: object,
    *,
    model: str | None = None,
    weights: tuple[float, ...] = (0.25,) * 20,
    kinds: tuple[str, ...] = (),
    word: str = "true",
    least: float = 0.5,
    most: int = 3,
) -> MetricValue:
    """Hits of all tries.

    A try that is not counted is none.

    Formula:
        hits / tries
          tries: all of them

    Pitfalls:
        Few tries say little, and what is said here is long enough to be more than one line of
        text that a terminal shows.

    Example:
        1 hit in 4: 1 / 4 = 0.25.
    """
    return MetricValue(0.25)


def plain(evidence: object) -> MetricValue:
    """One number."""
    return MetricValue(1.0)


HITS = Metric(name="hits", compute=hits, reference="none")
PLAIN = Metric(
    name="plain",
    compute=plain,
    reference="none",
    by_parameters=ByParameters(needs=lambda parameters: ("ground_truth",)),
)


def test_an_entry_has_the_sections_of_the_docstring_among_its_parts() -> None:
    parts = explained([TASK], HITS).split("\n\n")
    assert parts[:4] == [
        "hits (object_detection)",
        "Hits of all tries.",
        "A try that is not counted is none.",
        "Formula:\n  hits / tries\n    tries: all of them",
    ]
    assert [part.split(maxsplit=1)[0] for part in parts[4:]] == [
        *("Outputs", "Parameters:", "Pitfalls:", "Example:", "In", "Needs:"),
    ]
    assert parts[6] == (
        "Pitfalls: Few tries say little, and what is said here is long enough to be more than one "
        "line of\ntext that a terminal shows."
    )
    assert parts[7] == "Example: 1 hit in 4: 1 / 4 = 0.25."


@pytest.mark.parametrize("heading", ["Formula", "Pitfalls", "Example", "None"])
def test_what_the_docstring_does_not_say_has_no_heading(heading: str) -> None:
    assert heading not in explained([TASK], PLAIN)


def entry(metric: Metric) -> Mapping[str, Any]:
    (found,) = json.loads(as_json([(TASK, metric)]))
    return found


def test_json_has_the_same() -> None:
    said = entry(HITS)
    assert said["explanation"] == ["A try that is not counted is none."]
    assert said["formula"] == "hits / tries\n  tries: all of them"
    assert said["pitfalls"].startswith("Few tries say little")
    assert said["example"] == "1 hit in 4: 1 / 4 = 0.25."
    assert said["config"] == in_config(HITS)
    silent = entry(PLAIN)
    assert (silent["explanation"], silent["formula"], silent["config"]) == (
        [],
        "",
        "metrics: [plain]",
    )


def test_the_line_for_a_config_has_the_first_defaults_that_say_something() -> None:
    # Null, long, empty: passed over. Of the rest, two; a word that YAML would misread is quoted.
    assert in_config(HITS) == "metrics: [{hits: {word: 'true', least: 0.5}}]"
    assert yaml.safe_load(in_config(HITS)) == {
        "metrics": [{"hits": {"word": "true", "least": 0.5}}]
    }


def test_what_parameters_name_is_needed_too() -> None:
    assert needed_by(HITS) == ["ground_truth", "predictions"]
    assert needed_by(PLAIN) == ["ground_truth", "predictions", "depends on its parameters"]


JUDGED = replace(EXACT_MATCH, prompts=("opinions", "bias"))


def test_prompts_are_shown_as_a_judge_sees_them() -> None:
    opinions, bias = shown = prompts_of("bias", [JUDGED, JUDGED])
    text = prompt_text.as_text(shown)
    assert [opinions.name, bias.name] == ["opinions", "bias"]
    assert text.startswith(f"opinions, version 1, sha256 {opinions.sha256}\n\n--- system ---\nYou ")
    assert text.count("--- user ---\n") == 2
    for prompt in shown:
        assert prompt.system in text
        assert prompt.user in text
    assert "{response}" in text
    assert "<<<NAME …>>>" in text


def test_prompts_as_json() -> None:
    listed = json.loads(prompt_text.as_json(prompts_of("bias", [JUDGED])))
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
