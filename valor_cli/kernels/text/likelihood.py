"""Log-probabilities of tokens in; how unlikely they are together out, in nats."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Surprise(NamedTuple):
    """What a model did not foresee in a text: the sum over its tokens, and how many these are."""

    total: float
    tokens: int

    @property
    def mean(self) -> float:
        """Nats a token, 0 or more; not finite where a probability is 0 or no number."""
        return self.total / self.tokens


def surprise(log_probabilities: NDArray[np.float64]) -> Surprise | None:
    """The negative log-likelihood of a text; None of one without a scored token.

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
    return Surprise(nats, len(log_probabilities))
