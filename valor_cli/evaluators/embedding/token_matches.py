"""Match the tokens of text pairs by the cosine of their vectors.

Each distinct text is encoded once. The states of a text, a megabyte and more, are kept from the
first to the last pair that contains it, so pairs that share texts should be adjacent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.vectors.cosines import units
from valor_cli.kernels.vectors.greedy_matching import DocumentFrequencies, best_matches
from valor_cli.models.protocols import TokenEncoder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[str, str]


class Tokens(NamedTuple):
    """The tokens of a text.

    Attributes:
        ids: (tokens,) in the vocabulary.
        words: (tokens,) 1, and 0 of special ones.
        cut: Whether the text has more than the model sees.
    """

    ids: Ints
    words: Floats
    cut: bool


class Match(NamedTuple):
    """The best cosine of each token with a token of the other text."""

    ones: Floats
    others: Floats


def matched(
    encoder: TokenEncoder, pairs: Sequence[Pair], alone: Sequence[str] = ()
) -> tuple[dict[str, Tokens], list[Match]]:
    """The tokens of all texts, and the matches of each pair.

    Args:
        encoder: Makes vectors of tokens.
        pairs: Texts that are compared.
        alone: Further texts whose tokens are asked for.

    Raises:
        Stopped: The run ends.
    """
    uses = Counter(text for pair in pairs for text in set(pair))
    order = list(dict.fromkeys([*(text for pair in pairs for text in pair), *alone]))
    stream = zip(order, encoder.states(order), strict=True)
    tokens: dict[str, Tokens] = {}
    held: dict[str, Floats] = {}
    matches = []
    for pair in pairs:
        for text in pair:
            while text not in tokens:
                one, (ids, special, states) = next(stream)
                cut = len(ids) >= encoder.longest and encoder.cut([one]) > 0
                tokens[one] = Tokens(ids, _words(special), cut)
                held[one] = units(np.asarray(states, np.float64))
        matches.append(Match(*best_matches(*(held[text] for text in pair))))
        for text in set(pair):
            uses[text] -= 1
            if not uses[text]:
                del held[text]
    for one, (ids, special, _) in stream:
        tokens[one] = Tokens(ids, _words(special), False)
    return tokens, matches


def _words(special: NDArray[np.bool_]) -> Floats:
    return np.where(special, 0.0, 1.0)


class Weights:
    """Weights of the tokens of texts."""

    def __init__(self, tokens: dict[str, Tokens], documents: Sequence[str] | None) -> None:
        """Count the documents that contain each token.

        Args:
            tokens: Of all texts.
            documents: Texts that say which tokens are rare; None: all tokens count the same.
        """
        self._tokens = tokens
        self._frequencies = (
            None
            if documents is None
            else DocumentFrequencies(tokens[text].ids for text in documents)
        )

    def of(self, text: str) -> Floats:
        """(tokens,) non-negative weights; 0 for special tokens."""
        ids, words, _ = self._tokens[text]
        return words if self._frequencies is None else words * self._frequencies.inverse(ids)
