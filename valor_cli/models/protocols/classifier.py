"""Protocol of classifiers: label probabilities for texts or pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity


class Pair(NamedTuple):
    """A premise, and a hypothesis that it may support."""

    premise: str
    hypothesis: str


class Classifier(Protocol):
    """A model that returns label probabilities.

    Attributes:
        identity: Which model it is.
        labels: As the model calls them, in its order.
        exclusive: Whether one label holds alone, so that the probabilities sum to 1.
        window: Tokens that it sees at once, special ones included.
    """

    identity: ModelIdentity
    labels: tuple[str, ...]
    exclusive: bool
    window: int

    def of_texts(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """(windows, labels) probabilities of each text; one window unless it is longer.

        Raises:
            Stopped: The run ends.
        """

    def of_pairs(self, pairs: Sequence[Pair]) -> list[NDArray[np.float64]]:
        """(hypothesis windows, premise windows, labels) probabilities of each pair.

        Raises:
            Stopped: The run ends.
        """
