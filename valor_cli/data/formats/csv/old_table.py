"""Read CSV as tables of cells, whatever the rows mean."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import chain
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.column_names import csv_reader, not_csv
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.tape import ABSENT, MOST, NULL, TEXT, Column, Ints, Tape
from valor_cli.errors import DataError, Problem
from valor_cli.kernels import engine

BLOCK = 1 << 19
"""Bytes that are read at once."""

_EXPECTED = "'{}' expected after '\"'"
_OPEN = "unexpected end of data"


class CsvRows(Struct, frozen=True):
    """Some rows of a file.

    Attributes:
        cells: All cells of rows with as many as the header, row after row.
        line: (k,) the line that each of these rows begins on.
        width: Cells of a row.
        uneven: Line and number of cells of the other rows.
    """

    cells: Tape
    line: Ints
    width: int
    uneven: Sequence[tuple[int, int]]

    def column(self, position: int) -> Column:
        """The cells of a column."""
        return Column(self.cells, np.arange(len(self.line)) * self.width + position)

    def record(self, row: int) -> list[str]:
        """The cells of a row."""
        return Column(self.cells, np.arange(self.width) + row * self.width).texts()


class CsvHead(NamedTuple):
    """The beginning of a file.

    Attributes:
        first: The first line.
        second: The first line below it that is not blank, in a list; empty without rows.
        blocks: The rows, in blocks of whole lines; none without rows.
        line: Number of the first line of `blocks`.
    """

    first: str
    second: list[str]
    blocks: Iterator[bytes]
    line: int


def csv_head(source: TextSource) -> CsvHead:
    """The first line of a file, and its rows.

    Raises:
        DataError: The file cannot be read, or has only line breaks.
    """
    blocks = blocks_of_lines(source, BLOCK)
    block = next(blocks)
    ends = [at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0]
    end = min(ends, default=len(block))
    first = block[:end].decode()
    line = 1
    rest = block[end:]
    while not rest.strip():
        line += line_ends(rest)
        following = next(blocks, None)
        if following is None:
            if not first.strip():
                raise DataError(Problem(source.path, "the file is empty: it has only line breaks"))
            return CsvHead(first, [], iter(()), line)
        rest = following
    # The line end that is left of the first line is that of a blank one.
    second = rest.lstrip(b"\r\n").decode().splitlines()[:1]
    return CsvHead(first, second, chain([rest], blocks), line)


class CsvTable:
    """The rows of a file or of a part of it.

    Attributes:
        line: Number of the line behind those that were read.
        is_split: Whether a row was on several lines, or a quote no part of a quoted cell: a part of
            the file cannot tell where its rows begin then.
    """

    def __init__(self, path: str, delimiter: str, width: int, *, spaced: bool) -> None:
        """Initialise with the layout.

        Args:
            path: The file, for messages.
            delimiter: Between cells.
            width: Cells of the first line.
            spaced: Whether spaces follow the delimiter that belong to no cell.
        """
        self.line = 0
        self.is_split = False
        self._path = path
        self._delimiter = delimiter
        self._width = width
        self._spaced = spaced

    def rows(self, blocks: Iterator[bytes], line: int) -> Iterator[CsvRows]:
        """The rows of blocks of whole lines, the first of which has the number `line`.

        Raises:
            DataError: A quote is not closed, or followed by something else than a delimiter.
        """
        self.line = line
        waiting = b""
        for block in blocks:
            if len(waiting) > len(block):
                # Each time twice as much, so that no byte is read often.
                more = [block]
                while sum(map(len, more)) < len(waiting) and (other := next(blocks, b"")):
                    more.append(other)
                block = b"".join(more)
            read = self._read(waiting + block)
            waiting = read.rest
            if len(read.rows.line) or read.rows.uneven:
                yield read.rows
            if read.error and read.error != _OPEN:
                raise not_csv(self._path, self.line, csv.Error(read.error))
        if waiting:
            raise not_csv(self._path, self.line, csv.Error(_OPEN))

    def _read(self, block: bytes) -> _Read:
        first = self.line
        found = _compiled(block, self._delimiter, self._width, spaced=self._spaced)
        if found is None:
            found = _plain(block, self._delimiter, self._width, spaced=self._spaced)
        self.line = first + found.lines
        self.is_split |= found.is_split or bool(found.error)
        line = first + found.line.astype(np.int64)
        good = found.fields == self._width
        uneven = zip(line[~good].tolist(), found.fields[~good].tolist(), strict=True)
        end = found.end
        kind = np.where(end > found.start, TEXT, NULL).astype(np.uint8)
        kind[-1] = ABSENT
        tape = Tape(found.text, kind, found.start, end, None)
        rows = CsvRows(tape, line[good], self._width, list(uneven))
        return _Read(rows, block[found.consumed :], found.error)


class _Read(NamedTuple):
    """Rows of a block, the bytes that are left of it, and why."""

    rows: CsvRows
    rest: bytes
    error: str


class _Cells(NamedTuple):
    """Cells of a block.

    Attributes:
        text: What spans point into.
        start, end: (cells + 1,) spans of the cells of full rows; the last one is empty.
        line, fields: (rows,) the line from 0 of each row, and how many cells it has.
        consumed: Bytes of the block that were read.
        lines: Line ends in these.
        error: Why not all were, as the csv module says it.
        is_split: As in `CsvTable`.
    """

    text: bytes | bytearray
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    line: NDArray[np.int32]
    fields: NDArray[np.int32]
    consumed: int
    lines: int
    error: str
    is_split: bool


def _compiled(block: bytes, delimiter: str, width: int, *, spaced: bool) -> _Cells | None:
    """The cells, by the compiled kernel; None where there is none."""
    if engine.compiled is None or len(block) + width >= MOST:
        return None
    text = bytearray(block)
    start, end = (np.empty(len(block) + width + 1, np.int32) for _ in range(2))
    line, fields = (np.empty(len(block) // 2 + 2, np.int32) for _ in range(2))
    rows, consumed, lines, state, across = engine.compiled.csv_tape(
        text, start, end, line, fields, ord(delimiter), spaced, width
    )
    fields = fields[:rows]
    cells = width * int(np.count_nonzero(fields == width))
    start[cells] = end[cells] = 0
    error = ("", _OPEN, _EXPECTED.format(delimiter))[state]
    kept = slice(cells + 1)
    return _Cells(
        text, start[kept], end[kept], line[:rows], fields, consumed, lines, error, bool(across)
    )


def _plain(block: bytes, delimiter: str, width: int, *, spaced: bool) -> _Cells:
    """The cells, by the csv module."""
    text = block.decode()
    lines = list(StringIO(text, newline=""))
    reader = csv_reader(lines, delimiter, spaced=spaced)
    cells: list[bytes] = []
    line, fields = [], []
    begin = read = 0
    error = ""
    try:
        for record in reader:
            if record:
                line.append(begin)
                fields.append(len(record))
                if len(record) == width:
                    cells += [cell.encode() for cell in record]
            begin = read = reader.line_num
    except csv.Error as problem:
        error = str(problem)
    ends = np.cumsum([0, *map(len, cells)])
    consumed = len("".join(lines[:read]).encode())
    quotes = text.count('"')
    return _Cells(
        b"".join(cells),
        np.append(ends[:-1], 0).astype(np.int32),
        np.append(ends[1:], 0).astype(np.int32),
        np.array(line, np.int32),
        np.array(fields, np.int32),
        consumed,
        line_ends(block[:consumed]),
        error,
        quotes > 0,
    )


def line_ends(block: bytes) -> int:
    """Number of line ends in a block, as the csv module counts them."""
    if b"\r" not in block:
        return block.count(b"\n")
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
