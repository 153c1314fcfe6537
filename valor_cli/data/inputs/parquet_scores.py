"""Read labels and scores from Parquet.

Columns have the names and meaning of CSV columns; a column that lists labels with scores has those
of JSONL (`score_header.ALIASES`). Row groups are read one at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from valor_cli.data.column_names import check_mapped
from valor_cli.data.formats.parquet.columns import SCALARS, fields, ids, kind_of, lists, texts
from valor_cli.data.formats.parquet.files import (
    Batch,
    ParquetSource,
    RowProblems,
    open_table,
    select_rows,
)
from valor_cli.data.formats.parquet.tape import tape_of_arrow
from valor_cli.data.formats.parquet.values import as_written, values
from valor_cli.data.inputs.metadata_names import MetadataNames, metadata_of
from valor_cli.data.inputs.parquet_score_header import ParquetHeader, parquet_header
from valor_cli.data.inputs.score_rows import Layout, ScoreRows
from valor_cli.data.json_records import DuplicateKey
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.scores.assembly import Unsettled
from valor_cli.data.shapes.scores.faults import CellFaults, Fault, RecordFaults
from valor_cli.data.shapes.scores.header import KeyNames, unread_columns
from valor_cli.data.shapes.scores.joined import ScorePart, score_part
from valor_cli.data.shapes.scores.parse import ScoreFields
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreFile, ScoreReading, Side
from valor_cli.data.table import ROW
from valor_cli.data.tape import Column

_ROWS: Final = 1 << 14
_LISTS: Final = 1 << 13
"""Rows of a batch, at most; and of one with lists, which may be long."""


def read_parquet_scores(path: str, side: Side, reading: ScoreReading) -> ScoreFile:
    """The samples of a Parquet file; ids and labels are text.

    Args:
        path: The file, or "-" for standard input.
        side: What it holds.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a column is missing, or of a type that it cannot have; a
            value is wrong; there are no samples.
    """
    source, header = _begun(path, side, reading, None)
    return _read(source, header, side, reading, part=False)


def read_parquet_part(piece: Piece, side: Side, reading: ScoreReading) -> ScorePart | None:
    """Read the samples of a piece's row groups, with the facts of the piece.

    Rows are counted from the first of the file, so that the facts count no lines. Where a row is
    one label of a sample, they are moved to whole samples.

    Args:
        piece: Of the file.
        side: What it holds.
        reading: How to read it.

    Returns:
        None where the file must be read whole: rows of one label each contradict each other, or
        say no true label, as rows of other groups may settle that.

    Raises:
        DataError: As for `read_parquet_scores`; that there are no samples is not for a part to say.
    """
    source, header = _begun(piece.path, side, reading, piece)
    if header.is_long:
        numbers = source.numbers
        ends = (_sample_from(source, header, at) for at in (numbers.start, numbers.stop))
        source.numbers = range(*ends)
    try:
        found = _read(source, header, side, reading, part=True)
    except Unsettled:
        return None
    unread = _unread(header, reading)
    return score_part(found, span=source.span, long=header.is_long, unread=unread)


def _begun(
    path: str, side: Side, reading: ScoreReading, piece: Piece | None
) -> tuple[ParquetSource, ParquetHeader]:
    """A file whose footer has been read."""
    check_mapped(reading.columns, ALIASES)
    source = open_table(path, piece)
    return source, parquet_header(source.schema, path, side, reading)


def _sample_from(source: ParquetSource, header: ParquetHeader, number: int) -> int:
    """The first row from one on that does not go on with the sample of the row above that.

    As two neighbours ask this of the same row, no row is lost or read twice.

    Args:
        source: The file.
        header: What its columns mean.
        number: Of the row; it may be that behind the last.
    """
    if number == 1 or number > source.count:
        return number
    name = header.columns.sample_id
    column = [header.columns.names[name]]
    above = next(source.batches(column, numbers=range(number - 1, number)))
    sample, sound = ids(header.column(above.rows, name))
    if not sound[0]:
        return number
    for batch in source.batches(column, numbers=range(number, source.count + 1)):
        own, sound = ids(header.column(batch.rows, name))
        same = sound & (own == sample[0])
        if not same.all():
            return batch.first + int(same.argmin())
    return source.count + 1


def _unread(header: ParquetHeader, reading: ScoreReading) -> list[str]:
    """The columns that may be classes, and are not among those of the config."""
    return unread_columns(header.columns, reading) if header.listed < 0 else []


def _read(
    source: ParquetSource, header: ParquetHeader, side: Side, reading: ScoreReading, *, part: bool
) -> ScoreFile:
    """The samples of the rows that a source reads."""
    columns = header.columns
    lists = header.listed >= 0
    layout = Layout(
        truth="" if columns.truth is None else columns.names[columns.truth],
        key="" if columns.key is None else columns.names[columns.key],
        classes=tuple(reading.classes if lists else (name for name, _ in columns.classes)),
        long=header.is_long,
        metadata=tuple(columns.metadata),
        unread=_unread(header, reading),
        place=ROW,
    )
    rows = ScoreRows(source.path, side, reading, layout, RowProblems(source.path))
    for batch in source.batches(header.read, header.coded, _LISTS if lists else _ROWS):
        rejected = rows.add(_fields(header, batch))
        if rejected:
            wrong = select_rows(batch.rows, rejected)
            faults = (_of_lists if lists else _of_cells)(wrong, header, side, reading)
            for at, own in zip(rejected, faults, strict=True):
                rows.reject(batch.first + at, own)
    return rows.file("" if part else source.sha256, part=part)


def _of_cells(
    rows: Any, header: ParquetHeader, side: Side, reading: ScoreReading
) -> Iterator[list[Fault]]:
    """What is wrong with rows without lists, as with those of CSV."""
    columns = header.columns
    faults = CellFaults(columns, reading, typed=True)
    cells = [[""] * rows.num_rows] * len(columns.names)
    for at in header.used:
        cells[at] = texts(header.column(rows, at))
    floats = [at for at in columns.metadata.values() if header.kinds[at] == "float"]
    return (faults.of(record, floats) for record in zip(*cells, strict=True))


def _of_lists(
    rows: Any, header: ParquetHeader, side: Side, reading: ScoreReading
) -> Iterator[list[Fault]]:
    """What is wrong with rows that list predictions, as with JSON lines."""
    columns = header.columns
    roles = {
        "sample_id": columns.sample_id,
        "label": columns.truth,
        "label_key": columns.key,
        "predictions": header.listed,
    }
    called = {name: columns.names[at] for name, at in roles.items() if at is not None}
    reading = replace(reading, columns=called)
    faults = RecordFaults(side, reading, KeyNames.of(reading), None)
    cells = {}
    for at in header.used:
        column = header.column(rows, at)
        read = _listed(column, header.inside) if at == header.listed else values(column)
        cells[columns.names[at]] = [as_written(one) for one in read]
    return (
        faults.of(dict(zip(cells, row, strict=True))) for row in zip(*cells.values(), strict=True)
    )


def _listed(column: Any, inside: tuple[str, str]) -> list[Any]:
    """The lists of predictions, with what is null in a pair of label and score."""
    kind = kind_of(column.type)
    if kind == "struct" or not inside[0]:
        return values(column)
    count, items = lists(column)
    held = fields(items)
    labels = texts(held[inside[0]]) if kind == "map" else values(held[inside[0]])
    pairs = list(zip(labels, values(held[inside[1]]), strict=True))
    spans = pairwise([0, *count.cumsum().tolist()])
    if kind == "map":
        return [_mapped(pairs[a:b]) for a, b in spans]
    return [[dict(zip(inside, pair, strict=True)) for pair in pairs[a:b]] for a, b in spans]


def _mapped(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A map as an object, which may have a key twice."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated, keys = DuplicateKey(found), [key for key, _ in pairs]
    repeated.key = next(key for at, key in enumerate(keys) if key in keys[:at])
    return repeated


def _fields(header: ParquetHeader, batch: Batch) -> ScoreFields:
    """The columns of rows, by meaning."""
    n, used, meant = batch.rows.num_rows, header.used, header.columns
    inside = header.kinds[header.listed] == "list" and header.inside[0]
    only = dict(zip(header.inside, ("label", "score"), strict=True)) if inside else None
    arrays = tape_of_arrow([header.column(batch.rows, at) for at in used], only)
    column = dict(zip(used, arrays, strict=True))
    absent = Column(arrays[0].tape, np.full(n, -1, np.int64))
    listed = header.listed >= 0
    pairs = [(column[label], column.get(score)) for label, score in meant.pairs]
    return ScoreFields(
        line=batch.first + np.arange(n),
        sample_id=column[meant.sample_id],
        truth=None if meant.truth is None else column[meant.truth],
        key=None if meant.key is None else column[meant.key],
        many=column[header.listed] if listed else None,
        pairs=[(absent, None)] if listed else pairs,
        wide=[column[at] for _, at in meant.classes],
        metadata={name: column[at] for name, at in meant.metadata.items()},
        cells=not listed,
        unusable=np.zeros(n, np.bool_),
    )


def parquet_metadata(
    path: str, side: Side, reading: ScoreReading, standard: Collection[str]
) -> frozenset[str]:
    """Metadata names of a file.

    Args:
        path: The file.
        side: What it holds.
        reading: How it is read.
        standard: Names that are no metadata, in lower case too.

    Raises:
        DataError: It cannot be read, or a column is missing.
    """
    source = open_table(path)
    header = parquet_header(source.schema, path, side, reading)
    sample = header.read[0]
    wanted = [name for name in source.schema.names if _may_be(name, source, header, standard)]
    names = MetadataNames()
    for batch in source.batches([sample, *wanted]):
        ids, *columns = (values(batch.rows.column(name)) for name in (sample, *wanted))
        for owner, *row in zip(ids, *columns, strict=True):
            said = dict(zip(wanted, row, strict=True))
            names.note(metadata_of(said, standard), str(owner))
    return names.found()


def _may_be(
    name: str, source: ParquetSource, header: ParquetHeader, standard: Collection[str]
) -> bool:
    """Whether a column may be metadata: a single value, or an object that holds such."""
    if name not in header.columns.names:
        # The numbers of rows.
        return False
    at = header.columns.names.index(name)
    columns = header.columns
    used = {*(at for _, at in columns.classes), *(at for pair in columns.pairs for at in pair)}
    if at in used or name in standard or name.casefold() in standard:
        return False
    kind = source.schema.field(name).type
    if kind_of(kind) == "struct" and name == "metadata":
        return all(kind_of(one.type) in SCALARS for one in kind)
    return kind_of(kind) in SCALARS
