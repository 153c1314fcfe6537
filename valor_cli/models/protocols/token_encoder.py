"""What a token encoder is: texts in, a vector of each token out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity

STAGE = "encoding tokens"
"""What a run is at meanwhile, for those who watch it."""


class TokenStates(NamedTuple):
    """The tokens of a text as a model sees them.

    Attributes:
        ids: (tokens,) in the model's vocabulary, special tokens included.
        special: (tokens,) which of them are special: they stand for no word.
        states: (tokens, dimensions) the hidden states of one layer, not of unit length.
    """

    ids: NDArray[np.int64]
    special: NDArray[np.bool_]
    states: NDArray[np.floating[Any]]


class TokenEncoder(Protocol):
    """A model that makes a vector of every token of a text, in the light of the others.

    Attributes:
        identity: Which model it is.
        layer: Whose hidden states these are, counted from the embeddings, which are 0.
        longest: Tokens of a text that it sees, special ones included.
    """

    identity: ModelIdentity
    layer: int
    longest: int

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Of each text, in their order; longer ones are cut.

        Raises:
            Stopped: The run ends.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it sees."""
