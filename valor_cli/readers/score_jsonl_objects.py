"""Lines of JSON with scores come in; columns go out, or None if anything about them is unusual.

Between the quick reading and the slow: lines need not look alike, as those of a quick reading must.
Every line is decoded, and no more is done with it than with a line that has no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.vocabulary import Vocabulary
from valor_cli.readers.score_files import ScoreReading, Side
from valor_cli.readers.score_jsonl_rows import KeyNames, named
from valor_cli.readers.score_pieces import id_column
from valor_cli.readers.score_rows import ScorePiece

_LINES: Final = msgspec.json.Decoder()
_NUMBERS: Final = frozenset({float, int})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class _Keys(NamedTuple):
    """What the keys of a line are called; None for those that are not there or not read."""

    sample_id: str
    label: str | None
    many: str | None
    single: str | None
    score: str | None
    label_key: str | None


class _UnusualLineError(Exception):
    """A line that is left to the slow reading."""


class _Rows(NamedTuple):
    """Values of lines; `labels` and `scores` line after line."""

    ids: list[bytes]
    truths: list[str]
    keys: list[str]
    counts: list[int]
    labels: list[str]
    scores: list[float]
    metadata: list[list[Any]]


class _Codes(dict[str, int]):
    """Codes of names, as a vocabulary gives them; -1 for the empty name."""

    def __init__(self, names: Vocabulary) -> None:
        super().__init__({"": -1})
        self._names = names

    def __missing__(self, name: str) -> int:
        code = self[name] = self._names.code(name.encode())
        return code

    def column(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The code of each name."""
        return np.fromiter(map(self.__getitem__, names), np.int64, len(names))


