"""Boundary IoU (Cheng et al., CVPR 2021).

The boundary of a label is the set of its pixels within d pixels of its outline; d is a fraction of
the image's diagonal, and the image's border is an outline too, as in the authors' code. They
evaluate one mask at a time; here the pixels of a label are counted over all images, as for IoU.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Ratios, labels_and_average
from valor_cli.evaluators.segmentation.evidence.confusions import (
    BOUNDARIES,
    WORDS,
    Confusions,
    DilationRatio,
)
from valor_cli.metric import Metric
from valor_cli.results import Findings


def boundary_iou(confusions: Confusions, *, dilation_ratio: DilationRatio = 0.02) -> Findings:
    """IoU of the boundary pixels of each label, and the mean over labels.

    It shows how good outlines are where the IoU of large regions is no longer informative.
    Boundaries
    are as wide as `dilation_ratio` times the image's diagonal, at least one pixel. A label without
    ground truth has no value and does not enter the mean. Labels end where pixels are ignored.

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
