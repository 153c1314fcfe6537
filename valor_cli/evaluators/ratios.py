"""Precision, recall, F1 and related ratios from label counts.

Averages are over the labels that a wing marks as present: macro is their unweighted mean, weighted
the mean weighted by ground truth, micro the ratio of the summed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import nulls, quotient
from valor_cli.results import Findings, LabelMean, MetricValue, Scalar
from valor_cli.statistics.label_means import alike, by_replica, chosen, first_and_all, means_where

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Average = Literal["macro", "micro", "weighted"]
ZeroDivision = Annotated[float, Interval(ge=0, le=1)]
"""The value of a 0/0."""

NO_GROUND_TRUTH = "no ground truth"
NO_LABEL = "no label has ground truth"
NO_SAMPLES = "no samples"


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
    """(labels,) or (replicas, labels) columns.

    Attributes:
        part, whole: The value of a label is part / whole.
        truth: Ground truth of the label.
        defined: Where the label is no 0/0.
        seen: The labels that averages run over; without ground truth, part is 0.
        instead: The value of a 0/0.
        needs_truth: Whether a label without ground truth has no value in any case.
        stands_in: Whether such a label, where it may have one and others have ground truth, has
            the substitute for 0/0.
    """

    part: Ints
    whole: Ints
    truth: Ints
    defined: Bools
    seen: Bools
    instead: float = 0.0
    needs_truth: bool = True
    stands_in: bool = True

    @classmethod
    def of_truth(cls, part: Ints, whole: Ints, truth: Ints) -> Ratios:
        """Ratios that are defined for the labels with ground truth."""
        return cls(part, whole, truth, truth > 0, truth > 0)

    @property
    def present(self) -> Bools:
        """Whether a value is defined; false where 0/0 is substituted."""
        there = self.truth > 0
        return there if self.needs_truth else there & self.defined

    @property
    def values(self) -> NDArray[np.float64]:
        """Part / whole, or the substitute for 0/0."""
        return quotient(self.part, np.where(self.defined, self.whole, 0), self.instead)

    def by_replica(self) -> Ratios:
        """The same as (replicas, labels)."""
        return self._each(np.atleast_2d)

    def rows(self, some: Ints) -> Ratios:
        """Those of some replicas."""
        return self._each(lambda column: column[some])

    def _each(self, change: Callable[[Any], Any]) -> Ratios:
        part, whole, truth, defined, seen = map(change, self[:5])
        return Ratios(part, whole, truth, defined, seen, *self[5:])


class Margins(NamedTuple):
    """(labels,) or (replicas, labels) counts of true positives, predictions and ground truth.

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
    ratios = ratios.by_replica()
    no_truth = ratios.truth == 0
    nothing = ~ratios.truth.any(axis=1, keepdims=True)
    no_substitute = nothing | (not ratios.stands_in)
    undefined = no_truth & (ratios.needs_truth | ~ratios.defined & no_substitute)
    why = [
        words.no_ground_truth if no else None if defined else words.no_predictions
        for no, defined in zip(undefined[0].tolist(), ratios.defined[0].tolist(), strict=True)
    ]
    values = np.where(undefined, np.nan, ratios.values)
    return values_of_labels(labels, values, ratios.truth[0], why, at=at)


def counts_of_labels(
    labels: Sequence[str],
    counts: Mapping[str, Ints],
    truths: Ints,
    at: Callable[[str], Mapping[str, Scalar]],
) -> list[MetricValue]:
    """Counts of each label, one output after the other.

    Args:
        labels: Their names.
        counts: By output, (replicas, labels) counts.
        truths, at: As in `values_of_labels`.
    """
    known = [None] * len(labels)
    return [
        value
        for output, column in counts.items()
        for value in values_of_labels(labels, column, truths, known, output=output, at=at)
    ]


def values_of_labels(
    labels: Sequence[str],
    values: NDArray[np.float64] | Ints,
    truths: Ints,
    why: Sequence[str | None],
    *,
    output: str = "value",
    at: Callable[[str], Mapping[str, Scalar]] = _no_parameters,
) -> list[MetricValue]:
    """A value for each label.

    Args:
        labels: Their names.
        values: (replicas, labels) the values; NaN for none.
        truths: (labels,) ground truth of each.
        why: (labels,) as `MetricValue.undefined`.
        output: Which of the metric's outputs they are.
        at: As in `per_label`.
    """
    columns = labels, nulls(values[0]), why, truths.tolist(), by_replica(values)
    return [
        MetricValue(value, reason, output, label, n, at(label), replicas=replicas)
        for label, value, reason, n, replicas in zip(*columns, strict=True)
    ]


def over_labels(ratios: Ratios, how: Average, words: Words) -> MetricValue:
    """One average over the labels that occur, at least one of which has ground truth."""
    ratios = ratios.by_replica()
    n = int(ratios.truth[0].sum())
    means = _averages(ratios, how)
    value, why, replicas = first_and_all(means, words.no_label)
    if n and not (ratios.defined & ratios.seen)[0].any():
        why = words.nothing_predicted
    over = None
    if how == "macro" and (n or replicas is not None):
        over = LabelMean(np.where(ratios.seen, ratios.values, np.nan), ratios.present)
    return MetricValue(value, why, n=n, over=over, replicas=replicas)


def over_samples(
    found: NDArray[np.float64],
    n: Ints,
    output: str = "value",
    none: str = NO_SAMPLES,
    *,
    proportion: bool = False,
) -> MetricValue:
    """A value of all samples.

    Args:
        found: (replicas,) what it is; NaN for none.
        n: (replicas,) how many samples there are.
        output: Its name.
        none: Why there is none, although there are samples.
        proportion: Whether it is a share of these samples.
    """
    value, why, replicas = first_and_all(found, none if n[0] else NO_SAMPLES)
    proportion = proportion and not why
    return MetricValue(value, why, output, n=int(n[0]), proportion=proportion, replicas=replicas)


def mean_over_labels(values: NDArray[np.float64], n: Ints, none: str) -> MetricValue:
    """The mean over the labels that have a value.

    Args:
        values: (replicas, labels) of each; NaN for none.
        n: (replicas,) how many samples there are.
        none: Why there is no mean.
    """
    defined = ~np.isnan(values)
    value, why, replicas = first_and_all(means_where(values, defined), none)
    over = LabelMean(values, defined)
    return MetricValue(value, why, n=int(n[0]), over=over, replicas=replicas)


def _averages(ratios: Ratios, how: Average) -> NDArray[np.float64]:
    """(replicas,) averages; NaN where no label has ground truth."""
    some = ratios.truth.any(axis=1)
    means = np.where(some, ratios.instead, np.nan)
    rows = np.flatnonzero(some & (ratios.defined & ratios.seen).any(axis=1))
    own = ratios.rows(rows)
    if how == "macro":
        means[rows] = means_where(own.values, own.seen)
    elif how == "micro":
        part, whole = (np.where(own.seen, one, 0).sum(axis=1) for one in (own.part, own.whole))
        means[rows] = part / whole
    else:
        for at, seen in alike(own.seen):
            weights, values = chosen(own.truth[at], seen), chosen(own.values[at], seen)
            means[rows[at]] = np.average(values, axis=1, weights=weights)
    return means


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
        weights: (replicas, units) how often each image counts.
    """
    defined = ~np.isnan(column)
    counted = np.ascontiguousarray(weights[:, defined])
    total = counted.sum(axis=1)
    means = quotient((counted * column[defined]).sum(axis=1), total, np.nan)
    value, why, replicas = first_and_all(means, "no image has one")
    return MetricValue(value, why, output, n=int(total[0]), replicas=replicas)
