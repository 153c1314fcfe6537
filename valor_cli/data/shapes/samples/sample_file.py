"""Samples of files, or of parts of files that are read alone, as every reader gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from valor_cli.data.column_names import COLUMNS_HINT, listed, missing_columns
from valor_cli.data.partition.pieces import Span
from valor_cli.data.schema import mapped_columns
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.table import LINE, SKIP_HINT, InvalidRows, Problems, placed, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile

_PLAIN_CONTEXTS: Final = (
    "contexts written as one text, not as a list, count as one context each: {count:,} rows; "
    "write several contexts as a JSON list"
)


class SampleReading(Struct, frozen=True):
    """Read options shared by all inputs of a run.

    Attributes:
        metadata: Names of columns to read beside the texts.
        columns: Standard name to the file's own, or a path into nested objects and lists
            ("vars.question", "choices[0].text").
        invalid: What to do with rows that cannot be used.
        logprobs: Whether `token_logprobs` are read: they are long, and few runs need them.
        texts: Those of `metadata` whose lists and objects are read too, as JSON.
    """

    metadata: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    invalid: InvalidRows = "error"
    logprobs: bool = False
    texts: Sequence[str] = ()


class SampleFile(Struct, frozen=True):
    """The samples of one input: a file, or all files of a pattern.

    Attributes:
        path: The input, as the user wrote it.
        rows: In the order of the files. One that says no `sample_id` is called by its number when
            all of an input is read.
        numbers: Which row of the input each is, from 1, those counted that were left out.
        names: What the columns are called, in the order in which they are first seen.
        metadata: The names in `SampleReading.metadata` that some row has.
        files: The files that were read.
        places: How rows are named in each, as in `Table.place`.
        warnings: Messages about unusual input that was still used.
    """

    path: str
    rows: SampleColumns
    numbers: Sequence[int]
    names: Sequence[str]
    metadata: frozenset[str]
    files: Sequence[InputFile]
    places: Sequence[str] = (LINE,)
    warnings: Sequence[str] = ()

    def without_texts(self) -> SampleFile:
        """The file without its rows."""
        return replace(self, rows=self.rows[:0].only(()), numbers=())

    def place(self, file: int, line: int) -> str:
        """The place of a row: "answers.jsonl:17"."""
        return placed(self.files[file].path, self.places[file], line)


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


def file_of_parts(path: str, parts: Sequence[PartOfFile], reading: SampleReading) -> SampleFile:
    """The `SampleFile` without rows, from all parts in order.

    Raises:
        DataError: Rows are wrong and not to be left out; there are none; no column is one that
            texts have, or a mapped one is not there.
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
