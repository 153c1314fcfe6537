"""IoU of each label, of its boundaries, and its means over labels.

Jaccard, New Phytologist, 1912; Everingham et al., PASCAL VOC, IJCV 2015; Long et al., CVPR 2015;
Cheng et al., Boundary IoU, CVPR 2021.

The boundary of a label is the set of its pixels within d pixels of its outline; d is a fraction of
the image's diagonal, and the image's border is an outline too, as in the authors' code. They
evaluate one mask at a time; here the pixels of a label are counted over all images, as for IoU.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Ratios, labels_and_average, over_labels, per_label
from valor_cli.evaluators.segmentation.evidence.confusions import (
    BOUNDARIES,
    WORDS,
    Confusions,
    DilationRatio,
    ious,
)
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue


def iou(confusions: Confusions) -> Findings:
    """IoU of each label: pixels in both ground truth and prediction over pixels in either.

    Pixels of all images are counted together. A label without ground truth has no value; one that
    is never predicted has 0.

    Formula:
        TP / (TP + FP + FN), in pixels
        TP: pixels of the label predicted so; FP: others predicted so; FN: predicted otherwise

    Pitfalls:
        It is lower than F1 (Dice) of the same pixels, IoU = F1 / (2 − F1): do not compare the two.
        An outline one pixel off ruins a small object and is not noticed on a large one: see
        `boundary_iou`.

    Example:
        100 pixels are road, 80 are predicted as road, and 60 are both: 60 / (100 + 80 − 60) = 0.5.
    """
    return Findings(per_label(confusions.labels, ious(confusions), WORDS))


IOU = Metric(
    name="iou",
    compute=iou,
    reference="sklearn.metrics.jaccard_score(average=None)",
    citation="Everingham et al., The PASCAL Visual Object Classes Challenge, IJCV 2015",
    aliases=("IOU", "IoU"),
)


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


def boundary_iou(confusions: Confusions, *, dilation_ratio: DilationRatio = 0.02) -> Findings:
    """IoU of the boundary pixels of each label, and the mean over labels.

    It shows how good outlines are where the IoU of large regions is no longer informative.
    Boundaries are as wide as `dilation_ratio` times the image's diagonal, at least one pixel. A
    label without ground truth has no value and does not enter the mean. Labels end where pixels
    are ignored.

    Formula:
        pixels in both boundaries / pixels in either, for each label; then the mean over labels
        boundary: pixels of the label that lie within d of its outline, on one side
        d = dilation_ratio · diagonal of the image, rounded; at least 1

    Pitfalls:
        The width grows with the image, so values of other resolutions or another `dilation_ratio`
        do not compare. Objects thinner than twice the width are all boundary, and their value is
        their IoU; ground truth drawn roughly limits what any model can reach.

    Example:
        An image of 400 by 300 pixels has a diagonal of 500, so d is 10. A label has 1,000 boundary
        pixels on either side, 800 of them in common: 800 / (1,000 + 1,000 − 800) = 0.667.
    """
    edges = confusions.boundary_overlaps(dilation_ratio)
    ratios = Ratios.of_truth(edges.both, edges.union, confusions.overlaps().truth)
    return labels_and_average(confusions.labels, ratios, "macro", WORDS)


BOUNDARY_IOU = Metric(
    name="boundary_iou",
    compute=boundary_iou,
    reference="boundary_iou.utils.boundary_utils.mask_to_boundary, its pixels counted",
    citation="Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation "
    "Evaluation, CVPR 2021",
    evidence=(BOUNDARIES,),
    aliases=("BoundaryIoU",),
)
