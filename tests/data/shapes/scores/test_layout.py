"""What the columns of a table mean, and rows brought together by sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.scored import read, said
from valor_cli.data.inputs.scores import open_score_rows
from valor_cli.data.shapes.scores.layout import ScoreLayout, layout_of
from valor_cli.data.shapes.scores.schema import ALIASES
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side

pytestmark = pytest.mark.usefixtures("in_a_folder")


def layout(line: str, side: Side, first: str = "a,b,c", **options: object) -> ScoreLayout:
    path = Path("a.csv")
    path.write_text(f"{line}\n{first}\n")
    reading = ScoreReading(**options)  # type: ignore[arg-type]
    return layout_of(open_score_rows("a.csv", reading, "csv"), side, reading)


@pytest.mark.parametrize("standard", ["sample_id", "label", "prediction", "score", "label_key"])
def test_every_name_of_a_column(standard: str) -> None:
    names = ["sample_id", "label", "prediction", "score", "label_key"]
    at = names.index(standard)
    for name in (standard, *ALIASES[standard]):
        line = ",".join([*names[:at], name.upper(), *names[at + 1 :]])
        found = layout(line, "samples")
        own = line.split(",")
        assert [found.name(one) for one in ("sample_id", "label", "label_key")] == [
            own[0],
            own[1],
            own[4],
        ]
        assert (found.pairs, found.classes) == ((((own[2],), (own[3],)),), ())


def test_the_standard_name_goes_first() -> None:
    found = layout("name,id,sample_id,class,label", "ground_truth")
    assert (found.name("sample_id"), found.name("label")) == ("sample_id", "label")


def test_what_is_asked_for_as_metadata_has_no_other_meaning() -> None:
    found = layout("id,label,task", "ground_truth", metadata=["task"])
    assert (found.name("label_key"), found.metadata) == ("", ["task"])
    assert layout("id,label,task", "ground_truth").name("label_key") == "task"


def test_predictions_have_no_metadata() -> None:
    found = layout("id,site,cat,dog", "predictions", metadata=["site", "camera"])
    assert (found.metadata, found.classes) == ([], ("cat", "dog"))


def test_named_classes_go_before_a_prediction() -> None:
    line = "id,prediction,cat,dog"
    alone = ((("prediction",), ()),)
    assert layout(line, "predictions").pairs == alone
    assert layout(line, "predictions", classes=["dog", "cat"]).classes == ("dog", "cat")
    # Names of labels give an order to files of any form.
    assert layout("id,prediction", "predictions", classes=["dog", "cat"]).pairs == alone


def test_columns_that_are_numbered_like_pairs_may_be_classes() -> None:
    assert layout("id,class_0,class_1", "predictions").classes == ("class_0", "class_1")


Row = tuple[str, str, str, str]


def random_rows(seed: int) -> list[Row]:
    """Id, label key, true label and prediction of each row: few of each, so that they repeat."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 25))
    samples, labels = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    rows = []
    for _ in range(int(rng.integers(1, 30))):
        sample, key = int(rng.integers(samples)), int(rng.integers(2))
        # Mostly one true label for each sample, sometimes none or another.
        truth = (["", f"t{rng.integers(2)}"] + [f"t{(sample + key) % 2}"] * 4)[rng.integers(6)]
        predicted = "" if rng.random() < 0.2 else f"p{rng.integers(labels)}"
        rows.append((str(sample) * width, f"k{key}", truth, predicted))
    return rows


def brought_together(rows: list[Row]) -> tuple[list[tuple[Any, ...]], int]:
    """Each sample and label key with its true label and what it lists, and how many rows are left.

    Of the rows of one, those that contradict the first true label said are left out, then those
    that list a label again; where no true label is left, all of them.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row[:2], []).append(row)
    found, used = [], 0
    for (sample, key), group in groups.items():
        truth = next((row[2] for row in group if row[2]), None)
        listed: list[str] = []
        kept = []
        for row in group:
            if row[2] in ("", truth) and row[3] not in listed:
                listed += [row[3]] if row[3] else []
                kept.append(row)
        if any(row[2] for row in kept):
            used += len(kept)
            found.append((sample, key, truth, [(name, 1.0) for name in listed]))
    return found, len(rows) - used


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("ordered", [False, True])
def test_rows_are_brought_together(seed: int, ordered: bool) -> None:
    rows = random_rows(seed)
    if ordered:
        # Rows of a sample stand together, which needs no sorting.
        rows.sort(key=lambda row: row[:2])
    expected, left = brought_together(rows)
    text = "id,key,label,prediction\n" + "".join(",".join(row) + "\n" for row in rows)
    if not expected:
        return
    found = read(text, "samples", invalid="skip")
    assert said(found) == expected
    assert (found.files[0].rows, found.files[0].skipped) == (len(rows), left)


def test_some_seeds_have_faults_and_some_have_none() -> None:
    left = [brought_together(random_rows(seed))[1] for seed in range(60)]
    assert 0 in left
    assert max(left) > 5
