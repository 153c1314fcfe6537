"""Read COCO panoptic JSON and its folder of PNGs as objects: one mask per segment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import chain

import numpy as np

from valor_cli.data.formats.coco.images import category_values, metadata_of
from valor_cli.data.formats.folders import digest_of
from valor_cli.data.formats.panoptic.listing import Listing, folder_of, png_of, read_listing
from valor_cli.data.formats.panoptic.segments import SegmentPng, segment_masks
from valor_cli.data.shapes.objects.checks import UNKNOWN, Size
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Role, id_column
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.table import Columns, Table
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.masks import areas, bounds
from valor_cli.kernels.geometry.shapes import Floats, Masks, Shapes, joined_masks
from valor_cli.results import InputFile


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
            image; a PNG has other segments than its list.
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


def _objects(listing: Listing, area: Floats, role: Role) -> Table:
    found = [(one, own) for one in listing.annotations for own in one.segments]
    columns: Columns = {
        "id": np.array([f"{one.image}:{own.number}" for one, own in found], object),
        "image_id": id_column([one.image for one, _ in found]),
        "category_id": id_column([own.category for _, own in found]),
    }
    if role == "ground_truth":
        columns |= {"area": area, "crowd": np.array([own.crowd for _, own in found], np.bool_)}
    else:
        columns["score"] = np.ones(len(found))
    counts = [len(one.segments) for one in listing.annotations]
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


def _warnings(listing: Listing, area: Floats) -> list[str]:
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
            png = SegmentPng(png_of(folder, one.file_name), one.place, one.size, one.numbers)
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
