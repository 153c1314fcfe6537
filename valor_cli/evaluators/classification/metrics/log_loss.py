"""Log loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import count_of_rows
from valor_cli.evaluators.classification.evidence.probabilities import (
    NEEDS,
    divisors,
    mean_of_rows,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.ratios import over_samples
from valor_cli.metric import Metric, Output
from valor_cli.results import MetricValue

SMALLEST = float(np.finfo(np.float64).eps)


def log_loss(evidence: Evidence, *, normalize: bool = False) -> MetricValue:
    """Mean over samples of minus the natural logarithm of the true label's probability.

    Probabilities are kept from 2.2e-16 to 1 - 2.2e-16, as scikit-learn does, so that a certain
    error costs 36 and not infinity; a true label that is not listed has probability 0. Rows whose
    sum is 1 but for rounding (1e-3) are divided by it, with `normalize` all rows are.

    Formula:
        −(1/n) · Σ ln p(i) over samples i
        p(i): probability of the sample's true label; n: samples

    Pitfalls:
        One sure mistake can outweigh many right answers. It has no upper end and grows with the
        number of labels (equal probabilities for all cost ln(labels)), so values of different data
        do not compare.

    Example:
        Probabilities of the true label 0.9, 0.5 and 0.1: (0.105 + 0.693 + 2.303) / 3 = 1.034.
    """
    mean = mean_of_rows(
        evidence,
        ("log losses", normalize),
        lambda scored: losses(scored, normalize=normalize),
    )
    return over_samples(mean, count_of_rows(evidence))


def losses(scored: Scored, *, normalize: bool) -> NDArray[np.float64]:
    """(n,) the loss of each row, in nats; `normalize` as in `log_loss`."""
    return scored.once(("losses of rows", normalize), lambda: _losses(scored, normalize=normalize))


def _losses(scored: Scored, *, normalize: bool) -> NDArray[np.float64]:
    probability = scored.true_score / divisors(scored, normalize=normalize)
    return np.asarray(-np.log(np.clip(probability, SMALLEST, 1 - SMALLEST)))


LOG_LOSS = Metric(
    name="log_loss",
    compute=log_loss,
    reference="sklearn.metrics.log_loss",
    citation="Good, Rational decisions, Journal of the Royal Statistical Society B, 1952",
    outputs=(Output(better="lower", bounds=(0, None), unit="nats"),),
    needs=NEEDS,
    condensed=True,
    aliases=("LogLoss",),
)
