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
from valor_cli.data.formats.panoptic.listing import Listing, folder_of, png_of, read_listing
from valor_cli.data.formats.panoptic.segments import SegmentPng, segment_runs
from valor_cli.data.formats.png import PngHeader
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.data.shapes.objects.object_file import Id, Role
from valor_cli.data.table import Columns
from valor_cli.errors import DataError, Problem
from valor_cli.results import Scalar

_MOST = 65_535
"""Categories that 16 bits can tell apart, beside none."""


class PanopticLabelMap(SegmentPng, frozen=True):
    """A PNG of segments, read as their categories.

    Attributes:
        categories: (s + 1,) uint8 or uint16, the category of each segment, counted from 1; at the
            end 0, for no segment.
    """

    categories: NDArray[np.unsignedinteger]

    def decode(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        """(height, width) category index of each pixel from 1; 0 for none.

        Raises:
            DataError: The pixels cannot be decoded; a segment has pixels and is not listed.
        """
        ids = super().decode(content, header)
        begin, at, unlisted = segment_runs(ids.ravel(), self.segments)
        if unlisted:
            problems = [
                Problem(self.place, f"segment {one} has pixels in {self.path} and is not listed")
                for one in unlisted
            ]
            raise DataError(problems)
        lengths = np.diff(begin, append=ids.size)
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
    if not listing.annotations:
        raise DataError(Problem(f"{path}: annotations", "there is no label map in this list"))
    categories = _agreed(listing.categories, names, path)
    folder = folder_of(path)
    samples = [without_extension(one.file_name) for one in listing.annotations]
    maps = dict(zip(samples, _maps(listing, [*categories], folder), strict=True))
    if len(maps) < len(samples):
        twice = sorted(name for name, count in Counter(samples).items() if count > 1)
        problems = [Problem(path, f"several annotations have the file '{n}'") for n in twice]
        raise DataError(problems)
    images = dict(zip(samples, (one.image for one in listing.annotations), strict=True))
    found: dict[str, dict[str, Scalar]] = {}
    if role == "ground_truth" and listing.images is not None:
        ids = listing.images["id"].tolist()
        for name, values in metadata_of(listing.lists["images"], metadata, path).items():
            said = dict(zip(ids, values, strict=True))
            found[name] = {sample: said[image] for sample, image in images.items()}
    return LabelMaps(
        path,
        folder,
        maps,
        (listing.file,),
        found,
        meanings=(None, *categories),
        categories=categories,
        images=images,
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
        raise DataError(problems)
    return dict(sorted((found if names is None else names).items()))


def _maps(listing: Listing, ids: Sequence[Id], folder: str) -> Iterator[PanopticLabelMap]:
    """The label map of each annotation.

    Raises:
        DataError: A segment has a category that there is not.
    """
    code = {one: at for at, one in enumerate(ids, 1)}
    every = [one.category for annotation in listing.annotations for one in annotation.segments]
    unknown = [one for one in dict.fromkeys(every) if one not in code]
    if unknown:
        path = listing.file.path
        raise DataError([Problem(path, f"no category has the id {one!r}") for one in unknown])
    kind: type[np.unsignedinteger] = np.uint8 if len(ids) < 256 else np.uint16
    for one in listing.annotations:
        categories = np.array([*(code[own.category] for own in one.segments), 0], kind)
        file = png_of(folder, one.file_name)
        yield PanopticLabelMap(file, one.place, one.size, one.numbers, categories)
