"""Read labels and scores from Parquet.

Columns have the names and meaning of CSV columns; a column that lists labels with scores has those
of JSONL (`score_header.ALIASES`). Row groups are read one at a time.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec.structs import replace

from valor_cli.data.column_names import check_mapped
from valor_cli.data.formats.csv.scores import is_long
from valor_cli.data.formats.parquet.columns import ids
from valor_cli.data.formats.parquet.files import Batch, ParquetSource, RowProblems
from valor_cli.data.formats.parquet.score_faults import ListedRowReader, TypedRowReader
from valor_cli.data.formats.parquet.score_header import ParquetHeader, parquet_header
from valor_cli.data.formats.parquet.tape import tape_of_arrow
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.scores.assembly import Unsettled, score_file
from valor_cli.data.shapes.scores.checks import Named
from valor_cli.data.shapes.scores.columns import GatheredScores
from valor_cli.data.shapes.scores.parse import ScoreFields, ScoreParser
from valor_cli.data.shapes.scores.parts import ScorePart, score_part
from valor_cli.data.shapes.scores.prediction_columns import unread_column_warnings, unread_columns
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreFile, ScoreReading, Side
from valor_cli.data.table import ROW
from valor_cli.data.tape import Column
from valor_cli.kernels.columns.spans import Vocabulary

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
    found = _read(source, header, side, reading, part=False)
    warnings = unread_column_warnings(path, side, _unread(header, reading), found.labels)
    return replace(found, warnings=[*found.warnings, *warnings])


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
    if _is_long(header):
        numbers = source.numbers
        ends = (_sample_from(source, header, at) for at in (numbers.start, numbers.stop))
        source.numbers = range(*ends)
    try:
        found = _read(source, header, side, reading, part=True)
    except Unsettled:
        return None
    unread = _unread(header, reading)
    return score_part(found, span=source.span, long=_is_long(header), unread=unread)


def _begun(
    path: str, side: Side, reading: ScoreReading, piece: Piece | None
) -> tuple[ParquetSource, ParquetHeader]:
    """A file whose footer has been read."""
    check_mapped(reading.columns, ALIASES)
    source = ParquetSource(path, piece)
    return source, parquet_header(source.schema, path, side, reading)


def _is_long(header: ParquetHeader) -> bool:
    """Whether a row is one label of a sample, so that a sample may have several."""
    return header.listed < 0 and is_long(header.columns)


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
    source: ParquetSource,
    header: ParquetHeader,
    side: Side,
    reading: ScoreReading,
    *,
    part: bool,
) -> ScoreFile:
    """The samples of the rows that a source reads."""
    path, columns = source.path, header.columns
    labels, keys, problems = Vocabulary(), Vocabulary(), RowProblems(path)
    classes = tuple(name for name, _ in columns.classes)
    if header.listed >= 0:
        classes = tuple(reading.classes)
    for name in classes:
        labels.code(name.encode())
    parser = ScoreParser(
        side,
        classes if header.listed >= 0 else (),
        labels,
        keys,
        probabilities=reading.probabilities,
    )
    slow: TypedRowReader | ListedRowReader
    if header.listed < 0:
        slow = TypedRowReader(header, reading, labels, keys, problems)
    else:
        slow = ListedRowReader(header, side, reading, labels, keys, problems)
    gathered = GatheredScores(list(columns.metadata))
    most = _ROWS if header.listed < 0 else _LISTS
    for batch in source.batches(header.read, header.coded, most):
        parsed = parser.parse(_fields(header, batch))
        gathered.add(parsed.piece)
        if len(parsed.rejected):
            gathered.add(slow.faulty(batch, parsed.rejected))
    return score_file(
        path,
        gathered,
        Named(
            labels.names,
            keys.names,
            truth="" if columns.truth is None else columns.names[columns.truth],
            key="" if columns.key is None else columns.names[columns.key],
            place=ROW,
        ),
        problems,
        faulty=slow.rows.faulty,
        sha256="" if part else source.sha256,
        long=_is_long(header),
        classes=classes,
        invalid=reading.invalid,
        place=ROW,
        part=part,
    )


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
        cells=True,
        unusable=np.zeros(n, np.bool_),
    )
