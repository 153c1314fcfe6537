"""Read one piece of a file of labels and scores.

A byte range is extended to whole lines or row groups and, where a row is one label of a sample, to
whole samples. The head of the file, which describes all its rows, is read again for every piece.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.batch import Part, RowFile, TypedReading
from valor_cli.data.formats.tables import FORMATS, format_of
from valor_cli.data.inputs.scores import open_score_rows, read_score_rows
from valor_cli.data.partition.pieces import Piece, Span, UnsplittableError, line_above, rest_of
from valor_cli.data.shapes.scores.joined import ScorePart
from valor_cli.data.shapes.scores.layout import ScoreLayout, layout_of
from valor_cli.data.shapes.scores.rows import ScoreRows, Unsettled
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.errors import DataError

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_END: Final = re.compile(rb"\r\n?|\n")
_AHEAD: Final = 1 << 16
"""Bytes that are read at once to find where a sample ends."""

_NO_END: Final = 1 << 62


def read_score_piece(
    piece: Piece,
    side: Side,
    reading: ScoreReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> ScorePart:
    """Read the samples of a piece.

    A file must be read whole whose format is; a CSV file in which a quoted field may hold a line
    end; and where a row is one label of a sample, one with rows of a sample that contradict each
    other or say no true label, as others further on may settle that. A piece that begins inside of
    a quoted field does not see it, but one above it does: the pieces of a file count only if all of
    them can be read.

    Lines are counted from the first of the piece. Only where something is wrong are those above it
    counted, and the piece is read once more to name the lines of the file. Typed rows are counted
    from the first of the file.

    Args:
        piece: Of one file. The whole of an input is read as `read_scores` reads a file.
        side: What it holds.
        reading: How to read it.
        format: One of `FORMATS`; None to tell it as `read_scores` does.

    Raises:
        DataError: As `read_scores`, of faults in this piece. That there are no samples, or that
            none has metadata of a name, is not for a piece to say (`file_warnings`).
        UnsplittableError: The file must be read whole.
    """
    path, found = piece.path, format or format_of(piece.path)
    if piece.end is None:
        return read_score_rows(path, side, reading, found)
    if not FORMATS[found].can_cut:
        raise UnsplittableError
    reader = _PieceReader(path, side, reading, found)
    part = reader.part(piece)
    try:
        return reader.read(part, 1)
    except DataError:
        if not part.begin or reader.file.form == "typed":
            raise
    above = lines_above(path, reader.file, part.begin)
    if above is not None:
        reader.read(part, 1 + above)
    # A quoted field may go on from above; or the file is another than a moment ago.
    raise UnsplittableError


class _PieceReader:
    """Reads pieces of one file."""

    def __init__(self, path: str, side: Side, reading: ScoreReading, found: str) -> None:
        self.file: RowFile = open_score_rows(path, reading, found)
        self._path = path
        self._side = side
        self._layout: ScoreLayout = layout_of(self.file, side, reading)

    def part(self, piece: Piece) -> Part:
        """The whole samples that begin in a piece."""
        part = self.file.part_of(piece)
        if not self._layout.long:
            return part
        if self.file.form == "typed":
            return part._replace(begin=self._row_from(part.begin), end=self._row_from(part.end))
        span = Span(self._byte_from(part.begin), self._byte_from(part.end))
        return Part(*span, span)

    def read(self, part: Part, line: int) -> ScorePart:
        """The samples of a part, the first line of which has a number."""
        rows, file = self._rows(), self.file
        try:
            rows.read(part, line)
        except DataError:
            if file.form != "cells":
                raise
            raise UnsplittableError from None
        if file.is_split:
            raise UnsplittableError
        try:
            return rows.part(part.span, 0 if file.form == "typed" else file.line - line)
        except Unsettled:
            raise UnsplittableError from None

    def _rows(self) -> ScoreRows:
        return ScoreRows(self.file, self._side, self._layout)

    def _row_from(self, number: int) -> int:
        """The first row from one on that does not go on with the sample of the row above that.

        As two neighbours ask this of the same row, no row is lost or read twice.
        """
        if number == 1:
            return number
        ways, sample = self._layout.ways(self.file.names)["sample_id"], None
        below = Part(number - 1, _NO_END, Span(0, 0))
        for block in self.file.blocks(below, typed=TypedReading(ways)):
            batch = block.batches[0]
            ids = batch.at(ways).ids()
            sample = ids[0] if sample is None else sample
            if not sample:
                break
            other = np.flatnonzero(ids != sample)
            if len(other):
                return int(batch.line[other[0]])
            number = int(batch.line[-1]) + 1
        return number

    def _byte_from(self, at: int) -> int:
        """Where the first sample begins that does not begin before a line.

        It begins behind all lines from that one on that go on with the sample of the line above.
        As two neighbours ask this of the same line, no line is lost or read twice, whatever is in
        them.

        Raises:
            DataError: The lines cannot be read, or are no UTF-8.
        """
        if not at:
            return 0
        above = line_above(self._path, at)
        if self.file.form == "cells" and not above.begin:
            return at
        text = TextSource(self._path, above).whole()
        sample = self._samples(Part(*above, above), text)[1][-1:]
        if not len(sample):
            return at
        for block in blocks_of_lines(TextSource(self._path, rest_of(self._path, at)), _AHEAD):
            span = Span(at, at + len(block))
            line, ids = self._samples(Part(*span, span), block)
            own = np.unique(line[ids == sample[0]])
            run = int(np.append(own == np.arange(len(own)), False).argmin())
            ends = [0, *(one.end() for one in islice(_LINE.finditer(block), run))]
            at += ends[-1]
            if ends[-1] < len(block):
                break
        return at

    def _samples(self, part: Part, text: bytes) -> tuple[NDArray[Any], NDArray[Any]]:
        """The line of each row, from 0, and the sample that it is of; no row where in doubt."""
        try:
            if text.count(b"\r") == text.count(b"\r\n"):
                rows = self._rows()
                rows.read(part, 0)
                found = rows.columns()
                return found.line, found.sample_id
        except DataError:
            # A quote is not closed: whoever reads these lines says so.
            pass
        return np.zeros(0, np.int64), np.zeros(0, "S1")


def lines_above(path: str, file: RowFile, end: int) -> int | None:
    """How many lines end before a byte; None where that may be inside of a quoted cell."""
    count, header = 0, file.form == "cells"
    for block in blocks_of_lines(TextSource(path, Span(0, end))):
        if file.form != "cells":
            count += block.count(b"\n")
            continue
        below = block
        if header:
            first = _END.search(block)
            below = block[first.end() :] if first else b""
        if b'"' in below:
            return None
        count += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
        header = False
    return count
