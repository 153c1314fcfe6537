"""Read text samples from Parquet.

Columns have the names of JSONL keys and hold the same values: texts, numbers, lists, structs and
maps. A null means that the row has no such key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from valor_cli.data.formats.parquet.columns import kind_of
from valor_cli.data.formats.parquet.files import ParquetSource, RowProblems, open_table, select_rows
from valor_cli.data.formats.parquet.tape import tape_of_json
from valor_cli.data.formats.parquet.values import as_written, unsupported, values
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.schema import path_of
from valor_cli.data.shapes.samples.other_tools import is_promptfoo
from valor_cli.data.shapes.samples.parse import SampleBatch, SampleParser
from valor_cli.data.shapes.samples.part import PartOfFile, check_names, whole_file
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import LOGPROBS, NESTED, PEER_METADATA, SCHEMA
from valor_cli.data.table import ROW
from valor_cli.data.tape import DUPLICATE, INVALID, NULL, Ints
from valor_cli.errors import DataError, Problem

_ROWS: Final = 1 << 10
"""Rows of a batch: texts are long."""


def read_parquet_samples(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a Parquet file.

    Args:
        path: The file, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a column that is needed is of a type that is not read; a
            value is wrong; there are no samples, or no column of a known name.
    """
    source = open_table(path)
    parser = _parsed(source, reading)
    return whole_file(path, parser.part(), reading, source.sha256, f": {ROW}")


def read_parquet_sample_part(piece: Piece, reading: SampleReading) -> PartOfFile:
    """Read the samples of a piece's row groups.

    Rows are counted from the first of the part; what is said of faults, from the first of the file.

    Raises:
        DataError: As for `read_parquet_samples`, less faults of rows.
    """
    source = open_table(piece.path, piece)
    return _parsed(source, reading).part(len(source.numbers), source.span)


class _Problems(RowProblems):
    """Problems in rows that are counted from the first that is read."""

    __slots__ = ("_above",)

    def __init__(self, path: str, above: int) -> None:
        super().__init__(path)
        self._above = above

    def add(self, row: int, key: str, message: str) -> None:
        """Record a problem of a row."""
        super().add(self._above + row, key, message)


def _parsed(source: ParquetSource, reading: SampleReading) -> SampleParser:
    """The rows of an input.

    Raises:
        DataError: It cannot be read; there are no columns to read, or one cannot be.
    """
    names, above = source.schema.names, source.numbers.start - 1
    check_names(names, reading, source.path)
    wanted = _wanted(source.schema, reading)
    _check_types(source.schema, wanted, source.path, reading)
    parser = SampleParser(reading, _Problems(source.path, above), names)
    for batch in source.batches(wanted, most=_ROWS):
        number = np.arange(batch.rows.num_rows) + batch.first - above
        parser.add([_batch(batch.rows, number)])
    return parser


def _batch(rows: Any, number: Ints) -> SampleBatch:
    """A `pyarrow.RecordBatch` as columns; a null is no value."""
    columns = dict(zip(rows.schema.names, tape_of_json(rows.columns), strict=True))
    broken = np.zeros(len(number), np.bool_)
    for column in columns.values():
        broken |= column.holds(DUPLICATE, INVALID)
    there = {name: column.where(~column.is_of(NULL)) for name, column in columns.items()}

    def records(some: Sequence[int]) -> list[Any]:
        return [as_written(one) for one in _records_of(select_rows(rows, some))]

    return SampleBatch(
        number, number, dict.fromkeys(columns, 0), there.__getitem__, records, False, broken
    )


def parquet_records(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file; columns of unsupported types are skipped.

    Raises:
        DataError: It cannot be read.
    """
    source = open_table(path)
    kinds = zip(source.schema.names, source.schema.types, strict=True)
    wanted = [name for name, kind in kinds if not any(unsupported(kind, ""))]
    yield from _records(source, wanted)


def _records(source: ParquetSource, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in source.batches(wanted, most=_ROWS):
        yield from _records_of(batch.rows)


def _records_of(rows: Any) -> list[dict[str, Any]]:
    """The rows of a record batch; a null is no value."""
    names, columns = rows.schema.names, [values(one) for one in rows.columns]
    if not columns:
        return [{} for _ in range(rows.num_rows)]
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in zip(*columns, strict=True)
    ]


def _wanted(schema: Any, reading: SampleReading) -> list[str]:
    """The columns to read: those of texts, of which a row has the first; and metadata."""
    names = schema.names
    if is_promptfoo(names):
        return list(names)
    chats = "messages" in names and kind_of(schema.field("messages").type) == "list"
    wanted = ["messages"] * chats
    for standard, keys in SCHEMA.candidates(names, reading.columns).items():
        if standard != LOGPROBS or reading.logprobs:
            wanted += [_path(schema, *key) for key in keys]
    for name in reading.metadata:
        own = [key for key in (name, PEER_METADATA + name) if key in names]
        wanted += own
        if own:
            continue
        wanted += [_path(schema, outer, name) for outer in NESTED if outer in names]
        path = path_of(name)
        if len(path) > 1 and path[0] in names:
            wanted.append(_path(schema, *path))
    whole = set(wanted)
    # What is read as a whole is not read in part as well.
    return [
        name
        for name in dict.fromkeys(wanted)
        if name
        and (name in names or not any(name.startswith(f"{one}.") for one in whole & set(names)))
    ]


def _path(schema: Any, outer: str | int, *inner: str | int) -> str:
    """A field of a column, as far down as there are structs; nothing where one has no such."""
    found, kind = str(outer), schema.field(outer).type
    for name in inner:
        if kind_of(kind) != "struct" or isinstance(name, int):
            break
        if kind.get_field_index(name) < 0:
            return ""
        found, kind = f"{found}.{name}", kind.field(name).type
    return found


def _check_types(schema: Any, wanted: Sequence[str], path: str, reading: SampleReading) -> None:
    """See that the columns to be read can be.

    Raises:
        DataError: One cannot.
    """
    problems: list[Problem] = []
    ids = SCHEMA.candidates(schema.names, reading.columns)["sample_id"]
    for name in dict.fromkeys(one if one in schema.names else one.split(".")[0] for one in wanted):
        kind = schema.field(name).type
        problems += unsupported(kind, f"{path}: {name}")
        # 17 and 17.0 would be two samples.
        if kind_of(kind) == "float" and (name,) in ids:
            message = f"expected a column of texts or whole numbers, found one of {kind}"
            problems.append(Problem(f"{path}: {name}", message))
    if problems:
        raise DataError(problems, hint="Cast the column where the file is written.")
