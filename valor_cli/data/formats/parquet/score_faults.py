"""Report faults in rows of a Parquet file of scores.

The slow path. Messages are those of CSV rows, or of JSON lines where a column lists predictions.
Rows that turn out to be valid are returned as columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from valor_cli.data.formats.csv.score_rows import ScoreRowReader
from valor_cli.data.formats.jsonl.score_rows import ScoreLineReader
from valor_cli.data.formats.parquet.columns import fields, kind_of, lists, numbers, plain, texts
from valor_cli.data.formats.parquet.files import Batch, RowProblems, select_rows
from valor_cli.data.formats.parquet.score_header import ParquetHeader
from valor_cli.data.shapes.scores.rows import Ints, ScorePiece
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.kernels.columns.spans import Vocabulary

_NOT_FINITE: Final = ("nan", "inf", "-inf")


class TypedRowReader(ScoreRowReader):
    """Reads rows without lists, as if they were CSV."""

    __slots__ = ("_floats", "_typed")

    def __init__(
        self,
        header: ParquetHeader,
        reading: ScoreReading,
        labels: Vocabulary,
        keys: Vocabulary,
        problems: RowProblems,
    ) -> None:
        """Initialise as `ScoreRowReader`."""
        probabilities = reading.probabilities
        super().__init__(header.columns, labels, keys, problems, probabilities=probabilities)
        self._typed = header
        found = header.columns.metadata.values()
        self._floats = [at for at in found if header.kinds[at] == "float"]

    def faulty(self, batch: Batch, rejected: Ints) -> ScorePiece:
        """Check the remaining rows of a batch, by position."""
        rows, header = select_rows(batch.rows, rejected.tolist()), self._typed
        cells = [[""] * len(rejected)] * len(header.columns.names)
        for at in header.used:
            cells[at] = texts(header.column(rows, at))
        numbers: list[int] = (batch.first + rejected).tolist()
        return self.piece(list(zip(numbers, zip(*cells, strict=True), strict=True)))

    def _row(self, record: Sequence[str], line: int) -> None:
        wrong = [at for at in self._floats if record[at] in _NOT_FINITE]
        for at in wrong:
            self._add(line, at, f"expected a finite number, found {record[at]}")
        if not wrong:
            super()._row(record, line)

    def _number(self, record: Sequence[str], at: int, line: int, note: str = "") -> float:
        if record[at] in _NOT_FINITE:
            self._add(line, at, f"expected a finite number, found {record[at]}")
            return math.nan
        return super()._number(record, at, line, note)


class ListedRowReader(ScoreLineReader):
    """Reads rows with lists of predictions, as if they were JSONL."""

    __slots__ = ("_header",)

    def __init__(
        self,
        header: ParquetHeader,
        side: Side,
        reading: ScoreReading,
        labels: Vocabulary,
        keys: Vocabulary,
        problems: RowProblems,
    ) -> None:
        """Initialise as `ScoreLineReader`."""
        columns = header.columns
        roles = {
            "sample_id": columns.sample_id,
            "label": columns.truth,
            "label_key": columns.key,
            "predictions": header.listed,
        }
        called = {name: columns.names[at] for name, at in roles.items() if at is not None}
        super().__init__(side, replace(reading, columns=called), labels, keys, problems)
        self._header = header

    def faulty(self, batch: Batch, rejected: Ints) -> ScorePiece:
        """Check the remaining rows of a batch, by position."""
        rows, header = select_rows(batch.rows, rejected.tolist()), self._header
        cells = {}
        for at in header.used:
            column = header.column(rows, at)
            name = header.columns.names[at]
            if at == header.listed:
                cells[name] = _listed(column, header.inside)
            elif name in header.columns.metadata:
                cells[name] = ["null" if one == '""' else one for one in _scalars(column)]
            else:
                cells[name] = _scalars(column)
        lines = [
            _object(dict(zip(cells, row, strict=True)).items())
            for row in zip(*cells.values(), strict=True)
        ]
        return self.piece([line.encode() for line in lines], (batch.first + rejected).tolist())


def _scalars(column: Any) -> list[str]:
    """Each value as JSON; what is not a number in JSON is NaN or Infinity."""
    if kind_of(column.type) in ("text", "date"):
        valid = plain(column).is_valid().to_pylist()
        written = zip(texts(column), valid, strict=True)
        return [json.dumps(text) if one else "null" for text, one in written]
    if kind_of(column.type) == "float":
        value, there = numbers(column)
        pairs = zip(value.tolist(), there.tolist(), strict=True)
        return [json.dumps(one) if said else "null" for one, said in pairs]
    return [text or "null" for text in texts(column)]


def _listed(column: Any, read: Sequence[str]) -> list[str]:
    """Each list as JSON, with all its values: a map may have duplicate keys."""
    kind = kind_of(column.type)
    if kind == "struct":
        held = {name: _scalars(values) for name, values in fields(column).items()}
        rows = zip(*held.values(), strict=True)
        return [
            _object((k, v) for k, v in zip(held, row, strict=True) if v != "null") for row in rows
        ]
    count, inside = lists(column)
    if kind_of(inside.type) != "struct":
        items = _scalars(inside)
    else:
        held = fields(inside)
        names = {name: _scalars(held[name]) for name in read}
        if kind == "map":
            items = [f"{_key(k)}:{v}" for k, v in zip(names["key"], names["value"], strict=True)]
        else:
            items = [
                _object(zip(names, row, strict=True)) for row in zip(*names.values(), strict=True)
            ]
    marks = "{}" if kind == "map" else "[]"
    ends = count.cumsum().tolist()
    spans = pairwise([0, *ends])
    return [f"{marks[0]}{','.join(items[a:b])}{marks[1]}" for a, b in spans]


def _key(text: str) -> str:
    return text if text.startswith('"') else json.dumps("" if text == "null" else text)


def _object(pairs: Any) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in pairs) + "}"
