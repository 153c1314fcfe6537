"""Read COCO panoptic JSON and its folder of PNGs: one mask per segment.

`{"images": […], "annotations": [{"image_id", "file_name", "segments_info": [{"id", "category_id",
"iscrowd", "area"}]}], "categories": [{"id", "name", "isthing"}]}`; the id of a pixel is R + 256 G
+ 65536 B, and 0 is void. Other keys are ignored.

An invalid segment is always an error: if it were dropped, its pixels would become void and change
the value of every segment that overlaps them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.formats.coco.images import category_columns, image_columns
from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.folders import is_folder
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.formats.panoptic.maps import Drawn, draw_segments
from valor_cli.data.formats.panoptic.segments import Listing, listed_segments
from valor_cli.data.shapes.objects.checks import missing_keys
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted, id_column
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.table import Columns, Table
from valor_cli.data.values import Problems, describe, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.masks import bounds
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.paths import is_url, is_web, own_folder, stem_source
from valor_cli.results import InputFile

_SUFFIX = re.compile(r"\.json(\.gz|\.zst)?$", re.IGNORECASE)
_OTHER_FOLDER = "segmentations"
_SEGMENTS = b'"segments_info"'
_KEYS: Mapping[Role, tuple[str, ...]] = {
    "ground_truth": ("images", "annotations", "categories"),
    "predictions": ("annotations",),
}


def read_panoptic(
    path: str, role: Role, *, wanted: Wanted = "shape", metadata: Sequence[str] = ()
) -> ObjectFile:
    """Read the segments of a COCO panoptic file; predictions have score 1.

    The PNGs are in the folder named like the JSON without its extension, as panopticapi has it,
    or else in the folder `segmentations` beside it. A segment's id is that of its image and its
    own, "139:3226956"; its area is the number of its pixels.

    Args:
        path: The JSON file, plain, gzip or zstd.
        role: Which side it is. Predictions may lack images and categories; their ids are then
            those of the ground truth.
        wanted: "box" takes the bounds of the pixels, "shape" the pixels.
        metadata: Names to read for every image, from its "metadata" object or else from itself.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id is duplicate
            or unknown; a PNG is missing, damaged, not RGB or of another size than its
            image; the segments of a PNG are not those that are listed.
    """
    source = TextSource(path)
    lists = lists_in(parse_json(source.whole(), path), path, role)
    images = image_columns(lists["images"], path) if "images" in lists else None
    categories = _categories(lists["categories"], path) if "categories" in lists else None
    listing = listed_segments(lists["annotations"], images, categories, path)
    folder = folder_of(path) if listing.images else ""
    drawn = draw_segments(listing, folder, path)
    return ObjectFile(
        path=path,
        objects=_objects(listing, drawn, role, path),
        shapes=Shapes.boxes(bounds(drawn.masks)) if wanted == "box" else Shapes.masks(drawn.masks),
        images=None if images is None else _sized(images, listing, drawn, path),
        categories=None if categories is None else Table(path, categories, "categories[{row}]"),
        metadata=metadata_of(lists["images"], metadata, path) if metadata else {},
        files=[InputFile(path, source.sha256, len(drawn.area)), *drawn.files],
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


def lists_in(document: object, path: str, role: Role) -> dict[str, list[Any]]:
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


def _categories(rows: Sequence[Any], path: str) -> Columns:
    """Categories; `isthing` (1 for things, 0 for stuff) if any of them says so."""
    columns = category_columns(rows, path)
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


def _objects(listing: Listing, drawn: Drawn, role: Role, path: str) -> Table:
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


def _sized(images: Columns, listing: Listing, drawn: Drawn, path: str) -> Table:
    """Images, with the sizes of their PNGs where the file says none."""
    none = np.zeros(len(images["id"]), np.int64)
    columns = images | {key: images.get(key, none).copy() for key in ("width", "height")}
    for key, side in (("height", 0), ("width", 1)):
        unknown = columns[key][listing.image_row] == 0
        columns[key][listing.image_row[unknown]] = drawn.size[unknown, side]
    return Table(path, columns, "images[{row}]")


def _warnings(listing: Listing, drawn: Drawn, path: str) -> list[str]:
    """panopticapi takes the area that is listed; it would find other numbers here."""
    wrong = int(((listing.area >= 0) & (listing.area != drawn.area)).sum())
    if not wrong:
        return []
    return [f"{path}: segments with another area than their pixel count, which is used: {wrong:,}"]
