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
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import (
    category_columns,
    has_keys,
    image_columns,
    kind_of,
    metadata_of,
    reference,
)
from valor_cli.data.formats.folders import digest_of, is_folder
from valor_cli.data.formats.images import png_content
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.formats.png import RGB, PngHeader, kind_of_png, pixels, png_header
from valor_cli.data.shapes.objects.checks import missing_keys, quoted, whole
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Role, id_column
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.table import Columns, Table
from valor_cli.data.values import LARGEST_EXACT, Problems, describe, stop_on, text
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.grouping import grouped, positions_of
from valor_cli.kernels.geometry.masks import areas, bounds, from_runs
from valor_cli.kernels.geometry.shapes import Masks, Shapes, joined_masks
from valor_cli.paths import beside, is_url, is_web, own_folder, stem_source
from valor_cli.results import InputFile

Ints: TypeAlias = NDArray[np.int64]

LARGEST_ID = 256**3 - 1
"""Of a segment: what three bytes hold."""

_SUFFIX = re.compile(r"\.json(\.gz|\.zst)?$", re.IGNORECASE)
_OTHER_FOLDER = "segmentations"
_SEGMENTS = b'"segments_info"'
_KEYS: Mapping[Role, tuple[str, ...]] = {
    "ground_truth": ("images", "annotations", "categories"),
    "predictions": ("annotations",),
}


class Listing(NamedTuple):
    """The content of the JSON file.

    Attributes:
        file: The file as read; `rows` counts the annotations.
        lists: Its lists by key; predictions may have no images.
        own_images, own_categories: Columns of these lists; None where there is none.
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

    file: InputFile
    lists: Mapping[str, list[Any]]
    own_images: Columns | None
    own_categories: Columns | None
    images: list[Id]
    image_row: Ints
    image_size: Ints
    file_names: list[str]
    counts: Ints
    segment: Ints
    category: NDArray[Any]
    crowd: NDArray[np.bool_]
    area: Ints


class _Segment(NamedTuple):
    number: int
    category: Id
    crowd: bool
    area: int


class _Drawn(NamedTuple):
    """The pixels of segments.

    Attributes:
        masks: (n,) of the segments, in the order of the listing.
        area: (n,) their pixels.
        size: (a, 2) height and width of each annotation's PNG.
        files: The PNGs as one record; nothing if there are none.
    """

    masks: Masks
    area: Ints
    size: Ints
    files: list[InputFile]


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
    images, categories = listing.own_images, listing.own_categories
    if categories is not None:
        categories = _with_kinds(categories, listing.lists["categories"], path)
    drawn = _draw_segments(listing, folder_of(path) if listing.images else "", path)
    boxes = how.wanted == "box"
    return ObjectFile(
        path=path,
        objects=_objects(listing, drawn, role, path),
        shapes=Shapes.boxes(bounds(drawn.masks)) if boxes else Shapes.masks(drawn.masks),
        images=None if images is None else _sized(images, listing, drawn, path),
        categories=None if categories is None else Table(path, categories, "categories[{row}]"),
        metadata=metadata_of(listing.lists["images"], how.metadata, path) if how.metadata else {},
        files=[InputFile(path, listing.file.sha256, len(drawn.area)), *drawn.files],
        warnings=_warnings(listing, drawn, path) if role == "ground_truth" else (),
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
    rows = lists["annotations"]
    images = image_columns(lists["images"], path) if "images" in lists else None
    categories = category_columns(lists["categories"], path) if "categories" in lists else None
    image_ids = [] if images is None else images["id"].tolist()
    image_rows = {one: at for at, one in enumerate(image_ids)}
    known = None if images is None else image_rows
    category_ids = None if categories is None else set(categories["id"].tolist())
    kinds = kind_of(rows, "image_id"), kind_of(_all_segments(rows), "category_id")
    problems: list[Problems] = []
    seen: dict[Id, int] = {}
    names: list[str] = []
    counts: list[int] = []
    segments: list[_Segment] = []
    for row, record in enumerate(rows):
        own = Problems(path, "annotations")
        problems.append(own)
        if not has_keys(record, ("image_id", "file_name", "segments_info"), own, row):
            continue
        image = reference(record["image_id"], kinds[0], known, own, row, ".image_id")
        if image in seen:
            where = f"annotations[{seen[image]}]"
            message = f"duplicate segments of image {quoted(image)}, first at {where}"
            own.add(row, ".image_id", message)
        name = text(record["file_name"], own, row, ".file_name")
        listed = record["segments_info"]
        if not isinstance(listed, list):
            message = f"expected a list of segments, found {describe(listed)}"
            own.add(row, ".segments_info", message)
            continue
        inside = Problems(path, f"annotations[{row}].segments_info")
        problems.append(inside)
        found = _segments(listed, kinds[1], category_ids, inside)
        if image is not None and name is not None:
            seen.setdefault(image, row)
            names.append(name)
            counts.append(len(found))
            # panopticapi adds what it finds in this order.
            segments += sorted(found)
    stop_on(problems)
    at = np.array([image_rows.get(image, -1) for image in seen], np.int64)
    size = np.zeros((len(at), 2), np.int64)
    for side, key in enumerate(("height", "width")):
        if images is not None and key in images:
            size[:, side] = images[key][at]
    return Listing(
        InputFile(path, source.sha256, len(rows)),
        lists,
        images,
        categories,
        images=list(seen),
        image_row=at,
        image_size=size,
        file_names=names,
        counts=np.array(counts, np.int64),
        segment=np.array([one.number for one in segments], np.int64),
        category=id_column([one.category for one in segments]),
        crowd=np.array([one.crowd for one in segments], np.bool_),
        area=np.array([one.area for one in segments], np.int64),
    )


def _lists_in(document: object, path: str, role: Role) -> dict[str, list[Any]]:
    """The file's lists by key; predictions may have no images."""
    if not isinstance(document, dict):
        message = f"expected an object with {_named(role)}, found {describe(document)}"
        raise DataError(Problem(path, message))
    missing = [key for key in _KEYS[role] if key not in document]
    if missing:
        raise DataError(
            Problem(path, missing_keys(missing, document)),
            hint=f"COCO panoptic {role.replace('_', ' ')} is an object with {_named(role)}",
        )
    lists = {key: document[key] for key in _KEYS["ground_truth"] if key in document}
    problems = [
        Problem(f"{path}: {key}", f"expected a list, found {describe(value)}")
        for key, value in lists.items()
        if not isinstance(value, list)
    ]
    if problems:
        raise DataError(problems)
    return lists


