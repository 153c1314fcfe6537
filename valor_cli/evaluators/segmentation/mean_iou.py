"""Mean intersection over union (Everingham et al., PASCAL VOC, IJCV 2015)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.rows import WORDS, ious
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def mean_iou(confusions: Confusions) -> MetricValue:
    """Mean over labels of IoU, where pixels of all images are counted together.

    Labels without ground truth do not enter it, also where they are predicted.
    """
    return over_labels(ious(confusions), "macro", WORDS)


MEAN_IOU = Metric(
    name="mean_iou",
    compute=mean_iou,
    reference="sklearn.metrics.jaccard_score(average='macro', labels=those in the ground truth)",
    citation="Everingham et al., The PASCAL Visual Object Classes Challenge, IJCV 2015",
    aliases=("mIOU", "mIoU", "miou"),
)
