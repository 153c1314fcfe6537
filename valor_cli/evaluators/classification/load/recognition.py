"""Recognise sets of labels by the first samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.scores import open_score_rows
from valor_cli.data.schema import value_at
from valor_cli.data.shapes.scores.layout import ScoreLayout
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.shapes.scores.typed import type_at
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.errors import ValorError
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs

FIRST: Final = 100
"""Samples that are looked at."""

HEAD: Final = 1 << 16
"""Bytes of a JSON list that are read for them: all of it is read once, when its turn comes."""


def has_label_lists(inputs: ClassificationInputs) -> bool:
    """Whether one of the first samples of the ground truth has a list of labels.

    Cells of CSV are texts, and standard input can be read only once: there, `multi_label` must say
    so. What cannot be read is reported by its reader.
    """
    side: Side = "samples" if inputs.ground_truth is None else "ground_truth"
    path = inputs.ground_truth or next(iter(inputs.models.values()))
    if path == "-":
        return False
    try:
        file = expanded_tables(path)[0]
        found = inputs.format_of(side) or format_of(file)
        return found != "csv" and _has_lists(file, found, ScoreReading(columns=inputs.columns))
    except ValorError:
        return False


def _has_lists(path: str, found: str, reading: ScoreReading) -> bool:
    layout = ScoreLayout(reading, None, listed=False, classes=(), metadata=())
    if found == "json":
        rows = _items(next(TextSource(path).chunks(HEAD), b""))
    else:
        file = open_score_rows(path, reading, found)
        if file.form == "typed":
            kinds = (type_at(file, way) for way in layout.ways(file.names)["label"][:1])
            return any(kind is not None and kind.kind == "list" for kind in kinds)
        rows = file.first_rows()
    return any(
        _is_listing(value_at(row, way))
        for row in islice(rows, FIRST)
        for way in layout.ways(row)["label"][:1]
    )


def _items(head: bytes) -> Iterator[Mapping[str, Any]]:
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


def _is_listing(value: Any) -> bool:
    """Whether a label is a list, or one of those by label key is."""
    inner = value.values() if isinstance(value, dict) else (value,)
    return any(isinstance(one, list) for one in inner)
