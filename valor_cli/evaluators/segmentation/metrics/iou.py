"""IoU of each label (Jaccard, New Phytologist, 1912)."""

from __future__ import annotations

from valor_cli.evaluators.ratios import per_label
from valor_cli.evaluators.segmentation.evidence.confusions import WORDS, Confusions, ious
from valor_cli.metric import Metric
from valor_cli.results import Findings


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
