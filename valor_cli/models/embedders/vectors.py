"""Embed each distinct text once per run, through the cache.

texts ─▶ known already? ─▶ cached by an earlier run? ─▶ embedder, the longest first ─▶ cached
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import Problem, ValorError
from valor_cli.models.protocols import Embedder
from valor_cli.models.requests import NoAnswer, ProgressCallback, Stop, Stopped

if TYPE_CHECKING:
    from valor_cli.models.embedders.vector_store import VectorStore

AT_ONCE = 512
"""Texts between two looks at whether the run ends, and between two transactions."""

STAGE = "embedding texts"


class Vectors:
    """All vectors of a run; safe for concurrent use in one loop.

    Attributes:
        embedder: Who makes them.
        cut: How many texts are longer than it sees.
    """

    def __init__(
        self,
        embedder: Embedder,
        stop: Stop,
        on_progress: ProgressCallback,
        kept: VectorStore | None = None,
    ) -> None:
        """Initialise without loading anything.

        Args:
            embedder: Who makes vectors.
            stop: Asked between parts.
            on_progress: Called with the progress.
            kept: Vectors of earlier runs.
        """
        self.embedder = embedder
        self.cut = 0
        self._stop = stop
        self._on_progress = on_progress
        self._kept = kept
        self._places: dict[str, int] = {}
        self._table: NDArray[np.floating[Any]] = np.empty((0, 0))
        self._under_way: dict[str, asyncio.Event] = {}

    @property
    def troubles(self) -> tuple[str, ...]:
        """Warnings, in words."""
        told = []
        if self.cut:
            texts = "1 text is" if self.cut == 1 else f"{self.cut:,} texts are"
            lost = "its end is not in its vector"
            if self.cut > 1:
                lost = "their ends are not in their vectors"
            seen = f"the {self.embedder.longest or 0:,} tokens that {self.embedder.name} sees"
            told.append(f"{texts} longer than {seen}: {lost}")
        if self._kept is not None and self._kept.failed is not None:
            told.append(self._kept.failed)
        return tuple(told)

    async def embed(self, texts: Sequence[str], *, quiet: bool = False) -> NDArray[np.float64]:
        """(texts, dimensions) a vector of each.

        Args:
            texts: Any, the same one several times too.
            quiet: Whether to say nothing of how far it is: a few texts within other work.

        Raises:
            Unavailable: The embedder is not on this machine.
            NoAnswer: None could be had.
            Stopped: The run ends.
            ValorError: None ever will.
        """
        await self._know(texts, self._silent if quiet else self._on_progress)
        return self.known(texts)

    def known(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) vectors of texts that were embedded before."""
        places = np.array([self._places[text] for text in texts], np.intp)
        return np.asarray(self._table[places], np.float64)

    async def _know(self, texts: Sequence[str], on_progress: ProgressCallback) -> None:
        """Have the vectors of some texts. Raises as `embed`."""
        while new := [text for text in dict.fromkeys(texts) if text not in self._places]:
            mine = [text for text in new if text not in self._under_way]
            if not mine:
                # Another judge asks for it; if that fails, it is asked for again here.
                await self._under_way[new[0]].wait()
                continue
            brought = asyncio.Event()
            self._under_way.update(dict.fromkeys(mine, brought))
            try:
                await self._bring(mine, on_progress)
            finally:
                for text in mine:
                    del self._under_way[text]
                brought.set()

    async def _bring(self, new: list[str], on_progress: ProgressCallback) -> None:
        self.cut += self.embedder.cut(new)
        # Texts of like lengths are cheapest together.
        new = sorted(self._recalled(new), key=len, reverse=True)
        for at in range(0, len(new), AT_ONCE):
            if self._stop.reason is not None:
                raise Stopped(self._stop.reason)
            on_progress(STAGE, at, len(new))
            part = new[at : at + AT_ONCE]
            # Requests to a remote embedder go out together, and each is kept as it comes in.
            size = getattr(self.embedder, "at_a_time", AT_ONCE)
            parts = [part[first : first + size] for first in range(0, len(part), size)]
            ends = await asyncio.gather(*map(self._embedded, parts), return_exceptions=True)
            for end in ends:
                if end is not None:
                    raise end
        if new:
            on_progress(STAGE, len(new), len(new))

    @staticmethod
    def _silent(stage: str, done: int, total: int) -> None:
        """Do nothing."""

    def _recalled(self, texts: list[str]) -> list[str]:
        """The texts without cached vectors."""
        if self._kept is None:
            return texts
        found = self._kept.find(texts)
        if found:
            self._add(list(found), np.stack(list(found.values())))
        return [text for text in texts if text not in found]

    async def _embedded(self, texts: list[str]) -> None:
        vectors = await self.embedder.embed(texts)
        if not np.isfinite(vectors).all():
            raise NoAnswer(f"{self.embedder.name} made a vector that is not of finite numbers")
        if self._kept is not None:
            self._kept.keep(texts, vectors)
        self._add(texts, vectors)

    def _add(self, texts: Sequence[str], vectors: NDArray[np.floating[Any]]) -> None:
        used, dimensions = len(self._places), vectors.shape[1]
        if not used:
            self._table = np.empty((0, dimensions), vectors.dtype)
        if dimensions != self._table.shape[1]:
            before = self._table.shape[1]
            message = f"makes vectors of {dimensions:,} numbers, and made some of {before:,} before"
            # The store has forgotten what the model made when it was another one.
            hint = "run again, if the model has changed since an earlier run"
            raise ValorError(Problem(self.embedder.name, message), hint=hint)
        kind = np.result_type(self._table, vectors)
        room = used + len(texts)
        if room > len(self._table) or kind != self._table.dtype:
            grown = np.empty((max(room, 2 * used), dimensions), kind)
            grown[:used] = self._table[:used]
            self._table = grown
        self._table[used:room] = vectors
        self._places.update((text, used + at) for at, text in enumerate(texts))
