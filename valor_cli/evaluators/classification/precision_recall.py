"""Precision, recall and F1 of each label, and their averages.

Averages are scikit-learn's: macro and weighted run over the labels seen on either side (they have
ground truth, or are positive somewhere), weighted by number of ground truths; micro is the ratio of
the summed counts. F1 of a label that has ground truth and is never positive follows
`zero_division`, as its precision does, where scikit-learn has 0 whatever that says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import (
    LabelCounts,
    label_counts,
    threshold_of,
)
from valor_cli.evaluators.classification.plan import Average, ScoreThreshold, ZeroDivision
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.kernels.columns import quotient
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

REFERENCE = "sklearn.metrics.precision_recall_fscore_support"
CITATION = "van Rijsbergen, Information Retrieval, 1979"
NO_GROUND_TRUTH = "no ground truth"
NO_PREDICTIONS = "0/0: nothing is predicted as this label; zero_division stands in"
NOTHING_PREDICTED = "0/0: nothing is predicted; zero_division stands in"


def precision(
    scored: Scored,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """True positives among the rows that each label is positive in, and the average over labels.

    A label that is positive nowhere is 0/0 and follows `zero_division`. One without ground truth
    has its precision reported if it is predicted, and enters the average then.
    """
    found = label_counts(scored, score_threshold, hardmax=hardmax)
    positive = found.tp + found.fp
    ratios = _Ratios(found.tp, positive, positive > 0, zero_division)
    return _findings(scored, found, ratios, average, score_threshold, needs_truth=False)


def recall(
    scored: Scored,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
) -> Findings:
    """Ground truths of each label in whose row it is positive, and the average over labels.

    A label without ground truth has no recall; if it is predicted, the macro average counts it as
    0, as scikit-learn's does.
    """
    found = label_counts(scored, score_threshold, hardmax=hardmax)
    truths = found.tp + found.fn
    ratios = _Ratios(found.tp, truths, truths > 0, 0.0)
    return _findings(scored, found, ratios, average, score_threshold, needs_truth=True)


def f1(
    scored: Scored,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Harmonic mean of precision and recall of each label, and the average over labels.

    A label that has ground truth and is positive nowhere follows `zero_division`, as its precision
    does. One without ground truth has no value; if it is predicted, the macro average counts it as
    0, as scikit-learn's does.
    """
    found = label_counts(scored, score_threshold, hardmax=hardmax)
    ratios = _Ratios(
        2 * found.tp, 2 * found.tp + found.fp + found.fn, found.tp + found.fp > 0, zero_division
    )
    return _findings(scored, found, ratios, average, score_threshold, needs_truth=True)


class _Ratios(NamedTuple):
    """(labels,) part / whole where defined, else `instead`."""

    part: Ints
    whole: Ints
    defined: NDArray[np.bool_]
    instead: float

    @property
    def values(self) -> Floats:
        """(labels,) the ratios."""
        return quotient(self.part, np.where(self.defined, self.whole, 0), self.instead)


def _findings(
    scored: Scored,
    found: LabelCounts,
    ratios: _Ratios,
    average: Average,
    score_threshold: ScoreThreshold,
    *,
    needs_truth: bool,
) -> Findings:
    """A value per label, then the average over the labels seen."""
    values: list[MetricValue] = []
    for label, value, defined, n in zip(
        scored.labels,
        ratios.values.tolist(),
        ratios.defined.tolist(),
        (found.tp + found.fn).tolist(),
        strict=True,
    ):
        at = threshold_of(score_threshold, label)
        if not n and (needs_truth or not defined):
            values.append(MetricValue(None, NO_GROUND_TRUTH, label=label, n=n, at=at))
        else:
            why = None if defined else NO_PREDICTIONS
            values.append(MetricValue(value, why, label=label, n=n, at=at))
    return Findings([*values, _average(found, ratios, average)])


def _average(found: LabelCounts, ratios: _Ratios, average: Average) -> MetricValue:
    truths = found.tp + found.fn
    n = int(truths.sum())
    if not n:
        return MetricValue(None, "no label has ground truth", n=n)
    seen = truths + found.fp > 0
    if not ratios.defined[seen].any():
        return MetricValue(ratios.instead, NOTHING_PREDICTED, n=n)
    if average == "micro":
        return MetricValue(int(ratios.part.sum()) / int(ratios.whole.sum()), n=n)
    weights = truths[seen] if average == "weighted" else None
    return MetricValue(float(np.average(ratios.values[seen], weights=weights)), n=n)


PRECISION = Metric(
    name="precision",
    compute=precision,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Precision",),
)
RECALL = Metric(
    name="recall",
    compute=recall,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Recall",),
)
F1 = Metric(
    name="f1",
    compute=f1,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("F1",),
)
