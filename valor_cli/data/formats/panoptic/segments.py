"""Read the PNG of an image's segments: as label map of ids, and as masks.

The id of a pixel is R + 256 G + 65536 B, and 0 is void.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.png import RGB, PngHeader, PngLabelMap, kind_of_png
from valor_cli.data.shapes.objects.checks import Size
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.grouping import grouped, positions_of
from valor_cli.kernels.geometry.masks import from_runs
from valor_cli.kernels.geometry.shapes import Ints, Masks


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
