"""What the COCO readers hand out; columns and counts come in, the records of one file go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.readers.files import TextSource
from valor_cli.readers.table import Columns, Table
from valor_cli.results import InputFile

Id: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class CocoGroundTruth:
    """A COCO ground-truth file.

    Ids are int64, or object arrays of strings where the file has string ids.

    Attributes:
        images: `id`, in file order.
        categories: `id` and `name` (object array of strings). Names may repeat.
        annotations: `id`, `image_id`, `category_id`, `box` (float64, shape (n, 4): x, y, width,
            height in pixels), `area` (float64, pixels²), `crowd` (bool).
        metadata: By asked-for name, one JSON value per image; None where an image lacks it.
        file: What was read; `rows` counts the annotations in the file, skipped ones included.
    """

    images: Table
    categories: Table
    annotations: Table
    metadata: Mapping[str, list[Any]]
    file: InputFile


@dataclass(frozen=True, slots=True)
class CocoResults:
    """A file of COCO detections.

    Attributes:
        detections: `image_id`, `category_id` (int64 or object arrays of strings), `box` (float64,
            shape (n, 4): x, y, width, height in pixels), `score` (float64), in file order.
        categories: Name by category id where the file is a full COCO dictionary, else None.
        file: What was read; `rows` counts the detections in the file, skipped ones included.
    """

    detections: Table
    categories: Mapping[Id, str] | None
    file: InputFile


def id_column(ids: Sequence[Id]) -> NDArray[Any]:
    """Ids of one kind as int64, or as an object array of strings."""
    if ids and isinstance(ids[0], str):
        return np.array(ids, dtype=object)
    return np.array(ids, dtype=np.int64)


def results(
    source: TextSource,
    columns: Columns,
    *,
    list_name: str = "",
    categories: Mapping[Id, str] | None = None,
    kept: Sequence[int] | None = None,
    found: int | None = None,
) -> CocoResults:
    """The record of a source read to its end.

    Args:
        source: Where the detections stood.
        columns: Columns of the detections kept.
        list_name: Key of their list in the file; empty when the file is the list.
        categories: Name by category id, if the file says so.
        kept: Positions in the file of the rows in `columns`; None for all.
        found: How many detections the file has; None for as many as in `columns`.
    """
    table = _table(source.path, columns, list_name, kept, found)
    return CocoResults(table, categories, _input_file(source, table))


def ground_truth(
    source: TextSource,
    *,
    images: Columns,
    categories: Columns,
    annotations: Columns,
    metadata: Mapping[str, list[Any]],
    kept: Sequence[int] | None = None,
    found: int | None = None,
) -> CocoGroundTruth:
    """The record of a source read to its end; `kept` and `found` of annotations as in `results`."""
    table = _table(source.path, annotations, "annotations", kept, found)
    return CocoGroundTruth(
        images=_table(source.path, images, "images"),
        categories=_table(source.path, categories, "categories"),
        annotations=table,
        metadata=metadata,
        file=_input_file(source, table),
    )


def _table(
    path: str,
    columns: Columns,
    list_name: str,
    kept: Sequence[int] | None = None,
    found: int | None = None,
) -> Table:
    place = f"{list_name}[{{row}}]"
    if kept is None or found is None or len(kept) == found:
        return Table(path, columns, place)
    return Table(path, columns, place, np.array(kept, dtype=np.int64), found - len(kept))


def _input_file(source: TextSource, table: Table) -> InputFile:
    return InputFile(source.path, source.sha256, len(table) + table.skipped, table.skipped)
