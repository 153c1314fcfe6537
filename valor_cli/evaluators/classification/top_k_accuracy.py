"""Top-k accuracy: how often the true label is among the first k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.accuracy import NO_SAMPLES
from valor_cli.evaluators.classification.plan import Ties, TopK
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def top_k_accuracy(scored: Scored, *, k: TopK = 5, ties: Ties = "first_listed") -> MetricValue:
    """Samples whose true label is among the `k` labels with the highest scores.

    Of equal scores, 0 included, the first listed comes first, so that `k: 1` is accuracy;
    scikit-learn has the last listed first here: `ties: last_listed`. A label that is not listed is
    never among them, and a sample without a prediction counts as wrong.
    """
    right = scored.once(("top k", k, ties), lambda: _right(scored, k, ties))
    weights = scored.row_weights
    n = len(right) if weights is None else int(weights.sum())
    if not n:
        return MetricValue(None, NO_SAMPLES, n=0)
    hits = np.count_nonzero(right) if weights is None else int(weights[right].sum())
    return MetricValue(hits / n, n=n, proportion=True)


def _right(scored: Scored, k: int, ties: Ties) -> NDArray[np.bool_]:
    place = scored.place
    if ties == "last_listed":
        place = scored.scores.last_listed_first().place_of(scored.truth, scored.choices)
    return np.asarray((place < k) & (scored.top >= 0))


TOP_K_ACCURACY = Metric(
    name="top_k_accuracy",
    compute=top_k_accuracy,
    reference="sklearn.metrics.top_k_accuracy_score",
    citation="Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge, IJCV 2015",
    aliases=("TopKAccuracy",),
)
