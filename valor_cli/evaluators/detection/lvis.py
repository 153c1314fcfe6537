"""The thirteen numbers of the LVIS challenge (Gupta et al., LVIS, 2019)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection import replica_rows
from valor_cli.evaluators.detection.lvis_matching import (
    FederatedMatches,
    match_federated,
    merge_federated,
)
from valor_cli.evaluators.detection.matches import STORED
from valor_cli.evaluators.detection.plan import (
    COCO_IOUS,
    IouThresholds,
    MaxDetections,
    Sizes,
    plan_matching,
)
from valor_cli.evaluators.detection.replicas import Replicas
from valor_cli.evaluators.detection.rows import at_thresholds, in_areas, label_mean, over_labels
from valor_cli.metric import Metric, Output, Wing
from valor_cli.results import Findings, MetricValue, Resampled
from valor_cli.statistics.label_means import joined

FREQUENCIES: Mapping[str, str] = {"r": "rare", "c": "common", "f": "frequent"}
"""LVIS's groups of labels: in up to 10, up to 100, or more images of the training set."""


def lvis(
    federated: FederatedMatches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    areas: Sizes = ("small", "medium", "large"),
    max_detections: MaxDetections = 300,
) -> Findings:
    """The 13 LVIS numbers: AP and AR over IoUs, sizes and groups of rare to frequent labels.

    `max_detections` is the limit of an image over all labels under evaluation; None for none. APr,
    APc and APf are AP over the rare, common and frequent labels. AP50 and AP75 exist when their
    thresholds are among `iou_thresholds`. A size or group without ground truth has no value,
    where lvis-api prints -1.

    Formula:
        AP = mean over labels, IoU thresholds 0.50, 0.55 … 0.95 and recalls 0, 0.01 … 1 of the
             highest precision at that recall or a higher one; APr, APc, APf: of one group
        AR = mean over labels and IoU thresholds of recall
        a label is judged in the images that have it or are known to lack it, and in no others

    Pitfalls:
        Every label counts alike and rare ones have a handful of objects, so that APr swings widely
        between runs. The limit of detections is one for all labels of an image, not COCO's one for
        each label, and false alarms in images that nobody checked for a label are not seen.

    Example:
        A rare label has an AP of 0.1, a common one 0.3, a frequent one 0.5: AP is 0.3, APr 0.1, APc
        0.3 and APf 0.5.
    """
    matches = federated.matches
    precision = matches.precision(iou_thresholds, max_detections)
    values = at_thresholds(matches, precision, iou_thresholds, "AP")
    values += [_over_group(federated, precision, group) for group in FREQUENCIES]
    recalls = matches.recalls(iou_thresholds, max_detections)
    values.append(over_labels(matches, recalls, output="AR"))
    values += in_areas(matches, areas, iou_thresholds, max_detections)
    return Findings(values)


def lvis_replicas(
    federated: FederatedMatches,
    weights: NDArray[np.int64],
    *,
    iou_thresholds: IouThresholds,
    areas: Sizes,
    max_detections: MaxDetections,
) -> Resampled:
    """(resamples, values) those of `lvis`."""
    matches = federated.matches
    replicas = Replicas.of(matches, weights)
    frequency = np.array(federated.frequency, "U1")
    precision = replicas.precision(iou_thresholds, max_detections)
    recalls = replicas.recalls(iou_thresholds, max_detections)
    whole = matches.precision(iou_thresholds, max_detections)
    whole_recalls = matches.recalls(iou_thresholds, max_detections)
    blocks = [
        *replica_rows.at_thresholds(replicas, precision, whole, iou_thresholds),
        *(
            replica_rows.over_labels(replicas, precision, whole, among=frequency == group)
            for group in FREQUENCIES
        ),
        replica_rows.over_labels(replicas, recalls, whole_recalls),
        *replica_rows.in_areas(replicas, areas, iou_thresholds, max_detections),
    ]
    return joined(blocks, axis=1)


def _over_group(
    federated: FederatedMatches, precision: NDArray[np.float64], group: str
) -> MetricValue:
    """The mean over the labels of one frequency, added as `over_labels` adds."""
    truths = federated.matches.ground_truth_count
    seen = (truths > 0) & (np.array(federated.frequency, "U1") == group)
    output = f"AP{group}"
    if not seen.any():
        return MetricValue(None, f"no {FREQUENCIES[group]} label has ground truth", output, n=0)
    mean = float(np.ascontiguousarray(precision[..., seen]).ravel().mean())
    over = label_mean(precision, seen)
    return MetricValue(mean, output=output, n=int(truths[seen].sum()), over=over)


LVIS = Metric(
    name="lvis",
    compute=lvis,
    replicas=lvis_replicas,
    reference="lvis.LVISEval",
    citation="Gupta et al., LVIS: A Dataset for Large Vocabulary Instance Segmentation, CVPR 2019",
    needs=("ground_truth", "predictions", "federated"),
    outputs=tuple(
        Output(name, "higher")
        for name in (
            *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge", "APr", "APc", "APf"),
            *("AR", "ARsmall", "ARmedium", "ARlarge"),
        )
    ),
)

LVIS_WING = Wing(
    metrics=(LVIS,),
    plan=plan_matching,
    evidence=match_federated,
    merge=merge_federated,
    stored=(FederatedMatches, *STORED),
)
