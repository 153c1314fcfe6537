"""Read CSV as rows of texts; the first line names the columns.

Fields are separated by commas, semicolons, tabs or bars, and quoted with double quotes where
needed. Empty lines are no rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.batch import (
    ALL,
    Batch,
    Block,
    FaultyRow,
    Form,
    Known,
    Part,
    Shaped,
    TextRowFile,
    TypedReading,
)
from valor_cli.data.column_names import (
    DELIMITERS,
    csv_reader,
    fields_of,
    not_csv,
    wrong_field_count,
)
from valor_cli.data.partition.pieces import UnsplittableError
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.tape import ABSENT, MOST, NULL, TEXT, Column, Tape
from valor_cli.errors import DataError, Problem
from valor_cli.kernels import engine

BLOCK: Final = 1 << 19
"""Bytes that are read at once."""

_QUOTE, _LINE_FEED = ord('"'), ord("\n")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)?")
_EXPECTED = "'{}' expected after '\"'"
_OPEN = "unexpected end of data"


def open_rows(path: str, known: Known, shaped: Shaped | None = None) -> CsvFile:
    """Open a CSV file.

    Raises:
        DataError: It cannot be read, or there is no first line.
    """
    return CsvFile(path, known)


class CsvFile(TextRowFile):
    """A CSV file; see `RowFile`."""

    form: Form = "cells"

    def __init__(self, path: str, known: Known) -> None:
        """Read the names of the columns.

        Args:
            path: The file.
            known: The delimiter is the one with which most names are known.

        Raises:
            DataError: The file cannot be read, or there is no first line.
        """
        super().__init__(TextSource(path))
        blocks = blocks_of_lines(self._source, BLOCK)
        text, line, above = b"", 1, 0
        for block in blocks:
            text = block.lstrip(b"\r\n")
            above += len(block) - len(text)
            line += line_ends(block[: len(block) - len(text)])
            if text.strip():
                break
        if not text.strip():
            raise DataError(Problem(path, "the file is empty: it has only line breaks"))
        first = _LINE.match(text).group()  # type: ignore[union-attr] # there is one
        line_of_names = first.decode().rstrip("\r\n")
        self.delimiter = max(DELIMITERS, key=lambda one: _rank(line_of_names, one, known))
        fields = fields_of(line_of_names, self.delimiter)
        self._spaced = any(name.startswith(" ") for name in fields[1:])
        while True:
            lines = list(StringIO(first.decode(), newline=""))
            reader = csv_reader(lines, self.delimiter, spaced=self._spaced)
            try:
                names = next(reader)
                break
            except csv.Error as error:
                # The quotes of a name may be closed further below.
                if first == text and not (more := next(blocks, b"")):
                    raise not_csv(path, line, error) from None
                text += more if first == text else b""
                first = text
        self._is_split = reader.line_num > 1
        self.names: Sequence[str] = [name.strip() for name in names]
        self.head = f"{path}:{line}"
        rest = "".join(lines[reader.line_num :]).encode() + text[len(first) :]
        self._header = above + len(text) - len(rest)
        self._behind = self.line = line + reader.line_num
        self._blocks: Iterator[bytes] = chain([rest], blocks)

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """The first row; nothing where there is none."""
        read = list[bytes]()
        lines = b""
        while not lines and (block := next(self._blocks, b"")):
            read.append(block)
            lines = block.lstrip(b"\r\n")
        self._blocks = chain(read, self._blocks)
        if lines:
            first = _LINE.match(lines).group().decode()  # type: ignore[union-attr] # there is one
            cells = [cell.strip() for cell in fields_of(first, self.delimiter)]
            yield dict(zip(self.names, cells, strict=False))

    @staticmethod
    def above(path: str, begin: int) -> int:
        """How many lines stand above a part, where no cell below the names is quoted."""
        count = 0
        for block in blocks_of_lines(TextSource(path, (0, begin))):
            names = 0 if count else _LINE.match(block).end()  # type: ignore[union-attr]
            if b'"' in block[names:]:
                raise UnsplittableError
            count += line_ends(block)
        return count

    def blocks(self, part: Part | None = None, typed: TypedReading = ALL) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`.

        Raises:
            DataError: A quote is not closed, or text follows a closing one.
            UnsplittableError: A part has such a quote, or a row on several lines.
        """
        if part is None:
            self.line = self._behind
            yield from self._rows(self._blocks)
            return
        blocks, self.line = blocks_of_lines(TextSource(self.path, part[:2]), BLOCK), 1
        try:
            if part.begin == 0 < part.end:
                blocks = chain([next(blocks)[self._header :]], blocks)
                self.line = self._behind
            yield from self._rows(blocks)
        except DataError:
            raise UnsplittableError from None
        if self._is_split:
            raise UnsplittableError

    def _rows(self, blocks: Iterator[bytes]) -> Iterator[Block]:
        """The rows of whole lines."""
        count = 0
        waiting = b""
        for block in blocks:
            if len(waiting) > len(block):
                # Each time twice as much, so that no byte is read often.
                more = [block]
                while sum(map(len, more)) < len(waiting) and (other := next(blocks, b"")):
                    more.append(other)
                block = b"".join(more)
            rows = waiting + block
            found, first = self._cells(rows), self.line
            waiting = rows[found.consumed :]
            self.line += found.lines
            self._is_split |= found.is_split or bool(found.error)
            if len(found.line):
                yield self._block(found, first, count)
                count += len(found.line)
            if found.error and found.error != _OPEN:
                raise not_csv(self.path, self.line, csv.Error(found.error))
        if waiting:
            raise not_csv(self.path, self.line, csv.Error(_OPEN))

    def _cells(self, block: bytes) -> _Cells:
        width = len(self.names)
        found = _compiled(block, self.delimiter, width, spaced=self._spaced)
        return found or _plain(block, self.delimiter, width, spaced=self._spaced)

    def _block(self, found: _Cells, first: int, above: int) -> Block:
        """Rows, of which the first line and the number of rows above are given."""
        width = len(self.names)
        line, number = first + found.line.astype(np.int64), above + 1 + np.arange(len(found.line))
        kind = np.where(found.end > found.start, TEXT, NULL).astype(np.uint8)
        kind[-1] = ABSENT
        tape = Tape(found.text, kind, found.start, found.end, None)
        wrong = list[FaultyRow]()
        good = found.fields == width
        if not good.all():
            for at, cells in zip(line[~good].tolist(), found.fields[~good].tolist(), strict=True):
                message = wrong_field_count(cells, width, self.delimiter)
                wrong.append((at, [("", message)]))
            line, number = line[good], number[good]
        at = {name: position for position, name in reversed(list(enumerate(self.names)))}
        begin = np.arange(len(line)) * width
        batch = Batch(
            "cells",
            line,
            number,
            dict.fromkeys(self.names, 0),
            lambda name: Column(tape, begin + at[name]),
            partial(_records, tape, self.names),
            irregular=False,
        )
        return Block([batch], wrong)


