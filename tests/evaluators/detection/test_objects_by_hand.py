"""Metrics of single objects, worked by hand: what is confused, why it is wrong, image by image."""

from __future__ import annotations

import pytest

from tests.evaluators.detection.asking import PARTS, ask, numbers, scene, small_dataset
from valor_cli.evaluators.detection.metrics.best_f1 import BEST_F1, NOTHING_FOUND
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.detailed_pr_curve import DETAILED_PR_CURVE
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN, KINDS
from valor_cli.evaluators.detection.metrics.image_scores import IMAGE_SCORES, MOST_OBJECTS, NOTHING
from valor_cli.evaluators.parameters import SCORES
from valor_cli.results import MetricCurve, MetricExample, MetricTable

COSTS = (*KINDS, "false_positive", "false_negative")
HERE, THERE, AWAY = (0, 0, 10, 10), (50, 0, 10, 10), (80, 80, 10, 10)


# ---- the confusion matrix


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
CONFUSED = scene(
    "cat dog cow",
    "0 cat 0 0, 0 dog 50 0, 1 cow 0 0, 1 cat 50 50, 1 dog 80 80",
    "0 cat 0.9 0 0, 0 cat 0.8 52 0, 0 cow 0.7 50 0, 1 dog 0.6 4 0, 1 cat 0.4 50 50, "
    "1 cat 0.6 80 80, 1 dog 0.55 80 80",
)


def objects(example: MetricExample) -> tuple[int | None, int | None]:
    """Numbers of the ground truth and of the detection."""
    by_role = {ref.role: ref.number for ref in example.objects}
    return by_role.get("ground_truth"), by_role.get("prediction")


def test_confusion_matrix() -> None:
    # At 0.5 and 0.5: cat 0 and dog 4 are found by their own (detections 0 and 6). Of what is left,
    # detection 1 takes dog 1; detections 2, 3 and 5 find nothing free; cow 2 and cat 3 are left.
    found = ask(CONFUSED, CONFUSION_MATRIX)
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
    lower = ask(CONFUSED, CONFUSION_MATRIX, iou_threshold=3 / 7, score_threshold=0.4).tables[0]
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


# ---- the breakdown of errors

# Boxes are 10 by 10; moved by 2 they overlap by 80/120 = 2/3, by 5 by 50/150 = 1/3, by 9 by 1/19.
#
#   ground truths           detections (score)
#   0  cat at (0, 0)        0  cat .95 at (0, 0)    right
#   1  cat at (50, 0)       1  cat .9 at (55, 0)    over its own by 1/3: localisation, for cat 1
#   2  dog at (0, 50)       2  cat .8 at (2, 50)    over a dog by 2/3: classification, for dog 2
#   3  dog at (80, 80)      3  cat .7 at (0, 0)     duplicate
#                           4  dog .6 at (55, 0)    over a cat by 1/3 only: both
#                           5  dog .5 at (89, 80)   over its own by 1/19 <= .1: background
#                           6  cow .4 at (40, 40)   over nothing: background
WRONG = scene(
    "cat dog cow",
    "0 cat 0 0, 0 cat 50 0, 0 dog 0 50, 0 dog 80 80",
    "0 cat 0.95 0 0, 0 cat 0.9 55 0, 0 cat 0.8 2 50, 0 cat 0.7 0 0, 0 dog 0.6 55 0, "
    "0 dog 0.5 89 80, 0 cow 0.4 40 40",
    images=1,
)


def test_error_breakdown() -> None:
    found = ask(WRONG, ERROR_BREAKDOWN)
    assert {kind: numbers(found, kind) for kind in KINDS} == {
        "classification": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "localisation": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "both": {None: 1, "cat": 0, "dog": 1, "cow": 0},
        "duplicate": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "background": {None: 2, "cat": 0, "dog": 1, "cow": 1},
        # Dog 3 alone: cat 1 and dog 2 would be found, were detections 1 and 2 mended.
        "missed": {None: 1, "cat": 0, "dog": 1, "cow": 0},
    }
    # Average precision, over cat and dog. Cats: right, wrong, wrong, wrong; the first of two is
    # found with precision 1, at the 51 recalls up to .5. Dogs: two wrong ones, 0.
    cat = 51 / 101
    before = cat / 2
    after = {
        # The second dog of two is found by the best dog now, detection 2: 51 recalls of 1.
        "classification": (cat + 51 / 101) / 2,
        # Right, right, wrong, wrong: all of the cats are found with precision 1.
        "localisation": 1 / 2,
        "both": before,
        "duplicate": before,
        "background": before,
        # One dog fewer to find changes nothing: none is found.
        "missed": before,
        "false_positive": before,
        # One cat and no dog to find: cat 0 is it, with precision 1; wrong dogs keep the dogs at 0.
        "false_negative": 1 / 2,
    }
    for name, value in after.items():
        cost = numbers(found, f"{name}_cost")
        assert cost == {None: pytest.approx(value - before, abs=1e-12)}
    assert [
        (one.kind, one.label, [(ref.role, ref.number) for ref in one.objects])
        for one in found.examples
    ] == [
        ("classification", "dog", [("ground_truth", 2), ("prediction", 2)]),
        ("localisation", "cat", [("ground_truth", 1), ("prediction", 1)]),
        ("both", "dog", [("prediction", 4)]),
        ("duplicate", "cat", [("prediction", 3)]),
        ("background", "dog", [("prediction", 5)]),
        ("background", "cow", [("prediction", 6)]),
        ("missed", "dog", [("ground_truth", 3)]),
    ]


