"""Top-k accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, count_of_rows
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.classification.evidence.tallies import added
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import MetricValue

Ties = Literal["first_listed", "last_listed"]
Ints = NDArray[np.int64]
TopK = Annotated[int, Interval(ge=1, le=1_000_000)]


class Hits(NamedTuple):
    """(replicas,) number of rows whose true label is in the top k."""

    rows: Ints

    @staticmethod
    def merged(parts: Sequence[Hits]) -> Hits:
        """Sum over parts."""
        return Hits(*added(parts))


def top_k_accuracy(evidence: Evidence, *, k: TopK = 5, ties: Ties = "first_listed") -> MetricValue:
    """The share of samples whose true label is among the `k` highest scores.

    Of equal scores, 0 included, the first listed comes first, so that `k: 1` is accuracy;
    scikit-learn has the last listed first here: `ties: last_listed`. A label that is not listed is
    never among them, and a sample without a prediction counts as wrong.

    Formula:
        hits / n
        hits: samples whose true label is among the k highest scores; n: all samples

    Pitfalls:
        With few labels it is high by chance: of 10 labels, a guess has the right one among 5 half
        of the time. Models that list fewer than `k` labels are compared with models that list
        more.

    Example:
        In three of four samples the true label is first or second, in one it is third: for `k: 2`
        that is 3 / 4 = 0.75.
    """
    hits = evidence.tally(("hits", k, ties), lambda scored: _hits(scored, k, ties))
    n = count_of_rows(evidence)
    return over_samples(quotient(hits.rows, n, np.nan), n, proportion=True)


def _hits(scored: Scored, k: int, ties: Ties) -> Hits:
    name = ("top k", k, ties)
    right = scored.once(name, lambda: _right(scored, k, ties))
    return Hits(scored.counts(name, right.astype(np.int32), None, 2)[:, 1])


def _right(scored: Scored, k: int, ties: Ties) -> NDArray[np.bool_]:
    place = scored.place
    if ties == "last_listed":
        place = scored.scores.last_listed_first().place_of(scored.truth, scored.choices)
    return np.asarray((place < k) & (scored.top >= 0))


TOP_K_ACCURACY = Metric(
    name="top_k_accuracy",
    compute=top_k_accuracy,
    needs=ONE_LABEL,
    reference="sklearn.metrics.top_k_accuracy_score",
    condensed=True,
    citation="Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge, IJCV 2015",
    aliases=("TopKAccuracy",),
)
