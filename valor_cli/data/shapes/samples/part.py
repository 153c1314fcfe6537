"""The rows of a file, or of a part of one that was read alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.data.column_names import COLUMNS_HINT, listed, missing_columns
from valor_cli.data.partition.pieces import Span
from valor_cli.data.schema import mapped_columns
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.table import LINE, SKIP_HINT, Problems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile

_PLAIN_CONTEXTS: Final = (
    "contexts written as one text, not as a list, count as one context each: {count:,} rows; "
    "write several contexts as a JSON list"
)

ALL: Final = Span(0, 0)
"""The span of a file that is not read in parts."""


class PartOfFile(Struct, frozen=True):
    """Rows of a file or of some of its lines, with the facts that readers need of all.

    Attributes:
        rows: Good ones alone, in the order of the file; their lines are counted from the first of
            the part.
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
    lines: int = 0
    span: Span = ALL

    @property
    def counted(self) -> int:
        """Number of rows, invalid ones included."""
        return len(self.rows) + self.faulty

    def without_texts(self) -> PartOfFile:
        """The part without its rows, which are only counted."""
        return replace(self, rows=self.rows.only(()))


def whole_file(
    path: str, part: PartOfFile, reading: SampleReading, sha256: str, place: str = LINE
) -> SampleFile:
    """The `SampleFile` of a file that was read as one part.

    Args:
        path: The file.
        part: All of it.
        reading: How it was read.
        sha256: Of the file.
        place: How a row is named.

    Raises:
        DataError: Rows are wrong and not to be left out; there are none; no column is one that
            texts have, or a mapped one is not there.
    """
    file = file_of_parts(path, [part], reading)
    files = [replace(file.files[0], sha256=sha256)]
    return replace(file, rows=part.rows, numbers=part.numbers, files=files, places=(place,))


def file_of_parts(path: str, parts: Sequence[PartOfFile], reading: SampleReading) -> SampleFile:
    """The `SampleFile` without rows, from all parts in order.

    Raises:
        DataError: As `whole_file` does.
    """
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    if names:
        check_names(names, reading, path)
    if reading.invalid == "error":
        stop_on([part.problems for part in parts], SKIP_HINT)
    count, faulty = sum(len(part.rows) for part in parts), sum(part.faulty for part in parts)
    if not count:
        left = f"; {faulty:,} were left out as invalid" if faulty else ""
        first = next((part.problems.kept[0] for part in parts if part.problems.kept), None)
        raise DataError(
            [Problem(path, f"there are no samples; at least one is needed{left}")],
            hint="" if first is None else f"the first: {first}",
        )
    plain = sum(part.plain_contexts for part in parts)
    warnings = [_PLAIN_CONTEXTS.format(count=plain)] if plain else []
    warnings += [
        f"{listed(several)} could each be the {standard}; of these the first "
        "that a row has is read. To settle it, name one under `columns:`"
        for standard, several in SCHEMA.ambiguous(names, reading.columns).items()
    ]
    return SampleFile(
        path,
        SampleColumns.joined([]),
        [],
        names,
        frozenset().union(*(part.metadata for part in parts)),
        [InputFile(path, "", count + faulty, faulty)],
        warnings=[f"{path}: {one}" for one in warnings],
    )


def check_names(names: Sequence[str], reading: SampleReading, place: str) -> None:
    """Check that a file has text columns, and all mapped ones.

    Raises:
        DataError: It has not.
    """
    if problems := missing_columns(mapped_columns(reading.columns, names), names, place):
        raise DataError(problems)
    if not SCHEMA.layout(names, reading.columns):
        message = f"no column is one that text samples have; there is: {listed(names)}"
        raise DataError(Problem(place, message), hint=COLUMNS_HINT % "response")
