"""Parse CSV rows of scores in bulk and leave unusual rows to the slow path.

The fast path: it works on all fields of a block at once and creates no Python object per field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.fields import LONGEST_BLOCK, finite_numbers, probable, sample_ids
from valor_cli.data.shapes.scores.rows import (
    Ints,
    ParsedRows,
    ScoreHeader,
    ScorePiece,
    every,
    others,
)
from valor_cli.kernels.columns.fields import FieldText
from valor_cli.kernels.columns.vocabulary import Vocabulary, holding_twice

_LONGEST_RUN: Final = 8
"""Spaces that are stripped from the front of a field."""
_TAB, _NEW_LINE, _RETURN, _SPACE, _QUOTE = b'\t\n\r "'

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_ENDS: Final = (_QUOTE, _NEW_LINE, _RETURN)


class _Fields(NamedTuple):
    """Rows of fields.

    Attributes:
        text: The text.
        line: (rows,) which line each is, from 0.
        start, end: (rows, columns) where each field begins and ends.
    """

    text: FieldText
    line: Ints
    start: Ints
    end: Ints

    def take(self, rows: Bools) -> _Fields:
        """Only those rows."""
        if rows.all():
            return self
        return _Fields(self.text, self.line[rows], self.start[rows], self.end[rows])

    def there(self, columns: Sequence[int]) -> Bools:
        """(rows, columns) which fields are not empty."""
        at = list(columns)
        return self.end[:, at] > self.start[:, at]

    def numbers(self, columns: Sequence[int]) -> tuple[Floats, Bools]:
        """(rows, columns) numbers, and which of them are finite ones."""
        at = list(columns)
        start, end = self.start[:, at].ravel(), self.end[:, at].ravel()
        value, read = finite_numbers(self.text, start, end, _no_underscore)
        return value.reshape(-1, len(at)), read.reshape(-1, len(at))


class _Scores(NamedTuple):
    """The scores of rows.

    Attributes:
        score: (rows, classes or pairs).
        listed: (rows, pairs) which pairs have a label.
    """

    score: Floats
    listed: Bools

    def take(self, rows: Bools) -> _Scores:
        """Only those rows."""
        return self if rows.all() else _Scores(self.score[rows], self.listed[rows])


class PlainScoreRows:
    """The fast path, for rows that do not continue on the next line."""

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

    def parse(self, block: bytes, first: int) -> ParsedRows | None:
        """Parse whole lines; the first has number `first`.

        Left out are rows that have a fault, or that are written in an unusual way. None where rows
        cannot be separated.
        """
        split = _split(block, self._header)
        if split is None:
            return None
        fields, lines = split
        scores, sound = self._scores(fields)
        needed = [self._header.sample_id, self._header.key]
        sound &= fields.there([column for column in needed if column is not None]).all(axis=1)
        fields, scores = fields.take(sound), scores.take(sound)
        before = len(self._labels)
        codes = self._codes(fields)
        pairs = len(self._header.pairs)
        if pairs > 1 and (twice := holding_twice(codes[:, -pairs:])).any():
            fields, scores = fields.take(~twice), scores.take(~twice)
            if len(self._labels) == before:
                codes = codes[~twice]
            else:
                # Rows that may be refused leave no names behind.
                self._labels.forget(before)
                codes = self._codes(fields)
        return ParsedRows(
            self._piece(fields, scores, codes, first), others(fields.line, lines), lines
        )

    def _piece(self, fields: _Fields, scores: _Scores, codes: Ints, first: int) -> ScorePiece:
        header, listed, pairs = self._header, scores.listed, len(self._header.pairs)
        count = label = score = None
        if header.classes:
            score = scores.score
        elif listed.all() and pairs:
            count = np.full(len(listed), pairs)
            label, score = codes[:, -pairs:].ravel(), scores.score.ravel()
        elif pairs:
            count = listed.sum(axis=1)
            label, score = codes[:, -pairs:][listed], scores.score[listed]
        at, key = header.sample_id, None
        if header.key is not None and self._keys is not None:
            span = fields.start[:, header.key], fields.end[:, header.key]
            key = self._keys.codes(fields.text, *span)
        return ScorePiece(
            sample_id=sample_ids(fields.text, fields.start[:, at], fields.end[:, at]),
            line=fields.line + first,
            key=key,
            truth=None if header.truth is None else np.maximum(codes[:, 0], -1),
            count=count,
            label=label,
            score=score,
            metadata={name: _texts(fields, column) for name, column in header.metadata.items()},
        )

    def _scores(self, fields: _Fields) -> tuple[_Scores, Bools]:
        """The scores, and which rows have none that is unusual."""
        header = self._header
        if header.classes:
            score, sound = self._classes(fields)
            listed = np.ones((len(sound), 0), np.bool_)
        else:
            listed = fields.there([column for column, _ in header.pairs])
            score, sound = self._listed(fields, listed)
        if self._probabilities:
            sound = sound & every(probable(score))
        return _Scores(score, listed), sound

    def _classes(self, fields: _Fields) -> tuple[Floats, Bools]:
        """(rows, classes) scores, all of them 0 without a prediction."""
        columns = [column for _, column in self._header.classes]
        score, read = fields.numbers(columns)
        sound = every(read)
        if not sound.all():
            none = ~fields.there(columns).any(axis=1)
            score[none] = 0.0
            sound |= none
        return score, sound

    def _listed(self, fields: _Fields, listed: Bools) -> tuple[Floats, Bools]:
        """(rows, pairs) scores of labels; 1 without one, and of no label."""
        pairs = self._header.pairs
        score = np.ones(listed.shape)
        sound = np.ones(len(listed), np.bool_)
        scored = [place for place, (_, column) in enumerate(pairs) if column >= 0]
        if scored:
            columns = [pairs[place][1] for place in scored]
            value, read = fields.numbers(columns)
            alone = ~listed[:, scored]
            if alone.any():
                # What lists no label may have no score.
                value[alone] = 1.0
                read = np.where(alone, ~fields.there(columns), read)
            score[:, scored] = value
            sound = every(read)
        return score, sound

    def _codes(self, fields: _Fields) -> Ints:
        """(rows, columns) codes of the true labels and of those listed; below 0 for none.

        New names are numbered row by row.
        """
        truth, pairs = self._header.truth, self._header.pairs
        columns = [*([] if truth is None else [truth]), *(column for column, _ in pairs)]
        start, end = fields.start[:, columns].ravel(), fields.end[:, columns].ravel()
        shape = (len(fields.line), len(columns))
        there = end > start
        if there.all():
            return self._labels.codes(fields.text, start, end).reshape(shape)
        # Distinct numbers for what is not there.
        codes = np.tile(-1 - np.arange(shape[1]), (shape[0], 1))
        codes.ravel()[there] = self._labels.codes(fields.text, start[there], end[there])
        return codes


def _split(block: bytes, header: ScoreHeader) -> tuple[_Fields, int] | None:
    """The fields of rows that have as many fields as the header, and the number of lines."""
    if not 0 < len(block) <= LONGEST_BLOCK:
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    returns = block.count(b"\r") if b"\r" in block else 0
    # The csv module begins a new line behind any of them.
    if returns and block.count(b"\r\n") != returns:
        return None
    text = FieldText(block)
    ends: Ints | None = text.positions(ord(header.delimiter), _NEW_LINE)
    quoted = b'"' in block
    if quoted and ends is not None:
        ends = outside_quotes(text, ends, ord(header.delimiter))
    if ends is None:
        return None
    tabs = block.count(b"\t") if b"\t" in block else 0
    fields, lines = _rows(text, ends, len(header.names), returns + tabs)
    if returns:
        fields.end[:, -1] -= text.bytes.take(fields.end[:, -1] - 1, mode="clip") == _RETURN
    if header.spaced:
        fields = _unspaced(fields)
    return (_unquoted(fields) if quoted else fields), lines


def _rows(text: FieldText, ends: Ints, width: int, controls: int) -> tuple[_Fields, int]:
    """The rows of that many fields, and how many lines there are.

    Args:
        text: The text.
        ends: Where fields end.
        width: Fields of a row.
        controls: How many control characters there are that are harmless, less the line ends.
    """
    start = np.empty_like(ends)
    start[0], start[1:] = 0, ends[:-1] + 1
    lines, more = divmod(len(ends), width)
    # No more control characters than these: then no line ends inside of a row.
    if not more and np.count_nonzero(text.bytes < _SPACE) == lines + controls:
        rows = ends.reshape(-1, width)
        if (text.bytes.take(rows[:, -1]) == _NEW_LINE).all():
            return _Fields(text, np.arange(lines), start.reshape(-1, width), rows), lines
    last = np.flatnonzero(text.bytes.take(ends) == _NEW_LINE)
    sound = np.diff(last, prepend=-1) == width
    odd = (text.bytes < _SPACE) & ~np.isin(text.bytes, (_TAB, _NEW_LINE, _RETURN))
    sound[np.searchsorted(ends[last], np.flatnonzero(odd))] = False
    line = np.flatnonzero(sound)
    chosen = (last[line] - width + 1)[:, None] + np.arange(width)
    return _Fields(text, line, start[chosen], ends[chosen]), len(last)


def _unspaced(fields: _Fields) -> _Fields:
    """The fields without spaces in front; less the rows with a long run of them."""
    text, line, start, end = fields
    for _ in range(_LONGEST_RUN):
        space = (text.bytes.take(start) == _SPACE) & (start < end)
        if not space.any():
            return _Fields(text, line, start, end)
        start = start + space
    left = (text.bytes.take(start) == _SPACE) & (start < end)
    return _Fields(text, line, start, end).take(~left.any(axis=1))


def _unquoted(fields: _Fields) -> _Fields:
    """The fields without the quotes around them; less the rows with other quotes."""
    text, line, start, end = fields
    quoted = (text.bytes.take(start) == _QUOTE) & (start < end)
    quotes = text.positions(_QUOTE)
    first, behind = (np.searchsorted(quotes, at) for at in (start[:, 0], end[:, -1]))
    plain = behind - first == 2 * quoted.sum(axis=1)
    return _Fields(text, line, start + quoted, end - quoted).take(plain)


def _no_underscore(field: bytes) -> bool:
    """Python's float takes more than what other tools call a number."""
    return b"_" not in field


