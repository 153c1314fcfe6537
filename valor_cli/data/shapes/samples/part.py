"""Combine the parts of a sample file that were read separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.data.partition.pieces import Span
from valor_cli.data.shapes.samples.assembly import sample_file
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import Problems

_AT_ONCE: Final = 1 << 20
"""Bytes in which line ends are counted at once."""


class PartOfFile(Struct, frozen=True):
    """Rows of some lines of a file, with the facts that readers need of all lines.

    Attributes:
        rows: With the numbers of their lines, from 1 for the first of the part.
        numbers: Which row of the part each is, from 1.
        problems: What is wrong in other rows.
        faulty: How many these are.
        names, metadata: As in `SampleFile`.
        plain_contexts: How many rows have a text for a list of contexts.
        lines: How many lines there are.
        span: The bytes of the file that they are.
    """

    rows: SampleColumns
    numbers: Sequence[int]
    problems: Problems
    faulty: int
    names: tuple[str, ...]
    metadata: frozenset[str]
    plain_contexts: int
    lines: int
    span: Span

    @property
    def counted(self) -> int:
        """Number of rows, invalid ones included."""
        return len(self.rows) + self.faulty

    def without_texts(self) -> PartOfFile:
        """The part without its rows, which are only counted."""
        none = self.rows.only(())
        return replace(self, rows=none)


def file_of_parts(path: str, parts: Sequence[PartOfFile], reading: SampleReading) -> SampleFile:
    """The `SampleFile` without rows, from all parts in order.

    Raises:
        DataError: As the readers of whole files.
    """
    problems = Problems(path)
    for part in parts:
        problems.kept += part.problems.kept
        problems.total += part.problems.total
    return sample_file(
        path,
        [],
        problems,
        reading,
        count=sum(len(part.rows) for part in parts),
        faulty=sum(part.faulty for part in parts),
        sha256="",
        names=dict.fromkeys(name for part in parts for name in part.names),
        metadata=frozenset().union(*(part.metadata for part in parts)),
        plain_contexts=sum(part.plain_contexts for part in parts),
    )


def lines_above(path: str, byte: int) -> int:
    """Number of line ends before an offset.

    Raises:
        DataError: The file cannot be read.
    """
    count = 0
    with TextSource(path).stored() as raw:
        while byte > 0 and (chunk := raw.read(min(_AT_ONCE, byte))):
            count += chunk.count(b"\n")
            byte -= len(chunk)
    return count
