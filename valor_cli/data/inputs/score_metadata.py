"""List the metadata names of classification ground truth."""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import MetadataRows, batches_of, names_in_all
from valor_cli.data.inputs.scores import open_score_rows
from valor_cli.data.schema import dotted
from valor_cli.data.shapes.scores.layout import layout_of
from valor_cli.data.shapes.scores.schema import ITEM_LABELS, ITEM_SCORES, SCHEMA
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side


def score_metadata(
    path: str,
    side: Side,
    reading: ScoreReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> tuple[str, ...]:
    """Sorted metadata names of the samples, without classes and possible scores.

    Args:
        path: As for `read_scores`.
        side: What the file holds.
        reading: How it is read.
        format: As for `read_scores`.
    """

    def rows_of(one: str) -> Iterator[MetadataRows]:
        file = open_score_rows(one, reading, format or format_of(one))
        layout = layout_of(file, side, reading)
        standard = {*ITEM_LABELS, *ITEM_SCORES, *reading.columns.values(), *reading.classes, ""}
        standard |= {*layout.classes, *(dotted(way) for pair in layout.pairs for way in pair)}
        for batch in batches_of(file):
            owners = batch.at(layout.ways(batch.names)["sample_id"]).texts()
            yield MetadataRows(batch, standard | SCHEMA.known(batch.names), owners)

    return names_in_all(path, rows_of)
