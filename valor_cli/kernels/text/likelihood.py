"""Negative log-likelihood of a text from token log-probabilities, in nats."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class NegativeLogLikelihood(NamedTuple):
    """Summed negative log-likelihood of a text, and its number of tokens."""

    total: float
    tokens: int

    @property
    def mean(self) -> float:
        """Nats per token; not finite if a probability is 0 or NaN."""
        return self.total / self.tokens


def negative_log_likelihood(log_probabilities: NDArray[np.float64]) -> NegativeLogLikelihood | None:
    """Negative log-likelihood of a text; None without a scored token.

    A logarithm a hair above 0 is a sure token, rounded up, and counts as 0.

    Args:
        log_probabilities: (tokens,) natural logarithms, of those that were scored.
    """
    if not len(log_probabilities):
        return None
    # Every step is exact, so that neither order nor company changes the last digit.
    try:
        nats = 0.0 - math.fsum(np.minimum(log_probabilities, 0.0).tolist())
    except OverflowError:
        nats = math.inf
    return NegativeLogLikelihood(nats, len(log_probabilities))
