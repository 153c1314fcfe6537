"""Headers and row pieces shared by the fast and slow classification readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class ScoreHeader(Struct, frozen=True):
    """The meaning of a CSV file's columns.

    Of `classes` and `pairs` at most one is filled; neither for ground truth alone.

    Attributes:
        names: As in the file, in order.
        delimiter: The delimiter.
        spaced: Whether a space follows the delimiter, which then belongs to no field.
        sample_id: Position of the id.
        truth: Position of the true label, if there is one.
        key: Position of the label key, if there is one.
        classes: Wide: name and position of each class column.
        pairs: Long: position of a predicted label, and of its score (-1 for none, which means 1).
            One pair, or several (pred0, score0, pred1, …).
        metadata: Name of metadata to position.
    """

    names: tuple[str, ...]
    delimiter: str
    spaced: bool
    sample_id: int
    truth: int | None
    key: int | None
    classes: tuple[tuple[str, int], ...]
    pairs: tuple[tuple[int, int], ...]
    metadata: Mapping[str, int]


class ScorePiece(Struct, frozen=True):
    """Some lines as columns; a sample may continue in another piece.

    Attributes:
        sample_id: (n,) UTF-8, of kind `S`, or objects that hold bytes.
        line: (n,) number of each line, from 1.
        key: (n,) code of the label key; None without label keys.
        truth: (n,) code of the true label, -1 for none; None where the file says none.
        count: (n,) how many labels each line lists; None for all classes, in their order.
        label: (e,) codes of the labels listed, line after line; None with `count`.
        score: (e,) their scores, or (n, classes); None for ground truth alone.
        metadata: Values by name, (n,) each, objects.
    """

    sample_id: NDArray[Any]
    line: Ints
    key: Ints | None
    truth: Ints | None
    count: Ints | None
    label: Ints | None
    score: NDArray[np.float64] | None
    metadata: Mapping[str, NDArray[Any]]


class ParsedRows(NamedTuple):
    """The parsed lines of the fast path, and the rows left to the slow path.

    Attributes:
        piece: The rows that it reads.
        rejected: (k,) positions of the lines left to the slow path.
        lines: How many lines there are.
    """

    piece: ScorePiece
    rejected: Ints
    lines: int


def every(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have all cells true."""
    return np.asarray(cells.all(axis=1))


def others(chosen: Ints, lines: int) -> Ints:
    """The lines that are not chosen, in ascending order."""
    if len(chosen) == lines:
        return np.zeros(0, np.int64)
    left = np.ones(lines, np.bool_)
    left[chosen] = False
    return np.flatnonzero(left)