class DecodedScoreLines:
    """Reads lines whose values are of the usual kinds."""

    __slots__ = (
        "_key_codes",
        "_known",
        "_label_codes",
        "_metadata",
        "_names",
        "_probable",
        "_side",
    )

    def __init__(
        self, side: Side, reading: ScoreReading, labels: Vocabulary, keys: Vocabulary
    ) -> None:
        self._side = side
        self._names = KeyNames.of(reading)
        self._metadata = [] if side == "predictions" else list(reading.metadata)
        self._probable = reading.probabilities
        self._label_codes = _Codes(labels)
        self._key_codes = _Codes(keys)
        self._known: dict[tuple[str, ...], _Keys] = {}

    def piece(self, block: bytes, first: int) -> ScorePiece | None:
        """The rows of a block of whole lines, the first of which has the number `first`."""
        try:
            records = _LINES.decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            return None
        if len(records) != block.count(b"\n") + (not block.endswith(b"\n")):
            return None
        rows = _Rows([], [], [], [], [], [], [])
        try:
            colons = sum([self._add(record, rows) for record in records])
            score = self._scores(rows)
        except (_UnusualLineError, OverflowError):
            return None
        # A key that stands twice has a second colon.
        if colons != block.count(b":"):
            return None
        return self._columns(rows, score, first)

    def _columns(self, rows: _Rows, score: NDArray[np.float64], first: int) -> ScorePiece:
        n, scored = len(rows.ids), self._side != "ground_truth"
        self._number(rows)
        values = np.empty((len(self._metadata), n), dtype=object)
        for row, line in enumerate(rows.metadata):
            values[:, row] = line
        return ScorePiece(
            sample_id=id_column(rows.ids),
            line=np.arange(first, first + n),
            key=self._key_codes.column(rows.keys) if any(rows.keys) else None,
            truth=None if self._side == "predictions" else self._label_codes.column(rows.truths),
            count=np.array(rows.counts, np.int64) if scored else None,
            label=self._label_codes.column(rows.labels) if scored else None,
            score=score if scored else None,
            metadata=dict(zip(self._metadata, values, strict=True)),
        )

    def _number(self, rows: _Rows) -> None:
        """Give new names their codes line by line, the true label first."""
        at = 0
        codes = self._label_codes
        if codes.keys() >= {*rows.truths, *rows.labels}:
            return
        for truth, count in zip(rows.truths, rows.counts, strict=True):
            for name in (truth, *rows.labels[at : at + count]):
                codes[name]
            at += count

    def _scores(self, rows: _Rows) -> NDArray[np.float64]:
        """The scores of all lines, whose labels are sound."""
        if not set(map(type, rows.scores)) <= _NUMBERS or "" in rows.labels:
            raise _UnusualLineError
        score = np.array(rows.scores, np.float64)
        if not np.isfinite(score).all():
            raise _UnusualLineError
        if self._probable and not ((score >= 0) & (score <= 1)).all():
            raise _UnusualLineError
        return score

    def _add(self, record: Any, rows: _Rows) -> int:
        """Add a line, and say how many keys it has that are looked at."""
        if type(record) is not dict:
            raise _UnusualLineError
        shape = tuple(record)
        keys = self._known.get(shape)
        if keys is None:
            keys = self._known[shape] = self._keys(record)
        found = len(record)
        rows.ids.append(_text(record[keys.sample_id]).encode())
        rows.truths.append("" if keys.label is None else _label(record[keys.label]))
        rows.keys.append("" if keys.label_key is None else _text(record[keys.label_key]))
        before = len(rows.labels)
        if keys.many is not None:
            found += _add_scores(record[keys.many], rows)
        elif keys.single is not None:
            score = 1.0 if keys.score is None else record[keys.score]
            if label := _label(record[keys.single]):
                rows.labels.append(label)
                rows.scores.append(score)
            elif keys.score is not None:
                raise _UnusualLineError
        rows.counts.append(len(rows.labels) - before)
        if "metadata" in record and isinstance(record["metadata"], dict):
            found += len(record["metadata"])
        if self._metadata:
            rows.metadata.append(self._values(record))
        return found

    def _values(self, record: dict[str, Any]) -> list[Any]:
        inner = record.get("metadata")
        inner = inner if isinstance(inner, dict) else {}
        values = [
            record.get(name) if name in record or name not in inner else inner[name]
            for name in self._metadata
        ]
        if not set(map(type, values)) <= _SCALARS:
            raise _UnusualLineError
        return values

    def _keys(self, record: dict[str, Any]) -> _Keys:
        names, side = self._names, self._side
        sample_id = named(record, names.sample_id)
        scored, labelled = side != "ground_truth", side != "predictions"
        label = named(record, names.label) if labelled else None
        many = named(record, names.predictions) if scored else None
        single = named(record, names.prediction) if scored else None
        if (
            sample_id is None
            or (many is not None and single is not None)
            or (side == "predictions" and many is None and single is None)
            or (side == "ground_truth" and label is None)
        ):
            raise _UnusualLineError
        score = named(record, names.score) if single is not None else None
        return _Keys(sample_id, label, many, single, score, named(record, names.label_key))


def _text(value: Any) -> str:
    """A text that is not empty."""
    text = _label(value)
    if not text:
        raise _UnusualLineError
    return text


def _label(value: Any) -> str:
    """A text, or a whole number that can be written in one way only; empty for none."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is int and value:
        return str(value)
    raise _UnusualLineError


def _add_scores(value: Any, rows: _Rows) -> int:
    """Add the labels of a line with their scores, and say how many keys these have."""
    if type(value) is dict:
        rows.labels.extend(value)
        rows.scores.extend(value.values())
        return len(value)
    if value is None:
        return 0
    if type(value) is not list:
        raise _UnusualLineError
    before, found = len(rows.labels), 0
    for one in value:
        if type(one) is dict and "label" in one and "score" in one:
            label, score = one["label"], one["score"]
            found += len(one)
        elif type(one) is list and len(one) == 2:
            label, score = one
        else:
            raise _UnusualLineError
        if type(label) is not str:
            raise _UnusualLineError
        rows.labels.append(label)
        rows.scores.append(score)
    if len(set(rows.labels[before:])) < len(value):
        raise _UnusualLineError
    return found