def test_only_the_best_rival_is_mended_and_only_for_what_nothing_found() -> None:
    # Three detections beside one cat, by 1/3 each: the best is set right, the others go.
    # Three over a dog that is found: they are of the wrong label, and go.
    dataset = scene(
        "cat dog",
        "0 cat 0 0, 0 dog 50 0",
        "0 cat 0.5 5 0, 0 cat 0.6 0 5, 0 cat 0.4 5 0, 0 dog 0.3 50 0, 0 cat 0.9 50 0, "
        "0 cat 0.9 50 0, 0 cat 0.9 50 0",
    )
    found = ask(dataset, ERROR_BREAKDOWN)
    assert numbers(found, "localisation")[None] == 3
    assert numbers(found, "classification")[None] == 3
    assert numbers(found, "missed")[None] == 0
    # Mended in place, the cat comes behind three wrong ones: precision 1/4, at all recalls.
    assert numbers(found, "localisation_cost")[None] == pytest.approx(1 / 8, abs=1e-12)
    assert numbers(found, "classification_cost")[None] == 0


def test_crowds_are_no_errors() -> None:
    dataset = scene(
        "cat",
        "0 cat 0 0 50 50, 0 cat 80 80",
        "0 cat 0.9 5 5",
        crowds=[0],
    )
    found = ask(dataset, ERROR_BREAKDOWN)
    assert [numbers(found, kind)[None] for kind in KINDS] == [0, 0, 0, 0, 0, 1]


def test_on_the_edge_of_a_threshold() -> None:
    # A quarter of a box overlaps it by 1/4, a half by 1/2, exactly. At a background of 1/4 and a
    # threshold of 1/2, as tidecv has it: the cat's own quarter is of localisation, and so is the
    # half of a cat that is found already; a dog's quarter over a cat is background.
    dataset = scene(
        "cat dog",
        "0 cat 0 0, 0 cat 50 0",
        "0 cat 0.9 0 0, 0 cat 0.8 0 0 10 5, 0 cat 0.7 50 0 5 5, 0 dog 0.6 50 0 5 5, "
        "0 dog 0.5 50 0 10 5",
    )
    found = ask(dataset, ERROR_BREAKDOWN, iou_threshold=0.5, background_iou=0.25, max_examples=9)
    by_kind = {
        kind: [one.objects[-1].number for one in found.examples if one.kind == kind]
        for kind in KINDS
    }
    assert by_kind == {
        "classification": [4],
        "localisation": [1, 2],
        "both": [],
        "duplicate": [],
        "background": [3],
        "missed": [],
    }


def test_the_background_may_reach_above_the_threshold() -> None:
    # Moved by 8, boxes overlap by 20/180 = 1/9: enough at 0.1, and less than a background of 0.2.
    # tidecv asks for duplicates and wrong labels first.
    dataset = scene(
        "cat dog",
        "0 cat 0 0, 0 dog 50 0",
        "0 cat 0.9 0 0, 0 cat 0.8 8 0, 0 cat 0.7 58 0",
    )
    found = ask(dataset, ERROR_BREAKDOWN, iou_threshold=0.1, background_iou=0.2)
    assert {kind: numbers(found, kind)[None] for kind in KINDS} == {
        "classification": 1,
        "localisation": 0,
        "both": 0,
        "duplicate": 1,
        "background": 0,
        "missed": 0,
    }


def test_without_ground_truth_costs_are_undefined() -> None:
    dataset = small_dataset(("cat",), (), [(0, "cat", 0.9, (5, 5, 10, 10))])
    found = ask(dataset, ERROR_BREAKDOWN)
    assert numbers(found, "background") == {None: 1, "cat": 1}
    for name in COSTS:
        (value,) = (one for one in found.values if one.output == f"{name}_cost")
        assert (value.value, value.undefined) == (None, "no label has ground truth")


