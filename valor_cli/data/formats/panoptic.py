"""Read COCO panoptic JSON and its folder of PNGs: one mask per segment.

`{"images": […], "annotations": [{"image_id", "file_name", "segments_info": [{"id", "category_id",
"iscrowd", "area"}]}], "categories": [{"id", "name", "isthing"}]}`; the id of a pixel is R + 256 G
+ 65536 B, and 0 is void. Other keys are ignored.

An invalid segment is always an error: if it were dropped, its pixels would become void and change
the value of every segment that overlaps them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import (
    IdKind,
    category_columns,
    category_values,
    has_keys,
    image_columns,
    kind_of,
    metadata_of,
    reference,
    sizes_of,
)
from valor_cli.data.formats.folders import digest_of, is_folder
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.formats.png import RGB, PngHeader, PngLabelMap, kind_of_png
from valor_cli.data.shapes.objects.checks import (
    UNKNOWN,
    Size,
    crowd_flag,
    missing_keys,
    quoted,
    whole,
)
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Role, id_column
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.table import Columns, Table
from valor_cli.data.values import LARGEST_EXACT, Problems, describe, stop_on, text
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.grouping import grouped, positions_of
from valor_cli.kernels.geometry.masks import areas, bounds, from_runs
from valor_cli.kernels.geometry.shapes import Masks, Shapes, joined_masks
from valor_cli.paths import beside, is_url, is_web, own_folder, stem_source
from valor_cli.results import InputFile

Ints: TypeAlias = NDArray[np.int64]

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


class SegmentPng(PngLabelMap, frozen=True):
    """A PNG whose values are ids of segments.

    Attributes:
        path: The file.
        place: Its annotation in the JSON file.
        expected: Height and width as the JSON file says, 0 where unknown.
        segments: (s,) ids, ascending.
    """

    place: str
    expected: Size
    segments: Ints

    def check(self, header: PngHeader) -> None:
        """Reject a PNG that is not RGB.

        Raises:
            DataError: It is not, or has another size than its image.
        """
        if header.kind != RGB:
            message = f"expected an RGB image of segment ids, found {kind_of_png(header)}"
            raise DataError(Problem(self.path, message))
        size = header.height, header.width
        if any(side not in (0, own) for side, own in zip(self.expected, size, strict=True)):
            message = "the PNG is {} by {} (height by width), its image is {} by {}"
            raise DataError(Problem(self.path, message.format(*size, *self.expected)))


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Read the segments of a COCO panoptic file; predictions have score 1.

    The PNGs are in the folder named like the JSON without its extension, as panopticapi has it,
    or else in the folder `segmentations` beside it. A segment's id is that of its image and its
    own, "139:3226956"; its area is the number of its pixels.

    Args:
        path: The JSON file, plain, gzip or zstd.
        role: Which side it is. Predictions may lack images and categories; their ids are then
            those of the ground truth.
        how: Its options.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id is duplicate
            or unknown; a PNG is missing, damaged, not RGB or of another size than its
            image; the segments of a PNG are not those that are listed.
    """
    listing = read_listing(path, role)
    images, categories = listing.images, listing.categories
    if categories is not None:
        rows, expected = listing.lists["categories"], "0 or 1 in every category"
        kinds = category_values(rows, path, "isthing", (0, 1), expected)
        categories |= {"isthing": np.array(kinds, np.int64)} if kinds else {}
    folder = folder_of(path) if listing.annotations else ""
    masks, sizes, digests = _draw_segments(listing, folder)
    boxes, area = how.wanted == "box", areas(masks)
    return ObjectFile(
        path=path,
        objects=_objects(listing, area, role),
        shapes=Shapes.boxes(bounds(masks)) if boxes else Shapes.masks(masks),
        images=None if images is None else Table(path, _sized(images, sizes), "images[{row}]"),
        categories=None if categories is None else Table(path, categories, "categories[{row}]"),
        metadata=metadata_of(listing.lists.get("images", []), how.metadata, path),
        files=[
            InputFile(path, listing.file.sha256, len(area)),
            *([InputFile(folder, digest_of(digests), 0)] if digests else []),
        ],
        warnings=_warnings(listing, area) if role == "ground_truth" else (),
    )


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
        own = Problems(path, "annotations")
        inside = Problems(path, f"annotations[{row}].segments_info")
        problems += [own, inside]
        if not has_keys(record, ("image_id", "file_name", "segments_info"), own, row):
            continue
        image = reference(record["image_id"], kinds[0], sizes, own, row, ".image_id")
        if image in first:
            where = f"annotations[{first[image]}]"
            message = f"duplicate segments of image {quoted(image)}, first at {where}"
            own.add(row, ".image_id", message)
        name = text(record["file_name"], own, row, ".file_name")
        listed = record["segments_info"]
        if not isinstance(listed, list):
            message = f"expected a list of segments, found {describe(listed)}"
            own.add(row, ".segments_info", message)
            continue
        segments = _segments(listed, kinds[1], categories, inside)
        if image is not None and name is not None:
            first.setdefault(image, row)
            size = UNKNOWN if sizes is None else sizes[image]
            place = f"{path}: {inside.list_name}"
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
            problems.add(at, ".id", message)
        elif number in seen:
            where = f"segments_info[{seen[number]}]"
            problems.add(at, ".id", f"duplicate id {number}, first at {where}")
        category = reference(record["category_id"], kind, categories, problems, at, ".category_id")
        name = spelled(tuple(record), "object").get("crowd", "iscrowd")
        crowd = crowd_flag(record.get(name, 0), problems, at, f".{name}")
        if number is not None and category is not None:
            seen.setdefault(number, at)
            area = whole(record.get("area"), 0, LARGEST_EXACT)
            segments.append(Segment(number, category, crowd, -1 if area is None else area))
    return segments


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
    beside = own_folder(path)
    named = _SUFFIX.sub("", os.path.join(beside, stem_source(path)) if is_url(path) else path)
    return [folder for folder in (named, os.path.join(beside, _OTHER_FOLDER)) if folder != path]