def _named(role: Role) -> str:
    *first, last = _KEYS[role]
    return f"{', '.join(first)} and {last}" if first else last


def _all_segments(rows: Sequence[Any]) -> list[Any]:
    lists = [row.get("segments_info") for row in rows if isinstance(row, dict)]
    return list(chain.from_iterable(one for one in lists if isinstance(one, list)))


def _segments(
    listed: Sequence[Any],
    kind: type[int] | type[str],
    categories: Container[Id] | None,
    problems: Problems,
) -> list[_Segment]:
    """The segments of an annotation."""
    seen: dict[int, int] = {}
    segments: list[_Segment] = []
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
        crowd = record.get(name, 0)
        if type(crowd) not in (int, bool) or crowd not in (0, 1):
            message = f"expected 0, 1, true or false, found {describe(crowd)}"
            problems.add(at, f".{name}", message)
        if number is not None and category is not None:
            seen.setdefault(number, at)
            area = whole(record.get("area"), 0, LARGEST_EXACT)
            segments.append(_Segment(number, category, bool(crowd), -1 if area is None else area))
    return segments


def _with_kinds(columns: Columns, rows: Sequence[Any], path: str) -> Columns:
    """Categories with `isthing` (1 for things, 0 for stuff) if any of them says so."""
    kinds = [row.get("isthing") for row in rows]
    if all(kind is None for kind in kinds):
        return columns
    problems = Problems(path, "categories")
    for row, kind in enumerate(kinds):
        if type(kind) not in (int, bool) or kind not in (0, 1):
            found = "nothing" if "isthing" not in rows[row] else describe(kind)
            problems.add(row, ".isthing", f"expected 0 or 1 in every category, found {found}")
    stop_on([problems])
    return columns | {"isthing": np.array(kinds, np.int64)}


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


def _objects(listing: Listing, drawn: _Drawn, role: Role, path: str) -> Table:
    image = np.repeat(id_column(listing.images), listing.counts)
    names = zip(image.tolist(), listing.segment.tolist(), strict=True)
    columns: Columns = {
        "id": np.array([f"{one}:{segment}" for one, segment in names], object),
        "image_id": image,
        "category_id": listing.category,
    }
    if role == "ground_truth":
        columns |= {"area": drawn.area.astype(np.float64), "crowd": listing.crowd}
    else:
        columns["score"] = np.ones(len(image))
    annotation = np.repeat(np.arange(len(listing.counts)), listing.counts)
    return Table(path, columns, "annotations[{row}].segments_info", annotation)


def _sized(images: Columns, listing: Listing, drawn: _Drawn, path: str) -> Table:
    """Images, with the sizes of their PNGs where the file says none."""
    none = np.zeros(len(images["id"]), np.int64)
    columns = images | {key: images.get(key, none).copy() for key in ("width", "height")}
    for key, side in (("height", 0), ("width", 1)):
        unknown = columns[key][listing.image_row] == 0
        columns[key][listing.image_row[unknown]] = drawn.size[unknown, side]
    return Table(path, columns, "images[{row}]")