# ---- the best F1


def test_best_f1() -> None:
    # Cats, two of them: right .9, wrong .8, right .7, wrong .7, wrong .1.
    #   from .9: tp 1, fp 0, fn 1: F1 = 2/3      from .7: tp 2, fp 2, fn 0: F1 = 4/6 = 2/3
    #   from .8: tp 1, fp 1, fn 1: F1 = 1/2      from .1: tp 2, fp 3, fn 0: F1 = 4/7
    # The two .7 pass together; of two 2/3 the higher threshold. Dogs are never found.
    dataset = scene(
        "cat dog cow",
        "0 cat 0 0, 1 cat 50 0, 1 dog 0 0",
        "0 cat 0.9 0 0, 0 cat 0.8 80 80, 1 cat 0.7 80 80, 1 cat 0.7 50 0, 1 cat 0.1 80 80, "
        "0 dog 0.9 80 80, 0 cow 0.9 80 80",
    )
    found = ask(dataset, BEST_F1)
    assert numbers(found, "f1") == {None: 1 / 3, "cat": 2 / 3, "dog": 0, "cow": None}
    assert numbers(found, "score_threshold") == {"cat": 0.9, "dog": None, "cow": None}
    assert numbers(found, "precision") == {"cat": 1, "dog": None, "cow": None}
    assert numbers(found, "recall") == {"cat": 0.5, "dog": None, "cow": None}
    reasons = {(value.output, value.label): value.undefined for value in found.values}
    assert reasons["score_threshold", "dog"] == NOTHING_FOUND
    assert reasons["score_threshold", "cow"] == reasons["f1", "cow"] == "no ground truth"
    assert reasons["f1", "dog"] is None


def test_without_ground_truth_there_is_no_mean_f1() -> None:
    found = ask(small_dataset(("cow",), (), [(0, "cow", 0.9, AWAY)]), BEST_F1)
    assert numbers(found, "f1") == {None: None, "cow": None}


# ---- the detailed curve


def column(curve: MetricCurve, level: float) -> list[float | None]:
    at = list(curve.points["score_threshold"]).index(level)
    return [curve.points[name][at] for name in PARTS]


def test_detailed_pr_curve() -> None:
    #   ground truths             detections (score)
    #   0  cat at (0, 0)          0  cat .9 at (0, 0)     right
    #   1  dog at (50, 0)         1  cat .7 at (50, 0)    over the dog: misclassified
    #   2  dog at (80, 80)        2  cat .6 at (0, 0)     a duplicate overlaps no other label:
    #                                                     a hallucination
    #                             3  dog .5 at (50, 0)    right
    #                             4  cow .3 at (0, 0)     over the cat: misclassified
    dataset = scene(
        "cat dog cow yak",
        "0 cat 0 0, 0 dog 50 0, 0 dog 80 80",
        "0 cat 0.9 0 0, 0 cat 0.7 50 0, 0 cat 0.6 0 0, 0 dog 0.5 50 0, 0 cow 0.3 0 0",
    )
    found = ask(dataset, DETAILED_PR_CURVE)
    assert [curve.label for curve in found.curves] == ["cat", "dog", "cow"]
    cat, dog, cow = found.curves
    assert set(cat.points) == {"score_threshold", *PARTS}
    assert tuple(cat.points["score_threshold"]) == SCORES
    #                            tp fp fn  fp: mis hall  fn: mis none
    assert column(cat, 0.95) == [0, 0, 1, 0, 0, 0, 1]
    assert column(cat, 0.7) == [1, 1, 0, 1, 0, 0, 0]
    assert column(cat, 0.6) == [1, 2, 0, 1, 1, 0, 0]
    # Dog 1 is missed above .5, up to .7 with a cat over it; nothing is ever over dog 2.
    assert column(dog, 0.75) == [0, 0, 2, 0, 0, 0, 2]
    assert column(dog, 0.7) == [0, 0, 2, 0, 0, 1, 1]
    assert column(dog, 0.5) == [1, 0, 1, 0, 0, 0, 1]
    # A label without ground truth has its false positives.
    assert column(cow, 0.3) == [0, 1, 0, 1, 0, 0, 0]
    assert column(cow, 0.35) == [0] * 7
    shown = [
        (one.kind, one.label, one.objects[0].role, one.objects[0].number, one.at)
        for one in found.examples
    ]
    upto = {level: SCORES[: SCORES.index(level) + 1] for level in (0.9, 0.7, 0.6, 0.5, 0.3)}
    assert shown == [
        ("true_positive", "cat", "prediction", 0, {"score_thresholds": upto[0.9]}),
        ("true_positive", "dog", "prediction", 3, {"score_thresholds": upto[0.5]}),
        ("misclassification", "cat", "prediction", 1, {"score_thresholds": upto[0.7]}),
        ("misclassification", "cow", "prediction", 4, {"score_thresholds": upto[0.3]}),
        ("hallucination", "cat", "prediction", 2, {"score_thresholds": upto[0.6]}),
        # Of the dogs without a prediction the first: dog 2, and dog 1 where it is one.
        (
            "no_prediction",
            "dog",
            "ground_truth",
            2,
            {"score_thresholds": SCORES[: SCORES.index(0.7) + 1]},
        ),
        (
            "misclassification",
            "dog",
            "ground_truth",
            1,
            {"score_thresholds": (0.55, 0.6, 0.65, 0.7)},
        ),
        (
            "no_prediction",
            "dog",
            "ground_truth",
            1,
            {"score_thresholds": (0.75, 0.8, 0.85, 0.9, 0.95)},
        ),
        ("no_prediction", "cat", "ground_truth", 0, {"score_thresholds": (0.95,)}),
    ]


