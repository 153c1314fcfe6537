"""Frequency weighted intersection over union (Long et al., CVPR 2015)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.rows import WORDS, ious
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def frequency_weighted_iou(confusions: Confusions) -> MetricValue:
    """Mean over labels of IoU, each weighted by its ground truth pixels.

    Labels without ground truth do not enter it.
    """
    return over_labels(ious(confusions), "weighted", WORDS)


FREQUENCY_WEIGHTED_IOU = Metric(
    name="frequency_weighted_iou",
    compute=frequency_weighted_iou,
    reference="sklearn.metrics.jaccard_score(average='weighted')",
    citation="Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015",
    aliases=("fwIoU", "FWIoU"),
)
