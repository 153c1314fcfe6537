"""What is confused and what errors cost: pairs, the part that is shown, links, kinds of errors."""

from __future__ import annotations

import random
import re
from itertools import chain

import pytest
from msgspec.structs import replace

from tests.reports.conftest import AT, Build
from tests.reports.explorer.object_runs import detection_run
from tests.reports.rendered import page
from tests.reports.task_runs import run_of, segmented
from valor_cli.reports.digests.confusion import (
    LABELS,
    Confusion,
    confusions,
    matrix,
    most_confused,
    top_pairs,
)
from valor_cli.reports.digests.mistakes import breakdowns, costliest
from valor_cli.results import ExampleObject, ExampleResult, RunResult, TableResult, TextsResult

RUN = run_of("object_detection", ("m",))


def _only(table: TableResult, *examples: ExampleResult) -> Confusion:
    (one,) = confusions(replace(RUN, tables=(table,), examples=examples))
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
    at = {**AT, **rest}
    return ExampleResult("confusion_matrix", "m", None, None, at, "", 7, None, None, objects)  # type: ignore[arg-type]


def test_pairs_worked_by_hand() -> None:
    # l0: 5 right, 3 as l1, 0 as l2, 2 not found: 10 in all
    table = _table([[5, 3, 0], [1, 7, 2], [2, 0, 4]], [2, 0, 2], [0, 1, 0])
    pairs = top_pairs(_only(table, _example("l0", "l1"), _example("l0", None)), 3)
    assert [(p.ground_truth, p.prediction, p.count, p.share, p.sample_id) for p in pairs] == [
        ("l0", "l1", 3, 0.3, "7"),
        ("l1", "l2", 2, 0.2, None),  # equal counts: the earlier row first
        ("l2", "l0", 2, 0.25, None),
    ]


def test_a_cell_says_its_part_of_the_row() -> None:
    table = _table([[5, 3], [0, 6]], [2, 4], [1, 3])
    shown = matrix(_only(table, *(_example(*one) for one in (("l0", "l1"), ("l1", None)))))
    assert [[(e.count, e.share) for e in row] for row in shown.rows] == [
        [(5, 0.5), (3, 0.3), (2, 0.2)],
        [(0, 0.0), (6, 0.6), (4, 0.4)],
        [(1, 0.25), (3, 0.75), (0, 0.0)],
    ]
    kinds = [[e.kind for e in row] for row in shown.rows[:2]]
    assert kinds == [["right", "wrong", "wrong"], ["wrong", "right", "wrong"]]


def test_examples_of_other_settings_stay_out_and_of_several_come_in() -> None:
    at = {"iou_threshold": 0.5}
    one = _only(
        _table([[5, 3], [0, 6]], [0, 0], [0, 0]),
        _example("l0", "l1", score_threshold=0.5),
        replace(_example("l1", "l0"), parameters={**at, "score_thresholds": (0.1, 0.3)}),
        replace(_example("l0", "l1"), parameters={**at, "score_thresholds": (0.1, 0.2)}),
        replace(_example("l0", "l1"), slice="night"),
        replace(_example("l0", "l1"), metric="detailed_pr_curve"),
    )
    assert list(one.examples) == [(1, 0)]


def test_many_labels_keep_every_count() -> None:
    dice = random.Random(3)
    size = 300
    rows = [[0] * size for _ in range(size)]
    for i in range(size):
        rows[i][i] = dice.randrange(100)
    for _ in range(25):  # at most 50 labels take part
        rows[dice.randrange(size)][dice.randrange(size)] += 500
    rows[299][298] = 9_999
    alone, wrong = [dice.randrange(9) for _ in rows], [dice.randrange(9) for _ in rows]
    shown = matrix(_only(_table(rows, alone, wrong)))
    assert len(shown.labels) == LABELS + 1
    assert shown.labels[-1] == f"{size - LABELS} other labels"
    assert {"l298", "l299"} <= set(shown.labels)
    counted = sum(entry.count for entry in chain(*shown.rows))
    assert counted == sum(map(sum, rows)) + sum(alone) + sum(wrong)
    others = shown.rows[LABELS]
    assert others[LABELS].kind == "mixed"
    assert {entry.kind for entry in others[:LABELS]} == {"wrong"}


def test_settings_have_a_table_each_and_slices_none() -> None:
    table = _table([[5, 3], [0, 6]], [0, 0], [0, 0])
    run = replace(RUN, tables=(table,))
    assert confusions(replace(run, tables=(replace(table, slice="night"),))) == ()
    assert [one.detail for one in confusions(run)] == [""]
    strict = replace(table, parameters={**AT, "iou_threshold": 0.75})
    told = [one.detail for one in confusions(replace(run, tables=(table, strict)))]
    assert told == ["iou_threshold=0.5", "iou_threshold=0.75"]


def test_pixels_without_a_label_are_among_the_largest_confusions() -> None:
    parts = (("sky", "road"), ((5, 2), (0, 7)), (3, 0), (0, 9), ((0.5, 0.1), (0.0, 0.4)))
    table = TableResult("confusion_matrix", "m", None, {}, *parts)
    (one,) = confusions(replace(segmented(("m",)), tables=(table,)))
    pairs = [
        (pair.ground_truth, pair.prediction, pair.count, pair.share) for pair in top_pairs(one, 9)
    ]
    assert pairs == [
        ("no label", "road", 9, 1),
        ("sky", "no label", 3, 3 / 10),
        ("sky", "road", 2, 2 / 10),
    ]


