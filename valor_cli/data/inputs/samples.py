"""Read text samples from an input of any format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from typing import Any, Final

import numpy as np
from msgspec import structs

from valor_cli.data.batch import FaultyRow, Found, Part, RowFile, TypedReading
from valor_cli.data.column_names import check_mapped, duplicate_columns, quoted
from valor_cli.data.formats.tables import check_format, format_of, open_rows
from valor_cli.data.json_records import Record
from valor_cli.data.partition.pieces import Piece, UnsplittableError
from valor_cli.data.partition.shards import read_joined
from valor_cli.data.schema import Path
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.logs import SPANS, is_log, rows_of_document, rows_of_log
from valor_cli.data.shapes.samples.other_tools import is_promptfoo
from valor_cli.data.shapes.samples.parse import SampleParser
from valor_cli.data.shapes.samples.sample_file import (
    PartOfFile,
    SampleFile,
    SampleReading,
    check_names,
    file_of_parts,
)
from valor_cli.data.shapes.samples.schema import ALIASES, LOGPROBS, SCHEMA, metadata_ways
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.table import LINE, SKIP_HINT, Problems, named_row, placed, stop_on
from valor_cli.data.value_rows import ValueFile
from valor_cli.errors import DataError, Problem

_ROWS: Final = 1 << 10
"""Rows of a batch of typed columns: texts are long."""


def read_samples(
    path: str,
    reading: SampleReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> SampleFile:
    """The samples of an input.

    Args:
        path: A file, plain or compressed; "-" for standard input; or a glob ("shards/*.jsonl"),
            whose files are read in sorted order and joined.
        reading: How to read it.
        format: One of `FORMATS`; None to tell it by the extension, then by the content.

    Raises:
        DataError: There is no such input, its format is not known, or what it holds is wrong.
    """
    check_reading(path, reading, format)
    found = read_joined(
        path,
        expanded_tables(path),
        lambda one: read_sample_file(one, reading, format or format_of(one)),
        reading.invalid,
        joined_files,
    )
    return _distinct(_called_by_place(found), reading)


def check_reading(path: str, reading: SampleReading, format: str | None) -> None:  # noqa: A002
    """Check that an input can be read with these options.

    Raises:
        DataError: Its format is not known, or a column is mapped that there is not.
    """
    check_format(path, format)
    check_mapped(reading.columns, ALIASES)


def read_sample_file(path: str, reading: SampleReading, format: str) -> SampleFile:  # noqa: A002
    """The samples of one file in one of `FORMATS`.

    Raises:
        DataError: The file cannot be read; no column has a known name, or a mapped one is missing;
            a value is wrong; there are no samples.
    """
    file = open_sample_rows(path, reading, format)
    part = _parsed(file, reading, None, Problems(path, file.place))
    head = file_of_parts(path, [part], reading)
    return structs.replace(
        head,
        rows=part.rows,
        numbers=part.numbers,
        files=[structs.replace(head.files[0], sha256=file.sha256)],
        places=(file.place,),
    )


def read_sample_part(piece: Piece, reading: SampleReading, format: str) -> PartOfFile:  # noqa: A002
    """The samples of the rows that begin in a piece of a plain file.

    Rows are numbered from the first of the piece, and lines counted from it; what is said of
    faults, from the first of the file.

    Raises:
        DataError: The file cannot be read; a column that is needed is of a type that is not read.
        UnsplittableError: A row of CSV is on several lines, or faulty.
    """
    file = open_sample_rows(piece.path, reading, format)
    part = file.part_of(piece)
    above = partial(file.above, file.path, part.begin)
    found = _parsed(file, reading, part, Problems(piece.path, file.place, above))
    if file.form == "cells" and found.faulty:
        raise UnsplittableError
    return found


def open_sample_rows(path: str, reading: SampleReading, format: str) -> RowFile:  # noqa: A002
    """A file whose columns are known.

    Raises:
        DataError: It cannot be read; no column has a known name, or a mapped one is missing.
    """

    def known(names: Sequence[str]) -> int:
        return len(SCHEMA.layout(names, reading.columns))

    def rows_of(document: Record, found: Found | None) -> Found | None:
        rows = rows_of_document(document, found, known)
        if rows is not None and rows.name == SPANS and not rows.rows:
            raise _no_texts(path)
        return rows

    log = format == "jsonl" and is_log(path)
    file = open_rows(path, format, known, None if log else rows_of)
    if log:
        file = _joined_lines(file)
    if file.form != "json":
        if problems := duplicate_columns(file.names, file.head):
            raise DataError(problems)
        check_names(file.names, reading, file.head)
    return file


def _no_texts(path: str) -> DataError:
    """The error for a trace that tells of calls of language models, but not what was said."""
    return DataError(
        Problem(path, "there are no samples: no span of this trace has a prompt or an answer"),
        hint="Most instrumentations record texts only on request: set "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true where the trace is made.",
    )


def _joined_lines(file: RowFile) -> RowFile:
    """A log with a row a sample.

    Raises:
        DataError: It is a trace without texts.
    """
    lines, wrong = list[tuple[int, Any]](), list[FaultyRow]()
    for block in file.blocks():
        lines += [(line, value) for line, value, faults in block.records() if not faults]
        wrong += block.wrong
    rows = rows_of_log(lines)
    if not rows and not wrong and lines and all("resourceSpans" in value for _, value in lines):
        raise _no_texts(file.path)
    at = [line for line, _ in rows]
    return ValueFile(file.path, [row for _, row in rows], file.place, file.sha256, at, wrong)


def _parsed(
    file: RowFile, reading: SampleReading, part: Part | None, problems: Problems
) -> PartOfFile:
    parser = SampleParser(reading, problems, file.names)
    columns = _columns(file, reading) if file.form == "typed" else None
    for block in file.blocks(part, TypedReading(columns, most=_ROWS)):
        parser.add(block)
    if part is None:
        return parser.part()
    return parser.part(file.line - 1, part.span)


def _columns(file: RowFile, reading: SampleReading) -> list[Path]:
    """The typed columns to read: those of texts, of which a row has the first; and metadata.

    Raises:
        DataError: Ids are of a type that they cannot be.
    """
    names = file.names
    candidates = SCHEMA.candidates(names, reading.columns)
    wrong = [
        Problem(
            f"{file.path}: {name}",
            f"expected a column of texts or whole numbers, found one of {kind.written}",
        )
        for name, kind in file.types.items()
        # 17 and 17.0 would be two samples.
        if kind.kind == "float" and (name,) in candidates["sample_id"]
    ]
    if wrong:
        raise DataError(wrong, hint="Cast the column where the file is written.")
    if is_promptfoo(names):
        return [(name,) for name in names]
    wanted: list[Path] = []
    if "messages" in file.types and file.types["messages"].kind == "list":
        wanted.append(("messages",))
    for standard, ways in candidates.items():
        if standard != LOGPROBS or reading.logprobs:
            wanted += ways
    for name in reading.metadata:
        ways, paths = metadata_ways(names, name)
        wanted += [way for way in ways if len(way) == 1] or [*ways, *paths]
    return wanted


def joined_files(path: str, parts: Sequence[SampleFile]) -> SampleFile:
    """Join all parts."""
    if len(parts) == 1:
        return parts[0]
    before = [0, *accumulate(part.files[0].rows or 0 for part in parts)]
    return SampleFile(
        path,
        SampleColumns.joined(
            [replace(part.rows, file=part.rows.file + at) for at, part in enumerate(parts)]
        ),
        [before[at] + number for at, part in enumerate(parts) for number in part.numbers],
        list(dict.fromkeys(chain.from_iterable(part.names for part in parts))),
        frozenset().union(*(part.metadata for part in parts)),
        [part.files[0] for part in parts],
        [part.places[0] for part in parts],
        list(chain.from_iterable(part.warnings for part in parts)),
    )


def _called_by_place(file: SampleFile) -> SampleFile:
    """The input, of which rows without an id are called by file and line if files were left out.

    How many rows were lost is not known, so a number would be that of another sample.
    """
    rows = file.rows
    lost = any(one.left_out is not None for one in file.files)
    if not lost or rows.text("sample_id").there().any():
        return file
    paths = [one.path for one in file.files]
    folder = os.path.commonpath([os.path.dirname(one) for one in paths])
    names = [os.path.relpath(one, folder or None) for one in paths]
    places = zip(rows.file.tolist(), rows.line, strict=True)
    ids = [placed(names[at], file.places[at], line) for at, line in places]
    warning = (
        f"{file.path}: rows have no sample_id; with files left out they are called by file and "
        f"line ({quoted(ids[0])} …), not by number"
    )
    rows = rows.with_text("sample_id", ids)
    return structs.replace(file, rows=rows, warnings=[*file.warnings, warning])


def _distinct(file: SampleFile, reading: SampleReading) -> SampleFile:
    """The input with ids for all rows, and without a sample twice, or one without a model.

    Raises:
        DataError: There are such, and they are not to be left out.
    """
    rows = file.rows
    if not rows.text("sample_id").there().any():
        rows = rows.with_text("sample_id", map(str, file.numbers))
    models = rows.text("model")
    modelled = models.there().any()
    problems = Problems(file.path, LINE)
    places = list(zip(rows.file.tolist(), rows.line, strict=True))
    seen: dict[tuple[str | None, str | None], int] = {}
    kept = []
    for at, (sample_id, model) in enumerate(zip(rows.text("sample_id"), models, strict=True)):
        if sample_id is None:
            message = "expected a sample_id as in other rows, found nothing"
        elif modelled and model is None:
            message = "expected a model as in other rows, found nothing"
        elif (first := seen.setdefault((model, sample_id), at)) != at:
            of = "" if model is None else f" of the model {quoted(model)}"
            other = _beside(file, places[first], places[at])
            message = f"the sample {quoted(sample_id)}{of} is also on {other}"
        else:
            kept.append(at)
            continue
        problems.keep(file.place(*places[at]), "", message)
    if reading.invalid == "error":
        stop_on([problems], SKIP_HINT)
    return without(structs.replace(file, rows=rows), kept)


def without(file: SampleFile, kept: Sequence[int]) -> SampleFile:
    """Select rows of an input; the others count as rejected."""
    if len(kept) == len(file.rows):
        return file
    rows = file.rows.take(np.array(kept, np.int64))
    before, after = (np.bincount(one.file, minlength=len(file.files)) for one in (file.rows, rows))
    files = [
        structs.replace(one, skipped=one.skipped + lost)
        for one, lost in zip(file.files, (before - after).tolist(), strict=True)
    ]
    numbers = [file.numbers[at] for at in kept]
    return structs.replace(file, rows=rows, numbers=numbers, files=files)


def _beside(file: SampleFile, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The place of a row, for the message on another one."""
    at, line = one
    if at != other[0]:
        return file.place(at, line)
    return named_row(file.places[at], line)
