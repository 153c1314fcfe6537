"""List the metadata names of text samples."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import MetadataRows, batches_of, names_in_all
from valor_cli.data.inputs.samples import open_sample_rows
from valor_cli.data.shapes.samples.parse import of_one_shape, without_nulls
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.samples.schema import LOGPROBS, NESTED, PEER_METADATA, SCHEMA

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