# ---- scores of images


def outcomes_of(example: MetricExample) -> list[tuple[str, int, str]]:
    return [(ref.role, ref.number, ref.outcome) for ref in example.objects]


def test_image_scores() -> None:
    dataset = small_dataset(
        ("cat", "dog"),
        [
            (0, "cat", HERE),  # 0: found
            (0, "dog", THERE),  # 1: missed, called a cat
            (1, "cat", HERE),  # 2: found
            (3, "dog", HERE),  # 3: missed
            (0, "cat", AWAY),  # 4: a crowd
        ],
        [
            (0, "cat", 0.9, HERE),  # 0: right
            (0, "cat", 0.8, THERE),  # 1: wrong label
            (0, "cat", 0.7, AWAY),  # 2: of the crowd
            (0, "cat", 0.2, THERE),  # 3: below the threshold
            (1, "cat", 0.5, HERE),  # 4: right, at the threshold
            (4, "dog", 0.6, HERE),  # 5: nothing there
            (4, "dog", 0.9, AWAY),  # 6: nothing there
        ],
        images=5,
        crowds=[4],
    )
    found = ask(dataset, IMAGE_SCORES, worst=2)
    samples = found.samples
    assert samples is not None
    # Image 12 is empty; precision of image 13 follows zero_division; image 14 has no recall.
    assert samples.sample_ids == [10, 11, 12, 13, 14]
    assert samples.columns == {
        "f1": [0.5, 1, None, 0, 0],
        "precision": [0.5, 1, None, 0, 0],
        "recall": [0.5, 1, None, 0, None],
        "tp": [1, 1, 0, 0, 0],
        "fp": [1, 0, 0, 0, 2],
        "fn": [1, 0, 0, 1, 0],
    }
    assert samples.undefined == [None, None, NOTHING, None, None]
    assert [(one.output, one.value, one.n) for one in found.values] == [
        ("f1", 1.5 / 4, 4),
        ("precision", 0.375, 4),
        ("recall", 0.5, 3),
    ]
    # Both have an F1 of 0; image 14 has two errors.
    assert [(one.kind, one.sample_id, one.value, outcomes_of(one)) for one in found.examples] == [
        (
            "worst_image",
            14,
            0,
            [("prediction", 6, "background"), ("prediction", 5, "background")],
        ),
        ("worst_image", 13, 0, [("ground_truth", 3, "missed")]),
    ]
    third = ask(dataset, IMAGE_SCORES, worst=100).examples[2]
    assert outcomes_of(third) == [
        ("ground_truth", 0, "found"),
        ("ground_truth", 1, "missed"),
        ("ground_truth", 4, "ignored"),
        ("prediction", 0, "true_positive"),
        ("prediction", 1, "classification"),
        ("prediction", 2, "ignored"),
    ]
    assert len(ask(dataset, IMAGE_SCORES, worst=100).examples) == 3
    assert not ask(dataset, IMAGE_SCORES, worst=0).examples


def test_few_objects_of_a_crowded_image_are_shown() -> None:
    many = MOST_OBJECTS + 5
    dataset = small_dataset(
        ("cat",),
        [(0, "cat", (20.0 * at, 0, 10, 10)) for at in range(many)],
        [(0, "cat", 0.6 + at / 1000, (20.0 * at, 50, 10, 10)) for at in range(many)],
    )
    (worst,) = ask(dataset, IMAGE_SCORES).examples
    numbers_of = {
        role: [ref.number for ref in worst.objects if ref.role == role]
        for role in ("ground_truth", "prediction")
    }
    assert numbers_of["ground_truth"] == list(range(MOST_OBJECTS))
    assert numbers_of["prediction"] == list(range(many - 1, 4, -1))
