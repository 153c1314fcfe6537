"""Check a document beyond its schema: rows of unknown models, columns of different lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from valor_cli.results.illustrations import ShownText
from valor_cli.results.rows import COVERAGE, IntervalsResult
from valor_cli.results.run import Document

Found = Iterator[tuple[str, str]]

_WHOLE = 2**63
"""Beyond the whole numbers that a draw takes."""

_OF_MODELS = ("metrics", "coverage", "agreements", "curves", "tables", "examples")


def disagreements(document: Document) -> Found:
    """(place, message) of rows with unknown models, columns of unequal length, and so on."""
    models = set(document.models)
    if not models or len(models) < len(document.models):
        yield "models", "expected at least one, without duplicates"
    yield from _of_intervals(document.intervals)
    for kind in _OF_MODELS:
        for index, row in enumerate(getattr(document, kind)):
            if row.model not in models:
                yield f"{kind}.{index}.model", f"{row.model!r:.60} is not among the models"
    for index, covered in enumerate(document.coverage):
        yield from _of_part(f"coverage.{index}.coverage", covered.coverage)
    for index, gate in enumerate(document.gates):
        if gate.rule == COVERAGE:
            yield from _of_part(f"gates.{index}.value", gate.value)
    for index, agreed in enumerate(document.agreements):
        if len(agreed.values) != len(agreed.raters):
            yield f"agreements.{index}.values", "expected one for each of the raters"
    for index, curve in enumerate(document.curves):
        if len({len(column) for column in curve.points.values()}) > 1:
            yield f"curves.{index}.points", "columns of different lengths"
    yield from _of_tables(document)
    yield from _of_examples(document)


def _of_intervals(asked: IntervalsResult | None) -> Found:
    if asked is None:
        return
    if not 0 < asked.level < 1:
        yield "intervals.level", f"expected a number between 0 and 1, got {asked.level:g}"
    for name, value, least in (("resamples", asked.resamples, 1), ("seed", asked.seed, 0)):
        if not least <= value < _WHOLE:
            yield f"intervals.{name}", f"expected {least} or more, got {value:g}"


def _of_part(place: str, part: float | None) -> Found:
    if part is not None and not 0 <= part <= 1:
        yield place, f"expected a number from 0 to 1, got {part:g}"


def _of_tables(document: Document) -> Found:
    for index, table in enumerate(document.tables):
        columns = [table.matrix, table.unmatched_ground_truths, table.unmatched_predictions]
        columns += [*table.matrix, *(table.ious or ())]
        ratios = (table.unmatched_ground_truth_ratios, table.unmatched_prediction_ratios)
        columns += [column for column in (table.ious, *ratios) if column is not None]
        if any(len(column) != len(table.labels) for column in columns):
            yield f"tables.{index}", "expected one row and one column for each label"


def _of_examples(document: Document) -> Found:
    for index, example in enumerate(document.examples):
        for number, thing in enumerate(example.objects):
            if not _drawable(thing.geometry):
                place = f"examples.{index}.objects.{number}.geometry"
                yield place, "expected a Polygon or MultiPolygon of [x, y] points"
        for number, text in enumerate(example.texts):
            if not _in_order(text):
                place = f"examples.{index}.texts.{number}.marks"
                yield place, "expected spans of the text, ascending and without overlap"


def _in_order(text: ShownText) -> bool:
    """Whether the marks are inside the text, in order and without overlap."""
    ends = [end for start, stop, _ in text.marks for end in (start, stop)]
    return ends == sorted(ends) and not any(end < 0 or end > len(text.text) for end in ends)


def _drawable(geometry: Mapping[str, Any] | None) -> bool:
    if geometry is None:
        return True
    depth = {"Polygon": 2, "MultiPolygon": 3}.get(str(geometry.get("type")), 0)
    return depth > 0 and _points(geometry.get("coordinates"), depth)


def _points(value: object, depth: int) -> bool:
    """Whether these are lists of lists, `depth` deep, of two numbers each."""
    if not isinstance(value, list):
        return False
    if depth:
        return all(_points(item, depth - 1) for item in value)
    return len(value) == 2 and all(type(item) in (int, float) for item in value)
