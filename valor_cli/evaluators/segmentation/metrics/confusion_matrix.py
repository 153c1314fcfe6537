"""Confusion matrix of pixels.

As in valor-lite, except that undefined ratios stay undefined; valor-lite reports 0.
"""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.segmentation.evidence.confusions import Confusions
from valor_cli.kernels.columns.grouping import nulls, quotient
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricTable

MOST_LABELS = 2000
"""A table of so many labels has four million cells and takes 30 MB in results.json."""


def confusion_matrix(confusions: Confusions) -> Findings:
    """Pixels of each label (rows) by what they are predicted as (columns), with IoU of each pair.

    Pixels of a label for which no label is predicted are unmatched ground truths; pixels of no
    label, such as an excluded background, for which a label is predicted are unmatched predictions.
    Ratios are theirs to all ground truth, or all predictions, of the label.

    Formula:
        cell (T, P) = pixels of label T predicted as P
        IoU of a cell = cell / (pixels of T + pixels predicted as P − cell)
        unmatched ratio = pixels of T without predicted label / pixels of T; so for predictions

    Pitfalls:
        Cells are pixels, so large regions have large cells whatever their share of errors: read a
        row as shares of its label. Nothing is unmatched unless there are pixels without a label.

    Example:
        100 pixels are road, 80 of them predicted as road and 20 as grass, and no others are
        predicted as road: cell (road, road) is 80, its IoU 80 / (100 + 80 − 80) = 0.8, and cell
        (road, grass) is 20.
    """
    count = len(confusions.labels)
    if count > MOST_LABELS:
        told = f"{count:,} labels make a table of {count * count:,} cells; left out (at most "
        return Findings(warnings=[f"{told}{MOST_LABELS:,} labels; label_map merges labels)"])
    pixels = confusions.matrix()
    if not pixels.any():
        return Findings()
    truths, predictions = pixels[:-1].sum(axis=1), pixels[:, :-1].sum(axis=0)
    matched, missed, invented = pixels[:-1, :-1], pixels[:-1, -1], pixels[-1, :-1]
    union = truths[:, None] + predictions - matched
    table = MetricTable(
        confusions.labels,
        matched.tolist(),
        missed.tolist(),
        invented.tolist(),
        ious=[nulls(row) for row in quotient(matched, union, np.nan)],
        unmatched_ground_truth_ratios=nulls(quotient(missed, truths, np.nan)),
        unmatched_prediction_ratios=nulls(quotient(invented, predictions, np.nan)),
    )
    return Findings(tables=[table])


CONFUSION_MATRIX = Metric(
    name="confusion_matrix",
    compute=confusion_matrix,
    reference="valor_lite.semantic_segmentation, its confusion matrix",
    citation="Stehman, Selecting and interpreting measures of thematic classification accuracy, "
    "Remote Sensing of Environment, 1997",
    outputs=(),
    draws="table",
    aliases=("ConfusionMatrix",),
)
