"""List the metadata names of text samples."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import MetadataRows, batches_of, names_in_all
from valor_cli.data.inputs.samples import open_sample_rows
from valor_cli.data.shapes.samples.parse import of_one_shape, without_nulls
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.samples.schema import LOGPROBS, NESTED, PEER_METADATA, SCHEMA
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.tape import OBJECT
from valor_cli.errors import DataError
from valor_cli.paths import is_url

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

    def rows_of(one: str) -> Iterator[MetadataRows]:
        for batch in batches_of(open_sample_rows(one, reading, format or format_of(one))):
            for own, _ in of_one_shape(without_nulls(batch)):
                yield MetadataRows(own, _standard(own.names, reading), inner=NESTED)

    found = names_in_all(path, rows_of, lambda name: name.removeprefix(PEER_METADATA))
    return tuple(name for name in found if not name.startswith(PEOPLE))


def _standard(names: Collection[str], reading: SampleReading) -> set[str]:
    """The names that are no metadata."""
    candidates = SCHEMA.candidates(names, reading.columns)
    ways = [(name, way) for name, own in candidates.items() for way in own]
    return {str(way[0]) for name, way in ways if len(way) > 1 or name not in KINDS} | _OF_PROMPTFOO


def sample_columns(
    path: str,
    reading: SampleReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> list[str]:
    """All names of metadata that `read_samples` finds, with those of keys of objects ("tone.anna").

    None of a pipe, which can be read only once; errors are left for the reading to report.

    Args:
        path, reading, format: As for `sample_metadata`.
    """
    found: dict[str, None] = {}
    with suppress(DataError):
        for one in expanded_tables(path):
            if not (is_url(one) or os.path.isfile(one)):
                continue
            for batch in batches_of(open_sample_rows(one, reading, format or format_of(one))):
                for name in batch.names:
                    found[name.removeprefix(PEER_METADATA)] = None
                    column = batch.column(name)
                    keys = column.where(column.is_of(OBJECT)).first_keys()
                    of = "" if name in NESTED else f"{name}."
                    found |= dict.fromkeys(of + key for key in keys)
    return list(found)
