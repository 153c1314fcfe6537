"""Read metadata names and values of Parquet classification ground truth."""

from __future__ import annotations

from collections.abc import Collection

from valor_cli.data.formats.parquet.columns import SCALARS, kind_of
from valor_cli.data.formats.parquet.files import ParquetSource
from valor_cli.data.formats.parquet.score_header import ParquetHeader, parquet_header
from valor_cli.data.formats.parquet.values import values
from valor_cli.data.inputs.metadata_names import MetadataNames, metadata_of
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side


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
    source = ParquetSource(path)
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
