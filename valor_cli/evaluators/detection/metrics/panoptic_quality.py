"""Panoptic quality (Kirillov et al., Panoptic Segmentation, CVPR 2019).

As in panopticapi, with these differences: a label without ground truth has no value and is not
averaged, while panopticapi counts it as 0 once anything is predicted; several crowd regions of one
label in an image, which COCO does not have, all excuse predictions, while there the last one
listed does; and in an image without predictions every segment is a false negative, while there it
is an error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.panoptic_segments import (
    Segments,
    match_segments,
    merge_segments,
    plan_segments,
)
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH, NO_LABEL, values_of_labels
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric, Output, Wing
from valor_cli.results import Findings, LabelMean, MetricValue
from valor_cli.statistics.label_means import first_and_all

Floats = NDArray[np.float64]

NAMES = ("pq", "sq", "rq")
GROUPS = {"things": True, "stuff": False}
NO_MATCH = "0/0: no segment is matched; 0 stands in, as in panopticapi"


def panoptic_quality(segments: Segments) -> Findings:
    """Panoptic, segmentation and recognition quality of each label, and their means over labels.

    sq is the mean IoU of the matched segments, rq their F1, pq the product of both. Where the
    ground truth says which labels are things and which are stuff, the means over each are given
    too.

    A label without ground truth (crowd regions aside) has no value and enters no mean; one without
    a match has an sq of 0. Scores are not looked at, and masks of one side must not overlap. Pixels
    of no ground truth are void, where nothing is judged: on images whose background nobody marked,
    most false positives go unseen, and labels that a filter leaves out become void.

    Formula:
        pq = sq·rq = ΣIoU / (TP + FP/2 + FN/2) for each label
        sq = ΣIoU / TP; rq = TP / (TP + FP/2 + FN/2)
        TP: pairs of segments of one label with IoU > 0.5; ΣIoU: sum of theirs

    Pitfalls:
        A pair at an IoU of 0.5 or less is a false positive and a false negative, so small segments
        with rough outlines lose all. The mean pq is that of the labels' products, not mean sq times
        mean rq.

    Example:
        Of two cats one is matched with IoU 0.8, one is missed, and one segment is wrong: sq 0.8, rq
        1 / (1 + 0.5 + 0.5) = 0.5, pq 0.4.
    """
    tp, fp, fn, iou = segments.sums()
    weight = tp + 0.5 * fp + 0.5 * fn
    truths = tp + fn
    by_name = {
        "pq": quotient(iou, weight, 0.0),
        "sq": quotient(iou, tp, 0.0),
        "rq": quotient(tp, weight, 0.0),
    }
    values = [
        value
        for name, column in by_name.items()
        for value in _per_label(segments, name, column, tp, truths)
    ]
    for name, column in by_name.items():
        values.append(_mean(name, column, truths, np.ones(len(segments.labels), bool)))
        for group, is_thing in GROUPS.items():
            inside = np.array([thing is is_thing for thing in segments.things], bool)
            if inside.any():
                values.append(_mean(f"{name}_{group}", column, truths, inside))
    return Findings(values)


def _per_label(
    segments: Segments, name: str, column: Floats, tp: NDArray[np.int64], truths: NDArray[np.int64]
) -> list[MetricValue]:
    values = np.where(truths > 0, column, np.nan)
    why = [
        NO_GROUND_TRUTH if not n else NO_MATCH if name == "sq" and not matched else None
        for n, matched in zip(truths[0].tolist(), tp[0].tolist(), strict=True)
    ]
    return values_of_labels(segments.labels, values, truths[0], why, output=name)


def _mean(
    name: str, column: Floats, truths: NDArray[np.int64], inside: NDArray[np.bool_]
) -> MetricValue:
    """The mean over labels with ground truth, added one after the other as panopticapi does."""
    seen = inside & (truths > 0)
    total = np.cumsum(np.where(seen, column, 0.0), axis=1)[:, -1]
    value, why, replicas = first_and_all(quotient(total, seen.sum(axis=1), np.nan), NO_LABEL)
    n = int(truths[0, seen[0]].sum())
    over = LabelMean(np.where(seen, column, np.nan), seen)
    return MetricValue(value, why, name, n=n, over=over, replicas=replicas)


PANOPTIC_QUALITY = Metric(
    name="panoptic_quality",
    compute=panoptic_quality,
    reference="panopticapi.evaluation.pq_compute",
    citation="Kirillov et al., Panoptic Segmentation, CVPR 2019",
    outputs=(
        *(Output(name, "higher") for name in NAMES),
        *(Output(f"{name}_{group}", "higher") for group in GROUPS for name in NAMES),
    ),
)

PANOPTIC_WING = Wing(
    metrics=(PANOPTIC_QUALITY,),
    plan=plan_segments,
    evidence=match_segments,
    merge=merge_segments,
    stored=(Segments,),
)
