"""List the metadata names of text samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from valor_cli.data.formats.csv.samples import delimiter_of
from valor_cli.data.formats.json.samples import records_in
from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import (
    MetadataNames,
    csv_rows,
    first_line,
    json_lines,
    metadata_of,
    names_in_all,
)
from valor_cli.data.shapes.samples.other_tools import one_shape
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.samples.schema import LOGPROBS, NESTED, PEER_METADATA, SCHEMA
from valor_cli.data.source.files import TextSource

KINDS: Final = ("condition", "categories", LOGPROBS)
"""Standard columns that say what kind of sample one is, where it is a single text."""

_OF_PROMPTFOO: Final = {"vars", "testCase"}

PEOPLE: Final = "human_"
"""What columns begin with that hold people's word on an answer: to find that bad answers are bad
would tell nothing."""


def sample_metadata(
    path: str,
    reading: SampleReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> tuple[str, ...]:
    """Sorted metadata names of the samples.

    Args:
        path: As for `read_samples`.
        reading: How it is read.
        format: As for `read_samples`.
    """

    @cache
    def standard(names: tuple[str, ...]) -> frozenset[str]:
        layout = SCHEMA.layout(names, reading.columns)
        own = {str(way[0]) for name, way in layout.items() if len(way) > 1 or name not in KINDS}
        return frozenset(own | _OF_PROMPTFOO)

    def names_of(one: str) -> frozenset[str]:
        names = MetadataNames()
        for record in _records(one, reading, format or format_of(one)):
            names.note(metadata_of(record, standard(tuple(record)), NESTED))
        return frozenset(name for name in names.found() if not name.startswith(PEOPLE))

    return names_in_all(path, names_of)


def _records(path: str, reading: SampleReading, form: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a file, with the names that ours have."""
    if form == "jsonl":
        yield from map(one_shape, json_lines(path))
    elif form == "parquet":
        from valor_cli.data.formats.parquet.samples import parquet_records

        yield from map(one_shape, parquet_records(path))
    elif form == "json":
        for record in records_in(TextSource(path).whole(), path, reading):
            if isinstance(record, dict):
                yield one_shape(record)
    else:
        delimiter, spaced = delimiter_of(first_line(path), reading)
        for row in csv_rows(path, delimiter, spaced=spaced):
            yield {name.removeprefix(PEER_METADATA): value for name, value in row.items()}
