"""Read COCO panoptic JSON with its PNGs as label maps of categories.

A pixel has the category of its segment, also in crowd regions (as in panopticapi's conversion to
semantic labels), and no label outside all segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.formats.folders import without_extension
from valor_cli.data.formats.images import png_content
from valor_cli.data.formats.panoptic import Listing, folder_of, read_listing, segment_header
from valor_cli.data.formats.png import PngHeader, PngLabelMap, pixels
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.table import Columns
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.grouping import positions_of

_MOST = 65_535
"""Categories that 16 bits can tell apart, beside none."""


class PanopticLabelMap(PngLabelMap, frozen=True):
    """A PNG of segments.

    Attributes:
        path: The file.
        place: Its annotation in the JSON file.
        expected: Height and width as the JSON file says, 0 where unknown.
        segments: (s,) ids, ascending.
        categories: (s + 1,) uint8 or uint16, the category of each segment, counted from 1; at the
            end 0, for no segment.
    """

    place: str
    expected: NDArray[np.int64]
    segments: NDArray[np.int64]
    categories: NDArray[np.unsignedinteger]

    def _read(self) -> tuple[bytes, PngHeader]:
        content = png_content(self.path)
        return content, segment_header(self.path, content, self.expected)

    def _decode(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        """(height, width) category index of each pixel from 1; 0 for none.

        Raises:
            DataError: The pixels cannot be decoded; a segment has pixels and is not listed.
        """
        ids = pixels(content, header, self.path)
        line = ids.ravel()
        begin = np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]]))
        value = line[begin].astype(np.int64)
        at = positions_of(value, self.segments)
        unlisted = np.unique(value[(at < 0) & (value > 0)]).tolist()
        if unlisted:
            problems = [
                Problem(self.place, f"segment {one} has pixels in {self.path} and is not listed")
                for one in unlisted
            ]
            raise DataError(problems[:LISTED], total=len(problems))
        lengths = np.diff(begin, append=line.size)
        return np.repeat(self.categories[at], lengths).reshape(ids.shape)


def read_panoptic_maps(
    path: str, role: Role, *, names: Mapping[int, str] | None = None, metadata: Sequence[str] = ()
) -> LabelMaps:
    """Label maps of a COCO panoptic file, named like its PNGs without extension.

    The PNGs are in the folder named like the JSON without its extension, as panopticapi has it,
    or else in the folder `segmentations` beside it.

    Args:
        path: The JSON file, plain, gzip or zstd.
        role: Which side it is. Predictions may lack images and categories.
        names: Of the labels by value, which its categories must be; None to take its own.
        metadata: Names to read for every image of ground truth, from its "metadata" object or
            else from itself.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id is duplicate
            or unknown; a category is not that of the ground truth.
    """
    listing = read_listing(path, role)
    if not listing.images:
        raise DataError(Problem(f"{path}: annotations", "there is no label map in this list"))
    categories = _agreed(listing.own_categories, names, path)
    samples = [without_extension(name) for name in listing.file_names]
    folder = folder_of(path)
    maps = dict(zip(samples, _maps(listing, categories, folder, path), strict=True))
    if len(maps) < len(samples):
        twice = sorted(name for name, count in Counter(samples).items() if count > 1)
        problems = [Problem(path, f"several annotations have the file '{n}'") for n in twice]
        raise DataError(problems[:LISTED], total=len(problems))
    values = metadata_of(listing.lists["images"], metadata, path) if role == "ground_truth" else {}
    rows = listing.image_row.tolist()
    return LabelMaps(
        path,
        folder,
        maps,
        (listing.file,),
        {
            name: {sample: column[row] for sample, row in zip(samples, rows, strict=True)}
            for name, column in values.items()
        },
        meanings=(None, *categories),
        categories=categories,
        images=dict(zip(samples, listing.images, strict=True)),
    )


def _agreed(own: Columns | None, names: Mapping[int, str] | None, path: str) -> Mapping[int, str]:
    """Names by id, in the order of the ids; of two sides, those of the ground truth.

    Raises:
        DataError: An id is no number, there are too many, or the sides name one differently.
    """
    found = {} if own is None else dict(zip(own["id"].tolist(), own["name"].tolist(), strict=True))
    problems = [
        Problem(f"{path}: categories", f"expected whole numbers as ids, found {key!r}")
        for key in found
        if not isinstance(key, int)
    ]
    problems += [
        Problem(f"{path}: categories", f"{key} is '{name}'; in the ground truth it is '{there}'")
        for key, name in found.items()
        if (there := (names or {}).get(key, name)) != name
    ]
    if len(found) > _MOST:
        problems.append(Problem(f"{path}: categories", f"there are more than {_MOST:,}"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    return dict(sorted((found if names is None else names).items()))


def _maps(
    listing: Listing, categories: Mapping[int, str], folder: str, path: str
) -> Iterator[PanopticLabelMap]:
    """The label map of each annotation.

    Raises:
        DataError: A segment has a category that there is not.
    """
    ids = np.array([*categories], np.int64)
    kind = np.uint8 if len(ids) < 256 else np.uint16
    known = listing.category.dtype.kind == "i"
    at = positions_of(listing.category, ids) if known else np.full(len(listing.category), -1)
    if (at < 0).any():
        unknown = dict.fromkeys(listing.category[at < 0].tolist())
        problems = [Problem(path, f"no category has the id {one!r}") for one in unknown]
        raise DataError(problems[:LISTED], total=len(problems))
    ends = np.cumsum(listing.counts).tolist()
    for row, (name, count) in enumerate(
        zip(listing.file_names, listing.counts.tolist(), strict=True)
    ):
        mine = slice(ends[row] - count, ends[row])
        order = np.argsort(listing.segment[mine])
        yield PanopticLabelMap(
            f"{folder}/{name}",
            f"{path}: annotations[{row}].segments_info",
            listing.image_size[row],
            listing.segment[mine][order],
            np.append(at[mine][order] + 1, 0).astype(kind),
        )
