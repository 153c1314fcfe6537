"""List the metadata names of classification ground truth."""

from __future__ import annotations

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import MetadataNames, names_in_all, note_rows
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

    def names_of(one: str) -> frozenset[str]:
        file = open_score_rows(one, reading, format or format_of(one))
        layout = layout_of(file, side, reading)
        standard = {*ITEM_LABELS, *ITEM_SCORES, *reading.columns.values(), *reading.classes}
        standard |= {*layout.classes, *(dotted(way) for pair in layout.pairs for way in pair)}
        names = MetadataNames()
        for block in file.blocks():
            for batch in block.batches:
                known = SCHEMA.known(batch.names) | {""}
                owners = batch.at(layout.ways(batch.names)["sample_id"]).texts()
                note_rows(names, batch, standard | known, owners=owners)
        return names.found()

    return names_in_all(path, names_of)
