"""Rows of predictions and the rows of ground truth that they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.files import listed, rows_of, score_file
from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.table import Table
from valor_cli.errors import DataError
from valor_cli.evaluators.classification.load.joining import join, join_predictions, reordered
from valor_cli.evaluators.classification.load.rows import make_frame

HINT = (
    "Sample ids of the ground truth look like {}. Check that both files belong together. Fix "
    "these rows, or set `on_invalid: skip` under `data:` to leave them out."
)


def truth_of(ids: list[str], keys: list[str] | None = None) -> ScoreFile:
    return score_file("gt.csv", ids, truth=["x"] * len(ids), keys=keys)


def found_of(ids: list[str], keys: list[str] | None = None) -> ScoreFile:
    return score_file("dt.csv", ids, scores=[{"x": 1.0}] * len(ids), keys=keys)


def test_rows_are_in_the_order_of_the_bytes_of_ids() -> None:
    frame = make_frame(truth_of(["b", "Ä", "a10", "a9", "a"]))
    assert [one.decode() for one in frame.sample_ids.tolist()] == ["a", "a10", "a9", "b", "Ä"]
    assert frame.order.tolist() == [4, 2, 3, 0, 1]
    assert frame.unit.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("ids", [["b", "c", "a"], ["a", "b", "c"], ["c", "b", "a"]])
def test_any_order_finds_the_same_rows(ids: list[str]) -> None:
    frame = make_frame(truth_of(["b", "c", "a"]))
    assert [["a", "b", "c"][at] for at in join(found_of(ids), frame).tolist()] == ids


def test_ids_of_another_width_and_kind() -> None:
    frame = make_frame(truth_of(["a", "bb"]))
    found = found_of(["bb", "a" * 40, "a", "é"])
    assert join(found, frame).tolist() == [1, -1, 0, -1]
    ids = np.array([b"bb", b"a" * 40, b"a", "é".encode()], object)
    columns = {**found.samples.columns, "sample_id": ids}
    objects = replace(found, samples=Table("dt.csv", columns))
    assert join(objects, frame).tolist() == [1, -1, 0, -1]
    assert join(truth_of(["bb", "a"]), make_frame(objects)).tolist() == [2, 0]


def test_label_keys_are_found_by_name_and_stand_in_their_order() -> None:
    frame = make_frame(truth_of(["s2", "s1", "s1", "s2"], ["shape", "shape", "color", "color"]))
    assert frame.keys == ("color", "shape")
    assert frame.order.tolist() == [2, 1, 3, 0]
    assert frame.unit.tolist() == [0, 0, 1, 1]
    assert frame.key.tolist() == [0, 1, 0, 1]
    found = found_of(["s1", "s2", "s2", "s1"], ["color", "shape", "color", "shape"])
    assert join(found, frame).tolist() == [0, 3, 2, 1]


def test_the_same_ids_with_other_keys_are_other_rows() -> None:
    frame = make_frame(truth_of(["s", "s", "t", "t"], ["a", "b", "a", "b"]))
    found = found_of(["s", "s", "t", "t"], ["b", "a", "b", "a"])
    assert join(found, frame).tolist() == [1, 0, 3, 2]


def test_a_sample_may_lack_a_key() -> None:
    frame = make_frame(truth_of(["s", "s", "t"], ["a", "b", "b"]))
    found = found_of(["t", "t", "s"], ["b", "a", "b"])
    assert join(found, frame).tolist() == [2, -1, 1]
    with pytest.raises(DataError) as caught:
        join_predictions({"m": found}, frame, skip=False)
    message = "dt.csv:3: sample_id: no ground truth for 'a' of sample 't' in gt.csv"
    assert str(caught.value).split("\n") == [message, HINT.format("'s', 't'")]


def test_predictions_of_unknown_samples_are_listed_and_counted() -> None:
    frame = make_frame(truth_of([f"s{at:03}" for at in range(50)]))
    found = found_of([f"s{at:03}" for at in range(10, 80)])
    with pytest.raises(DataError) as caught:
        join_predictions({"m": found}, frame, skip=False)
    lines = str(caught.value).split("\n")
    # The samples 50 to 79 are unknown; s050 is row 40, on line 42.
    assert lines[0] == "dt.csv:42: sample_id: no sample 's050' in gt.csv"
    assert len(lines) == 22
    assert lines[20] == "… and 10 more problems"
    assert lines[21] == HINT.format("'s000', 's001', 's002'")
    assert (join_predictions({"m": found}, frame, skip=True)["m"] < 0).sum() == 30
    first = found_of(["s000", "s050"])
    assert join_predictions({"m": first}, frame, skip=True)["m"].tolist() == [0, -1]


def test_files_that_share_nothing_are_refused_even_to_skip() -> None:
    frame = make_frame(truth_of(["1", "2"]))
    with pytest.raises(DataError, match=r"dt.csv:2: sample_id: no sample '1.jpg' in gt.csv"):
        join_predictions({"m": found_of(["1.jpg", "2.jpg"])}, frame, skip=True)


@pytest.mark.parametrize(
    ("ours", "theirs", "messages"),
    [
        (None, ["color", "shape"], ["dt.csv: no label keys, and gt.csv has 'color', 'shape'"]),
        (["color", "shape"], None, ["dt.csv: label keys 'color', 'shape', and gt.csv has none"]),
        (
            ["color", "shapes"],
            ["shape", "color"],
            [
                "dt.csv: no label key 'shape', which gt.csv has (did you mean 'shapes'?)",
                "gt.csv: no label key 'shapes', which dt.csv has (did you mean 'shape'?)",
            ],
        ),
        (["a", "a"], ["a", "b"], ["dt.csv: no label key 'b', which gt.csv has"]),
    ],
)
def test_both_sides_have_the_same_label_keys(
    ours: list[str] | None, theirs: list[str] | None, messages: list[str]
) -> None:
    frame = make_frame(truth_of(["s", "t"], theirs))
    with pytest.raises(DataError) as caught:
        join_predictions({"m": found_of(["s", "t"], ours)}, frame, skip=True)
    *problems, hint = str(caught.value).split("\n")
    assert problems == messages
    assert hint.startswith("Say of each row which label key it is of: in a label_key column")


def test_a_file_of_no_rows_has_no_label_keys_to_compare() -> None:
    frame = make_frame(truth_of(["s", "s"], ["a", "b"]))
    assert join_predictions({"m": found_of([])}, frame, skip=False)["m"].tolist() == []


ROWS = [{"cat": 0.5, "dog": 0.25}, {"cat": 1.0, "dog": 0.0}, {"cat": 0.125, "dog": 0.5}]


@pytest.mark.parametrize("wide", [True, False])
def test_scores_go_where_they_belong(wide: bool) -> None:
    scores = rows_of(ROWS, {"cat": 0, "dog": 1}, wide=wide)
    empty = {"cat": 0.0, "dog": 0.0} if wide else {}
    for at, expected in (
        ([2, 0, 1], [ROWS[1], ROWS[2], ROWS[0]]),
        ([2, -1, 0], [ROWS[2], empty, ROWS[0]]),
        ([-1, -1, -1], [empty] * 3),
        ([3, 1, 0], [ROWS[2], ROWS[1], empty, ROWS[0]]),
        ([-1, 0, -1], [ROWS[1]]),
    ):
        found = reordered(scores, np.array(at), len(expected))
        assert listed(found, ["cat", "dog"]) == expected


@pytest.mark.parametrize("wide", [True, False])
def test_scores_that_are_in_order_are_not_copied(wide: bool) -> None:
    scores = rows_of(ROWS, {"cat": 0, "dog": 1}, wide=wide)
    assert reordered(scores, np.arange(3), 3) is scores
    assert reordered(scores, np.arange(3), 5).score.sum() == scores.score.sum()
