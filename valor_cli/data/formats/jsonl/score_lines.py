"""Parse JSON lines of the same layout in bulk and leave others to the slow path.

The fast path: lines that differ only in their values are read as columns, without a Python object
for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.formats.jsonl.score_layout import Shape, Wanted, shape_of
from valor_cli.data.formats.jsonl.score_rows import KeyNames, WideKeys
from valor_cli.data.shapes.scores.fields import LONGEST_BLOCK, finite_numbers, probable, sample_ids
from valor_cli.data.shapes.scores.rows import ParsedRows, ScorePiece, every, others
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.kernels.columns.fields import FieldText, Ints
from valor_cli.kernels.columns.numbers import leading_zeros
from valor_cli.kernels.columns.templates import Spans, Template, spans, template
from valor_cli.kernels.columns.vocabulary import Vocabulary, holding_twice

_SEPARATORS: Final = (b",", b'"', b',"')
"""Where lines are divided, cheapest first: strings may hold a comma."""

_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SCALARS: Final = msgspec.json.Decoder(list[int | float | bool | None])
_LABELS: Final = msgspec.json.Decoder(list[int | float | bool])
_IDS: Final = msgspec.json.Decoder(list[int | float])

_MOST: Final = 64
"""The lines are of one shape where one of so many is not; then no other shape is looked for."""
_TRIES: Final = 4
"""Blocks in a row of which most lines look different, before no shape is looked for."""
_NEW_LINE, _BACKSLASH = b"\n\\"

_Scalars: TypeAlias = msgspec.json.Decoder[Any]
Bools = NDArray[np.bool_]


class PlainScoreLines:
    """The fast path for lines of equal layout.

    Objects of scores, lists of objects with a label and a score, and lists of bare numbers are
    read, and single labels.
    """

    __slots__ = ("_keys", "_known", "_labels", "_probabilities", "_tried", "_wanted")

    def __init__(
        self,
        side: Side,
        reading: ScoreReading,
        labels: Vocabulary,
        keys: Vocabulary,
        wide: WideKeys | None = None,
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            side: What the file holds; metadata is read of ground truth and of samples.
            reading: How to read it.
            labels, keys: Names seen so far; new ones are added. The classes come first.
            wide: The classes, where lines have a key for each.
        """
        self._labels = labels
        self._keys = keys
        self._probabilities = reading.probabilities
        self._wanted = Wanted(
            side,
            KeyNames.of(reading),
            classes=len(reading.classes),
            metadata=() if side == "predictions" else tuple(reading.metadata),
            wide=wide,
        )
        self._known: tuple[Shape, Template] | None = None
        self._tried = 0

    def parse(self, block: bytes, first: int) -> ParsedRows | None:
        """Parse whole lines; the first has number `first`.

        Left out are lines that have a fault, or do not look like most. None where few look alike.
        """
        if not 0 < len(block) <= LONGEST_BLOCK or self._tried == _TRIES:
            return None
        if not block.endswith(b"\n"):
            block += b"\n"
        values = self._values(block)
        self._tried = 0 if values is not None else self._tried + 1
        if values is None:
            return None
        piece = self._piece(values, first)
        lines = values.spans.lines
        return ParsedRows(piece, others(piece.line - first, lines), lines)

    def _values(self, block: bytes) -> _Values | None:
        """The values of the lines of one layout; None where these are a minority."""
        text = FieldText(block)
        values = self._like(text, self._known)
        if values is None or len(values.spans.line) * _MOST < values.spans.lines * (_MOST - 1):
            values = self._best(text, block, values)
        if values is None or 2 * len(values.spans.line) < values.spans.lines:
            return None
        self._known = values.shape, values.common
        if b"\\" not in block:
            return values
        line = np.searchsorted(text.positions(_NEW_LINE), text.positions(_BACKSLASH))
        return values.take(~np.isin(values.spans.line, line))

    def _like(self, text: FieldText, known: tuple[Shape, Template] | None) -> _Values | None:
        return None if known is None else _Values(text, *known, spans(text, known[1]))

    def _best(self, text: FieldText, block: bytes, best: _Values | None) -> _Values | None:
        """The values of lines that look like the first, or like one in the middle."""
        middle = block.rfind(b"\n", 0, len(block) // 2) + 1
        for at in dict.fromkeys((0, middle)):
            line = block[at : block.index(b"\n", at) + 1]
            shape = None if b"\\" in line else shape_of(line, self._wanted)
            if shape is None:
                continue
            slots = [(one.start, one.end) for one in shape.values]
            for separators in _SEPARATORS:
                common = template(line, slots, separators)
                found = None if common is None else self._like(text, (shape, common))
                if found is None:
                    continue
                if best is None or len(found.spans.line) > len(best.spans.line):
                    best = found
                if len(best.spans.line) == best.spans.lines:
                    return best
        return best

    def _piece(self, values: _Values, first: int) -> ScorePiece:
        """The samples of the lines that have no fault."""
        metadata, sound = values.metadata()
        sound &= values.sound()
        score, fine = self._scores(values)
        sound &= fine
        if not sound.all():
            values = values.take(sound)
            score = None if score is None else score[sound]
            metadata = {name: column[sound] for name, column in metadata.items()}
        before = len(self._labels)
        codes = self._codes(values)
        shape, many = values.shape, len(values.shape.listed)
        if many > 1 and (twice := holding_twice(codes[:, -many:])).any():
            values = values.take(~twice)
            score = None if score is None else score[~twice]
            metadata = {name: column[~twice] for name, column in metadata.items()}
            if len(self._labels) == before:
                codes = codes[~twice]
            else:
                # Lines that may be refused leave no names behind.
                self._labels.forget(before)
                codes = self._codes(values)
        text, found = values.text, values.spans
        start, end = (at[:, shape.sample_id] for at in (found.start, found.end))
        return ScorePiece(
            sample_id=sample_ids(text, start, end),
            line=found.line + first,
            key=None if shape.key < 0 else values.codes([shape.key], self._keys)[:, 0],
            truth=None if shape.truth < 0 else codes[:, 0].copy(),
            count=np.full(len(codes), many) if many else None,
            label=codes[:, -many:].ravel() if many else None,
            score=score.ravel() if many and score is not None else score,
            metadata=metadata,
        )

    def _scores(self, values: _Values) -> tuple[NDArray[np.float64] | None, Bools]:
        """(lines, labels listed or classes) scores, and which lines have valid ones."""
        shape, lines = values.shape, len(values.spans.line)
        if not shape.scores:
            score = np.ones((lines, len(shape.listed))) if shape.listed else None
            return score, np.ones(lines, np.bool_)
        score, read = values.numbers(shape.scores)
        if self._probabilities:
            read &= probable(score)
        return score, every(read)

    def _codes(self, values: _Values) -> Ints:
        """(lines, labels) codes of the true label, if there is one, and of those listed.

        New names are numbered line by line.
        """
        shape = values.shape
        named = [*([shape.truth] if shape.truth >= 0 else []), *shape.listed]
        return values.codes(named, self._labels)


class _Values(Struct, frozen=True):
    """The values of lines of one layout.

    Attributes:
        text: All lines.
        shape: What the values mean.
        common: What these lines have in common.
        spans: Where the values stand.
    """

    text: FieldText
    shape: Shape
    common: Template
    spans: Spans

    def take(self, lines: Bools) -> _Values:
        """Those lines alone."""
        own = self.spans
        if lines.all():
            return self
        kept = own._replace(line=own.line[lines], start=own.start[lines], end=own.end[lines])
        return replace(self, spans=kept)

    def sound(self) -> Bools:
        """Which lines have ids and labels that are texts or numbers, none empty, and all JSON.

        Scores and metadata are not looked at.
        """
        shape = self.shape
        names = [shape.sample_id, shape.truth, shape.key, *shape.listed]
        names = [number for number in names if number >= 0]
        sound = every(self.spans.end[:, names] > self.spans.start[:, names])
        kinds: dict[int, _Scalars] = {**dict.fromkeys(names, _LABELS), shape.sample_id: _IDS}
        read = {*shape.scores, *shape.metadata.values()}
        for number, value in enumerate(shape.values):
            if value.kind == "bare" and number not in read:
                sound = sound & self._bare(number, kinds.get(number, _SCALARS))[1]
        return sound

    def metadata(self) -> tuple[dict[str, NDArray[Any]], Bools]:
        """(lines,) texts, numbers, true, false and None by name; which lines have no others."""
        columns = {}
        sound = np.ones(len(self.spans.line), np.bool_)
        for name, number in self.shape.metadata.items():
            column = np.empty(len(sound), dtype=object)
            if number >= 0 and self.shape.values[number].kind == "bare":
                column[:], fine = self._bare(number, _SCALARS)
                sound &= fine
            elif number >= 0:
                column[:] = [field.decode() for field in self._fields(number)]
            columns[name] = column
        return columns, sound

    def numbers(self, slots: Sequence[int]) -> tuple[NDArray[np.float64], Bools]:
        """(lines, slots) numbers, and which of them are finite ones."""
        shape = len(self.spans.line), len(slots)
        if any(self.shape.values[number].kind != "bare" for number in slots):
            return np.zeros(shape), np.zeros(shape, np.bool_)
        start, end = self._by_line(slots)
        value, read = finite_numbers(self.text, start, end, _NUMBER.fullmatch)
        read &= ~leading_zeros(self.text, start, end)
        return value.reshape(shape), read.reshape(shape)

    def codes(self, slots: Sequence[int], names: Vocabulary) -> Ints:
        """(lines, slots) codes."""
        codes = names.codes(self.text, *self._by_line(slots))
        return codes.reshape(len(self.spans.line), len(slots))

    def _by_line(self, slots: Sequence[int]) -> tuple[Ints, Ints]:
        """Starts and ends, line after line."""
        chosen = list(slots)
        return self.spans.start[:, chosen].ravel(), self.spans.end[:, chosen].ravel()

    def _fields(self, number: int) -> list[bytes]:
        start, end = self.spans.start[:, number].tolist(), self.spans.end[:, number].tolist()
        return [self.text.field(*span) for span in zip(start, end, strict=True)]

    def _bare(self, number: int, kind: _Scalars) -> tuple[list[Any], Bools]:
        """Numbers, true, false and null, and which values are one of these."""
        fields = self._fields(number)
        found = _decoded(fields, kind)
        if found is not None:
            return found, np.ones(len(fields), np.bool_)
        single = [_decoded([field], kind) for field in fields]
        sound = np.array([one is not None for one in single], np.bool_)
        return [None if one is None else one[0] for one in single], sound


def _decoded(fields: Sequence[bytes], kind: _Scalars) -> list[Any] | None:
    """The values; None if one is something else."""
    try:
        found: list[Any] = kind.decode(b"[" + b",".join(fields) + b"]")
    except msgspec.MsgspecError:
        return None
    return found if len(found) == len(fields) else None
