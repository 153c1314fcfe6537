"""Rows of Python values as batches, for formats that are parsed as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from valor_cli.data.batch import (
    ALL,
    Batch,
    Block,
    FaultyRow,
    Found,
    Part,
    RowFile,
    TypedReading,
)
from valor_cli.data.json_records import TOO_DEEP
from valor_cli.data.partition.pieces import Piece, UnsplittableError
from valor_cli.data.tape import Column, Ints, tape_of_some
from valor_cli.errors import printable

_ROWS: Final = 1 << 10


class ValueFile(RowFile):
    """Rows that have been parsed; see `RowFile`."""

    def __init__(
        self,
        path: str,
        rows: Sequence[Any],
        place: str,
        sha256: str,
        lines: Sequence[int] | None = None,
        wrong: Sequence[FaultyRow] = (),
    ) -> None:
        """Initialise with the rows.

        Args:
            path: The file, for messages.
            rows: Mappings, with values as of JSON or of `json_records.parsed`.
            place: How a row is named, as in `Table.place`.
            sha256: Hex digest of the file.
            lines: The number of each row; None to count from 0.
            wrong: Other rows, and what is wrong with them.
        """
        self.path = self.head = path
        self.place = place
        self.line = 0
        self._sha256 = sha256
        self._rows = rows
        self._lines = np.arange(len(rows)) if lines is None else np.array(lines, np.int64)
        self._wrong = wrong

    @classmethod
    def of_document(cls, path: str, found: Found, sha256: str) -> ValueFile:
        """The rows of a JSON document, called as the list that they are in."""
        name = printable(found.name).replace("{", "{{").replace("}", "}}")
        return cls(path, found.rows, f"{name}[{{row}}]", sha256)

    def part_of(self, piece: Piece) -> Part:
        """There is none: where its rows are in the file is not known."""
        raise UnsplittableError

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """The first objects."""
        yield from (row for row in self._rows[:_ROWS] if isinstance(row, dict))

    @property
    def sha256(self) -> str:
        """Hex digest of the file."""
        return self._sha256

    def blocks(self, part: Part | None = None, typed: TypedReading = ALL) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`."""
        # What is wrong is said of a file without any row too.
        for first in range(0, len(self._rows) or 1, _ROWS):
            rows, at = self._rows[first : first + _ROWS], self._lines[first : first + _ROWS]
            wrong = list(self._wrong if first == 0 else ())
            yield Block([batch_of(rows, at, first + 1 + np.arange(len(rows)), wrong)], wrong)


def batch_of(values: Sequence[Any], line: Ints, number: Ints, wrong: list[FaultyRow]) -> Batch:
    """A batch of values of `json_records.parsed`.

    Args:
        values: One a row.
        line, number: As in `Batch`.
        wrong: Where those are added that are nested too deeply.
    """
    column, deep = tape_of_some(values)
    if deep.any():
        wrong += [(int(line[at]), [("", TOO_DEEP)]) for at in np.flatnonzero(deep)]
        kept = np.flatnonzero(~deep)
        values, line, number = [values[at] for at in kept.tolist()], line[kept], number[kept]
        column = column.take(kept)
    return Batch(
        "json",
        line,
        number,
        names_of(column, line),
        column.field,
        lambda rows: [values[row] for row in rows],
        column,
    )


def names_of(values: Column, line: Ints) -> dict[str, int]:
    """The keys of rows, with the line of the first row that has each."""
    return {name: int(line[row]) for name, row in values.first_keys().items()}
