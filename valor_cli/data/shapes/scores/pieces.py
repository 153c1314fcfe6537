"""Collect rows of labels and scores into columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.rows import Ints, ScorePiece

_WIDE: Final = 64
_LARGE: Final = 64 << 20
"""Ids wider than so many bytes are objects where the column would be larger than this."""


class ScoreRows:
    """Valid rows, collected one by one.

    Attributes:
        faulty: How many lines could not be used.
    """

    __slots__ = ("_metadata", "_rows", "_values", "faulty")

    def __init__(self, metadata: Sequence[str]) -> None:
        self.faulty = 0
        self._metadata = metadata
        self._clear()

    def _clear(self) -> None:
        self._rows: list[tuple[bytes, int, int, int, Sequence[int], Sequence[float]]] = []
        self._values: list[Sequence[Any]] = []

    def add(
        self,
        sample_id: bytes,
        line: int,
        *,
        key: int,
        truth: int,
        labels: Sequence[int],
        scores: Sequence[float],
        metadata: Sequence[Any],
    ) -> None:
        """Add a row; -1 for no key or no true label."""
        self._rows.append((sample_id, line, key, truth, labels, scores))
        self._values.append(metadata)

    def piece(self, *, truth: bool, scored: bool, dense: bool) -> ScorePiece:
        """The rows since the last piece.

        Args:
            truth: Whether the file says true labels.
            scored: Whether it says scores.
            dense: Whether every row has a score for each class, and no labels.
        """
        ids, lines, keys, truths, labels, scores = (
            zip(*self._rows, strict=True) if self._rows else ((),) * 6
        )
        key: Ints = np.array(keys, np.int64)
        score: NDArray[np.float64] = np.array(list(chain.from_iterable(scores)), np.float64)
        n = len(self._rows)
        values = list(zip(*self._values, strict=True)) or [()] * len(self._metadata)
        piece = ScorePiece(
            sample_id=id_column(ids),
            line=np.array(lines, np.int64),
            key=key if (key >= 0).any() else None,
            truth=np.array(truths, np.int64) if truth else None,
            count=np.array(list(map(len, labels)), np.int64) if scored and not dense else None,
            label=np.array(list(chain.from_iterable(labels)), np.int64)
            if scored and not dense
            else None,
            score=(score.reshape(n, -1) if dense and n else score) if scored else None,
            metadata={
                name: object_column(column)
                for name, column in zip(self._metadata, values, strict=True)
            },
        )
        self._clear()
        return piece


def id_column(ids: Sequence[bytes]) -> NDArray[Any]:
    """Ids as `S`, or as objects where a few long ones would blow that up."""
    widest = max(map(len, ids), default=1)
    if too_wide(widest, len(ids)):
        return object_column(ids)
    return np.array(ids, f"S{max(widest, 1)}")


def too_wide(width: int, count: int) -> bool:
    """Whether so many ids of that width should be objects."""
    return width > _WIDE and width * count > _LARGE


def object_column(values: Sequence[Any]) -> NDArray[Any]:
    """Values of any kind as a column."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
