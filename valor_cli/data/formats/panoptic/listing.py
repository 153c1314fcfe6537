"""Read COCO panoptic JSON without its PNGs.

`{"images": […], "annotations": [{"image_id", "file_name", "segments_info": [{"id", "category_id",
"iscrowd", "area"}]}], "categories": [{"id", "name", "isthing"}]}`. Other keys are ignored.

An invalid segment is always an error: if it were dropped, its pixels would become void and change
the value of every segment that overlaps them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from valor_cli.data.formats.coco.images import (
    IdKind,
    category_columns,
    has_keys,
    image_columns,
    kind_of,
    reference,
    sizes_of,
)
from valor_cli.data.formats.folders import is_folder
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.checks import (
    UNKNOWN,
    Size,
    crowd_flag,
    missing_keys,
    quoted,
    whole,
)
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, Role
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.table import Columns, Problems, stop_on
from valor_cli.data.values import LARGEST_EXACT, describe, text
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import Ints
from valor_cli.paths import beside, is_url, is_web, own_folder, stem_source
from valor_cli.results import InputFile

LARGEST_ID: Final = 256**3 - 1
"""Of a segment: what three bytes hold."""

_SUFFIX: Final = re.compile(r"\.json(\.gz|\.zst)?$", re.IGNORECASE)
_OTHER_FOLDER: Final = "segmentations"
_SEGMENTS: Final = b'"segments_info"'
_LISTS: Final = ("images", "annotations", "categories")
_EXPECTED: Final[Mapping[Role, tuple[Sequence[str], str]]] = {
    "ground_truth": (_LISTS, "an object with images, annotations and categories"),
    "predictions": (("annotations",), "an object with annotations"),
}
"""The lists that each side needs, in words too."""


class Segment(NamedTuple):
    """A segment as listed: its id inside the image, the id of its category, whether it is a region
    of many objects, and its pixels, -1 where the file says nothing of the kind.
    """

    number: int
    category: Id
    crowd: bool
    area: int


class Annotation(NamedTuple):
    """The segments of an image.

    Attributes:
        place: Of its segments, for messages.
        image: Id of the image.
        size: Height and width of the image as the file says, 0 where unknown.
        file_name: Of the PNG.
        segments: By id, ascending.
    """

    place: str
    image: Id
    size: Size
    file_name: str
    segments: Sequence[Segment]

    @property
    def numbers(self) -> Ints:
        """(s,) ids of the segments, ascending."""
        return np.array([one.number for one in self.segments], np.int64)


class Listing(NamedTuple):
    """The content of the JSON file.

    Attributes:
        file: The file as read; `rows` counts the annotations.
        lists: Its lists by key; predictions may have no images.
        images, categories: Columns of these lists; None where there is none.
        annotations: One for each image that has any.
    """

    file: InputFile
    lists: Mapping[str, list[Any]]
    images: Columns | None
    categories: Columns | None
    annotations: Sequence[Annotation]


def read_listing(path: str, role: Role) -> Listing:
    """Read the JSON file without its PNGs.

    Args:
        path: The file, plain, gzip or zstd.
        role: Which side it is.

    Raises:
        DataError: It cannot be read or is not such JSON; a value is wrong, with every problem at
            its place.
    """
    source = TextSource(path)
    lists = _lists_in(parse_json(source.whole(), path), path, role)
    images = image_columns(lists["images"], path) if "images" in lists else None
    categories = category_columns(lists["categories"], path) if "categories" in lists else None
    annotations = _annotations(
        lists["annotations"],
        None if images is None else sizes_of(images),
        None if categories is None else set(categories["id"].tolist()),
        path,
    )
    file = InputFile(path, source.sha256, len(lists["annotations"]))
    return Listing(file, lists, images, categories, annotations)


def _lists_in(document: object, path: str, role: Role) -> dict[str, list[Any]]:
    """The file's lists by key; predictions may have no images."""
    keys, expected = _EXPECTED[role]
    if not isinstance(document, dict):
        raise DataError(Problem(path, f"expected {expected}, found {describe(document)}"))
    missing = [key for key in keys if key not in document]
    if missing:
        hint = f"COCO panoptic {role.replace('_', ' ')} is {expected}"
        raise DataError(Problem(path, missing_keys(missing, document)), hint=hint)
    lists = {key: document[key] for key in _LISTS if key in document}
    problems = [
        Problem(f"{path}: {key}", f"expected a list, found {describe(value)}")
        for key, value in lists.items()
        if not isinstance(value, list)
    ]
    if problems:
        raise DataError(problems)
    return lists


