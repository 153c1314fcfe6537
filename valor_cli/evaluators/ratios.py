"""Precision, recall, F1 and related ratios from label counts.

Averages are over the labels that a wing marks as present: macro is their unweighted mean, weighted
the mean weighted by ground truth, micro the ratio of the summed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import quotient
from valor_cli.results import Findings, LabelMean, MetricValue, Resampled, Scalar
from valor_cli.statistics.label_means import joined, unshifted, value_and_shift

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Average = Literal["macro", "micro", "weighted"]
ZeroDivision = Annotated[float, Interval(ge=0, le=1)]
"""The value of a 0/0."""

NO_GROUND_TRUTH = "no ground truth"
NO_LABEL = "no label has ground truth"


class Words(NamedTuple):
    """Messages of a wing about undefined or substituted values.

    Attributes:
        no_predictions: The ratio of a label is 0/0.
        nothing_predicted: That of every label seen is.
        no_ground_truth: A label has none.
        no_label: None has any.
    """

    no_predictions: str
    nothing_predicted: str
    no_ground_truth: str = NO_GROUND_TRUTH
    no_label: str = NO_LABEL


class Ratios(NamedTuple):
    """(labels,) columns.

    Attributes:
        part, whole: The value of a label is part / whole.
        truth: Ground truth of the label.
        defined: Where the label is no 0/0.
        seen: The labels that averages run over; without ground truth, part is 0.
        instead: The value of a 0/0.
        needs_truth: Whether a label without ground truth has no value in any case.
    """

    part: Ints
    whole: Ints
    truth: Ints
    defined: Bools
    seen: Bools
    instead: float = 0.0
    needs_truth: bool = True

    @classmethod
    def of_truth(cls, part: Ints, whole: Ints, truth: Ints) -> Ratios:
        """Ratios that are defined for the labels with ground truth."""
        return cls(part, whole, truth, truth > 0, truth > 0)

    @property
    def present(self) -> Bools:
        """(labels,) whether a value is defined; false where 0/0 is substituted."""
        there = self.truth > 0
        return there if self.needs_truth else there & self.defined

    @property
    def values(self) -> NDArray[np.float64]:
        """(labels,) part / whole, or the substitute for 0/0."""
        return quotient(self.part, np.where(self.defined, self.whole, 0), self.instead)


class Margins(NamedTuple):
    """(labels,) counts of true positives, predictions and ground truth.

    Attributes:
        seen: The labels that averages run over.
    """

    right: Ints
    predicted: Ints
    truth: Ints
    seen: Bools

    def precision(self, zero_division: float) -> Ratios:
        """Precision; 0/0 for a label that is never predicted."""
        return Ratios(
            self.right,
            self.predicted,
            self.truth,
            self.predicted > 0,
            self.seen,
            zero_division,
            needs_truth=False,
        )

    def recall(self) -> Ratios:
        """Recall; 0/0 for a label without ground truth."""
        return Ratios(self.right, self.truth, self.truth, self.truth > 0, self.seen)

    def f1(self, zero_division: float) -> Ratios:
        """F1; 0/0 where precision is."""
        whole = self.predicted + self.truth
        predicted = self.predicted > 0
        return Ratios(2 * self.right, whole, self.truth, predicted, self.seen, zero_division)


def _no_parameters(label: str) -> Mapping[str, Scalar]:
    """Of a label whose row has those of the metric alone."""
    return {}


def per_label(
    labels: Sequence[str],
    ratios: Ratios,
    words: Words,
    at: Callable[[str], Mapping[str, Scalar]] = _no_parameters,
) -> list[MetricValue]:
    """A value for each label; `n` is its ground truth.

    What needs no ground truth is 0/0 of a label that is never predicted, unless no label has any.

    Args:
        labels: Their names.
        ratios: Of the labels.
        words: Of the wing.
        at: For the name of a label, what its row says of its own parameters.
    """
    found: list[MetricValue] = []
    some = bool(ratios.truth.any())
    rows = zip(
        labels, ratios.values.tolist(), ratios.defined.tolist(), ratios.truth.tolist(), strict=True
    )
    for label, value, defined, n in rows:
        if not n and (ratios.needs_truth or not (defined or some)):
            why = words.no_ground_truth
            found.append(MetricValue(None, why, label=label, n=n, at=at(label)))
        else:
            stands_in = None if defined else words.no_predictions
            found.append(MetricValue(value, stands_in, label=label, n=n, at=at(label)))
    return found


def over_labels(ratios: Ratios, how: Average, words: Words) -> MetricValue:
    """One average over the labels that occur, at least one of which has ground truth."""
    seen = ratios.seen
    n = int(ratios.truth.sum())
    if not n:
        return MetricValue(None, words.no_label, n=n)
    over = None
    if how == "macro":
        over = LabelMean(np.where(seen, ratios.values, np.nan), ratios.present)
    if not ratios.defined[seen].any():
        return MetricValue(ratios.instead, words.nothing_predicted, n=n, over=over)
    if how == "micro":
        return MetricValue(int(ratios.part[seen].sum()) / int(ratios.whole[seen].sum()), n=n)
    weights = ratios.truth[seen] if how == "weighted" else None
    return MetricValue(float(np.average(ratios.values[seen], weights=weights)), n=n, over=over)


def labels_and_average_replicas(
    ratios: Ratios, all_data: Ratios, how: Average, words: Words
) -> Resampled:
    """The values of `labels_and_average` on each resample.

    Args:
        ratios: (resamples, labels) columns.
        all_data: The same of all data, (labels,).
        how, words: As `over_labels`.
    """
    nothing = ~ratios.truth.any(axis=1, keepdims=True)
    undefined = (ratios.truth == 0) & (ratios.needs_truth | ~ratios.defined & nothing)
    by_label = unshifted(np.where(undefined, np.nan, ratios.values))
    average = unshifted(np.empty((len(ratios.truth), 1)))
    over = over_labels(all_data, how, words).over
    for resample in range(len(ratios.truth)):
        part, whole, truth, defined, seen = (column[resample] for column in ratios[:5])
        mine = Ratios(part, whole, truth, defined, seen, ratios.instead, ratios.needs_truth)
        mean = over_labels(mine, how, words)
        pair = value_and_shift(mean.value, mean.over, over)
        average.values[resample], average.shifts[resample] = pair
    return joined([by_label, average], axis=1)


def labels_and_average(
    labels: Sequence[str],
    ratios: Ratios,
    how: Average,
    words: Words,
    at: Callable[[str], Mapping[str, Scalar]] = _no_parameters,
) -> Findings:
    """A value for each label, then the average; arguments as `per_label`, `over_labels`."""
    return Findings([*per_label(labels, ratios, words, at), over_labels(ratios, how, words)])


def mean_over_images(
    output: str, column: NDArray[np.float64], weights: NDArray[np.int64]
) -> MetricValue:
    """Weighted mean over the images where the value is defined.

    Args:
        output: The output that it is.
        column: (units,) the values; NaN where an image has none.
        weights: (units,) how often each image counts.
    """
    defined = ~np.isnan(column)
    counted = weights[defined]
    if not counted.sum():
        return MetricValue(None, "no image has one", output, n=0)
    mean = float(np.average(column[defined], weights=counted))
    return MetricValue(mean, output=output, n=int(counted.sum()))
