"""Read one piece of a file of labels and scores.

A byte range is extended to whole lines or row groups and, where a row is one label of a sample, to
whole samples. The head of the file, which describes all its rows, is read again for every piece.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.csv.table import line_ends
from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.score_rows import BLOCK, LineFile, opened
from valor_cli.data.inputs.scores import read_score_file
from valor_cli.data.partition.pieces import (
    Piece,
    Span,
    line_above,
    rest_of,
    span_of_lines,
)
from valor_cli.data.shapes.scores.assembly import Unsettled
from valor_cli.data.shapes.scores.joined import ScorePart, score_part
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.errors import DataError

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_AHEAD: Final = 1 << 16
"""Bytes that are read at once to find where a sample ends."""


def read_score_piece(
    piece: Piece,
    side: Side,
    reading: ScoreReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> ScorePart | None:
    """Read the samples of a piece; None if the file must be read whole.

    None is for a range of bytes of a JSON list; for one of a CSV file in which a quoted field may
    hold a line end; and where a row is one label of a sample, for rows of a sample that contradict
    each other or say no true label, as others further on may settle that. A piece that begins
    inside of a quoted field does not see it, but one above it does: the pieces of a file count
    only if none of them is None.

    Lines are counted from the first of the piece. Only where something is wrong are those above it
    counted, and the piece is read once more to name the lines of the file.

    Args:
        piece: Of one file. The whole of an input is read as `read_scores` reads a file.
        side: What it holds.
        reading: How to read it.
        format: One of `FORMATS`; None to tell it as `read_scores` does.

    Raises:
        DataError: As `read_scores`, of faults in this piece. That there are no samples, or that
            none has metadata of a name, is not for a piece to say (`file_warnings`).
    """
    path, found = piece.path, format or format_of(piece.path)
    if piece.end is None:
        return score_part(read_score_file(path, side, reading, found))
    if found == "parquet":
        # Its package is an extra.
        from valor_cli.data.inputs.parquet_scores import read_parquet_part

        return read_parquet_part(piece, side, reading)
    if found not in ("csv", "jsonl"):
        return None
    _, file = opened(path, side, reading, found)
    span = span_of_lines(piece)
    if file.layout.long:
        span = Span(*(_sample_from(file, path, at) for at in span))
    try:
        return _part(path, file, span, 1)
    except DataError:
        if not span.begin:
            raise
    above = lines_above(path, file, span.begin)
    if above is not None:
        _part(path, file, span, 1 + above)
    # A quoted field may go on from above; or the file is another than a moment ago.
    return None


def _part(path: str, file: LineFile, span: Span, line: int) -> ScorePart | None:
    """The samples of whole lines, the first of which has the number `line`."""
    rows, source = file.rows(), TextSource(path, span)
    blocks = blocks_of_lines(source, BLOCK)
    headed = file.headed and span.begin == 0 < span.end
    if headed:
        blocks = chain([_below_header(next(blocks))], blocks)
    try:
        behind = file.read(rows, blocks, line + headed, part=True)
        if behind is None:
            return None
        found = rows.file(source.sha256, part=True)
    except Unsettled:
        return None
    layout = file.layout
    return score_part(
        found,
        span=span,
        lines=behind - line,
        long=layout.long,
        names=layout.there,
        unread=layout.unread,
    )


def lines_above(path: str, file: LineFile, end: int) -> int | None:
    """How many lines end before a byte; None where that may be inside of a quoted cell."""
    count, header = 0, file.headed
    for block in blocks_of_lines(TextSource(path, Span(0, end)), BLOCK):
        if file.headed and b'"' in (_below_header(block) if header else block):
            return None
        count += line_ends(block) if file.headed else block.count(b"\n")
        header = False
    return count


def _below_header(block: bytes) -> bytes:
    """A block that begins with the first line of a file, without that."""
    return block[re.search(rb"\r\n?|\n|$", block).end() :]  # type: ignore[union-attr] # it has an end


def _sample_from(file: LineFile, path: str, at: int) -> int:
    """Where the first sample begins that does not begin before a line.

    It begins behind all lines from that one on that go on with the sample of the line above. As two
    neighbours ask this of the same line, no line is lost or read twice, whatever is in them.

    Raises:
        DataError: The lines cannot be read, or are no UTF-8.
    """
    if not at:
        return 0
    above = line_above(path, at)
    if file.headed and not above.begin:
        return at
    sample = _samples(file, TextSource(path, above).whole())[1][-1:]
    if not len(sample):
        return at
    for block in blocks_of_lines(TextSource(path, rest_of(path, at)), _AHEAD):
        line, ids = _samples(file, block)
        own = np.unique(line[ids == sample[0]])
        run = int(np.append(own == np.arange(len(own)), False).argmin())
        ends = [0, *(one.end() for one in islice(_LINE.finditer(block), run))]
        at += ends[-1]
        if ends[-1] < len(block):
            break
    return at


def _samples(file: LineFile, text: bytes) -> tuple[NDArray[Any], NDArray[Any]]:
    """The line of each row, from 0, and the sample that it is of; no row where that is in doubt."""
    try:
        if text.count(b"\r") == text.count(b"\r\n"):
            rows = file.rows()
            file.read(rows, iter([text]), 0)
            found = rows.columns()
            return found.line, found.sample_id
    except DataError:
        # A quote is not closed: whoever reads these lines says so.
        pass
    return np.zeros(0, np.int64), np.zeros(0, "S1")
