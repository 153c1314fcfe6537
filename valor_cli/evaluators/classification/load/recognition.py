"""Recognise ground truth with several labels a sample by its first samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from valor_cli.data.formats.tables import format_of
from valor_cli.data.json_records import first_of
from valor_cli.data.shapes.scores.header import KeyNames, records_in
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side, positions
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.errors import ValorError
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs

FIRST: Final = 100
"""Samples that are looked at."""

HEAD: Final = 1 << 16
"""Bytes that are read for them."""


def has_label_lists(inputs: ClassificationInputs) -> bool:
    """Whether one of the first samples of the ground truth has a list of labels.

    Cells of CSV are texts, and standard input can be read once: of these the config tells. What
    cannot be read is for its reader to say.
    """
    side: Side = "samples" if inputs.ground_truth is None else "ground_truth"
    path = inputs.ground_truth or next(iter(inputs.models.values()))
    if path == "-":
        return False
    reading = ScoreReading(columns=inputs.columns)
    try:
        file = expanded_tables(path)[0]
        found = inputs.format_of(side) or format_of(file)
        if found == "parquet":
            return _is_list_column(file, reading)
        if found not in ("jsonl", "json"):
            return False
        head = next(TextSource(file).chunks(HEAD), b"")
    except ValorError:
        return False
    names = KeyNames.of(reading).label
    records = records_in(head) if found == "jsonl" else _items(head)
    return any(_is_listing(one, first_of(names, one)) for one in islice(records, FIRST))


def _is_list_column(path: str, reading: ScoreReading) -> bool:
    # Its package is an extra.
    from valor_cli.data.formats.parquet.columns import kind_of
    from valor_cli.data.formats.parquet.files import open_table

    schema = open_table(path, None).schema
    at = positions(schema.names, reading).get("label")
    return at is not None and kind_of(schema.types[at]) == "list"


def _items(head: bytes) -> Iterator[dict[str, Any]]:
    """The objects with which a list of JSON begins."""
    text, decoder = head.decode(errors="ignore"), json.JSONDecoder()
    at = text.find("[") + 1
    while at:
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return
        yield found


def _is_listing(record: dict[str, Any], name: str | None) -> bool:
    """Whether the label is a list, or one of those by label key is."""
    value = None if name is None else record[name]
    inner = value.values() if isinstance(value, dict) else (value,)
    return any(isinstance(one, list) for one in inner)
