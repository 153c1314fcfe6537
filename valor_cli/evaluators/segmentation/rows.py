"""Pixels of labels to the ratios that metrics report.

A label without ground truth has no value, save the precision of one that is predicted, and enters
no average.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Margins, Ratios, Words
from valor_cli.evaluators.segmentation.confusions import Confusions

NO_GROUND_TRUTH = "no ground truth pixels"
NO_LABEL = "no label has ground truth pixels"
NO_PREDICTIONS = "0/0: no pixel is predicted so; zero_division stands in"
WORDS = Words(NO_PREDICTIONS, NO_PREDICTIONS, NO_GROUND_TRUTH, NO_LABEL)


def margins(confusions: Confusions) -> Margins:
    """Pixels of each label: those that are right, its predictions, its ground truth."""
    truth, prediction, both = confusions.overlaps()
    return Margins(both, prediction, truth, truth > 0)


def ious(confusions: Confusions) -> Ratios:
    """Intersection over union of each label."""
    pixels = confusions.overlaps()
    return Ratios.of_truth(pixels.both, pixels.union, pixels.truth)