def _texts(fields: _Fields, column: int) -> NDArray[Any]:
    """(n,) str, None for empty fields."""
    start, end = fields.start[:, column].tolist(), fields.end[:, column].tolist()
    texts = np.empty(len(start), dtype=object)
    texts[:] = [fields.text.field(*span).decode() or None for span in zip(start, end, strict=True)]
    return texts


def outside_quotes(text: FieldText, separators: Ints, delimiter: int) -> Ints | None:
    """The separators outside quoted fields. Some tools quote all texts.

    None where a quote is in a field without quotes around it, or where a quoted field holds a
    line end or goes on behind the text.

    Args:
        text: Whole lines, the last with its line end.
        separators: Where delimiters and line ends stand.
        delimiter: The byte that divides fields.
    """
    quotes = text.positions(_QUOTE)
    if len(quotes) % 2:
        return None
    # Of two quotes for one in a quoted field, the first closes and the second opens it again.
    before = text.bytes.take(quotes[::2] - 1, mode="clip")
    behind = text.bytes.take(quotes[1::2] + 1, mode="clip")
    opens = np.isin(before, (delimiter, *_ENDS)) | (quotes[::2] == 0)
    if not opens.all() or not np.isin(behind, (delimiter, *_ENDS)).all():
        return None
    inside = np.searchsorted(quotes, separators) % 2 == 1
    held = separators[inside]
    return None if (text.bytes.take(held) == _NEW_LINE).any() else separators[~inside]
