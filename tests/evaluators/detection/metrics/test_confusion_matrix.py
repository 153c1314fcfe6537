"""The confusion matrix: worked by hand, its sums, the slow oracle, and its examples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import (
    ask,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    small_dataset,
)
from tests.oracles.confusion import Confusion, Scene, coco, confusion, overlap, settle
from tests.oracles.valor import valor
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.results import MetricExample, MetricTable

LABELS = ("cat", "dog", "cow")

# Boxes are 10 by 10; two that are moved by 2 along one side overlap by 80/120 = 2/3, by 4 60/140.
#
#   ground truths                 detections (score)
#   0  image 0, cat at (0, 0)     0  image 0, cat .9 at (0, 0)     the cat, exactly
#   1  image 0, dog at (50, 0)    1  image 0, cat .8 at (52, 0)    the dog, by 2/3
#                                 2  image 0, cow .7 at (50, 0)    the dog, taken already
#   2  image 1, cow at (0, 0)     3  image 1, dog .6 at (4, 0)     too little of the cow
#   3  image 1, cat at (50, 50)   4  image 1, cat .4 at (50, 50)   the cat, but at score .4
#   4  image 1, dog at (80, 80)   5  image 1, cat .6 at (80, 80)   the dog
#                                 6  image 1, dog .55 at (80, 80)  the dog, of its own label: first
DATASET = small_dataset(
    LABELS,
    [
        (0, "cat", (0, 0, 10, 10)),
        (0, "dog", (50, 0, 10, 10)),
        (1, "cow", (0, 0, 10, 10)),
        (1, "cat", (50, 50, 10, 10)),
        (1, "dog", (80, 80, 10, 10)),
    ],
    [
        (0, "cat", 0.9, (0, 0, 10, 10)),
        (0, "cat", 0.8, (52, 0, 10, 10)),
        (0, "cow", 0.7, (50, 0, 10, 10)),
        (1, "dog", 0.6, (4, 0, 10, 10)),
        (1, "cat", 0.4, (50, 50, 10, 10)),
        (1, "cat", 0.6, (80, 80, 10, 10)),
        (1, "dog", 0.55, (80, 80, 10, 10)),
    ],
)


def objects(example: MetricExample) -> tuple[int | None, int | None]:
    """Numbers of the ground truth and of the detection."""
    by_role = {ref.role: ref.number for ref in example.objects}
    return by_role.get("ground_truth"), by_role.get("prediction")


def test_worked_by_hand() -> None:
    # At 0.5 and 0.5: cat 0 and dog 4 are found by their own (detections 0 and 6). Of what is left,
    # detection 1 takes dog 1; detections 2, 3 and 5 find nothing free; cow 2 and cat 3 are left.
    found = ask(DATASET, CONFUSION_MATRIX)
    assert found.tables == [
        MetricTable(
            LABELS,
            [[1, 0, 0], [1, 1, 0], [0, 0, 0]],
            unmatched_ground_truths=[1, 0, 1],
            unmatched_predictions=[1, 1, 1],
        )
    ]
    assert [(one.kind, one.sample_id, one.label, *objects(one)) for one in found.examples] == [
        ("true_positive", 10, "cat", 0, 0),
        ("true_positive", 11, "dog", 4, 6),
        ("misclassification", 10, "dog", 1, 1),
        ("unmatched_prediction", 11, "cat", None, 5),
        ("unmatched_prediction", 11, "dog", None, 3),
        ("unmatched_prediction", 10, "cow", None, 2),
        ("unmatched_ground_truth", 11, "cat", 3, None),
        ("unmatched_ground_truth", 11, "cow", 2, None),
    ]
    # From 0.4 on cat 3 is found; from 3/7 of overlap on cow 2 is taken for a dog.
    lower = ask(DATASET, CONFUSION_MATRIX, iou_threshold=3 / 7, score_threshold=0.4).tables[0]
    assert lower.matrix == [[2, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert lower.unmatched_ground_truths == [0, 0, 0]
    assert lower.unmatched_predictions == [1, 0, 1]


def test_leftovers_take_what_they_overlap_most_and_of_equals_the_later() -> None:
    box = (0, 0, 10, 10)
    dataset = small_dataset(
        LABELS,
        [(0, "cat", (2, 0, 10, 10)), (0, "cat", box), (0, "dog", box)],
        [(0, "cow", 0.9, box), (0, "cow", 0.8, box), (0, "cow", 0.7, box), (0, "cow", 0.6, box)],
    )
    found = ask(dataset, CONFUSION_MATRIX)
    assert found.tables[0].matrix == [[0, 0, 2], [0, 0, 1], [0, 0, 0]]
    assert found.tables[0].unmatched_predictions == [0, 0, 1]
    pairs = {objects(one) for one in found.examples if one.kind == "misclassification"}
    assert pairs == {(2, 0), (1, 1), (0, 2)}


def test_ignored_objects_are_not_counted() -> None:
    box = (0, 0, 10, 10)
    dataset = small_dataset(
        LABELS, [(0, "cat", box)], [(0, "cat", 0.9, box), (0, "dog", 0.8, box)], crowds=[0]
    )
    table = ask(dataset, CONFUSION_MATRIX).tables[0]
    # The cat is ignored with its crowd; a dog is no cat, whether a crowd of them or not.
    assert table.matrix == [[0, 0, 0]] * 3
    assert table.unmatched_predictions == [0, 1, 0]
    assert table.unmatched_ground_truths == [0, 0, 0]


def test_valor_matching_has_no_second_choice_within_a_label() -> None:
    # Both cats overlap the detection of 0.8 (1 and 2/3); its favourite is taken, so it is left, as
    # is the other cat. Leftovers of one label are not paired: the diagonal is that of `counts`.
    dataset = small_dataset(
        LABELS,
        [(0, "cat", (0, 0, 10, 10)), (0, "cat", (2, 0, 10, 10))],
        [(0, "cat", 0.9, (0, 0, 10, 10)), (0, "cat", 0.8, (0, 0, 10, 10))],
        matching="valor",
    )
    table = ask(dataset, CONFUSION_MATRIX).tables[0]
    assert table.matrix[0] == [1, 0, 0]
    assert (table.unmatched_ground_truths[0], table.unmatched_predictions[0]) == (1, 1)


PROBLEMS: dict[str, Any] = {
    "seed": st.integers(0, 10_000),
    "digits": st.sampled_from([0, 1, None]),
    "iou": st.sampled_from([0.05, 0.3, 0.5, 0.75]),
    "score": st.sampled_from([0.0, 0.3, 0.5, 0.9]),
    "area": st.sampled_from(list(AREAS)),
    "matching": st.sampled_from(["coco", "valor"]),
}


@given(**PROBLEMS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_rows_columns_and_diagonal_add_up(
    seed: int, digits: int | None, iou: float, score: float, area: str, matching: str
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    at = {"iou_threshold": iou, "score_threshold": score}
    calls = asked(CONFUSION_MATRIX, **at), asked(COUNTS, **at)
    matches = match_detections(dataset, plan_of(*calls, area=True)).within(area)
    found, counted = (findings(matches, call) for call in calls)
    assert len(found.tables) <= 1
    matrix = np.zeros((len(dataset.labels), len(dataset.labels)), int)
    truths = predictions = matrix[0]
    for table in found.tables:
        matrix = np.array(table.matrix)
        truths = np.array(table.unmatched_ground_truths)
        predictions = np.array(table.unmatched_predictions)
    tp, fp, fn = (np.array(list(numbers(counted, name).values())) for name in ("tp", "fp", "fn"))
    assert np.array_equal(matrix.diagonal(), tp)
    assert np.array_equal(matrix.sum(axis=1) + truths, tp + fn)
    assert np.array_equal(matrix.sum(axis=1) + truths, matches.ground_truth_count[0])
    assert np.array_equal(matrix.sum(axis=0) + predictions, tp + fp)


@given(**PROBLEMS, most=st.sampled_from([0, 1, 3, 1000]), limit=st.sampled_from([None, 2]))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_cells_and_examples_are_those_of_the_oracle(
    seed: int,
    digits: int | None,
    iou: float,
    score: float,
    area: str,
    matching: str,
    most: int,
    limit: int | None,
) -> None:
    if matching == "valor" and limit is not None:
        digits = None
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    found = ask(
        dataset,
        CONFUSION_MATRIX,
        area=area,
        iou_threshold=iou,
        score_threshold=score,
        max_examples=most,
        max_detections=limit,
    )
    rule = {"coco": coco, "valor": valor}[matching]
    scene = Scene.of(dataset)
    verdict = settle(scene, iou, score, most=limit, limits=AREAS[area], rule=rule)
    expected = confusion(verdict, iou, scene.labels)
    if not (verdict.real or verdict.wrong or verdict.right):
        assert not found.tables
        return
    table = found.tables[0]
    assert table.labels == dataset.labels
    assert table.matrix == expected.matrix
    assert table.unmatched_ground_truths == expected.unmatched_ground_truths
    assert table.unmatched_predictions == expected.unmatched_predictions
    shown = [(one.kind, one.sample_id, one.label, *objects(one)) for one in found.examples]
    assert Counter(shown) == Counter(
        examples(dataset.image_ids, dataset.labels, verdict.right, expected, most)
    )
    for one in found.examples:
        assert all(ref.outcome == one.kind for ref in one.objects)


def examples(
    image_ids: Any, labels: Any, right: Any, found: Confusion, most: int
) -> list[tuple[str, int, str, int | None, int | None]]:
    """The first cases of every cell: by score, then image, then place in the file."""
    cells: dict[tuple[str, int | None, int | None], list[Any]] = {}
    for kind, pairs in (("true_positive", right), ("misclassification", found.confused)):
        for one, truth in pairs:
            key = (-one.score, one.image, one.row)
            cells.setdefault((kind, truth.label, one.label), []).append((key, truth, one))
    for one in found.alone:
        key = (-one.score, one.image, one.row)
        cells.setdefault(("unmatched_prediction", None, one.label), []).append((key, None, one))
    for truth in found.lost:
        key = (truth.image, truth.row)
        cells.setdefault(("unmatched_ground_truth", truth.label, None), []).append(
            (key, truth, None)
        )
    shown = []
    for (kind, _, _), cases in cells.items():
        for _, truth, one in sorted(cases, key=lambda case: case[0])[:most]:
            home = truth or one
            shown.append(
                (
                    kind,
                    image_ids[home.image],
                    labels[home.label],
                    truth and truth.row,
                    one and one.row,
                )
            )
    return shown


@pytest.mark.parametrize("seed", range(3))
def test_misclassified_pairs_overlap_enough(seed: int) -> None:
    dataset = confused_dataset(seed, images=20, digits=None)
    scene = Scene.of(dataset)
    found = ask(dataset, CONFUSION_MATRIX, iou_threshold=0.3, max_examples=1000)
    pairs = [objects(one) for one in found.examples if one.kind == "misclassification"]
    assert pairs
    for truth, one in pairs:
        assert truth is not None
        assert one is not None
        assert overlap(scene.founds[one], scene.truths[truth]) >= 0.3
        assert scene.founds[one].score >= 0.5
        assert scene.founds[one].label != scene.truths[truth].label
