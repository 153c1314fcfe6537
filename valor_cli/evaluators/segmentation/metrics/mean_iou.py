"""Mean IoU (Everingham et al., PASCAL VOC, IJCV 2015)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.evidence.confusions import WORDS, Confusions, ious
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def mean_iou(confusions: Confusions) -> MetricValue:
    """Mean over labels of IoU, with pixels counted over all images.

    Labels without ground truth do not enter it, also where they are predicted.

    Formula:
        Σ IoU(L) / number of labels L with ground truth
        IoU(L): as `iou`

    Pitfalls:
        A rare label of a few hundred pixels moves it as much as the road that fills every image,
        and a background that is listed is a label like any other. Pixels of all images are one
        pool: the mean over images is `image_scores`.

    Example:
        Road has 0.9, person 0.5, and car has no ground truth: (0.9 + 0.5) / 2 = 0.7.
    """
    return over_labels(ious(confusions), "macro", WORDS)


MEAN_IOU = Metric(
    name="mean_iou",
    compute=mean_iou,
    reference="sklearn.metrics.jaccard_score(average='macro', labels=those in the ground truth)",
    citation="Everingham et al., The PASCAL Visual Object Classes Challenge, IJCV 2015",
    aliases=("mIOU", "mIoU", "miou"),
)
