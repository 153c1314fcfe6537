"""Read the segments of parsed COCO panoptic annotations."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import has_keys, kind_of
from valor_cli.data.shapes.objects.checks import missing_keys, quoted, whole
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, id_column
from valor_cli.data.table import Columns
from valor_cli.data.values import LARGEST_EXACT, Problems, describe, identifier, stop_on, text

LARGEST_ID = 256**3 - 1
"""Of a segment: what three bytes hold."""


class Listing(NamedTuple):
    """The content of the JSON file.

    Attributes:
        images: (a,) image id of each annotation.
        image_row: (a,) its row among the images; -1 where the file lists none.
        image_size: (a, 2) height and width of the image as the file says, 0 where unknown.
        file_names: (a,) of the PNGs.
        counts: (a,) how many segments each annotation has.
        segment: (n,) ids inside the image, annotation after annotation, ascending in each.
        category: (n,) ids as in the file.
        crowd: (n,) whether it is a region of many objects.
        area: (n,) pixels, as the file says; -1 where it says nothing of the kind.
    """

    images: list[Id]
    image_row: NDArray[np.int64]
    image_size: NDArray[np.int64]
    file_names: list[str]
    counts: NDArray[np.int64]
    segment: NDArray[np.int64]
    category: NDArray[Any]
    crowd: NDArray[np.bool_]
    area: NDArray[np.int64]


class _Segment(NamedTuple):
    number: int
    category: Id
    crowd: bool
    area: int


def listed_segments(
    rows: Sequence[Any], images: Columns | None, categories: Columns | None, path: str
) -> Listing:
    """List every annotation with its segments.

    Args:
        rows: The annotations.
        images, categories: Those of the file; None where it lists none.
        path: The file, for messages.

    Raises:
        DataError: An annotation or a segment is wrong, with every problem at its place.
    """
    problems = Problems(path, "annotations")
    image_rows = _rows_of(images)
    category_ids = None if categories is None else set(categories["id"].tolist())
    kinds = kind_of(rows, "image_id"), kind_of(_all_segments(rows), "category_id")
    seen: dict[Id, int] = {}
    names: list[str] = []
    counts: list[int] = []
    segments: list[_Segment] = []
    for row, record in enumerate(rows):
        if not has_keys(record, ("image_id", "file_name", "segments_info"), problems, row):
            continue
        image = _image(record["image_id"], kinds[0], image_rows, seen, problems, row)
        name = text(record["file_name"], problems, row, ".file_name")
        listed = _segments(record["segments_info"], kinds[1], category_ids, problems, row)
        if image is not None and name is not None:
            seen[image] = row
            names.append(name)
            counts.append(len(listed))
            # panopticapi adds what it finds in this order.
            segments += sorted(listed)
    stop_on([problems])
    at = np.array([(image_rows or {}).get(image, -1) for image in seen], np.int64)
    return Listing(
        images=list(seen),
        image_row=at,
        image_size=_sizes(images, at),
        file_names=names,
        counts=np.array(counts, np.int64),
        segment=np.array([one.number for one in segments], np.int64),
        category=id_column([one.category for one in segments]),
        crowd=np.array([one.crowd for one in segments], np.bool_),
        area=np.array([one.area for one in segments], np.int64),
    )


def _rows_of(images: Columns | None) -> dict[Id, int] | None:
    return None if images is None else {one: row for row, one in enumerate(images["id"].tolist())}


def _sizes(images: Columns | None, at: NDArray[np.int64]) -> NDArray[np.int64]:
    size = np.zeros((len(at), 2), np.int64)
    for side, key in enumerate(("height", "width")):
        if images is not None and key in images:
            size[:, side] = images[key][at]
    return size


def _all_segments(rows: Sequence[Any]) -> list[Any]:
    lists = [row.get("segments_info") for row in rows if isinstance(row, dict)]
    return list(chain.from_iterable(one for one in lists if isinstance(one, list)))


def _image(
    value: object,
    kind: type[int] | type[str],
    known: Container[Id] | None,
    seen: Mapping[Id, int],
    problems: Problems,
    row: int,
) -> Id | None:
    """The id of an image, which has one annotation alone."""
    found = identifier(value, kind, problems, row, ".image_id")
    if found is None:
        return None
    if known is not None and found not in known:
        problems.add(row, ".image_id", f"no image has the id {quoted(found)}")
        return None
    if found in seen:
        where = f"annotations[{seen[found]}]"
        message = f"duplicate segments of image {quoted(found)}, first at {where}"
        problems.add(row, ".image_id", message)
        return None
    return found


def _segments(
    listed: object,
    kind: type[int] | type[str],
    categories: Container[Id] | None,
    problems: Problems,
    row: int,
) -> list[_Segment]:
    if not isinstance(listed, list):
        message = f"expected a list of segments, found {describe(listed)}"
        problems.add(row, ".segments_info", message)
        return []
    seen: dict[int, int] = {}
    segments: list[_Segment] = []
    for at, record in enumerate(listed):
        key = f".segments_info[{at}]"
        if not _complete(record, problems, row, key):
            continue
        number = _number(record["id"], seen, problems, row, key)
        category = _category(record["category_id"], kind, categories, problems, row, key)
        name = spelled(tuple(record), "object").get("crowd", "iscrowd")
        crowd = _crowd(record.get(name, 0), problems, row, f"{key}.{name}")
        if number is not None and category is not None:
            seen[number] = at
            area = whole(record.get("area"), 0, LARGEST_EXACT)
            segments.append(_Segment(number, category, crowd, -1 if area is None else area))
    return segments


def _complete(record: object, problems: Problems, row: int, key: str) -> bool:
    if not isinstance(record, dict):
        problems.add(row, key, f"expected an object, found {describe(record)}")
        return False
    missing = [name for name in ("id", "category_id") if name not in record]
    if missing:
        problems.add(row, key, missing_keys(missing, record))
    return not missing


def _number(
    value: object, seen: Mapping[int, int], problems: Problems, row: int, key: str
) -> int | None:
    """The id of a segment in its PNG; 0 is the void."""
    found = whole(value, 1, LARGEST_ID)
    if found is None:
        message = f"expected a whole number from 1 to {LARGEST_ID:,}, found {describe(value)}"
        problems.add(row, f"{key}.id", message)
    elif found in seen:
        where = f"segments_info[{seen[found]}]"
        problems.add(row, f"{key}.id", f"duplicate id {found}, first at {where}")
        return None
    return found


def _category(
    value: object,
    kind: type[int] | type[str],
    known: Container[Id] | None,
    problems: Problems,
    row: int,
    key: str,
) -> Id | None:
    found = identifier(value, kind, problems, row, f"{key}.category_id")
    if found is not None and known is not None and found not in known:
        problems.add(row, f"{key}.category_id", f"no category has the id {quoted(found)}")
    return found


def _crowd(value: object, problems: Problems, row: int, key: str) -> bool:
    if type(value) not in (int, bool) or value not in (0, 1):
        message = f"expected 0, 1, true or false, found {describe(value)}"
        problems.add(row, key, message)
    return bool(value)