def _objects(listing: Listing, area: NDArray[np.float64], role: Role) -> Table:
    counts = [len(one.segments) for one in listing.annotations]
    segments = [one for annotation in listing.annotations for one in annotation.segments]
    image = np.repeat(id_column([one.image for one in listing.annotations]), counts)
    names = zip(image.tolist(), segments, strict=True)
    columns: Columns = {
        "id": np.array([f"{one}:{segment.number}" for one, segment in names], object),
        "image_id": image,
        "category_id": id_column([one.category for one in segments]),
    }
    if role == "ground_truth":
        columns |= {"area": area, "crowd": np.array([one.crowd for one in segments], np.bool_)}
    else:
        columns["score"] = np.ones(len(image))
    annotation = np.repeat(np.arange(len(counts)), counts)
    return Table(listing.file.path, columns, "annotations[{row}].segments_info", annotation)


def _sized(images: Columns, sizes: Mapping[Id, Size]) -> Columns:
    """Images, with the sizes of their PNGs where the file says none."""
    own = [sizes.get(image, UNKNOWN) for image in images["id"].tolist()]
    pngs = np.array(own, np.int64).reshape(-1, 2)
    for key, side in (("width", 1), ("height", 0)):
        said = images.get(key, np.zeros(len(pngs), np.int64))
        images = images | {key: np.where(said == 0, pngs[:, side], said)}
    return images


def _warnings(listing: Listing, area: NDArray[np.float64]) -> list[str]:
    """panopticapi takes the area that is listed; it would find other numbers here."""
    segments = chain.from_iterable(one.segments for one in listing.annotations)
    listed = zip(segments, area.tolist(), strict=True)
    wrong = sum(one.area not in (-1, pixels) for one, pixels in listed)
    if not wrong:
        return []
    what = "segments with another area than their pixel count, which is used"
    return [f"{listing.file.path}: {what}: {wrong:,}"]


def _draw_segments(
    listing: Listing, folder: str
) -> tuple[Masks, Mapping[Id, Size], Mapping[str, str]]:
    """Decode the pixels of all segments.

    Args:
        listing: Of the JSON file.
        folder: Where the PNGs stand.

    Returns:
        The masks of the segments, in the order of the listing; the size of the PNG of each image;
        and the digest of each PNG.

    Raises:
        DataError: A PNG is missing, damaged, not RGB or of another size than its image; a segment
            has pixels and is not listed, or is listed and has none.
    """
    masks: list[Masks] = []
    sizes: dict[Id, Size] = {}
    digests: dict[str, str] = {}
    problems: list[Problem] = []
    for one in listing.annotations:
        try:
            png = SegmentPng(_file(folder, one.file_name), one.place, one.size, one.numbers)
            content, header = png.read()
            mask, wrong = segment_masks(png.decode(content, header), png.segments)
        except DataError as error:
            problems += error.problems
        else:
            digests[one.file_name] = hashlib.sha256(content).hexdigest()
            sizes[one.image] = Size(header.height, header.width)
            masks.append(mask)
            problems += [Problem(one.place, f"{what}, in {one.file_name}") for what in wrong]
    if problems:
        raise DataError(problems)
    return joined_masks(masks), sizes, digests


def _file(folder: str, name: str) -> str:
    try:
        return beside(folder, name)
    except ValueError as error:
        raise DataError(Problem(name, str(error))) from None


def segment_masks(ids: NDArray[np.unsignedinteger], segments: Ints) -> tuple[Masks, list[str]]:
    """The masks of an image's segments, in one pass over its pixels.

    Args:
        ids: (height, width) the segment of each pixel, 0 for none.
        segments: (s,) the ids that there should be, ascending.

    Returns:
        Their masks, and what is wrong: an id that is not listed, or a segment without pixels.
    """
    line = ids.T.ravel()
    begin, owner, unlisted = segment_runs(line, segments)
    end = np.append(begin[1:], line.size)
    wrong = [f"a segment has the id {one}, which is not listed, and pixels" for one in unlisted]
    runs = np.flatnonzero(owner >= 0)
    rows, _ = grouped(owner[runs])
    runs = runs[rows]
    empty = np.bincount(owner[runs], minlength=len(segments)) == 0
    wrong += [f"segment {one} is listed and has no pixel" for one in segments[empty].tolist()]
    size = np.tile(np.array(ids.shape, np.int64), (len(segments), 1))
    return from_runs(owner[runs], begin[runs], end[runs], size), wrong


def segment_runs(
    line: NDArray[np.unsignedinteger], segments: Ints
) -> tuple[NDArray[np.intp], Ints, list[int]]:
    """Runs of pixels of one id.

    Args:
        line: (pixels,) their ids, 0 for none.
        segments: (s,) the ids that there should be, ascending.

    Returns:
        Where each run begins; its place among the segments, -1 for none; and ids of none.
    """
    begin = np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]]))
    value = line[begin].astype(np.int64)
    at = positions_of(value, segments)
    return begin, at, np.unique(value[(at < 0) & (value > 0)]).tolist()
