"""Rows of a file as columns, whatever its format: what formats give and shapes read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct

from valor_cli.data.column_names import listed
from valor_cli.data.json_records import Record
from valor_cli.data.partition.pieces import Piece, Span, span_of_lines
from valor_cli.data.schema import Path, first_at
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE
from valor_cli.data.tape import Column, Ints, tape_of
from valor_cli.data.values import shortened

Form: TypeAlias = Literal["cells", "typed", "json"]
"""What the values of rows are: texts of a table, columns with types, or JSON, where each row has
keys of its own."""

Fault: TypeAlias = tuple[str, str]
"""Where in a row something is wrong ("predictions.cat"; empty for the row itself), and what."""

FaultyRow: TypeAlias = tuple[int, list[Fault]]
"""The line of a row, and its faults."""

Kind: TypeAlias = Literal[
    "text",
    "whole",
    "decimal",
    "float",
    "truth",
    "date",
    "none",
    "list",
    "struct",
    "map",
    "other",
    "deep",
]
"""What the values of a typed column are; those of a column of nulls alone are none."""


_LONGEST_TYPE: Final = 60
"""Characters of a type in a message."""


class ColumnType(Struct, frozen=True):
    """The type of a column.

    Attributes:
        kind: What its values are.
        written: The type as its library writes it.
        fields: Name and type of the fields of a struct; of a map "key" and "value"; of a list what
            it holds, under "".
    """

    kind: Kind
    written: str
    fields: Sequence[tuple[str, ColumnType]] = ()

    @property
    def shown(self) -> str:
        """The type for a message."""
        return shortened(self.written, _LONGEST_TYPE)

    def field(self, name: str) -> ColumnType | None:
        """The type of a field of a struct; None where there is none."""
        return next((one for own, one in self.fields if own == name), None)


Known: TypeAlias = Callable[[Sequence[str]], int]
"""How many of some names a shape knows."""


class Found(NamedTuple):
    """A list of rows in a JSON object, and the dotted path of its keys."""

    name: str
    rows: Sequence[Any]


Shaped: TypeAlias = Callable[[Record, Found | None], Found | None]
"""Finds the rows of a JSON document of another tool: takes the document and the list of rows that
was found in it, and returns the rows to read."""


class Batch(Struct, frozen=True):
    """Some rows.

    Attributes:
        form: What their values are.
        line: (n,) the place of each in the file, as messages name it.
        number: (n,) which row of the file, or of the part that is read, each is, from 1.
        names: Keys or columns in their order, with the line of the first row that has each (0 for
            the columns of a table).
        column: The values under a name; absent in rows that do not have it.
        records: The rows at some positions as Python values, to say what is wrong with them: texts
            by name, or values of `json_records.parsed`.
        objects: The rows themselves, where each has keys of its own.
        irregular: Whether there may be objects with a duplicate key, and what is no number or text.
    """

    form: Form
    line: Ints
    number: Ints
    names: Mapping[str, int]
    column: Callable[[str], Column]
    records: Callable[[Sequence[int]], Sequence[Any]]
    objects: Column | None = None
    irregular: bool = True

    def __len__(self) -> int:
        return len(self.line)

    def at(self, ways: Sequence[Path]) -> Column:
        """The first value of each row on some ways."""
        if self.objects is None:
            ways = [way for way in ways if way[0] in self.names]
        return first_at(self.column, ways) if ways else self.absent()

    def absent(self) -> Column:
        """A column without a value."""
        if self.objects is not None:
            tape = self.objects.tape
        else:
            tape = self.column(next(iter(self.names))).tape if self.names else tape_of([]).tape
        return Column(tape, np.full(len(self), -1, np.int64))


class Block(NamedTuple):
    """Rows that were read at once.

    Attributes:
        batches: Those that could be read; the rows of several stand between each other.
        wrong: What is wrong with the others.
    """

    batches: Sequence[Batch]
    wrong: Sequence[FaultyRow] = ()

    def records(self) -> list[tuple[int, Any, Sequence[Fault]]]:
        """The rows as Python values in the order of lines: the line, the value, and no faults.

        Of a row that could not be read there are the faults, and no value.
        """
        found: list[tuple[int, Any, Sequence[Fault]]] = [
            (line, None, faults) for line, faults in self.wrong
        ]
        for batch in self.batches:
            values = batch.records(range(len(batch)))
            found += [
                (int(line), value, ()) for line, value in zip(batch.line, values, strict=True)
            ]
        return sorted(found, key=lambda row: row[0])


class Part(NamedTuple):
    """Some rows of a file.

    Attributes:
        begin, end: Bytes of lines; of typed rows their numbers, from 1.
        span: The bytes of the file that these are, nominally.
    """

    begin: int
    end: int
    span: Span


class TypedReading(NamedTuple):
    """What to read of a file with typed columns; the other forms have all of their values at hand.

    Attributes:
        columns: The columns, or values in these; None for all that can be read.
        coded: Those of these that repeat a few texts.
        most: Rows of a batch, at most.
    """

    columns: Sequence[Path] | None = None
    coded: Sequence[str] = ()
    most: int = 1 << 14


ALL: Final = TypedReading()


class RowFile(ABC):
    """A file of rows whose head has been read.

    Attributes:
        path: The file, as the user wrote it.
        form: What the values of its rows are.
        names: Its columns; none of JSON.
        head: What names them in messages: "gt.csv:1", or the file.
        types: The type of each column, of typed ones.
        place: How a row is named, as in `Table.place`.
        delimiter: What is between cells; a comma where there is nothing.
        line: The number of the next line to read; in a part, they are counted from its first.
    """

    path: str
    form: Form = "json"
    names: Sequence[str] = ()
    head: str
    types: Mapping[str, ColumnType] = {}
    place: str = LINE
    delimiter: str = ","
    line: int = 1

    def listing(self, names: Sequence[str]) -> str:
        """Names of columns, for the message that others are missing."""
        first = "the first line names these" if self.form == "cells" else "there is"
        return f"{first}: {listed(names)}"

    @abstractmethod
    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """The first rows, by name; of typed columns none."""

    @abstractmethod
    def blocks(self, part: Part | None = None, typed: TypedReading = ALL) -> Iterator[Block]:
        """The rows, in order.

        Args:
            part: Which of them, as `part_of` says it; None for all.
            typed: What to read of typed columns.

        Raises:
            DataError: The file cannot be read on; a column to read is of a type that is not read.
            UnsplittableError: The part cannot tell where its rows begin.
        """

    def part_of(self, piece: Piece) -> Part:
        """The rows that begin in a piece.

        Raises:
            ValueError: The format is read as a whole (`RowFormat.can_cut`).
        """
        raise ValueError("a file that is parsed as a whole has no parts")

    @staticmethod
    def above(path: str, begin: int) -> int:
        """By how much the numbers of lines are too low in the part of a file that begins there.

        Raises:
            DataError: The file cannot be read.
            UnsplittableError: The part cannot tell where its rows begin.
        """
        return 0

    @property
    @abstractmethod
    def sha256(self) -> str:
        """Hex digest of the file, once all of it has been read.

        Raises:
            DataError: It cannot be read.
        """


class TextRowFile(RowFile):
    """A text file whose rows begin at lines."""

    def __init__(self, source: TextSource) -> None:
        self.path = source.path
        self._source = source

    def part_of(self, piece: Piece) -> Part:
        """The lines that begin in a piece."""
        span = span_of_lines(piece)
        return Part(*span, span)

    @staticmethod
    def above(path: str, begin: int) -> int:
        """How many lines stand above a part."""
        return sum(block.count(b"\n") for block in blocks_of_lines(TextSource(path, (0, begin))))

    @property
    def sha256(self) -> str:
        """Hex digest of the file, once all of it has been read."""
        return self._source.sha256
