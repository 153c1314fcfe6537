"""Read labels and scores from CSV.

The first line names the columns (`score_header.ALIASES`). A row is a sample with its label; or one
predicted label of a sample with its score; or several, in pairs of columns; or a sample with a
score column for each class.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from valor_cli.data.column_names import csv_reader, not_csv
from valor_cli.data.formats.csv.score_header import read_header
from valor_cli.data.formats.csv.score_lines import PlainScoreRows
from valor_cli.data.formats.csv.score_rows import ScoreRowReader
from valor_cli.data.shapes.scores.assembly import score_file
from valor_cli.data.shapes.scores.checks import Named
from valor_cli.data.shapes.scores.columns import GatheredScores, ScoreColumns
from valor_cli.data.shapes.scores.fields import BLOCK
from valor_cli.data.shapes.scores.prediction_columns import (
    NAME_CLASSES,
    unread_column_warnings,
    unread_columns,
)
from valor_cli.data.shapes.scores.rows import Ints, ScoreHeader
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines, lines_at
from valor_cli.data.values import LineProblems
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.vocabulary import Vocabulary


class Begun(NamedTuple):
    """A CSV file after its header was read.

    Attributes:
        header: What the first line says.
        blocks: The rows, in blocks of whole lines; the first holds a row.
        line: Number of the first line of `blocks`.
    """

    header: ScoreHeader
    blocks: Iterator[bytes]
    line: int


def read_score_csv(path: str, side: Side, reading: ScoreReading) -> ScoreFile:
    """The samples of a CSV file; all ids and labels are text.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        side: What it holds.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a column is missing; a row or a value is wrong; there
            are no rows.
    """
    source = TextSource(path)
    begun = begun_score_csv(source, side, reading)
    rows = CsvRows(begun.header, path, reading)
    rows.read(begun.blocks, begun.line)
    found = rows.file(source.sha256)
    warnings = unread_column_warnings(
        path, side, unread_columns(begun.header, reading), found.labels
    )
    return replace(found, warnings=[*found.warnings, *warnings])


def begun_score_csv(source: TextSource, side: Side, reading: ScoreReading) -> Begun:
    """The header of a file, and its rows.

    Raises:
        DataError: The file cannot be read; a column is missing; there are no rows.
    """
    path = source.path
    blocks = blocks_of_lines(source, BLOCK)
    line, rest = first_line(next(blocks))
    filled, above = _first_filled(chain([rest], blocks))
    if not line.strip() and not filled:
        raise DataError(Problem(path, "the file is empty: it has only line breaks"))
    first = filled.lstrip(b"\r\n").decode().splitlines()[:1]
    header = read_header(line, first, path, side, reading)
    if not filled:
        raise DataError(Problem(path, "there are no rows below the first line"))
    return Begun(header, chain([filled], blocks), 2 + above)


class CsvRows:
    """The rows of a file or part.

    Attributes:
        line: Number of the line behind those that were read.
    """

    def __init__(self, header: ScoreHeader, path: str, reading: ScoreReading) -> None:
        labels, keys = Vocabulary(), Vocabulary()
        for name, _ in header.classes:
            labels.code(name.encode())
        self.line = 0
        self._header = header
        self._path = path
        self._invalid = reading.invalid
        self._labels, self._keys = labels, keys
        self._problems = LineProblems(path)
        self._plain = PlainScoreRows(header, labels, keys, probabilities=reading.probabilities)
        self._slow = ScoreRowReader(
            header,
            labels,
            keys,
            self._problems,
            probabilities=reading.probabilities,
            note="" if reading.classes else NAME_CLASSES,
        )
        self._gathered = GatheredScores(list(header.metadata))

    def read(self, texts: Iterator[bytes], line: int, *, part: bool = False) -> bool:
        """Read all rows, on the fast path where possible.

        Args:
            texts: Blocks of whole lines.
            line: Number of the first.
            part: Whether the text may begin, or end, inside of a quoted field.

        Returns:
            Whether it was read. A part is not where it holds quotes and is not seen to be lines
            that are rows each; what follows on such lines has quotes around whole fields alone,
            so that a text behind it begins outside of quotes if this text does.

        Raises:
            DataError: A quote is not closed, or text follows a closing one.
        """
        blocks = _Blocks(texts, self._header, self._path, line)
        for block in blocks:
            parsed = self._plain.parse(block, blocks.line)
            if parsed is None:
                if part and b'"' in block:
                    return False
                self._gathered.add(self._slow.piece(*blocks.records(block)))
                continue
            self._gathered.add(parsed.piece)
            if len(parsed.rejected):
                self._gathered.add(self._slow.piece(*blocks.single_records(block, parsed.rejected)))
            blocks.line += parsed.lines
        self.line = blocks.line
        return True

    def columns(self) -> ScoreColumns:
        """The valid rows in file order; empties this object."""
        return self._gathered.columns()

    def file(self, sha256: str, *, part: bool = False) -> ScoreFile:
        """The samples; empties this object.

        Raises:
            DataError: As `score_file` does.
        """
        header = self._header
        return score_file(
            self._path,
            self._gathered,
            Named(
                self._labels.names,
                self._keys.names,
                truth="" if header.truth is None else header.names[header.truth],
                key="" if header.key is None else header.names[header.key],
            ),
            self._problems,
            faulty=self._slow.rows.faulty,
            sha256=sha256,
            long=is_long(header),
            classes=tuple(name for name, _ in header.classes),
            invalid=self._invalid,
            part=part,
        )


def is_long(header: ScoreHeader) -> bool:
    """Whether a row is one label of a sample, so that samples may have several rows."""
    return len(header.pairs) == 1


def first_line(block: bytes) -> tuple[str, bytes]:
    """The header line, and the rest."""
    ends = [at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0]
    end = min(ends, default=len(block))
    after = end + 2 if block[end : end + 2] == b"\r\n" else end + 1
    return block[:end].decode(), block[after:]


def _first_filled(blocks: Iterator[bytes]) -> tuple[bytes, int]:
    """The first block that is not blank, and how many lines stand above; empty without any."""
    above = 0
    for block in blocks:
        if block.strip():
            return block, above
        above += line_ends(block)
    return b"", above


def line_ends(block: bytes) -> int:
    """Number of line ends in a block, as the csv module counts them."""
    if b"\r" not in block:
        return block.count(b"\n")
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


class _Blocks:
    """Blocks of whole lines, which the csv module may read on from where a row goes on.

    Attributes:
        line: Number of the first line of the next block.
    """

    def __init__(self, blocks: Iterator[bytes], header: ScoreHeader, path: str, line: int) -> None:
        self.line = line
        self._delimiter = header.delimiter
        self._blocks = blocks
        self._spaced = header.spaced
        self._path = path
        self._within = False

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks

    def records(self, block: bytes) -> tuple[list[list[str]], list[int]]:
        """Fields of rows, and the lines they begin on; blank lines are left out.

        A quoted field may go on in the next block, which is then read to its end as well.

        Raises:
            DataError: A quote is not closed, or text follows a closing one.
        """
        reader = csv_reader(self._lines(block), self._delimiter, spaced=self._spaced)
        records: list[list[str]] = []
        lines: list[int] = []
        first = begin = self.line
        try:
            for record in reader:
                self._within = False
                if record:
                    records.append(record)
                    lines.append(begin)
                begin = first + reader.line_num
        except csv.Error as error:
            raise not_csv(self._path, begin, error) from None
        self.line = begin
        return records, lines

    def single_records(self, block: bytes, chosen: Ints) -> tuple[list[list[str]], list[int]]:
        """The same of some lines of a block, each of them a row of its own."""
        first, self.line = self.line, 0
        records, places = self.records(b"\n".join(lines_at(block, chosen)))
        self.line = first
        return records, (first + chosen[places]).tolist()

    def _lines(self, block: bytes | None) -> Iterator[str]:
        while block is not None:
            for line in StringIO(block.decode(), newline=""):
                self._within = True
                yield line
            block = next(self._blocks, None) if self._within else None
