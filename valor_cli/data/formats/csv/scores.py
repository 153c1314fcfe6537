"""Read labels and scores from CSV.

The first line names the columns (`score_header.ALIASES`). A row is a sample with its label; or one
predicted label of a sample with its score; or several, in pairs of columns; or a sample with a
score column for each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from valor_cli.data.formats.csv.score_header import read_header
from valor_cli.data.formats.csv.score_rows import ScoreRowReader
from valor_cli.data.formats.csv.table import CsvRows, CsvTable, csv_head
from valor_cli.data.shapes.scores.assembly import score_file
from valor_cli.data.shapes.scores.checks import Named
from valor_cli.data.shapes.scores.columns import GatheredScores, ScoreColumns
from valor_cli.data.shapes.scores.parse import ScoreFields, ScoreParser
from valor_cli.data.shapes.scores.prediction_columns import (
    NAME_CLASSES,
    unread_column_warnings,
    unread_columns,
)
from valor_cli.data.shapes.scores.rows import ScoreHeader
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import LineProblems
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary


class Begun(NamedTuple):
    """A CSV file after its header was read.

    Attributes:
        header: What the first line says.
        blocks: The rows, in blocks of whole lines.
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
    rows = ScoreTable(begun.header, path, side, reading)
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
    head = csv_head(source)
    header = read_header(head.first, head.second, source.path, side, reading)
    if not head.second:
        raise DataError(Problem(source.path, "there are no rows below the first line"))
    return Begun(header, head.blocks, head.line)


class ScoreTable:
    """The rows of a file or part.

    Attributes:
        line: Number of the line behind those that were read.
    """

    def __init__(self, header: ScoreHeader, path: str, side: Side, reading: ScoreReading) -> None:
        labels, keys = Vocabulary(), Vocabulary()
        for name, _ in header.classes:
            labels.code(name.encode())
        self._header = header
        self._path = path
        self._invalid = reading.invalid
        self._labels, self._keys = labels, keys
        self._problems = LineProblems(path)
        self._table = CsvTable(path, header.delimiter, len(header.names), spaced=header.spaced)
        self._parser = ScoreParser(side, (), labels, keys, probabilities=reading.probabilities)
        self._slow = ScoreRowReader(
            header,
            labels,
            keys,
            self._problems,
            probabilities=reading.probabilities,
            note="" if reading.classes else NAME_CLASSES,
        )
        self._gathered = GatheredScores(list(header.metadata))

    @property
    def line(self) -> int:
        """Number of the line behind those that were read."""
        return self._table.line

    def read(self, blocks: Iterator[bytes], line: int, *, part: bool = False) -> bool:
        """Read all rows.

        Args:
            blocks: Whole lines.
            line: Number of the first.
            part: Whether the text may begin, or end, inside of a quoted cell.

        Returns:
            Whether it was read. A part is not where a row is on several lines, or a quote is no
            part of a quoted cell; what follows on other lines begins outside of quotes if this text
            does.

        Raises:
            DataError: A quote is not closed, or text follows a closing one.
        """
        try:
            for rows in self._table.rows(blocks, line):
                if part and self._table.is_split:
                    return False
                self._add(rows)
        except DataError:
            if part:
                return False
            raise
        return True

    def _add(self, rows: CsvRows) -> None:
        parsed = self._parser.parse(self._fields(rows))
        self._gathered.add(parsed.piece)
        wrong = [(int(rows.line[at]), rows.record(at)) for at in parsed.rejected.tolist()]
        self._gathered.add(self._slow.piece(wrong, rows.uneven))

    def _fields(self, rows: CsvRows) -> ScoreFields:
        """The columns of rows, by meaning."""
        header, column = self._header, rows.column
        return ScoreFields(
            line=rows.line,
            sample_id=column(header.sample_id),
            truth=None if header.truth is None else column(header.truth),
            key=None if header.key is None else column(header.key),
            many=None,
            pairs=[
                (column(label), None if score < 0 else column(score))
                for label, score in header.pairs
            ],
            wide=[column(at) for _, at in header.classes],
            metadata={name: column(at) for name, at in header.metadata.items()},
            cells=True,
            unusable=np.zeros(len(rows.line), np.bool_),
        )

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
