"""Read text samples from Parquet.

Columns have the names of JSONL keys and hold the same values: texts, numbers, lists, structs and
maps. A null means that the row has no such key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from valor_cli.data.formats.json.sample_text import PlainRows
from valor_cli.data.formats.parquet.columns import kind_of
from valor_cli.data.formats.parquet.files import ParquetSource, RowProblems
from valor_cli.data.formats.parquet.values import as_written, has_maps, repeats, unsupported, values
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.samples.assembly import check_names, sample_file
from valor_cli.data.shapes.samples.columns import gathered, packed
from valor_cli.data.shapes.samples.header import LOGPROBS, NESTED, Layouts, layout_of
from valor_cli.data.shapes.samples.other_tools import is_promptfoo
from valor_cli.data.shapes.samples.part import PartOfFile
from valor_cli.data.shapes.samples.rows import SampleRowReader
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.table import ROW
from valor_cli.errors import DataError, Problem

_ROWS: Final = 1 << 10
"""Rows of a batch: texts are long."""


def read_parquet_samples(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a Parquet file.

    Args:
        path: The file, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a column that is needed is of a type that is not read; a
            value is wrong; there are no samples, or no column of a known name.
    """
    found = _Rows(path, reading, None)
    return sample_file(
        path,
        gathered(found.rows(), reading),
        found.problems,
        reading,
        faulty=found.slow.faulty,
        sha256=found.source.sha256,
        names=found.layouts.names,
        metadata=found.plain.found | found.slow.found,
        plain_contexts=found.slow.plain_contexts,
        place=f": {ROW}",
    )


def read_parquet_sample_part(piece: Piece, reading: SampleReading) -> PartOfFile:
    """Read the samples of a piece's row groups.

    Rows are counted from the first of the part; what is said of faults, from the first of the file.

    Raises:
        DataError: As for `read_parquet_samples`, less faults of rows.
    """
    found = _Rows(piece.path, reading, piece)
    rows = packed(found.rows())
    return PartOfFile(
        rows.rows(),
        rows.counted(),
        found.problems,
        faulty=found.slow.faulty,
        names=tuple(found.layouts.names),
        metadata=frozenset(found.plain.found | found.slow.found),
        plain_contexts=found.slow.plain_contexts,
        lines=len(found.source.numbers),
        span=found.source.span,
    )


class _Rows:
    """Reads the rows of a piece, or of all of a file."""

    __slots__ = ("layouts", "plain", "problems", "slow", "source", "wanted")

    def __init__(self, path: str, reading: SampleReading, piece: Piece | None) -> None:
        """Read the footer.

        Raises:
            DataError: It cannot be read; there are no columns to read, or one cannot be.
        """
        self.source = ParquetSource(path, piece)
        schema = self.source.schema
        check_names(schema.names, reading, path)
        self.wanted = _wanted(schema, reading)
        _check_types(schema, self.wanted, path, reading)
        self.problems = RowProblems(path)
        self.layouts = Layouts(reading)
        self.layouts.of(tuple(schema.names))
        self.plain = PlainRows(reading, self.layouts)
        self.slow = SampleRowReader(reading, self.layouts, self.problems)

    def rows(self) -> Iterator[tuple[int, SampleRow]]:
        """Good ones, each with its number; both are counted from the first that is read."""
        schema, above = self.source.schema, self.source.numbers.start - 1
        odd = any(has_maps(schema.field(name.split(".")[0]).type) for name in self.wanted)
        for number, record in _records(self.source, self.wanted):
            row = None if odd and repeats(record) else self.plain.row(record, number)
            if row is None:
                row = self.slow.row(as_written(record), number)
            if row is not None:
                yield number - above, row._replace(line=number - above)


def parquet_records(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file; columns of unsupported types are skipped.

    Raises:
        DataError: It cannot be read.
    """
    source = ParquetSource(path)
    kinds = zip(source.schema.names, source.schema.types, strict=True)
    wanted = [name for name, kind in kinds if not any(unsupported(kind, ""))]
    for _, record in _records(source, wanted):
        yield record


def _records(source: ParquetSource, wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their numbers, from 1."""
    for batch in source.batches(wanted, most=_ROWS):
        names = batch.rows.schema.names
        columns = [values(one) for one in batch.rows.columns]
        if not columns:
            yield from ((batch.first + at, {}) for at in range(batch.rows.num_rows))
        for number, row in enumerate(zip(*columns, strict=True), batch.first):
            pairs = zip(names, row, strict=True)
            yield number, {name: value for name, value in pairs if value is not None}


def _wanted(schema: Any, reading: SampleReading) -> list[str]:
    """The columns to read: those of texts, of which a row has the first; and metadata."""
    names = schema.names
    if is_promptfoo(names):
        return list(names)
    wanted = []
    for name in names:
        layout = layout_of((name,), reading.columns)
        keys = {one for one in layout.keys if one is not None}
        if not reading.logprobs and layout.has(LOGPROBS):
            continue
        wanted += [name] * bool(keys)
        wanted += [_path(schema, *way) for way in layout.paths.values()]
    for name in reading.metadata:
        if name in names:
            wanted.append(name)
            continue
        wanted += [_path(schema, outer, name) for outer in NESTED if outer in names]
        first, _, rest = name.partition(".")
        if rest and first in names:
            wanted.append(_path(schema, *name.split(".")))
    whole = set(wanted)
    # What is read as a whole is not read in part as well.
    return [
        name
        for name in dict.fromkeys(wanted)
        if name
        and (name in names or not any(name.startswith(f"{one}.") for one in whole & set(names)))
    ]


def _path(schema: Any, outer: str, *inner: str) -> str:
    """A field of a column, as far down as there are structs; nothing where one has no such."""
    found, kind = outer, schema.field(outer).type
    for name in inner:
        if kind_of(kind) != "struct":
            break
        if kind.get_field_index(name) < 0:
            return ""
        found, kind = f"{found}.{name}", kind.field(name).type
    return found


def _check_types(schema: Any, wanted: Sequence[str], path: str, reading: SampleReading) -> None:
    """See that the columns to be read can be.

    Raises:
        DataError: One cannot.
    """
    problems: list[Problem] = []
    for name in dict.fromkeys(one if one in schema.names else one.split(".")[0] for one in wanted):
        kind = schema.field(name).type
        problems += unsupported(kind, f"{path}: {name}")
        # 17 and 17.0 would be two samples.
        if kind_of(kind) == "float" and layout_of((name,), reading.columns).keys[0] is not None:
            message = f"expected a column of texts or whole numbers, found one of {kind}"
            problems.append(Problem(f"{path}: {name}", message))
    if problems:
        raise DataError(problems, hint="Cast the column where the file is written.")
