"""Join pieces of labels and scores into the columns of a file.

Columns are stored in the narrowest type that holds them and joined one at a time, freeing each
chunk as it is copied, so that a file is in memory about once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.tape import Ints
from valor_cli.kernels.columns.grouping import spread
from valor_cli.kernels.ranking.sparse_scores import SparseScores, joined_sparse

Codes: TypeAlias = NDArray[np.int32] | Ints

_WIDE: Final = 64
_LARGE: Final = 64 << 20
"""Ids wider than so many bytes are objects where the column would be larger than this."""


class ScoreColumns(Struct, frozen=True):
    """Rows as columns, with listed labels and scores concatenated.

    Attributes:
        sample_id: (n,) UTF-8, of kind `S`, or objects that hold bytes.
        line: (n,) the number of each, from 1.
        key: (n,) code of the label key, -1 for none; None where no row has any.
        truth: (n,) code of the true label, -1 for none; None where the file says none.
        truths: (n,) rows that list all true labels; None where a sample has one. Then `truth` is 0
            where a row says what they are.
        count: (n,) how many labels each row lists; None for all classes, in their order.
        label: (e,) codes of the labels listed, row after row; None with `count`.
        score: (e,) their scores, or (n, classes); None for ground truth alone.
        metadata: Values by name, (n,) each, objects.
    """

    sample_id: NDArray[Any]
    line: Codes
    key: Codes | None
    truth: Codes | None
    count: Codes | None
    label: Codes | None
    score: NDArray[np.float64] | None
    metadata: Mapping[str, NDArray[Any]]
    truths: SparseScores | None = None

    def __len__(self) -> int:
        return len(self.line)

    @property
    def begin(self) -> Ints:
        """(n + 1,) start of each row's listed labels, and their total."""
        begin = np.zeros(len(self) + 1, np.int64)
        if self.count is not None:
            np.cumsum(self.count, out=begin[1:])
        return begin

    def take(self, rows: NDArray[Any]) -> ScoreColumns:
        """Select rows by positions or a mask, in that order."""
        score, label = self.score, self.label
        if self.count is not None and label is not None and score is not None:
            elements = spread(self.begin[:-1][rows], self.count[rows])
            score, label = score[elements], label[elements]
        elif score is not None:
            score = score[rows]
        return replace(
            self,
            sample_id=self.sample_id[rows],
            line=self.line[rows],
            key=None if self.key is None else self.key[rows],
            truth=None if self.truth is None else self.truth[rows],
            truths=None if self.truths is None else self.truths.take(rows),
            count=None if self.count is None else self.count[rows],
            label=label,
            score=score,
            metadata={name: values[rows] for name, values in self.metadata.items()},
        )


class GatheredScores:
    """Columns collected piece by piece, in any order; all rows of a line are in one piece.

    Attributes:
        lines: How many lines there were so far.
    """

    def __init__(self, metadata: Sequence[str]) -> None:
        self.lines = 0
        self._last = 0
        self._ascending = True
        self._chunks: dict[str, list[NDArray[Any] | None]] = {
            name: [] for name in ("sample_id", "line", "key", "truth", "count", "label", "score")
        }
        self._truths: list[SparseScores] = []
        self._metadata: dict[str, list[NDArray[Any]]] = {name: [] for name in metadata}
        self._texts: dict[str, str] = {}

    def add(self, piece: ScoreColumns) -> None:
        """Append rows."""
        n = len(piece.line)
        if not n:
            return
        self.lines += 1 + int(np.count_nonzero(piece.line[1:] != piece.line[:-1]))
        self._ascending &= int(piece.line[0]) >= self._last
        self._last = int(piece.line[-1])
        chunks = self._chunks
        chunks["sample_id"].append(piece.sample_id)
        few = self._last < 2**31
        chunks["line"].append(piece.line.astype(np.int32) if few else piece.line)
        for name in ("key", "truth", "count", "label"):
            column = getattr(piece, name)
            chunks[name].append(None if column is None else column.astype(np.int32))
        chunks["score"].append(piece.score)
        if piece.truths is not None:
            self._truths.append(piece.truths)
        for name, values in self._metadata.items():
            values.append(self._interned(piece.metadata[name]))

    def columns(self) -> ScoreColumns:
        """All columns in line order; empties this object."""
        chunks = self._chunks
        sizes = [len(column) for column in chunks["line"] if column is not None]
        if any(column is not None for column in chunks["key"]):
            chunks["key"] = [
                np.full(size, -1, np.int32) if column is None else column
                for size, column in zip(sizes, chunks["key"], strict=True)
            ]
        if any(column is not None for column in chunks["count"]):
            self._list_classes(sizes)
        found = {name: _joined(chunks.pop(name)) for name in list(chunks)}
        line, ids = found["line"], found["sample_id"]
        columns = ScoreColumns(
            sample_id=np.zeros(0, "S1") if ids is None else ids,
            line=np.zeros(0, np.int32) if line is None else line,
            key=found["key"],
            truth=found["truth"],
            count=found["count"],
            label=found["label"],
            score=found["score"],
            metadata={
                name: np.concatenate([np.zeros(0, object), *values])
                for name, values in self._metadata.items()
            },
            truths=joined_sparse(self._truths) if self._truths else None,
        )
        # Lines that Python read come after those of their block.
        return columns if self._ascending else columns.take(np.argsort(columns.line, kind="stable"))

    def _list_classes(self, sizes: Sequence[int]) -> None:
        """Where some rows list labels, those with a score for each class list the classes."""
        count, label, score = (self._chunks[name] for name in ("count", "label", "score"))
        for at, (size, scores) in enumerate(zip(sizes, score, strict=True)):
            if count[at] is None and scores is not None:
                classes = scores.shape[1]
                count[at] = np.full(size, classes, np.int32)
                label[at] = np.tile(np.arange(classes, dtype=np.int32), size)
                score[at] = scores.ravel()

    def _interned(self, values: NDArray[Any]) -> NDArray[Any]:
        """The same values, with one object for texts that repeat."""
        texts = self._texts
        column = np.empty(len(values), dtype=object)
        column[:] = [
            texts.setdefault(value, value) if isinstance(value, str) else value
            for value in values.tolist()
        ]
        return column


def too_wide(width: int, count: int) -> bool:
    """Whether so many ids of that width should be objects."""
    return width > _WIDE and width * count > _LARGE


def _joined(chunks: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array after the other; the chunks are freed on the way. None where there are none."""
    there = [chunk for chunk in chunks if chunk is not None]
    chunks.clear()
    if len(there) < 2:
        return there[0] if there else None
    total = sum(map(len, there))
    kind = np.result_type(*{chunk.dtype for chunk in there})
    if kind.kind == "S" and too_wide(kind.itemsize, total):
        kind = np.dtype(object)
    whole: NDArray[Any] = np.empty((total, *there[0].shape[1:]), kind)
    there.reverse()
    at = 0
    while there:
        chunk = there.pop()
        whole[at : at + len(chunk)] = chunk
        at += len(chunk)
    return whole
