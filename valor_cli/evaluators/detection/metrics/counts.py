"""True positives, false positives and false negatives of each label at one threshold pair."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    UNNAMED,
    IouThreshold,
    MaxDetections,
    levels_of,
)
from valor_cli.evaluators.parameters import ScoreThreshold, label_threshold
from valor_cli.evaluators.ratios import counts_of_labels
from valor_cli.metric import EvidenceCounts, Metric, Output
from valor_cli.results import Findings


def counts(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
) -> Findings:
    """True positives, false positives and false negatives of each label.

    tp + fn is the number of ground truths. A second detection of the same object is a false
    positive; detections of a crowd region are neither right nor wrong. A label without ground
    truth has its false positives counted. `score_threshold` may be one for each label, such as
    `best_f1` finds: `{cat: 0.4, dog: 0.7}`; labels that are not named have 0.5 then.

    Formula:
        TP = detections that match a ground truth of their label with IoU ≥ iou_threshold, one each
        FP = all other detections; FN = all other ground truths
        detections: those that score at least score_threshold

    Pitfalls:
        An object that is found with too loose a box counts twice: as a false positive and as a
        false negative. There are no true negatives, so images that rightly stay empty leave no
        trace.

    Example:
        3 cats; two detections lie on the first, one on the second, one on a bush: TP 2, FP 2, FN 1.
    """
    levels = levels_of(matches.labels, score_threshold)
    found = matches.counts(iou_threshold, levels, max_detections)
    own_threshold = partial(label_threshold, score_threshold, unnamed=UNNAMED)
    truths = matches.ground_truth_count[0]
    return Findings(counts_of_labels(matches.labels, found._asdict(), truths, own_threshold))


COUNTS = Metric(
    name="counts",
    compute=counts,
    reference="pycocotools.cocoeval.COCOeval.evaluateImg",
    citation="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014",
    outputs=(
        Output("tp", "higher", (0, None), "count"),
        Output("fp", "lower", (0, None), "count"),
        Output("fn", "lower", (0, None), "count"),
    ),
    aliases=("Counts",),
)


def counted(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
) -> Iterator[EvidenceCounts]:
    """Counts of objects in each replica, as `counts` has them."""
    levels = levels_of(matches.labels, score_threshold)
    found = matches.counts(iou_threshold, levels, max_detections)
    for tp, fp, fn in zip(*found, strict=True):
        yield EvidenceCounts(tuple(matches.labels), tp, fp, fn)
