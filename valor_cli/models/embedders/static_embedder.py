"""Embed texts as the mean of static token vectors.

Vectors equal those of `WordLlama.embed` and of model2vec's `StaticModel.encode`. They differ from
the latter for texts over its token limit, which it also cuts at a number of characters, and for
16-bit tables, for which it rounds means to 16 bits again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.models.embedders.static_tables import loaded_table
from valor_cli.models.protocols.identity import ModelIdentity
from valor_cli.models.settings.models import WORDLLAMA, EmbedderSettings
from valor_cli.models.text.parts import parts_of

Floats = NDArray[np.float32]


class StaticEmbedder:
    """Static token vectors from a table."""

    remote = False
    # Looking vectors up in the cache takes longer than making them.
    keeps = None

    def __init__(self, settings: EmbedderSettings) -> None:
        """Read the table.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: The folder holds none, or one that cannot be used.
            MissingExtraError: The packages that read it are not installed.
        """
        self._table = loaded_table(settings.model or WORDLLAMA)
        self.name = settings.called
        self.identity = ModelIdentity(self.name, self._table.sha256)
        self.longest = settings.max_tokens or self._table.longest
        self._prompt = settings.prompt

    async def embed(self, texts: Sequence[str]) -> Floats:
        """(texts, dimensions) vectors; zeros for a text without known tokens."""
        found = np.zeros((len(texts), self._table.vectors.shape[1]), np.float32)
        for at, tokens in enumerate(self._tokens(texts)):
            known = tokens[: self.longest]
            known = known[known != self._table.unknown]
            if len(known):
                found[at] = self._mean(known)
        return found

    def _mean(self, tokens: NDArray[np.int64]) -> Floats:
        # By distinct token: memory is bounded by the vocabulary, whatever the text's length.
        table = self._table
        distinct, counts = np.unique(tokens, return_counts=True)
        shares = counts / len(tokens)
        if table.weights is not None:
            shares *= table.weights[distinct]
        rows = distinct if table.rows is None else table.rows[distinct]
        mean: Floats = shares.astype(np.float32) @ table.vectors[rows]
        length = float(np.linalg.norm(mean)) if table.unit else 1.0
        return mean / np.float32(length) if length else mean

    def _tokens(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """The tokens of each text, all of them."""
        for part in parts_of([self._prompt + text for text in texts]):
            for one in self._table.tokenizer.encode_batch_fast(part, add_special_tokens=False):
                yield np.array(one.ids, np.int64)

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        longest = self.longest
        if longest is None:
            return 0
        # No token of a text that is written out has less than a byte.
        long = [
            text for text in texts if len(whole_characters(self._prompt + text).encode()) > longest
        ]
        return sum(len(tokens) > longest for tokens in self._tokens(long))

    async def close(self) -> None:
        """Do nothing: no resources are held."""
