"""Read text samples from JSONL.

A line is `{"sample_id": …, "user_input": …, "response": …, "references": […], …}`;
`sample_header.ALIASES` lists the accepted aliases.
"""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.data.formats.json.sample_text import PlainRows
from valor_cli.data.partition.pieces import Piece, span_of_lines
from valor_cli.data.shapes.samples.assembly import sample_file
from valor_cli.data.shapes.samples.columns import gathered, packed
from valor_cli.data.shapes.samples.header import Layouts
from valor_cli.data.shapes.samples.part import PartOfFile, lines_above
from valor_cli.data.shapes.samples.rows import SampleRowReader
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.values import LineProblems

_BLOCK = 1 << 20


def read_sample_jsonl(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a JSONL file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; there are no
            samples, or no column of a known name.
    """
    lines = _Lines(TextSource(path), reading)
    rows = gathered(lines.rows(), reading)
    return sample_file(
        path,
        rows,
        lines.problems,
        reading,
        faulty=lines.slow.faulty,
        sha256=lines.source.sha256,
        names=lines.layouts.names,
        metadata=lines.plain.found | lines.slow.found,
        plain_contexts=lines.slow.plain_contexts,
    )


def read_jsonl_part(piece: Piece, reading: SampleReading) -> PartOfFile:
    """The samples of some lines of a plain JSONL file.

    Lines and rows are counted from the first of the piece; what is said of faults, from the first
    of the file.

    Raises:
        DataError: The file cannot be read, or is no UTF-8.
    """
    span = span_of_lines(piece)
    lines = _Lines(TextSource(piece.path, span), reading)
    rows = packed(lines.rows())
    problems = lines.problems
    if problems.total and span.begin:
        # Seldom: to count lines is to read all that stands above.
        again = _Lines(TextSource(piece.path, span), reading, lines_above(piece.path, span.begin))
        packed(again.rows())
        problems = again.problems
    return PartOfFile(
        rows.rows(),
        rows.counted(),
        problems,
        faulty=lines.slow.faulty,
        names=tuple(lines.layouts.names),
        metadata=frozenset(lines.plain.found | lines.slow.found),
        plain_contexts=lines.slow.plain_contexts,
        lines=lines.line,
        span=span,
    )


class _Lines:
    """Reads lines one by one.

    Attributes:
        line: How many were read, those above included.
    """

    __slots__ = ("layouts", "line", "plain", "problems", "slow", "source")

    def __init__(self, source: TextSource, reading: SampleReading, above: int = 0) -> None:
        """Say what to read.

        Args:
            source: The lines.
            reading: How to read them.
            above: How many lines stand above them.
        """
        self.source = source
        self.problems = LineProblems(source.path)
        self.layouts = Layouts(reading)
        self.plain = PlainRows(reading, self.layouts)
        self.slow = SampleRowReader(reading, self.layouts, self.problems)
        self.line = above

    def rows(self) -> Iterator[tuple[int, SampleRow]]:
        """Good rows, each with its number among those of the source, from 1."""
        fast, slow = self.plain.line, self.slow.line
        at, number = self.line, 0
        for block in blocks_of_lines(self.source, _BLOCK):
            for line in block.removesuffix(b"\n").split(b"\n"):
                at += 1
                if not line or line.isspace():
                    continue
                number += 1
                row = fast(line, at) or slow(line, at)
                if row is not None:
                    yield number, row
        self.line = at
