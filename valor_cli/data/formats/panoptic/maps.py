"""Decode panoptic PNGs into segment masks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.folders import digest_of
from valor_cli.data.formats.panoptic.segments import Listing
from valor_cli.data.formats.png.chunks import RGB, PngHeader, png_header
from valor_cli.data.formats.png.images import opened, png_content
from valor_cli.data.formats.png.pixels import plain_pixels
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.grouping import grouped, positions_of
from valor_cli.kernels.geometry.masks import areas, from_runs
from valor_cli.kernels.geometry.shapes import Masks, joined_masks
from valor_cli.paths import beside
from valor_cli.results import InputFile

Ints = NDArray[np.int64]


class Drawn(NamedTuple):
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


def draw_segments(listing: Listing, folder: str, path: str) -> Drawn:
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
            ids = segment_ids(file, content, listing.image_size[row])
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
    return Drawn(joined, areas(joined).astype(np.int64), size, files)


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


def segment_ids(path: str, content: bytes, expected: Ints) -> NDArray[np.unsignedinteger]:
    """(height, width) segment ids; `expected` is the size, 0 where unknown."""
    try:
        plain = plain_ids(content, png_header(content, path), expected)
    except DataError:
        # Pillow says what is wrong.
        plain = None
    if plain is not None:
        return plain
    with opened(BytesIO(content), path) as image:
        if image.mode != "RGB":
            message = f"expected an RGB image of segment ids, found one of mode {image.mode}"
            raise DataError(Problem(path, message))
        found = (image.height, image.width)
        if any(side not in (0, own) for side, own in zip(expected.tolist(), found, strict=True)):
            there = " by ".join(map(str, expected.tolist()))
            message = f"the PNG is {found[0]} by {found[1]} (height by width), its image is {there}"
            raise DataError(Problem(path, message))
        # Four bytes a pixel are one little-endian number, less the alpha in its highest byte.
        pixels = np.asarray(image.convert("RGBA"))
    return pixels.view("<u4")[..., 0] & np.uint32(0xFFFFFF)


def plain_ids(
    content: bytes, header: PngHeader, expected: Ints
) -> NDArray[np.unsignedinteger] | None:
    """Segment ids of a usual PNG of the expected size; None for all others."""
    sides = zip(expected.tolist(), (header.height, header.width), strict=True)
    if header.kind != RGB or any(side not in (0, own) for side, own in sides):
        return None
    return plain_pixels(content, header)
