"""Columns over labels to the values that a metric reports.

A label without ground truth has no value, save the precision of one that is predicted, and enters
no average.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns import quotient
from valor_cli.results import MetricValue

Ints = NDArray[np.int64]
Average = Literal["macro", "micro", "weighted"]

NO_GROUND_TRUTH = "no ground truth pixels"
NO_LABEL = "no label has ground truth pixels"
NO_PREDICTIONS = "0/0: no pixel is predicted so; zero_division stands in"


class Ratios(NamedTuple):
    """(labels,) columns of pixels.

    Attributes:
        part, whole: The value of a label is part / whole.
        truth: Ground truth of the label.
        defined: Where the label is no 0/0.
        instead: The value of a 0/0.
        needs_truth: Whether a label without ground truth has no value in any case.
    """

    part: Ints
    whole: Ints
    truth: Ints
    defined: NDArray[np.bool_]
    instead: float = 0.0
    needs_truth: bool = True

    @classmethod
    def of_truth(cls, part: Ints, whole: Ints, truth: Ints) -> Ratios:
        """Ratios that every label with ground truth has."""
        return cls(part, whole, truth, truth > 0)

    @property
    def values(self) -> NDArray[np.float64]:
        """(labels,) part / whole, or what stands in."""
        return quotient(self.part, np.where(self.defined, self.whole, 0), self.instead)


def per_label(labels: tuple[str, ...], ratios: Ratios) -> list[MetricValue]:
    """A value for each label; `n` is the number of its ground truth pixels."""
    found: list[MetricValue] = []
    rows = zip(
        labels, ratios.values.tolist(), ratios.defined.tolist(), ratios.truth.tolist(), strict=True
    )
    for label, value, defined, n in rows:
        if not n and (ratios.needs_truth or not defined):
            found.append(MetricValue(None, NO_GROUND_TRUTH, label=label, n=n))
        else:
            why = None if defined else NO_PREDICTIONS
            found.append(MetricValue(value, why, label=label, n=n))
    return found


def over_labels(ratios: Ratios, how: Average) -> MetricValue:
    """One value over the labels that have ground truth.

    Args:
        ratios: Of the labels.
        how: macro is their plain mean, weighted the mean by ground truth pixels, micro the ratio
            of the summed pixels.
    """
    seen = ratios.truth > 0
    n = int(ratios.truth.sum())
    if not n:
        return MetricValue(None, NO_LABEL, n=n)
    if not ratios.defined[seen].any():
        return MetricValue(ratios.instead, NO_PREDICTIONS, n=n)
    if how == "micro":
        return MetricValue(float(ratios.part[seen].sum() / ratios.whole[seen].sum()), n=n)
    weights = ratios.truth[seen] if how == "weighted" else None
    return MetricValue(float(np.average(ratios.values[seen], weights=weights)), n=n)
