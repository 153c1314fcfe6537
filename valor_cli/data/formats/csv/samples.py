"""Read text samples from CSV.

The first line names the columns (`data/shapes/samples/schema.py`). An empty response is an empty
answer; every other empty cell means no value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from valor_cli.data.column_names import (
    DELIMITERS,
    csv_reader,
    duplicate_columns,
    fields_of,
    not_csv,
    wrong_field_count,
)
from valor_cli.data.formats.csv.table import BLOCK, CsvRows, CsvTable, line_ends
from valor_cli.data.shapes.samples.parse import FaultyRow, SampleBatch, SampleParser
from valor_cli.data.shapes.samples.part import check_names, whole_file
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.tape import Ints
from valor_cli.data.values import LineProblems
from valor_cli.errors import DataError, Problem

_SAVED_BY_DEEPEVAL: Final = frozenset({"input", "actual_output", "expected_output", "source_file"})
"""The columns that identify a data set saved by deepeval, which writes "|" between contexts."""


def read_sample_csv(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a CSV file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; no column has a known name, or a mapped one is missing;
            a row has too few or too many fields; a value is wrong; there are no samples.
    """
    source = TextSource(path)
    head = _head(source, reading)
    names = [name.strip() for name in head.names]
    place = f"{path}:{head.line}"
    if problems := duplicate_columns(names, place):
        raise DataError(problems)
    check_names(names, reading, place)
    saved = names[0] == "input" and set(names) >= _SAVED_BY_DEEPEVAL
    parser = SampleParser(reading, LineProblems(path), names)
    table = CsvTable(path, head.delimiter, len(names), spaced=head.spaced)
    count = 0
    for rows in table.rows(head.blocks, head.behind):
        wrong: list[FaultyRow] = [
            (line, [("", wrong_field_count(found, len(names), head.delimiter, "field"))])
            for line, found in rows.uneven
        ]
        every = np.sort(np.concatenate([rows.line, [line for line, _ in wrong]]))
        number = count + 1 + np.searchsorted(every, rows.line)
        parser.add([_batch(rows, number, names, "|" if saved else "")], wrong)
        count += len(every)
    return whole_file(path, parser.part(), reading, source.sha256)


def _batch(rows: CsvRows, number: Ints, names: list[str], joined_by: str) -> SampleBatch:
    def records(some: Sequence[int]) -> list[dict[str, str]]:
        return [dict(zip(names, rows.record(at), strict=True)) for at in some]

    return SampleBatch(
        rows.line,
        number,
        dict.fromkeys(names, 0),
        lambda name: rows.column(names.index(name)),
        records,
        True,
        np.zeros(len(rows.line), np.bool_),
        joined_by,
    )


class _Head(NamedTuple):
    """The first line of a file, and what follows.

    Attributes:
        names: Its cells.
        line: Its number.
        blocks: The rows, in blocks of whole lines.
        behind: Number of the first line of these.
        delimiter: Between cells.
        spaced: Whether spaces follow it that belong to no cell.
    """

    names: list[str]
    line: int
    blocks: Iterator[bytes]
    behind: int
    delimiter: str
    spaced: bool


def _head(source: TextSource, reading: SampleReading) -> _Head:
    """Read the names of the columns.

    Raises:
        DataError: The file cannot be read, or there is no first line.
    """
    blocks = blocks_of_lines(source, BLOCK)
    text, line = b"", 1
    for block in blocks:
        text = block.lstrip(b"\r\n")
        line += line_ends(block[: len(block) - len(text)])
        if text:
            break
    if not text:
        raise DataError(Problem(source.path, "the file is empty: it has only line breaks"))
    first = text.decode().split("\n", 1)[0].split("\r", 1)[0]
    delimiter, spaced = delimiter_of(first, reading)
    while True:
        lines = list(StringIO(text.decode(), newline=""))
        reader = csv_reader(lines, delimiter, spaced=spaced)
        try:
            names = next(reader)
            break
        except csv.Error as error:
            # The quotes of a name may be closed further below.
            more = next(blocks, b"")
            if not more:
                raise not_csv(source.path, line, error) from None
            text += more
    rest = "".join(lines[reader.line_num :]).encode()
    return _Head(names, line, chain([rest], blocks), line + reader.line_num, delimiter, spaced)


def delimiter_of(first: str, reading: SampleReading) -> tuple[str, bool]:
    """The delimiter of a header line, and whether a space follows it."""
    delimiter = max(DELIMITERS, key=lambda one: _delimiter_rank(first, one, reading))
    return delimiter, any(name.startswith(" ") for name in fields_of(first, delimiter)[1:])


def _delimiter_rank(line: str, delimiter: str, reading: SampleReading) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = [name.strip() for name in fields_of(line, delimiter)]
    return len(SCHEMA.layout(names, reading.columns)), len(names)