def _records(tape: Tape, names: Sequence[str], rows: Sequence[int]) -> list[dict[str, str]]:
    columns = np.arange(len(names))
    width = len(names)
    return [
        dict(zip(names, Column(tape, columns + row * width).texts(), strict=True)) for row in rows
    ]


def _rank(line: str, delimiter: str, known: Known) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = [name.strip() for name in fields_of(line, delimiter)]
    return known(names), len(names)


class _Cells(NamedTuple):
    """Cells of a block.

    Attributes:
        text: What spans point into.
        start, end: (cells + 1,) spans of the cells of full rows; the last one is empty.
        line, fields: (rows,) the line from 0 of each row, and how many cells it has.
        consumed: Bytes of the block that were read.
        lines: Line ends in these.
        error: Why not all were, as the csv module says it.
        is_split: Whether a row is on several lines, or a quote no part of a quoted cell.
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


def has_rows_of_lines(path: str) -> bool:
    """Whether each row seems to be a line: none has a quote that is closed on another.

    A quote that is no part of a quoted cell may feign that; who reads a part notices.

    Raises:
        DataError: The file cannot be read.
    """
    for block in blocks_of_lines(TextSource(path), BLOCK):
        text = np.frombuffer(block, np.uint8)
        quotes, ends = np.flatnonzero(text == _QUOTE), np.flatnonzero(text == _LINE_FEED)
        if (np.searchsorted(quotes, np.append(ends, len(text))) % 2).any():
            return False
    return True


def line_ends(block: bytes) -> int:
    """Number of line ends in a block, as the csv module counts them."""
    if b"\r" not in block:
        return block.count(b"\n")
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