def _warnings(listing: Listing, drawn: _Drawn, path: str) -> list[str]:
    """panopticapi takes the area that is listed; it would find other numbers here."""
    wrong = int(((listing.area >= 0) & (listing.area != drawn.area)).sum())
    if not wrong:
        return []
    return [f"{path}: segments with another area than their pixel count, which is used: {wrong:,}"]


def _draw_segments(listing: Listing, folder: str, path: str) -> _Drawn:
    """Decode the pixels of all segments.

    Args:
        listing: Of the JSON file.
        folder: Where the PNGs stand.
        path: The JSON file, for messages.

    Raises:
        DataError: A PNG is missing, damaged, not RGB or of another size than its image; a segment
            has pixels and is not listed, or is listed and has none.
    """
    digests: dict[str, str] = {}
    masks: list[Masks] = []
    size = np.zeros((len(listing.images), 2), np.int64)
    problems: list[Problem] = []
    total = 0
    for row, (name, segments) in enumerate(zip(listing.file_names, _split(listing), strict=True)):
        try:
            file = _file(folder, name)
            content = png_content(file)
            header = segment_header(file, content, listing.image_size[row])
            ids = pixels(content, header, file)
        except DataError as error:
            found = list(error.problems)
        else:
            digests[name] = hashlib.sha256(content).hexdigest()
            size[row] = ids.shape
            mask, wrong = segment_masks(ids, segments)
            masks.append(mask)
            place = f"{path}: annotations[{row}].segments_info"
            found = [Problem(place, f"{message}, in {name}") for message in wrong]
        total += len(found)
        problems += found[: LISTED - len(problems)]
    if problems:
        raise DataError(problems, total=total)
    joined = joined_masks(masks)
    files = [InputFile(folder, digest_of(digests), 0)] if digests else []
    return _Drawn(joined, areas(joined).astype(np.int64), size, files)


def _file(folder: str, name: str) -> str:
    try:
        return beside(folder, name)
    except ValueError as error:
        raise DataError(Problem(name, str(error))) from None


def _split(listing: Listing) -> Iterator[Ints]:
    """The ids of the segments of each annotation."""
    ends = np.cumsum(listing.counts).tolist()
    for end, count in zip(ends, listing.counts.tolist(), strict=True):
        yield listing.segment[end - count : end]


def segment_masks(ids: NDArray[np.unsignedinteger], segments: Ints) -> tuple[Masks, list[str]]:
    """The masks of an image's segments, in one pass over its pixels.

    Args:
        ids: (height, width) the segment of each pixel, 0 for none.
        segments: (s,) the ids that there should be, distinct.

    Returns:
        Their masks, and what is wrong: an id that is not listed, or a segment without pixels.
    """
    line = ids.T.ravel()
    edges = np.flatnonzero(line[1:] != line[:-1]) + 1
    begin = np.concatenate([[0], edges])[: line.size]
    end = np.append(edges, line.size)[: line.size]
    value = line[begin].astype(np.int64)
    order = np.argsort(segments)
    at = positions_of(value, segments[order])
    owner = np.append(order, -1)[at]
    wrong = [
        f"a segment has the id {one}, which is not listed, and pixels"
        for one in np.unique(value[(owner < 0) & (value > 0)]).tolist()
    ]
    runs = np.flatnonzero(owner >= 0)
    rows, _ = grouped(owner[runs])
    runs = runs[rows]
    empty = np.bincount(owner[runs], minlength=len(segments)) == 0
    wrong += [f"segment {one} is listed and has no pixel" for one in segments[empty].tolist()]
    size = np.tile(np.array(ids.shape, np.int64), (len(segments), 1))
    return from_runs(owner[runs], begin[runs], end[runs], size), wrong


def segment_header(path: str, content: bytes, expected: Ints) -> PngHeader:
    """The header of a PNG of segments.

    Args:
        path: The PNG, for messages.
        content: Its bytes.
        expected: Height and width of its image, 0 where unknown.

    Raises:
        DataError: It is cut off or damaged, is not RGB, or has another size than its image.
    """
    header = png_header(content, path)
    if header.kind != RGB:
        message = f"expected an RGB image of segment ids, found {kind_of_png(header)}"
        raise DataError(Problem(path, message))
    size = header.height, header.width
    if any(side not in (0, own) for side, own in zip(expected.tolist(), size, strict=True)):
        message = "the PNG is {} by {} (height by width), its image is {} by {}"
        raise DataError(Problem(path, message.format(*size, *expected.tolist())))
    return header
