"""List label maps in folders: PNGs, or masks by label.

- PNGs: a sample is named by the path of its file in the folder, without extension.
- Masks: `<label>/<name>.png`, whose nonzero pixels have the label. The masks of one name, in the
  folders of all labels, make one label map: labels are numbered by name from 1, and a pixel in no
  mask is 0. A pixel in two masks is an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.folders import files_under, without_extension
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps, Stored, check_size
from valor_cli.data.values import is_text
from valor_cli.errors import DataError, Problem, did_you_mean, printable

NO_MASK: Final = 0
"""The value of a pixel that is in no mask of a label."""

_OTHERS: Final = (".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".npy", ".npz")
_LOSSY: Final = (".jpg", ".jpeg", ".webp")


def read_folder(path: str) -> LabelMaps:
    """The PNGs in a folder and its subfolders, by relative path without extension.

    Raises:
        DataError: There is no such folder, no PNG in it, two of one name, or a name is no text.
    """
    maps: dict[str, PngLabelMap] = {}
    others: list[str] = []
    problems: list[Problem] = []
    for name in files_under(path, ""):
        ending, file = os.path.splitext(name)[1].lower(), os.path.join(path, name)
        if ending in _OTHERS:
            others.append(name)
        if ending != ".png":
            continue
        first = maps.setdefault(without_extension(name), PngLabelMap(file))
        if not is_text(name):
            problems.append(Problem(file, "the name is no UTF-8 text; rename the file"))
        if first.path != file:
            problems.append(Problem(file, f"there is {first.path} too; one name, one sample"))
    if problems:
        raise DataError(problems)
    if not maps:
        found = sorted({os.path.splitext(name)[1].lower() for name in others})
        there = f"; there are files of {', '.join(found)}" if found else ""
        hint = "Label maps are PNGs of one channel, in the folder or in folders in it."
        if any(ending in _LOSSY for ending in found):
            hint += " JPEG and WebP change values of pixels; make PNGs from the original labels."
        raise DataError(Problem(path, f"there is no .png file in this folder{there}"), hint=hint)
    return LabelMaps(path, path, maps, others=others)


class MaskedLabelMap(Struct, frozen=True):
    """The masks of one sample.

    Attributes:
        masks: By value, each mask.
    """

    masks: Mapping[int, LabelMap]

    @property
    def path(self) -> str:
        """The first of the files."""
        return next(iter(self.masks.values())).path

    def look(self, *, decode: bool = False) -> Stored:
        """The size of the masks, and one digest for all.

        Raises:
            DataError: One cannot be used, or has another size than the first.
        """
        if decode:
            self.values()
        each = {value: mask.look() for value, mask in self.masks.items()}
        size = next(iter(each.values())).size
        for value, one in each.items():
            check_size(self, size, self.masks[value], one.size, "")
        digest = hashlib.sha256("".join(f"{at}{one.sha256}" for at, one in each.items()).encode())
        return Stored(size, digest.hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) values.

        Raises:
            DataError: As `look`; or a pixel is in two masks.
        """
        inside = {value: mask.values() != NO_MASK for value, mask in self.masks.items()}
        size = next(iter(inside.values())).shape
        found = np.zeros(size, np.uint8 if max(inside) < 256 else np.uint16)
        for value, pixels in inside.items():
            check_size(self, size, self.masks[value], pixels.shape, "")
            both = found[pixels & (found != NO_MASK)]
            if both.size:
                other = self.masks[int(both[0])].path
                message = f"{both.size:,} of its pixels are in {other} too; a pixel has one label"
                raise DataError(Problem(self.masks[value].path, message))
            found[pixels] = value
        return found


def read_masks(path: str, names: Mapping[int, str] | None) -> LabelMaps:
    """Masks in a folder, by path relative to the label's folder.

    Args:
        path: The folder.
        names: Labels by value, as the ground truth says them; None: this is the ground truth.

    Raises:
        DataError: There is no such folder; a mask is in no label's folder; a label is not known.
    """
    found = read_folder(path)
    labels = sorted({name.partition("/")[0] for name in found.maps if "/" in name})
    known = dict(enumerate(labels, 1)) if names is None else names
    value_of = {label: value for value, label in known.items()}
    problems = [
        Problem(one.path, "not in the folder of a label")
        for name, one in found.maps.items()
        if "/" not in name
    ]
    for label in labels:
        if label not in value_of:
            near = did_you_mean(label, value_of)
            message = f"the ground truth has no label '{printable(label)}'{near}"
            problems.append(Problem(os.path.join(path, label), message))
    if problems:
        hint = "Masks are <label>/<name>.png; a label without a mask has an empty one."
        raise DataError(problems, hint=hint)
    masks: dict[str, dict[int, LabelMap]] = {}
    for name in sorted(found.maps):
        label, _, stem = name.partition("/")
        masks.setdefault(stem, {})[value_of[label]] = found.maps[name]
    maps = {stem: MaskedLabelMap(dict(sorted(one.items()))) for stem, one in masks.items()}
    categories = known if names is None else None
    return LabelMaps(path, path, maps, categories=categories, others=found.others)
