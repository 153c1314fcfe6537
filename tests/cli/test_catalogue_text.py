"""One entry of the catalogue in full: as text, as JSON, and as a line of a config."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from valor_cli import catalogue
from valor_cli.cli.catalogue_text import as_json, explained, in_config, needed_by
from valor_cli.metric import ByParameters, Metric
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
