"""Lines of JSON with scores come in; columns go out, or None if anything about them is unusual.

The quick reading: lines that differ in their values alone are read as columns of values, without a
Python object of any; others that list labels, by `score_json_lists`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text_fields import FieldText, Ints, fixed_width
from valor_cli.kernels.text_numbers import leading_zeros
from valor_cli.kernels.text_templates import Spans, Template, spans, template
from valor_cli.kernels.vocabulary import Vocabulary, holds_twice
from valor_cli.readers.score_fields import LONGEST_BLOCK, LONGEST_ID, finite_numbers
from valor_cli.readers.score_files import ScoreReading, Side
from valor_cli.readers.score_json_lists import ListedScores
from valor_cli.readers.score_json_shape import Shape, Wanted, shape_of
from valor_cli.readers.score_jsonl_rows import KeyNames
from valor_cli.readers.score_rows import ScorePiece

_SEPARATORS: Final = (b",", b'"', b',"')
"""Where lines are divided, cheapest first: strings may hold a comma."""

_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SCALARS: Final = msgspec.json.Decoder(list[int | float | bool | None])
_LABELS: Final = msgspec.json.Decoder(list[int | float | bool])
_IDS: Final = msgspec.json.Decoder(list[int | float])

_Scalars: TypeAlias = msgspec.json.Decoder[Any]
_Listed: TypeAlias = tuple[Ints | None, Ints | None, Ints | None]


class PlainScoreLines:
    """The quick reading of lines that look alike.

    Objects of scores, lists of objects with a label and a score, and lists of bare numbers are
    read, and single labels.
    """

    __slots__ = ("_keys", "_known", "_labels", "_lists", "_probabilities", "_wanted")

    def __init__(
        self,
        side: Side,
        labels: Vocabulary,
        keys: Vocabulary | None,
        *,
        classes: tuple[str, ...],
        metadata: Sequence[str],
        probabilities: bool,
        columns: Mapping[str, str],
    ) -> None:
        self._labels = labels
        self._keys = keys
        self._probabilities = probabilities
        names = KeyNames.of(ScoreReading(metadata=metadata, columns=columns))
        self._wanted = Wanted(side, names, len(classes), tuple(metadata))
        self._lists = ListedScores(self._wanted, labels, probabilities=probabilities)
        self._known: tuple[Shape, Template] | None = None

    def piece(self, block: bytes, first: int) -> ScorePiece | None:
        """The samples of a block of whole lines, the first of which has the number `first`."""
        if not 0 < len(block) <= LONGEST_BLOCK:
            return None
        piece = None if b"\\" in block else self._plain(block, first)
        return self._lists.piece(block, first) if piece is None else piece

    def _plain(self, block: bytes, first: int) -> ScorePiece | None:
        if not block.endswith(b"\n"):
            block += b"\n"
        text = FieldText(block)
        values = self._as_before(text) or self._anew(text, block)
        return None if values is None else self._columns(values, first)

    def _as_before(self, text: FieldText) -> _Values | None:
        """The values of lines that look like those of the last block."""
        if self._known is None:
            return None
        shape, common = self._known
        found = spans(text, common)
        return None if found is None else _Values(text, shape, found)

    def _anew(self, text: FieldText, block: bytes) -> _Values | None:
        """The values of lines that look like the first."""
        line = block[: block.index(b"\n") + 1]
        shape = shape_of(line, self._wanted)
        if shape is None:
            return None
        slots = [(one.start, one.end) for one in shape.values]
        for separators in _SEPARATORS:
            common = template(line, slots, separators)
            found = None if common is None else spans(text, common)
            if common is not None and found is not None:
                self._known = shape, common
                return _Values(text, shape, found)
        return None

    def _columns(self, values: _Values, first: int) -> ScorePiece | None:
        shape, lines = values.shape, len(values.spans.start)
        start, end = (at[:, shape.sample_id] for at in values.spans)
        metadata = values.metadata()
        if metadata is None or not values.sound() or (end - start).max() > LONGEST_ID:
            return None
        if shape.key >= 0 and self._keys is None:
            return None
        score = self._scores(values)
        before = len(self._labels)
        labels = self._codes(values)
        if labels is None or (score is None and self._wanted.side != "ground_truth"):
            self._labels.forget(before)
            return None
        truth, count, label = labels
        return ScorePiece(
            sample_id=fixed_width(values.text, start, end),
            line=np.arange(first, first + lines),
            key=self._key(values),
            truth=truth,
            count=count,
            label=label,
            score=score,
            metadata=metadata,
        )

    def _key(self, values: _Values) -> Ints | None:
        at = values.shape.key
        return None if at < 0 or self._keys is None else values.codes([at], self._keys)[:, 0]

    def _scores(self, values: _Values) -> NDArray[np.float64] | None:
        """Scores of the labels that are listed, line after line, or (lines, classes)."""
        shape, lines = values.shape, len(values.spans.start)
        if not shape.scores:
            return np.ones(lines * len(shape.listed)) if shape.listed else None
        score = values.numbers(shape.scores)
        if score is None or (self._probabilities and not ((score >= 0) & (score <= 1)).all()):
            return None
        return score.ravel() if shape.listed else score

    def _codes(self, values: _Values) -> _Listed | None:
        """Codes of the true labels, how many labels each line lists, and their codes.

        New names are numbered line by line, the true label first. None if a line lists a label
        twice.
        """
        shape = values.shape
        named = [*([shape.truth] if shape.truth >= 0 else []), *shape.listed]
        if not named:
            return None, None, None
        codes = values.codes(named, self._labels)
        truth = codes[:, 0].copy() if shape.truth >= 0 else None
        if not shape.listed:
            return truth, None, None
        label = codes[:, -len(shape.listed) :]
        if holds_twice(label):
            return None
        return truth, np.full(len(label), len(shape.listed)), label.ravel()


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of all lines.

    Attributes:
        text: The lines.
        shape: What the values mean.
        spans: Where they stand.
    """

    text: FieldText
    shape: Shape
    spans: Spans

    def sound(self) -> bool:
        """Whether ids and labels are texts or numbers, and never empty, and the rest is JSON.

        Scores and metadata are not looked at.
        """
        shape = self.shape
        names = [shape.sample_id, shape.truth, shape.key, *shape.listed]
        names = [number for number in names if number >= 0]
        if not (self.spans.end[:, names] > self.spans.start[:, names]).all():
            return False
        kinds: dict[int, _Scalars] = {**dict.fromkeys(names, _LABELS), shape.sample_id: _IDS}
        read = {*shape.scores, *shape.metadata.values()}
        return all(
            self._bare(number, kinds.get(number, _SCALARS)) is not None
            for number, value in enumerate(shape.values)
            if value.kind == "bare" and number not in read
        )

    def metadata(self) -> dict[str, NDArray[Any]] | None:
        """(lines,) texts, numbers, true, false and None by name; None if one is something else."""
        columns = {}
        for name, number in self.shape.metadata.items():
            column = np.empty(len(self.spans.start), dtype=object)
            if number >= 0:
                bare = self.shape.values[number].kind == "bare"
                values = self._bare(number, _SCALARS) if bare else self._texts(number)
                if values is None:
                    return None
                column[:] = values
            columns[name] = column
        return columns

    def numbers(self, slots: Sequence[int]) -> NDArray[np.float64] | None:
        """(lines, slots) finite numbers; None if one is something else."""
        if any(self.shape.values[number].kind != "bare" for number in slots):
            return None
        start, end = self._by_line(slots)
        value = finite_numbers(self.text, start, end, _NUMBER.fullmatch)
        if value is None or leading_zeros(self.text, start, end).any():
            return None
        return value.reshape(-1, len(slots))

    def codes(self, slots: Sequence[int], names: Vocabulary) -> Ints:
        """(lines, slots) codes."""
        return names.codes(self.text, *self._by_line(slots)).reshape(-1, len(slots))

    def _by_line(self, slots: Sequence[int]) -> tuple[Ints, Ints]:
        """Starts and ends, line after line."""
        chosen = list(slots)
        start, end = (at[:, chosen].ravel() for at in self.spans)
        return start, end

    def _fields(self, number: int) -> list[bytes]:
        start, end = (at[:, number].tolist() for at in self.spans)
        return [self.text.field(*span) for span in zip(start, end, strict=True)]

    def _texts(self, number: int) -> list[str]:
        return [field.decode() for field in self._fields(number)]

    def _bare(self, number: int, kind: _Scalars) -> list[Any] | None:
        """Numbers, true, false and null; None if one is something else."""
        fields = self._fields(number)
        try:
            found = kind.decode(b"[" + b",".join(fields) + b"]")
        except msgspec.MsgspecError:
            return None
        return found if len(found) == len(fields) else None
