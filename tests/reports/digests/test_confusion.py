"""Tables of confusions: the pairs and the part that is shown."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec.structs import replace

from tests.reports.task_runs import segmented
from valor_cli.reports.digests.confusion import (
    LABELS,
    Confusion,
    confusions,
    matrix,
    most_confused,
    top_pairs,
)
from valor_cli.results import ExampleObject, ExampleResult, RunResult, TableResult

Build = Callable[..., RunResult]

AT = {"iou_threshold": 0.5, "score_threshold": 0.3}


def _only(run: RunResult, table: TableResult, *examples: ExampleResult) -> Confusion:
    (one,) = confusions(replace(run, tables=(table,), examples=examples))
    return one


def _table(rows: list[list[int]], alone: list[int], wrong: list[int]) -> TableResult:
    labels = [f"l{i}" for i in range(len(rows))]
    return TableResult("confusion_matrix", "m", None, AT, labels, rows, alone, wrong)


def _example(truth: str | None, predicted: str | None, **rest: object) -> ExampleResult:
    sides = [("ground_truth", truth, None), ("prediction", predicted, 0.9)]
    objects = tuple(
        ExampleObject(role, 1, label, score, "", None)  # type: ignore[arg-type]
        for role, label, score in sides
        if label is not None
    )
    at = {"iou_threshold": 0.5, "score_threshold": 0.3} | rest
    return ExampleResult("confusion_matrix", "m", None, None, at, "", 7, None, None, objects)


def test_pairs_worked_by_hand(build: Build) -> None:
    # l0: 5 right, 3 as l1, 0 as l2, 2 not found: 10 in all
    table = _table([[5, 3, 0], [1, 7, 2], [2, 0, 4]], [2, 0, 2], [0, 1, 0])
    one = _only(build(("m",)), table, _example("l0", "l1"), _example("l0", None))
    pairs = top_pairs(one, 3)
    found = [(p.ground_truth, p.prediction, p.count, p.share, p.sample_id) for p in pairs]
    assert found == [
        ("l0", "l1", 3, 0.3, "7"),
        ("l1", "l2", 2, 0.2, None),  # equal counts: the earlier row first
        ("l2", "l0", 2, 0.25, None),
    ]


def test_a_cell_says_its_part_of_the_row(build: Build) -> None:
    table = _table([[5, 3], [0, 6]], [2, 4], [1, 3])
    examples = (_example("l0", "l1"), _example("l1", None), _example(None, "l0"))
    shown = matrix(_only(build(("m",)), table, *examples))
    assert [[(e.count, e.share) for e in row] for row in shown.rows] == [
        [(5, 0.5), (3, 0.3), (2, 0.2)],
        [(0, 0.0), (6, 0.6), (4, 0.4)],
        [(1, 0.25), (3, 0.75), (0, 0.0)],
    ]
    kinds = [[e.kind for e in row] for row in shown.rows[:2]]
    assert kinds == [["right", "wrong", "wrong"], ["wrong", "right", "wrong"]]


def test_examples_of_other_settings_stay_out_and_of_several_come_in(build: Build) -> None:
    table = _table([[5, 3], [0, 6]], [0, 0], [0, 0])
    other = _example("l0", "l1", score_threshold=0.5)
    listed = _example("l1", "l0")
    several = {"iou_threshold": 0.5, "score_thresholds": (0.1, 0.3)}
    apart = {"iou_threshold": 0.5, "score_thresholds": (0.1, 0.2)}
    one = _only(
        build(("m",)),
        table,
        other,
        replace(listed, parameters=several),
        replace(other, parameters=apart),
        replace(_example("l0", "l1"), slice="night"),
        replace(_example("l0", "l1"), metric="detailed_pr_curve"),
    )
    assert list(one.examples) == [(1, 0)]


def test_many_labels_keep_every_count(build: Build) -> None:
    dice = random.Random(3)
    size = 300
    rows = [[0] * size for _ in range(size)]
    for i in range(size):
        rows[i][i] = dice.randrange(100)
    for _ in range(25):  # at most 50 labels take part
        rows[dice.randrange(size)][dice.randrange(size)] += 500
    rows[299][298] = 9_999
    alone, wrong = [dice.randrange(9) for _ in rows], [dice.randrange(9) for _ in rows]
    shown = matrix(_only(build(("m",)), _table(rows, alone, wrong)))
    assert len(shown.labels) == LABELS + 1
    assert shown.labels[-1] == f"{size - LABELS} other labels"
    assert {"l298", "l299"} <= set(shown.labels)
    assert sum(entry.count for row in shown.rows for entry in row) == (
        sum(map(sum, rows)) + sum(alone) + sum(wrong)
    )
    others = shown.rows[LABELS]
    assert others[LABELS].kind == "mixed"
    assert {entry.kind for entry in others[:LABELS]} == {"wrong"}


def test_tables_of_slices_are_left_to_the_file(found: Build) -> None:
    run = found()
    sliced = [replace(table, slice="night") for table in run.tables]
    assert confusions(replace(run, tables=sliced)) == ()
    names = [one.detail for one in confusions(run)]
    assert names == ["", ""]
    strict = replace(run.tables[0], parameters={**AT, "iou_threshold": 0.75})
    told = confusions(replace(run, tables=(*run.tables, strict)))
    assert [one.detail for one in told] == [
        "iou_threshold=0.5",
        "iou_threshold=0.5",
        "iou_threshold=0.75",
    ]


def test_pixels_without_a_label_are_among_the_largest_confusions() -> None:
    table = TableResult(
        "confusion_matrix",
        "m",
        None,
        {},
        ("sky", "road"),
        ((5, 2), (0, 7)),
        (3, 0),
        (0, 9),
        ious=((0.5, 0.1), (0.0, 0.4)),
    )
    run = replace(segmented(("m",)), tables=(table,))
    (one,) = confusions(run)
    pairs = [(pair.ground_truth, pair.prediction, pair.count) for pair in top_pairs(one, 9)]
    assert pairs == [("no label", "road", 9), ("sky", "no label", 3), ("sky", "road", 2)]
    assert top_pairs(one, 9)[0].share == 1
    assert top_pairs(one, 9)[1].share == 3 / 10


def test_the_largest_confusion_of_a_model_may_be_under_any_key() -> None:
    def table(key: str, matrix: tuple[tuple[int, int], ...]) -> TableResult:
        return TableResult(
            "confusion_matrix", "m", None, {"label_key": key}, ("a", "b"), matrix, (0, 0), (0, 0)
        )

    tables = (table("first", ((5, 1), (0, 7))), table("second", ((5, 0), (3, 7))))
    found = most_confused(confusions(replace(segmented(("m",)), tables=tables)))
    assert {at: (one.ground_truth, one.prediction, one.count) for at, one in found.items()} == {
        0: ("b", "a", 3)
    }
