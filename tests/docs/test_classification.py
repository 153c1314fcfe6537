"""The examples of docs/classification.md: each is read, and all of them say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.data.scored import said
from tests.docs.pages import text_of
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.schema import ALIASES
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side

PAGE = "docs/classification.md"

EXAMPLES = {
    found[1]: found[2]
    for found in re.finditer(
        r"^`([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", text_of(PAGE), re.M | re.S
    )
}
TRUTHS = ("ground_truth.csv", "ground_truth.jsonl")
PREDICTIONS = (
    "classes.csv",
    "pairs.csv",
    "long.csv",
    "objects.jsonl",
    "items.jsonl",
    "numbers.jsonl",
    "lines.jsonl",
)
BOTH = ("samples.csv", "samples.jsonl")
KEYED = ("keys.csv", "keys.jsonl")
SETS = {"sets.jsonl": "", "sets.csv": "", "cells.csv": "|"}
BARE = ("answers.jsonl",)

LABELS = {"street": ("cat", "north"), "night": ("dog", "south")}
SCORES = {"street": [("cat", 0.75), ("dog", 0.25)], "night": [("cat", 0.5), ("dog", 0.5)]}


def rows(name: str, side: Side, folder: Path, **options: Any) -> list[tuple[Any, ...]]:
    path = folder / name
    path.write_text(EXAMPLES[name], encoding="utf-8")
    return said(read_scores(str(path), side, ScoreReading(**options)))


def test_no_example_is_forgotten() -> None:
    assert sorted(EXAMPLES) == sorted([*TRUTHS, *PREDICTIONS, *BOTH, *KEYED, *SETS, *BARE])


@pytest.mark.parametrize("name", TRUTHS)
def test_ground_truth(name: str, tmp_path: Path) -> None:
    found = rows(name, "ground_truth", tmp_path, metadata=["camera"])
    assert {one[0]: (one[2], one[4]) for one in found} == LABELS


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions(name: str, tmp_path: Path) -> None:
    classes = ["cat", "dog"] if name == "numbers.jsonl" else []
    found = rows(name, "predictions", tmp_path, classes=classes)
    assert {one[0]: one[3] for one in found} == SCORES


@pytest.mark.parametrize("name", BOTH)
def test_samples(name: str, tmp_path: Path) -> None:
    found = rows(name, "samples", tmp_path, metadata=["camera"])
    assert {one[0]: (one[2], one[4]) for one in found} == LABELS
    assert {one[0]: one[3] for one in found} == SCORES


@pytest.mark.parametrize("name", KEYED)
def test_label_keys(name: str, tmp_path: Path) -> None:
    assert rows(name, "samples", tmp_path) == [
        ("street", "animal", "cat", [("cat", 0.75), ("dog", 0.25)]),
        ("street", "colour", "grey", [("black", 1)]),
    ]


@pytest.mark.parametrize("name", SETS)
def test_sets_of_labels(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(EXAMPLES[name], encoding="utf-8")
    reading = ScoreReading(several=True, separator=SETS[name])
    found = read_scores(str(path), "ground_truth", reading)
    assert found.truths is not None
    assert found.truths.start.tolist() == [0, 2, 2]
    assert [found.labels[code] for code in found.truths.label.tolist()] == ["cat", "dog"]


def test_bare_labels(tmp_path: Path) -> None:
    found = rows(BARE[0], "predictions", tmp_path, several=True)
    assert {one[0]: one[3] for one in found} == {"street": [("cat", 1)], "night": [("dog", 1)]}


def test_all_names_are_on_the_page() -> None:
    listed = re.findall(r"^\| `(\w+)`[^|]*\| (.*) \|$", text_of(PAGE), re.M)
    assert {name: tuple(re.findall(r"`(\w+)`", others)) for name, others in listed} == dict(ALIASES)
