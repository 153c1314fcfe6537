"""Build the `ObjectFile` of a COCO file from its columns and row counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile, Wanted
from valor_cli.data.shapes.objects.parse import opened
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns, Table
from valor_cli.kernels.geometry.shapes import Polygons, Shapes
from valor_cli.results import InputFile

LVIS_KEYS: Final = {
    "negative": "neg_category_ids",
    "not_exhaustive": "not_exhaustive_category_ids",
}
"""LVIS's keys of an image, by the column they become."""

FEWEST: Final = 6
"""Numbers of a polygon's part: x and y of three points."""


class Request(NamedTuple):
    """What to read of objects.

    Attributes:
        wanted: The box or the segmentation of those that have both.
        fields: "keypoints", which every detection needs where one has them; "some_keypoints",
            which they may lack; "federated" (what LVIS adds to COCO).
    """

    wanted: Wanted = "box"
    fields: Set[str] = frozenset()

    @property
    def keypoints(self) -> bool:
        return not self.fields.isdisjoint({"keypoints", "some_keypoints"})

    @property
    def every_keypoints(self) -> bool:
        return "keypoints" in self.fields

    @property
    def federated(self) -> bool:
        return "federated" in self.fields


class Rows(NamedTuple):
    """Objects of one list of a file: columns and geometry."""

    columns: Columns
    shapes: Shapes


class AcceptedRows(NamedTuple):
    """The accepted rows of a list: their positions, and the length of the list."""

    kept: Sequence[int]
    found: int


def opened_rings(polygons: Polygons) -> Polygons:
    """Rings less last points that repeat the first, as long as three points are left."""
    while (shorter := opened(polygons, FEWEST // 2)) is not polygons:
        polygons = shorter
    return polygons


def results(
    source: TextSource,
    rows: Rows,
    *,
    list_name: str = "",
    categories: Columns | None = None,
    taken: AcceptedRows | None = None,
) -> ObjectFile:
    """The `ObjectFile` of detections that were read completely.

    Args:
        source: Where the detections stood.
        rows: The detections.
        list_name: Key of their list in the file; empty when the file is the list.
        categories: `id` and `name`, if the file says so.
        taken: Which detections of the file are in `rows`; None for all.
    """
    table = _table(source.path, rows.columns, list_name, taken)
    named = None if categories is None else _table(source.path, categories, "categories")
    return ObjectFile(
        path=source.path,
        objects=table,
        shapes=rows.shapes,
        images=None,
        categories=named,
        metadata={},
        files=[_input_file(source, table)],
    )


def ground_truth(
    source: TextSource,
    *,
    images: Columns,
    categories: Columns,
    annotations: Rows,
    metadata: Mapping[str, list[Any]],
    taken: AcceptedRows | None = None,
) -> ObjectFile:
    """The `ObjectFile` of a source that was read completely; `taken` as in `results`."""
    table = _table(source.path, annotations.columns, "annotations", taken)
    return ObjectFile(
        path=source.path,
        objects=table,
        shapes=annotations.shapes,
        images=_table(source.path, images, "images"),
        categories=_table(source.path, categories, "categories"),
        metadata=metadata,
        files=[_input_file(source, table)],
    )


def _table(path: str, columns: Columns, list_name: str, taken: AcceptedRows | None = None) -> Table:
    place = f"{list_name}[{{row}}]"
    if taken is None or len(taken.kept) == taken.found:
        return Table(path, columns, place)
    rows = np.array(taken.kept, dtype=np.int64)
    return Table(path, columns, place, rows, taken.found - len(rows))


def _input_file(source: TextSource, table: Table) -> InputFile:
    return InputFile(source.path, source.sha256, len(table) + table.skipped, table.skipped)
