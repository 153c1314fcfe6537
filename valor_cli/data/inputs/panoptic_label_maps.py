"""Read COCO panoptic JSON with its PNGs as label maps of categories.

A pixel has the category of its segment, also in crowd regions (as in panopticapi's conversion to
semantic labels), and no label outside all segments.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import category_columns, image_columns
from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.formats.panoptic.maps import plain_ids, segment_ids
from valor_cli.data.formats.panoptic.objects import folder_of, lists_in
from valor_cli.data.formats.panoptic.segments import Listing, listed_segments
from valor_cli.data.formats.png.chunks import RGB, PngHeader, check_rows, png_header
from valor_cli.data.formats.png.images import png_content
from valor_cli.data.formats.png.label_map_folders import without_extension
from valor_cli.data.formats.png.label_maps import LabelMaps, Stored
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.grouping import positions_of
from valor_cli.results import InputFile

_MOST = 65_535
"""Categories that 16 bits can tell apart, beside none."""


class PanopticLabelMap(Struct, frozen=True):
    """A PNG of segments.

    Attributes:
        path: The file.
        place: Its annotation in the JSON file.
        expected: Height and width as the JSON file says, 0 where unknown.
        segments: (s,) ids, ascending.
        categories: (s + 1,) uint8 or uint16, the category of each segment, counted from 1; at the
            end 0, for no segment.
    """

    path: str
    place: str
    expected: NDArray[np.int64]
    segments: NDArray[np.int64]
    categories: NDArray[np.unsignedinteger]

    def look(self, *, decode: bool = False) -> Stored:
        """Its size and digest; pixels are decoded only on request.

        Raises:
            DataError: It cannot be read, is no PNG, is cut off or damaged, is too large, is not
                RGB, or has another size than the JSON file says; or the pixels cannot be decoded,
                or are of a segment that is not listed.
        """
        content = png_content(self.path)
        header = png_header(content, self.path)
        if header.kind != RGB:
            message = "expected an RGB image of segment ids, found another kind of PNG"
            raise DataError(Problem(self.path, message))
        size = header.height, header.width
        expected = self.expected.tolist()
        if any(side not in (0, own) for side, own in zip(expected, size, strict=True)):
            message = "the PNG is {} by {} (height by width), its image is {} by {}"
            raise DataError(Problem(self.path, message.format(*size, *expected)))
        if decode:
            self._decoded(content, header)
        return Stored(size, hashlib.sha256(content).hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) category index of each pixel from 1; 0 for none.

        Raises:
            DataError: As `look`; the pixels cannot be decoded; a segment has pixels and is not
                listed.
        """
        content = png_content(self.path)
        return self._decoded(content, png_header(content, self.path))

    def _decoded(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        ids = self._ids(content, header)
        line = ids.ravel()
        begin = np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]]))
        value = line[begin].astype(np.int64)
        at = positions_of(value, self.segments)
        strangers = np.unique(value[(at < 0) & (value > 0)]).tolist()
        if strangers:
            problems = [
                Problem(self.place, f"segment {one} has pixels in {self.path} and is not listed")
                for one in strangers
            ]
            raise DataError(problems[:LISTED], total=len(problems))
        lengths = np.diff(begin, append=line.size)
        return np.repeat(self.categories[at], lengths).reshape(ids.shape)

    def _ids(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        """(height, width) the segment of each pixel, 0 for none."""
        plain = plain_ids(content, header, self.expected)
        if plain is not None:
            return plain
        check_rows(content, header, self.path)
        return segment_ids(self.path, content, self.expected)


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
    source = TextSource(path)
    lists = lists_in(parse_json(source.whole(), path), path, role)
    images = image_columns(lists["images"], path) if "images" in lists else None
    own = category_columns(lists["categories"], path) if "categories" in lists else None
    listing = listed_segments(lists["annotations"], images, own, path)
    if not listing.images:
        raise DataError(Problem(f"{path}: annotations", "there is no label map in this list"))
    categories = _agreed(own, names, path)
    samples = [without_extension(name) for name in listing.file_names]
    folder = folder_of(path)
    maps = dict(zip(samples, _maps(listing, categories, folder, path), strict=True))
    if len(maps) < len(samples):
        twice = sorted(name for name, count in Counter(samples).items() if count > 1)
        problems = [Problem(path, f"several annotations have the file '{n}'") for n in twice]
        raise DataError(problems[:LISTED], total=len(problems))
    values = metadata_of(lists["images"], metadata, path) if role == "ground_truth" else {}
    rows = listing.image_row.tolist()
    return LabelMaps(
        path,
        folder,
        maps,
        (InputFile(path, source.sha256, len(maps)),),
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
