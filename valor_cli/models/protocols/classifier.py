"""What a classifier is: texts, or pairs of texts, in; probabilities of labels out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity


class Pair(NamedTuple):
    """A premise, and a hypothesis that it may bear out."""

    premise: str
    hypothesis: str


class Classifier(Protocol):
    """A model that says how probable each of its labels is.

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
        """Of each text, (windows, labels) probabilities; one window unless it is longer.

        Raises:
            Stopped: The run ends.
        """

    def of_pairs(self, pairs: Sequence[Pair]) -> list[NDArray[np.float64]]:
        """Of each pair, (windows of the hypothesis, windows of the premise, labels) probabilities.

        Raises:
            Stopped: The run ends.
        """
