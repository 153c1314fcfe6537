"""Read one piece of a file of labels and scores.

A byte range is extended to whole lines or row groups and, where a row is one label of a sample, to
whole samples. The head of the file, which describes all its rows, is read again for every piece.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.batch import Part, RowFile, TypedReading
from valor_cli.data.formats.tables import can_cut, format_of
from valor_cli.data.inputs.scores import open_score_rows, read_score_rows
from valor_cli.data.partition.pieces import Piece, Span, UnsplittableError, line_above, rest_of
from valor_cli.data.shapes.scores.joined import ScorePart
from valor_cli.data.shapes.scores.layout import ScoreLayout, layout_of
from valor_cli.data.shapes.scores.rows import ScoreRows
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.errors import DataError

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
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
    counted, to name the lines of the file. Typed rows are counted from the first of the file.

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
    if not can_cut(found):
        raise UnsplittableError
    file = open_score_rows(path, reading, found)
    layout = layout_of(file, side, reading)
    part = _Samples(file, side, layout).part(piece)
    # Of rows that are left out nothing is said.
    above = partial(file.above, path, part.begin) if reading.invalid == "error" else None
    rows = ScoreRows(file, side, layout, above)
    rows.read(part)
    return rows.part(part.span, file.line - 1)


class _Samples:
    """The places where samples of a file begin."""

    def __init__(self, file: RowFile, side: Side, layout: ScoreLayout) -> None:
        self._file = file
        self._side = side
        self._layout = layout

    def part(self, piece: Piece) -> Part:
        """The whole samples that begin in a piece."""
        part = self._file.part_of(piece)
        if not self._layout.long:
            return part
        if self._file.form == "typed":
            return part._replace(begin=self._row_from(part.begin), end=self._row_from(part.end))
        span = Span(self._byte_from(part.begin), self._byte_from(part.end))
        return Part(*span, span)

    def _row_from(self, number: int) -> int:
        """The first row from one on that does not go on with the sample of the row above that.

        As two neighbours ask this of the same row, no row is lost or read twice.
        """
        if number == 1:
            return number
        ways, sample = self._layout.ways(self._file.names)["sample_id"], None
        below = Part(number - 1, _NO_END, Span(0, 0))
        for block in self._file.blocks(below, TypedReading(ways)):
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
        path = self._file.path
        above = line_above(path, at)
        if self._file.form == "cells" and not above.begin:
            return at
        text = TextSource(path, above).whole()
        sample = self._samples(Part(*above, above), text)[1][-1:]
        if not len(sample):
            return at
        for block in blocks_of_lines(TextSource(path, rest_of(path, at)), _AHEAD):
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
                rows = ScoreRows(self._file, self._side, self._layout)
                rows.read(part)
                found = rows.columns()
                return found.line - 1, found.sample_id
        except (DataError, UnsplittableError):
            # A quote is not closed: whoever reads these lines says so.
            pass
        return np.zeros(0, np.int64), np.zeros(0, "S1")
