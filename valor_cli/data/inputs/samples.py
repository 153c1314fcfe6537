"""Read text samples from an input of any format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain

from msgspec import structs
from msgspec.structs import replace

from valor_cli.data.column_names import check_mapped, quoted
from valor_cli.data.formats.tables import check_format, format_of
from valor_cli.data.partition.shards import SkippedFiles, read_shards
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.shapes.samples.schema import ALIASES
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.table import LINE, SKIP_HINT
from valor_cli.data.values import Problems, stop_on


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
    parts, left_out = read_shards(
        path,
        expanded_tables(path),
        lambda one: read_sample_file(one, reading, format or format_of(one)),
        reading.invalid,
    )
    found = parts[0] if len(parts) == 1 else joined_files(path, parts)
    return _distinct(_without_files(found, left_out), reading)


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
        DataError: The file cannot be read, or what it holds is wrong.
    """
    # Readers are imported on use.
    if format == "csv":
        from valor_cli.data.formats.csv.samples import read_sample_csv

        return read_sample_csv(path, reading)
    if format == "parquet":
        from valor_cli.data.formats.parquet.samples import read_parquet_samples

        return read_parquet_samples(path, reading)
    if format == "json":
        from valor_cli.data.formats.json.samples import read_sample_json

        return read_sample_json(path, reading)
    from valor_cli.data.formats.json.samples import read_sample_jsonl

    return read_sample_jsonl(path, reading)


def joined_files(path: str, parts: Sequence[SampleFile]) -> SampleFile:
    """Join all parts."""
    before = [0, *accumulate(part.files[0].rows or 0 for part in parts)]
    return SampleFile(
        path,
        [row._replace(file=at) for at, part in enumerate(parts) for row in part.rows],
        [before[at] + number for at, part in enumerate(parts) for number in part.numbers],
        list(dict.fromkeys(chain.from_iterable(part.names for part in parts))),
        frozenset().union(*(part.metadata for part in parts)),
        [part.files[0] for part in parts],
        [part.places[0] for part in parts],
        list(chain.from_iterable(part.warnings for part in parts)),
    )


def _without_files(file: SampleFile, left_out: SkippedFiles) -> SampleFile:
    """The input of which some files were left out.

    Rows that say no id are then called by file and line: how many rows were lost is not known, so
    a number would be that of another sample.
    """
    if not left_out.files:
        return file
    warnings = [*left_out.warnings, *file.warnings]
    rows = file.rows
    if all(row.sample_id is None for row in rows):
        paths = [one.path for one in (*file.files, *left_out.files)]
        folder = os.path.commonpath([os.path.dirname(one) for one in paths])
        names = [os.path.relpath(one, folder or None) for one in paths]
        rows = [
            row._replace(sample_id=names[row.file] + file.places[row.file].format(row=row.line))
            for row in rows
        ]
        warnings.append(
            f"{file.path}: rows have no sample_id; with files left out they are called by file and "
            f"line ({quoted(str(rows[0].sample_id))} …), not by number"
        )
    files = [*file.files, *left_out.files]
    return replace(file, rows=rows, files=files, warnings=warnings)


class _PlacedProblems(Problems):
    """What is wrong between rows of an input of one or several files."""

    __slots__ = ("_file",)

    def __init__(self, file: SampleFile) -> None:
        super().__init__(file.path)
        self._file = file

    def note(self, row: SampleRow, message: str) -> None:
        """Note a problem of a row."""
        self.keep(self._file.place(row), "", message)


def _distinct(file: SampleFile, reading: SampleReading) -> SampleFile:
    """The input with ids for all rows, and without a sample twice, or one without a model.

    Raises:
        DataError: There are such, and they are not to be left out.
    """
    problems = _PlacedProblems(file)
    rows = list(file.rows)
    named = any(row.sample_id is not None for row in rows)
    modelled = any(row.model is not None for row in rows)
    if not named:
        numbers = zip(rows, file.numbers, strict=True)
        rows = [row._replace(sample_id=str(number)) for row, number in numbers]
    seen: dict[tuple[str | None, str | None], SampleRow] = {}
    kept = []
    for at, row in enumerate(rows):
        before = problems.total
        if row.sample_id is None:
            problems.note(row, "expected a sample_id as in other rows, found nothing")
        elif modelled and row.model is None:
            problems.note(row, "expected a model as in other rows, found nothing")
        elif (first := seen.setdefault((row.model, row.sample_id), row)) is not row:
            problems.note(row, _repeated(file, row, first))
        if problems.total == before:
            kept.append(at)
    if reading.invalid == "error":
        stop_on([problems], SKIP_HINT)
    return without(replace(file, rows=rows), kept)


def without(file: SampleFile, kept: Sequence[int]) -> SampleFile:
    """Select rows of an input; the others count as rejected."""
    if len(kept) == len(file.rows):
        return file
    left_out = Counter(row.file for row in file.rows)
    left_out.subtract(file.rows[at].file for at in kept)
    files = [
        structs.replace(one, skipped=one.skipped + left_out[at])
        for at, one in enumerate(file.files)
    ]
    rows, numbers = [file.rows[at] for at in kept], [file.numbers[at] for at in kept]
    return replace(file, rows=rows, numbers=numbers, files=files)


def _repeated(file: SampleFile, row: SampleRow, first: SampleRow) -> str:
    """What to say of the second row of a sample."""
    of = "" if row.model is None else f" of the model {quoted(row.model)}"
    place = file.places[first.file].format(row=first.line)
    where = f"line {first.line}" if file.places[first.file] == LINE else place.lstrip(": ")
    if first.file != row.file:
        where = file.place(first)
    return f"the sample {quoted(row.sample_id or '')}{of} is also on {where}"