def _annotations(
    rows: Sequence[Any],
    sizes: Mapping[Id, Size] | None,
    categories: Container[Id] | None,
    path: str,
) -> list[Annotation]:
    """The annotations, of images and categories that there are; None for any."""
    listed = [row.get("segments_info") for row in rows if isinstance(row, dict)]
    segments = list(chain.from_iterable(one for one in listed if isinstance(one, list)))
    kinds = kind_of(rows, "image_id"), kind_of(segments, "category_id")
    problems: list[Problems] = []
    first: dict[Id, int] = {}
    found: list[Annotation] = []
    for row, record in enumerate(rows):
        inner = f"annotations[{row}].segments_info"
        own = Problems(path, "annotations[{row}]")
        inside = Problems(path, f"{inner}[{{row}}]")
        problems += [own, inside]
        if not has_keys(record, ("image_id", "file_name", "segments_info"), own, row):
            continue
        image = reference(record["image_id"], kinds[0], sizes, own, row, "image_id")
        if image in first:
            where = f"annotations[{first[image]}]"
            message = f"duplicate segments of image {quoted(image)}, first at {where}"
            own.add(row, "image_id", message)
        name = text(record["file_name"], own, row, "file_name")
        listed = record["segments_info"]
        if not isinstance(listed, list):
            message = f"expected a list of segments, found {describe(listed)}"
            own.add(row, "segments_info", message)
            continue
        segments = _segments(listed, kinds[1], categories, inside)
        if image is not None and name is not None:
            first.setdefault(image, row)
            size = UNKNOWN if sizes is None else sizes[image]
            place = f"{path}: {inner}"
            # panopticapi adds what it finds in this order.
            found.append(Annotation(place, image, size, name, sorted(segments)))
    stop_on(problems)
    return found


def _segments(
    listed: Sequence[Any], kind: IdKind, categories: Container[Id] | None, problems: Problems
) -> list[Segment]:
    """The segments of an annotation."""
    seen: dict[int, int] = {}
    segments: list[Segment] = []
    for at, record in enumerate(listed):
        if not has_keys(record, ("id", "category_id"), problems, at):
            continue
        number = whole(record["id"], 1, LARGEST_ID)
        if number is None:
            found = describe(record["id"])
            message = f"expected a whole number from 1 to {LARGEST_ID:,}, found {found}"
            problems.add(at, "id", message)
        elif number in seen:
            where = f"segments_info[{seen[number]}]"
            problems.add(at, "id", f"duplicate id {number}, first at {where}")
        category = reference(record["category_id"], kind, categories, problems, at, "category_id")
        name = spelled(tuple(record), "object").get("crowd", "iscrowd")
        crowd = crowd_flag(record.get(name, 0), problems, at, name)
        if number is not None and category is not None:
            seen.setdefault(number, at)
            area = whole(record.get("area"), 0, LARGEST_EXACT)
            segments.append(Segment(number, category, crowd, -1 if area is None else area))
    return segments


def is_panoptic(path: str) -> bool:
    """Whether a JSON file holds panoptic annotations: it has a folder of PNGs and lists segments.

    Raises:
        DataError: The file cannot be read.
    """
    if path == STDIN or is_web(path) or not any(map(is_folder, _folders(path))):
        return False
    tail = b""
    for chunk in TextSource(path).chunks():
        if _SEGMENTS in tail + chunk:
            return True
        tail = chunk[-len(_SEGMENTS) :]
    return False


def folder_of(path: str) -> str:
    """The folder of the PNGs.

    Raises:
        DataError: There is none, or it does not follow from the name of the file.
    """
    if path == STDIN:
        problem = Problem(
            path, "the PNGs belong in a folder named like the file, but the input has no name"
        )
        raise DataError(problem, hint="name the COCO panoptic file instead")
    folders = _folders(path)
    if is_web(path):
        # A web server tells no folders; the files that are named are asked for.
        return folders[0]
    for folder in folders:
        if is_folder(folder):
            return folder
    looked = " or ".join(f"'{folder}'" for folder in folders)
    raise DataError(
        Problem(path, f"its PNGs are missing: there is no folder {looked}"),
        hint="put the PNGs of a COCO panoptic file into the folder named like it, without .json",
    )


def _folders(path: str) -> list[str]:
    """Where the PNGs of a file may stand."""
    own = own_folder(path)
    named = _SUFFIX.sub("", os.path.join(own, stem_source(path)) if is_url(path) else path)
    return [folder for folder in (named, os.path.join(own, _OTHER_FOLDER)) if folder != path]


def png_of(folder: str, name: str) -> str:
    """The path of a PNG that a listing names.

    Raises:
        DataError: It names a file elsewhere.
    """
    try:
        return beside(folder, name)
    except ValueError as error:
        raise DataError(Problem(name, str(error))) from None
