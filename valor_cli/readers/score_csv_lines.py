"""Text of CSV rows of scores comes in; columns go out, or None if anything about them is unusual.

The quick reading: it works on all fields of a block at once, and makes no Python object of any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text_fields import FieldText, fixed_width
from valor_cli.kernels.vocabulary import Vocabulary, holds_twice
from valor_cli.readers.score_fields import LONGEST_BLOCK, LONGEST_ID, finite_numbers
from valor_cli.readers.score_rows import Ints, ScoreHeader, ScorePiece

_LONGEST_RUN: Final = 8
"""Spaces that are stripped from the front of a field."""
_NEW_LINE, _RETURN, _SPACE = b"\n\r "


class _Fields(NamedTuple):
    """Rows of fields.

    Attributes:
        text: The text.
        start, end: (rows, columns) where each field begins and ends.
    """

    text: FieldText
    start: Ints
    end: Ints

    def numbers(self, columns: Sequence[int], kept: NDArray[np.bool_] | None) -> Any:
        """(rows, columns) finite numbers, 1 where not kept; None if one is something else."""
        at = list(columns)
        start, end = self.start[:, at].ravel(), self.end[:, at].ravel()
        if kept is None:
            value = finite_numbers(self.text, start, end, _no_underscore)
        else:
            value = np.ones(kept.size)
            asked = np.flatnonzero(kept)
            found = finite_numbers(self.text, start[asked], end[asked], _no_underscore)
            if found is None:
                return None
            value[asked] = found
        return None if value is None else value.reshape(-1, len(at))


class PlainScoreRows:
    """The quick reading of rows without quotes and gaps."""

    __slots__ = ("_header", "_keys", "_labels", "_probabilities")

    def __init__(
        self,
        header: ScoreHeader,
        labels: Vocabulary,
        keys: Vocabulary | None,
        *,
        probabilities: bool,
    ) -> None:
        self._header = header
        self._labels = labels
        self._keys = keys
        self._probabilities = probabilities

    def piece(self, block: bytes, first: int) -> ScorePiece | None:
        """The rows of a block of whole lines, the first of which has the number `first`."""
        fields = _split(block, self._header)
        if fields is None or not self._complete(fields):
            return None
        scores = self._scores(fields)
        if scores is None:
            return None
        score, listed = scores
        before = len(self._labels)
        labels = self._codes(fields, listed)
        if labels is None:
            self._labels.forget(before)
            return None
        truth, count, label = labels
        at = self._header.sample_id
        return ScorePiece(
            sample_id=fixed_width(fields.text, fields.start[:, at], fields.end[:, at]),
            line=np.arange(first, first + len(fields.start)),
            key=self._key(fields),
            truth=truth,
            count=count,
            label=label,
            score=score,
            metadata={
                name: _texts(fields, column) for name, column in self._header.metadata.items()
            },
        )

    def _complete(self, fields: _Fields) -> bool:
        """Whether all rows have an id, a true label and a key, where there are such columns."""
        header = self._header
        needed = [header.sample_id, header.truth, header.key]
        length = [
            fields.end[:, column] - fields.start[:, column]
            for column in needed
            if column is not None
        ]
        return all(column.all() for column in length) and length[0].max() <= LONGEST_ID

    def _scores(
        self, fields: _Fields
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None] | None:
        """The scores, and which pairs of columns list a label if not all do."""
        header = self._header
        listed = None
        if header.classes:
            score = fields.numbers([column for _, column in header.classes], None)
        elif header.pairs:
            at = [column for column, _ in header.pairs]
            listed = fields.end[:, at] > fields.start[:, at]
            if listed.all():
                listed = None
            score = self._listed_scores(fields, listed)
        else:
            return None, None
        if score is None or (self._probabilities and not ((score >= 0.0) & (score <= 1.0)).all()):
            return None
        return score, listed

    def _listed_scores(
        self, fields: _Fields, listed: NDArray[np.bool_] | None
    ) -> NDArray[np.float64] | None:
        """Scores of the labels that are listed, row after row."""
        pairs = self._header.pairs
        score = np.ones((len(fields.start), len(pairs)))
        scored = [place for place, (_, column) in enumerate(pairs) if column >= 0]
        if scored:
            columns = [pairs[place][1] for place in scored]
            kept = None if listed is None else listed[:, scored]
            if kept is not None:
                empty = fields.end[:, columns] == fields.start[:, columns]
                if not (kept | empty).all():
                    return None
            value = fields.numbers(columns, kept)
            if value is None:
                return None
            score[:, scored] = value
        return score.ravel() if listed is None else score[listed]

    def _codes(
        self, fields: _Fields, listed: NDArray[np.bool_] | None
    ) -> tuple[Ints | None, Ints | None, Ints | None] | None:
        """Codes of the true labels, how many labels each row lists, and their codes.

        New names are numbered row by row, the true label first. None if a row lists a label twice.
        """
        truth, pairs = self._header.truth, self._header.pairs
        columns = [*([] if truth is None else [truth]), *(column for column, _ in pairs)]
        if not columns:
            return None, None, None
        start, end = fields.start[:, columns].ravel(), fields.end[:, columns].ravel()
        shape = (len(fields.start), len(columns))
        if listed is None:
            codes = self._labels.codes(fields.text, start, end).reshape(shape)
        else:
            # Distinct numbers for what is not there.
            codes = np.tile(-1 - np.arange(shape[1]), (shape[0], 1))
            there = np.flatnonzero(end > start)
            codes.flat[there] = self._labels.codes(fields.text, start[there], end[there])
        own = None if truth is None else codes[:, 0].copy()
        if not pairs:
            return own, None, None
        label = codes[:, -len(pairs) :]
        if holds_twice(label):
            return None
        if listed is None:
            return own, np.full(len(label), len(pairs)), label.ravel()
        return own, listed.sum(axis=1), label[listed]

    def _key(self, fields: _Fields) -> Ints | None:
        at = self._header.key
        if at is None or self._keys is None:
            return None
        return self._keys.codes(fields.text, fields.start[:, at], fields.end[:, at])


def _split(block: bytes, header: ScoreHeader) -> _Fields | None:
    """The fields of rows that all have as many as the header."""
    if b'"' in block or not 0 < len(block) <= LONGEST_BLOCK:
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    text = FieldText(block)
    width = len(header.names)
    ends = text.positions(ord(header.delimiter), _NEW_LINE)
    if len(ends) % width:
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    start, end = starts.reshape(-1, width), ends.reshape(-1, width)
    if not (text.bytes[end[:, -1]] == _NEW_LINE).all():
        return None
    controls = len(end)
    if b"\r" in block:
        end[:, -1] -= 1
        if not (text.bytes[end[:, -1]] == _RETURN).all():
            return None
        controls *= 2
    if b"\t" in block:
        controls += block.count(b"\t")
    # No more than these: then no line ends inside of a row.
    if np.count_nonzero(text.bytes < _SPACE) != controls:
        return None
    fields = _Fields(text, start, end)
    return _unspaced(fields) if header.spaced else fields


def _unspaced(fields: _Fields) -> _Fields | None:
    """The fields without spaces in front."""
    text, start, end = fields
    for _ in range(_LONGEST_RUN):
        space = (text.bytes[start] == _SPACE) & (start < end)
        if not space.any():
            return _Fields(text, start, end)
        start = start + space
    return None


def _no_underscore(field: bytes) -> bool:
    """Python's float takes more than what other tools call a number."""
    return b"_" not in field


def _texts(fields: _Fields, column: int) -> NDArray[Any]:
    """(n,) str, None for empty fields."""
    start, end = fields.start[:, column].tolist(), fields.end[:, column].tolist()
    texts = np.empty(len(start), dtype=object)
    texts[:] = [fields.text.field(*span).decode() or None for span in zip(start, end, strict=True)]
    return texts
