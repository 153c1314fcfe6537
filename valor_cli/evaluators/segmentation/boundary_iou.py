"""Boundary IoU (Cheng et al., CVPR 2021): intersection over union of the labels' boundaries.

The boundary of a label is what lies within d pixels of its outline, inside it; d is a part of the
image's diagonal, and the image's border is an outline too, as in the authors' code. They rate one
mask at a time; here the pixels of a label are counted over all images together, as for IoU.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Ratios, labels_and_average
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.plan import BOUNDARIES, DilationRatio
from valor_cli.evaluators.segmentation.rows import WORDS
from valor_cli.metric import Metric
from valor_cli.results import Findings


def boundary_iou(confusions: Confusions, *, dilation_ratio: DilationRatio = 0.02) -> Findings:
    """Intersection over union of the boundary pixels of each label, and the mean over labels.

    It says how good outlines are, where the IoU of large regions no longer tells. Boundaries
    are as wide as `dilation_ratio` times the image's diagonal, at least one pixel. A label without
    ground truth has no value and does not enter the mean. Labels end where pixels are ignored.
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
