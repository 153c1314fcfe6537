"""Every box metric worked by hand on one small problem."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.detection.asking import scene
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import Closeness, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.average_precision import (
    average_precision,
    average_precision_over_ious,
    mean_average_precision,
    mean_average_precision_over_ious,
)
from valor_cli.evaluators.detection.metrics.average_recall import (
    average_recall,
    mean_average_recall,
)
from valor_cli.evaluators.detection.metrics.coco import coco
from valor_cli.evaluators.detection.metrics.counts import counts
from valor_cli.evaluators.detection.metrics.pr_curve import pr_curve
from valor_cli.evaluators.detection.metrics.precision_recall import (
    NO_PREDICTIONS,
    f1,
    precision,
    recall,
)
from valor_cli.results import Findings

# Two images of one 10x10 cat each, and a 10x10 dog in the second. Labels: cat, dog, cow.
#
#   image  label  score  box                      at IoU 0.5          at IoU 0.75
#   0      cat    0.9    the cat, exactly         hit                 hit
#   1      cat    0.8    far away                 miss                miss
#   1      cat    0.6    the cat, moved by 2:     hit (80/120 = 2/3)  miss
#   1      cat    0.4    the cat, exactly         miss: taken         hit
#   0      cow    0.7    anywhere                 miss: no cow exists
#   1      dog    -      never detected
IOUS = (0.5, 0.75)


@pytest.fixture
def matches() -> Matches:
    dataset = scene(
        "cat dog cow",
        "0 cat 0 0, 1 cat 0 0, 1 dog 50 50",
        "0 cat 0.9 0 0, 1 cat 0.8 80 80, 1 cat 0.6 2 0, 1 cat 0.4 0 0, 0 cow 0.7 20 20",
    )
    plan = MatchingPlan(IOUS, overlap_pairs=Closeness(0.1, -np.inf, IOUS))
    return match_detections(dataset, plan)


def by_label(found: Findings, **at: float) -> dict[str | None, float | None]:
    return {value.label: value.value for value in found.values if dict(value.at) == at}


# Cat at 0.5: hit, miss, hit, miss. Recall 1/2 with precision 1, recall 1 with precision 2/3.
# The 51 recalls up to 0.5 have precision 1, the other 50 have 2/3.
CAT_50 = (51 * 1 + 50 * 2 / 3) / 101
# Cat at 0.75: hit, miss, miss, hit. Recall 1 with precision 2/4.
CAT_75 = (51 * 1 + 50 * 1 / 2) / 101


def test_average_precision(matches: Matches) -> None:
    found = average_precision(matches, iou_thresholds=IOUS)
    assert by_label(found, iou_threshold=0.5) == {
        "cat": pytest.approx(CAT_50, abs=1e-12),
        "dog": 0,
        "cow": None,
    }
    assert by_label(found, iou_threshold=0.75)["cat"] == pytest.approx(CAT_75, abs=1e-12)
    cow = next(value for value in found.values if value.label == "cow")
    assert (cow.undefined, cow.n) == ("no ground truth", 0)


def test_average_precision_over_ious(matches: Matches) -> None:
    found = by_label(average_precision_over_ious(matches, iou_thresholds=IOUS))
    assert found == {"cat": pytest.approx((CAT_50 + CAT_75) / 2, abs=1e-12), "dog": 0, "cow": None}


def test_mean_average_precision_leaves_out_labels_without_ground_truth(matches: Matches) -> None:
    found = mean_average_precision(matches, iou_thresholds=IOUS)
    assert by_label(found, iou_threshold=0.5) == {None: pytest.approx(CAT_50 / 2, abs=1e-12)}
    both = mean_average_precision_over_ious(matches, iou_thresholds=IOUS)
    assert both.value == pytest.approx((CAT_50 + CAT_75) / 4, abs=1e-12)
    assert both.n == 3


def test_average_recall(matches: Matches) -> None:
    # Cat: both found at either IoU. From score 0.5 on: both at 0.5, one of two at 0.75.
    # One detection per image and label: the best ones, a hit and a miss.
    assert by_label(average_recall(matches, iou_thresholds=IOUS)) == {
        "cat": 1,
        "dog": 0,
        "cow": None,
    }
    above = average_recall(matches, iou_thresholds=IOUS, recall_score_threshold=0.5)
    assert by_label(above)["cat"] == 0.75
    best = average_recall(matches, iou_thresholds=IOUS, max_detections=1)
    assert by_label(best)["cat"] == 0.5
    assert mean_average_recall(matches, iou_thresholds=IOUS).value == 0.5


def test_counts(matches: Matches) -> None:
    def outputs(score: float, iou: float) -> dict[str | None, list[float | None]]:
        found = counts(matches, iou_threshold=iou, score_threshold=score)
        return {
            label: [value.value for value in found.values if value.label == label]
            for label in ("cat", "dog", "cow")
        }

    # tp, fp, fn. The score of a detection counts when it reaches the threshold exactly.
    assert outputs(0.5, 0.5) == {"cat": [2, 1, 0], "dog": [0, 0, 1], "cow": [0, 1, 0]}
    assert outputs(0.4, 0.5)["cat"] == [2, 2, 0]
    assert outputs(0.9, 0.75)["cat"] == [1, 0, 1]
    assert outputs(0.71, 0.5)["cow"] == [0, 0, 0]


def test_precision_recall_f1(matches: Matches) -> None:
    at = {"iou_threshold": 0.5, "score_threshold": 0.5}
    # Averages are over cat and dog. Precision of dog is 0/0 and follows zero_division.
    assert by_label(precision(matches, **at)) == {"cat": 2 / 3, "dog": 0, "cow": 0, None: 1 / 3}
    assert by_label(recall(matches, **at)) == {"cat": 1, "dog": 0, "cow": None, None: 0.5}
    assert by_label(f1(matches, **at)) == {"cat": 0.8, "dog": 0, "cow": None, None: 0.4}
    dog = next(value for value in precision(matches, **at).values if value.label == "dog")
    assert dog.undefined == "0/0: no prediction at this threshold; zero_division stands in"
    raised = by_label(precision(matches, **at, zero_division=1))
    assert (raised["dog"], raised[None]) == (1, pytest.approx(5 / 6))


def test_precision_of_a_label_without_ground_truth_at_a_threshold_that_it_never_reaches(
    matches: Matches,
) -> None:
    found = precision(matches, iou_threshold=0.5, score_threshold=0.71, zero_division=0.5)
    cow = next(value for value in found.values if value.label == "cow")
    assert (cow.value, cow.undefined, cow.n) == (0.5, NO_PREDICTIONS, 0)


def test_averages(matches: Matches) -> None:
    at = {"iou_threshold": 0.5, "score_threshold": 0.5}
    # Summed over cat and dog: tp 2, fp 1, fn 1.
    assert by_label(precision(matches, **at, average="micro"))[None] == 2 / 3
    assert by_label(recall(matches, **at, average="micro"))[None] == 2 / 3
    assert by_label(f1(matches, **at, average="micro"))[None] == 4 / 6
    # Two cats, one dog.
    assert by_label(recall(matches, **at, average="weighted"))[None] == pytest.approx(2 / 3)


def test_without_any_prediction_averages_say_so(matches: Matches) -> None:
    at = {"iou_threshold": 0.5, "score_threshold": 0.95}
    for average in ("macro", "micro", "weighted"):
        for metric in (precision, f1):
            found = metric(matches, **at, average=average, zero_division=0.5)
            mean = next(value for value in found.values if value.label is None)
            assert (mean.value, mean.undefined) == (0.5, NO_PREDICTIONS)
    # F1 of a label with ground truth and no prediction is 0/0 as its precision is.
    assert by_label(f1(matches, **at, zero_division=0.25))["dog"] == 0.25
    assert by_label(recall(matches, **at))[None] == 0


def test_average_recall_over_score_thresholds(matches: Matches) -> None:
    # cat at IoU 0.5 and 0.75: from 0.3 on 1 and 1, from 0.85 on 1/2 and 1/2; dog is never found.
    scores = (0.3, 0.85)
    found = average_recall(matches, iou_thresholds=IOUS, recall_score_threshold=scores)
    assert by_label(found) == {"cat": 0.75, "dog": 0, "cow": None}
    mean = mean_average_recall(matches, iou_thresholds=IOUS, recall_score_threshold=scores)
    assert mean.value == 0.75 / 2


def test_pr_curve_by_score(matches: Matches) -> None:
    found = pr_curve(matches, pr_curve_iou_threshold=0.5)
    assert [curve.label for curve in found.curves] == ["cat", "dog", "cow"]
    # cow is predicted, and never there.
    cow = found.curves[2].points
    assert cow["fp"][0] == 1
    assert (cow["tp"][0], cow["fn"][0], cow["precision"][0]) == (0, 0, 0.0)
    assert cow["precision"][-1] is None
    assert set(cow["recall"]) == set(cow["f1"]) == {None}
    cat, dog, _ = (curve.points for curve in found.curves)
    assert cat["score_threshold"][:2] == (0.05, 0.1)
    assert len(cat["score_threshold"]) == 19
    at = cat["score_threshold"].index(0.8)
    # From score 0.8 on: a hit and a miss.
    assert [cat[name][at] for name in ("tp", "fp", "fn")] == [1, 1, 1]
    assert [cat[name][at] for name in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    at = cat["score_threshold"].index(0.95)
    assert [cat[name][at] for name in ("precision", "recall", "f1")] == [None, 0, 0]
    assert set(dog["tp"]) == {0}


def test_pr_curve_by_recall_encloses_average_precision(matches: Matches) -> None:
    found = pr_curve(matches, thresholds="recall", pr_curve_iou_threshold=0.5)
    cat = found.curves[0].points
    assert len(cat["recall"]) == 101
    assert np.mean(cat["precision"]) == pytest.approx(CAT_50, abs=1e-12)
    assert cat["score"][100] == 0.6
    # Never found: no recall is reached, at no score.
    dog = found.curves[1].points
    assert set(dog["score"]) == {None}
    assert set(dog["precision"]) == {0}


def test_coco_leaves_out_thresholds_that_were_not_asked(matches: Matches) -> None:
    found = coco(matches, iou_thresholds=(0.5,), areas=())
    outputs = {value.output: value.value for value in found.values}
    assert set(outputs) == {"AP", "AP50", "AR@1", "AR@10", "AR@100"}
    assert outputs["AP"] == outputs["AP50"] == pytest.approx(CAT_50 / 2, abs=1e-12)


def test_an_area_without_ground_truth_is_undefined(matches: Matches) -> None:
    found = {value.output: value for value in coco(matches, iou_thresholds=IOUS).values}
    assert found["APlarge"].value is None
    assert found["APlarge"].undefined == "no label has ground truth"
    assert found["APsmall"].value == found["AP"].value
