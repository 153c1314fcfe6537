"""Protocol of token encoders: one vector per token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity

STAGE = "encoding tokens"
"""What a run is at meanwhile, for those who watch it."""


class TokenStates(NamedTuple):
    """Tokens of a text with their vectors.

    Attributes:
        ids: (tokens,) in the model's vocabulary, special tokens included.
        special: (tokens,) which of them are special: they stand for no word.
        states: (tokens, dimensions) the hidden states of one layer, not of unit length.
    """

    ids: NDArray[np.int64]
    special: NDArray[np.bool_]
    states: NDArray[np.floating[Any]]


class TokenEncoder(Protocol):
    """A model that returns a contextual vector for every token.

    Attributes:
        identity: Which model it is.
        layer: Whose hidden states these are, counted from the embeddings, which are 0.
        longest: Tokens of a text that it sees, special ones included.
    """

    identity: ModelIdentity
    layer: int
    longest: int

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Token states of each text, in order; long texts are truncated.

        Raises:
            Stopped: The run ends.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
