"""Read Parquet and Arrow as rows of typed columns; a null in an object is no field of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from valor_cli.data.batch import (
    ALL,
    Batch,
    Block,
    ColumnType,
    Form,
    Known,
    Part,
    RowFile,
    Shaped,
    TypedReading,
)
from valor_cli.data.formats.parquet.columns import type_of
from valor_cli.data.formats.parquet.files import open_table
from valor_cli.data.formats.parquet.tape import tape_of_arrow
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.schema import Path
from valor_cli.data.table import ROW
from valor_cli.data.tape import Column
from valor_cli.errors import DataError, Problem

_SHOWN: Final = 60
"""Characters of a type in a message."""

CAST: Final = "Cast the column where the file is written."


def open_rows(path: str, known: Known, shaped: Shaped | None = None) -> TypedFile:
    """Open a Parquet or Arrow file.

    Raises:
        DataError: It cannot be read, or two columns have one name.
    """
    return TypedFile(path)


class TypedFile(RowFile):
    """A Parquet or Arrow file; see `RowFile`."""

    form: Form = "typed"
    place = ROW

    def __init__(self, path: str) -> None:
        """Read the schema.

        Raises:
            DataError: The file cannot be read, or two columns have one name.
        """
        self.path = self.head = path
        self._source = open_table(path)
        schema = self._source.schema
        self.names: Sequence[str] = schema.names
        self.types: Mapping[str, ColumnType] = dict(
            zip(schema.names, map(type_of, schema.types), strict=True)
        )

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """None: types say what columns hold."""
        return iter(())

    def part_of(self, piece: Piece) -> Part:
        """The rows of the row groups that begin in a piece."""
        if piece.end is None:
            raise ValueError("all of an input has no range of bytes")
        span, numbers = self._source.within(piece.start, piece.end)
        return Part(numbers.start, numbers.stop, span)

    @property
    def sha256(self) -> str:
        """Hex digest of the file."""
        return self._source.sha256

    def blocks(
        self, part: Part | None = None, line: int = 1, typed: TypedReading = ALL
    ) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`.

        Raises:
            DataError: The file cannot be read; a column to read is of a type that is not read.
        """
        names = self._readable() if typed.columns is None else self._names_of(typed.columns)
        numbers = range(1, self._source.count + 1) if part is None else range(part.begin, part.end)
        for batch in self._source.batches(names, typed.coded, typed.most, numbers):
            held = dict(
                zip(batch.rows.schema.names, tape_of_arrow(batch.rows.columns), strict=True)
            )
            at = batch.first + np.arange(batch.rows.num_rows)
            yield Block(
                [
                    Batch(
                        "typed",
                        at,
                        at - (numbers.start - 1),
                        dict.fromkeys(held, 0),
                        held.__getitem__,
                        partial(_records, held),
                    )
                ]
            )

    def _readable(self) -> list[str]:
        return [name for name, kind in self.types.items() if not any(_unsupported(kind, ""))]

    def _names_of(self, columns: Sequence[Path]) -> list[str]:
        """Columns, and fields of structs with dots, as far down as there are structs.

        Raises:
            DataError: One is of a type that is not read.
        """
        found = dict.fromkeys(path for path in map(self._path, columns) if path)
        whole = found.keys() & set(self.names)
        read = [
            path
            for path in found
            if path in self.names or not any(path.startswith(f"{one}.") for one in whole)
        ]
        tops = dict.fromkeys(one if one in self.types else one.split(".")[0] for one in read)
        problems = [
            problem
            for name in tops
            for problem in _unsupported(self.types[name], f"{self.path}: {name}")
        ]
        if problems:
            raise DataError(problems, hint=CAST)
        return read

    def _path(self, path: Path) -> str:
        """A field as far down as there are structs; empty where one has no such field."""
        name, *inner = path
        found, kind = str(name), self.types[str(name)]
        for key in inner:
            if kind.kind != "struct" or isinstance(key, int):
                break
            field = kind.field(key)
            if field is None:
                return ""
            found, kind = f"{found}.{key}", field
        return found


def _records(held: Mapping[str, Column], some: Sequence[int]) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    columns = [column.take(np.array(some, np.int64)).values() for column in held.values()]
    return [dict(zip(held, row, strict=True)) for row in zip(*columns, strict=True)]


def _unsupported(kind: ColumnType, place: str) -> Iterator[Problem]:
    """Problems for types that are not read."""
    names = [name for name, _ in kind.fields]
    if kind.kind == "deep":
        yield Problem(place, "it is nested too deeply to be read")
    elif kind.kind == "other":
        written = kind.written
        text = written if len(written) <= _SHOWN else written[: _SHOWN - 1] + "…"
        yield Problem(place, f"a column of {text} is not read; write it as text")
    elif kind.kind == "struct" and len(set(names)) < len(names):
        yield Problem(place, "two fields of it have one name")
    for name, inner in kind.fields:
        within = {"list": f"{place}[]", "struct": f"{place}.{name}"}
        yield from _unsupported(inner, within.get(kind.kind, place))
