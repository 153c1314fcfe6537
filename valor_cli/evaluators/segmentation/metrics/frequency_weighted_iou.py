"""Frequency weighted IoU (Long et al., CVPR 2015)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.evidence.confusions import WORDS, Confusions, ious
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def frequency_weighted_iou(confusions: Confusions) -> MetricValue:
    """Mean IoU over labels, weighted by their ground truth pixels.

    Labels without ground truth do not enter it.

    Formula:
        Σ n(L)·IoU(L) / Σ n(L)
        n(L): ground truth pixels of label L; IoU(L): as `iou`

    Pitfalls:
        As in pixel accuracy, large regions decide, and small labels can be missed altogether at
        little cost.

    Example:
        Of 1,000 pixels 900 are road and 100 person, and all are predicted as road, whose IoU is
        0.9: (900·0.9 + 100·0) / 1,000 = 0.81.
    """
    return over_labels(ious(confusions), "weighted", WORDS)


FREQUENCY_WEIGHTED_IOU = Metric(
    name="frequency_weighted_iou",
    compute=frequency_weighted_iou,
    reference="sklearn.metrics.jaccard_score(average='weighted')",
    citation="Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015",
    aliases=("fwIoU", "FWIoU"),
)
