"""Intersection over union of each label (Jaccard, New Phytologist, 1912)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import per_label
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.rows import WORDS, ious
from valor_cli.metric import Metric
from valor_cli.results import Findings


def iou(confusions: Confusions) -> Findings:
    """Pixels that are a label in ground truth and prediction, of those that are in either.

    Pixels of all images are counted together. A label without ground truth has no value; one that
    is never predicted has 0.
    """
    return Findings(per_label(confusions.labels, ious(confusions), WORDS))


IOU = Metric(
    name="iou",
    compute=iou,
    reference="sklearn.metrics.jaccard_score(average=None)",
    citation="Everingham et al., The PASCAL Visual Object Classes Challenge, IJCV 2015",
    aliases=("IOU", "IoU"),
)
