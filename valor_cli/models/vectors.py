"""Texts in; their vectors out, each distinct text embedded once in a run, and kept for later ones.

texts ─▶ known already? ─▶ kept by an earlier run? ─▶ embedder, the longest first ─▶ kept
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.embedder import Embedder
from valor_cli.models.judge import Stopped
from valor_cli.models.stop import Stop

AT_ONCE = 512
"""Texts between two looks at whether the run ends, and between two transactions."""

STAGE = "embedding texts"


class Kept(Protocol):
    """Vectors of earlier runs."""

    def find(self, texts: Sequence[str]) -> dict[str, NDArray[np.floating[Any]]]:
        """The vectors of those texts that have one."""

    def keep(self, texts: Sequence[str], vectors: NDArray[np.floating[Any]]) -> None:
        """Have them for later runs."""


class Vectors:
    """All vectors of a run."""

    def __init__(
        self,
        embedder: Embedder,
        stop: Stop,
        told: Callable[[str, int, int], None],
        kept: Kept | None = None,
    ) -> None:
        """Nothing is embedded yet.

        Args:
            embedder: Who makes vectors.
            stop: Asked between parts.
            told: Told how far it is.
            kept: Vectors of earlier runs.
        """
        self.embedder = embedder
        self.asked = 0
        self.cut = 0
        self._stop = stop
        self._told = told
        self._kept = kept
        self._places: dict[str, int] = {}
        self._table: NDArray[np.floating[Any]] = np.empty((0, 0))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) a vector of each.

        Raises:
            NoAnswer: None could be had.
            Stopped: The run ends.
            ValorError: None ever will.
        """
        await self.know(texts)
        return self.known(texts)

    def known(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) the vectors of texts that were asked for before."""
        return np.asarray(self._table[[self._places[text] for text in texts]], np.float64)

    async def know(self, texts: Sequence[str]) -> None:
        """Have the vectors of some texts. Raises as `embed`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._places]
        self.cut += self.embedder.cut(new)
        # Texts of like lengths are cheapest together.
        new = sorted(self._recalled(new), key=len, reverse=True)
        if not new:
            return
        self._told(STAGE, 0, len(new))
        for at in range(0, len(new), AT_ONCE):
            if self._stop.reason is not None:
                raise Stopped(self._stop.reason)
            part = new[at : at + AT_ONCE]
            vectors = await self.embedder.embed(part)
            self.asked += len(part)
            self._add(part, vectors)
            if self._kept is not None:
                self._kept.keep(part, vectors)
            self._told(STAGE, at + len(part), len(new))

    def _recalled(self, texts: list[str]) -> list[str]:
        """The texts that no earlier run had."""
        if self._kept is None or not texts:
            return texts
        found = self._kept.find(texts)
        if found:
            self._add(list(found), np.stack(list(found.values())))
        return [text for text in texts if text not in found]

    def _add(self, texts: Sequence[str], vectors: NDArray[np.floating[Any]]) -> None:
        used = len(self._places)
        if not used:
            self._table = np.empty((0, vectors.shape[1]), vectors.dtype)
        # Judges ask side by side: another one may have brought the same text meanwhile.
        fresh = [at for at, text in enumerate(texts) if text not in self._places]
        needed = used + len(fresh)
        if needed > len(self._table):
            grown = np.empty((max(needed, 2 * len(self._table)), self._table.shape[1]))
            grown = grown.astype(vectors.dtype)
            grown[:used] = self._table[:used]
            self._table = grown
        self._table[used:needed] = vectors[fresh]
        self._places.update((texts[at], used + i) for i, at in enumerate(fresh))