def test_the_largest_confusion_of_a_model_may_be_under_any_key() -> None:
    tables = [
        replace(_table(rows, [0, 0], [0, 0]), parameters={"label_key": key})
        for key, rows in (("first", [[5, 1], [0, 7]]), ("second", [[5, 0], [3, 7]]))
    ]
    (one,) = most_confused(confusions(replace(segmented(("m",)), tables=tables))).values()
    assert (one.ground_truth, one.prediction, one.count) == ("l1", "l0", 3)


LINK = re.compile(r'<a tabindex="-1" href="([^"]*)"><g><title>([^<]*)</title>')


def classes(count: int, confused: int = 1) -> RunResult:
    """As many labels, the first of which is taken for the second once, and missed once."""
    labels = [f"l{at}" for at in range(count)]
    matrix = [[int(row == column) for column in range(count)] for row in range(count)]
    matrix[0][1] = confused
    table = replace(_table(matrix, [1, *[0] * (count - 1)], [0] * count), parameters={})
    columns = {"ground_truth": [*labels, "l0", "l0"], "prediction": [*labels, "l1", None]}
    texts = TextsResult("m", list(range(count + 2)), columns)
    return run_of("classification", ("m",), tables=(table,), texts=(texts,))


def links(run: RunResult) -> dict[str, str]:
    return {told.split(",")[0]: href for href, told in LINK.findall(page(run))}


def test_what_is_confused_is_listed() -> None:
    found = links(classes(3))
    assert found["l0 as l1: 1"] == "#explore?model=m&amp;truth=l0&amp;predicted=l1"
    assert found["l2 as l2: 1"] == "#explore?model=m&amp;truth=l2&amp;predicted=l2"
    assert not any("no prediction" in told for told in found)
    # A cell that counts otherwise than any list is no link to one.
    assert "l0 as l1: 2" not in links(classes(3, confused=2))


def test_labels_that_are_summed_up_lead_nowhere() -> None:
    found = links(classes(45))
    assert "l0 as l1: 1" in found
    assert not any("other" in part for cell in found.items() for part in cell)


def test_detections_without_a_ground_truth() -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    kept = (one.scores >= 0.5) & (one.outcomes > 0) & (one.outcomes < 6)
    labels, count = one.labels, len(one.labels)
    dog = labels.index("dog")
    wrong = int((kept & (one.detected == dog)).sum())
    confused = int((kept & (one.detected == dog) & (one.outcomes == 1)).sum())
    assert confused
    for alone, said in (
        (wrong, "outcome=fp"),
        (wrong - confused, "outcome=localisation&amp;outcome=both&amp;outcome=duplicate"),
    ):
        matrix = [[int(row == column) for column in range(count)] for row in range(count)]
        lone = [alone if at == dog else 0 for at in range(count)]
        at = (None, {"score_threshold": 0.5}, labels, matrix, [0] * count, lone)
        found = links(replace(run, tables=(TableResult("confusion_matrix", "small", *at),)))
        (href,) = [href for told, href in found.items() if told.startswith("no ground truth")]
        assert said in href
        assert "label=dog" in href
        assert href.endswith("threshold=0.5")


def test_kinds_of_errors_stand_costliest_first_and_sides_apart(found: Build) -> None:
    (told,) = breakdowns(found(labels=("cat", "dog")))
    # by the larger of both models: 0.121, 0.097, 0.071, 0.043, 0.011, 0.002
    names = ["localisation", "missed", "background", "classification", "both", "duplicate"]
    assert [kind.name for kind in told.kinds] == names
    shares = [(share.cost, share.count) for share in told.kinds[0].shares]
    assert shares == [(0.121, 2420), (0.064, 1280)]
    assert [kind.name for kind in told.sides] == ["all false positives", "all false negatives"]
    assert told.sides[0].shares[0].count is None
    both = [kind.name for model in (0, 1) if (kind := costliest(told, model))]
    assert both == ["localisation", "background"]


@pytest.mark.parametrize("change", [{"value": None, "undefined": "no labels"}, {"value": 4.7e-05}])
def test_nothing_lost_or_what_reads_as_nothing_is_no_costliest_kind(
    found: Build, change: dict[str, object]
) -> None:
    run = found(("m",), ("cat", "dog"))
    (told,) = breakdowns(replace(run, metrics=[replace(row, **change) for row in run.metrics]))
    assert costliest(told, 0) is None
    assert told.kinds[0].shares[0].undefined == change.get("undefined")


def test_settings_have_a_breakdown_each(found: Build) -> None:
    run = found(("m",), ("cat", "dog"))
    errors = [row for row in run.metrics if row.metric == "error_breakdown"]
    strict = [replace(row, parameters={**row.parameters, "iou_threshold": 0.75}) for row in errors]
    night = [replace(row, slice="night", parameters={"other": 1}) for row in errors]
    told = breakdowns(replace(run, metrics=(*errors, *strict, *night)))
    assert [one.detail for one in told] == ["iou_threshold=0.5", "iou_threshold=0.75"]
