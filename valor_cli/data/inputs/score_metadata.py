"""List the metadata names of classification ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import (
    MetadataNames,
    csv_rows,
    first_line,
    json_lines,
    metadata_of,
    names_in_all,
)
from valor_cli.data.shapes.scores.header import json_head, read_header
from valor_cli.data.shapes.scores.score_file import (
    ALIASES,
    ITEM_LABELS,
    ITEM_SCORES,
    ScoreReading,
    Side,
)
from valor_cli.data.source.files import TextSource


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
        found = format or format_of(one)
        if found == "csv":
            return _csv_names(one, side, reading)
        if found == "parquet":
            from valor_cli.data.inputs.parquet_scores import parquet_metadata

            standard = {*_standard(reading), *reading.classes}
            return parquet_metadata(one, side, reading, standard)
        names = MetadataNames()
        ids = _ids(reading)
        lines = json_lines if found == "jsonl" else _items
        wide = json_head(lines(one), side, reading).wide
        standard = {*_standard(reading), *reading.classes, *(wide.names if wide else ())}
        for record in lines(one):
            owner = next((record[name] for name in ids if record.get(name) is not None), None)
            names.note(metadata_of(record, standard), str(owner))
        return names.found()

    return names_in_all(path, names_of)


def _ids(reading: ScoreReading) -> tuple[str, ...]:
    """What the id of a sample may be called."""
    if "sample_id" in reading.columns:
        return (reading.columns["sample_id"],)
    return ("sample_id", *ALIASES["sample_id"])


def _standard(reading: ScoreReading) -> set[str]:
    known = {name for standard, others in ALIASES.items() for name in (standard, *others)}
    return known | {*ITEM_LABELS, *ITEM_SCORES, *reading.columns.values()}


def _csv_names(path: str, side: Side, reading: ScoreReading) -> frozenset[str]:
    line = first_line(path)
    rows = TextSource(path).whole().decode().lstrip("\r\n").splitlines()[1:2]
    header = read_header(line, rows, path, side, reading)
    standard = _standard(reading) | {*reading.classes, *(name for name, _ in header.classes)}
    pairs = {at for pair in header.pairs for at in pair}
    taken = {
        name
        for at, name in enumerate(header.names)
        if at in pairs or name.casefold() in standard or name in standard or not name
    }
    names = MetadataNames()
    sample = header.names[header.sample_id]
    for row in csv_rows(path, header.delimiter, spaced=header.spaced):
        names.note(metadata_of(row, taken, ()), str(row[sample]))
    return names.found()


def _items(path: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSON list."""
    try:
        found = msgspec.json.decode(TextSource(path).whole())
    except (msgspec.MsgspecError, RecursionError):
        return
    yield from (one for one in found if isinstance(one, dict))
