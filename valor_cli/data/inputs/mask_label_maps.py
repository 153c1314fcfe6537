"""Combine a folder of binary masks per label into label maps.

A mask is a single-channel PNG, `<label>/<name>.png`, whose nonzero pixels have the label. The
masks of one name, in the folders of all labels, make one label map: labels are numbered by name
from 1, and a pixel in no mask is 0. A pixel in two masks is an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.png.label_map_folders import read_folder
from valor_cli.data.formats.png.label_maps import LabelMap, LabelMaps, Stored
from valor_cli.data.inputs.label_map_formats import NO_MASK
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean, printable


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
            self._check_size(value, one.size, size)
        digest = hashlib.sha256("".join(f"{at}{one.sha256}" for at, one in each.items()).encode())
        return Stored(size, digest.hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) values.

        Raises:
            DataError: As `look`; or a pixel is in two masks.
        """
        inside = {value: mask.values() != 0 for value, mask in self.masks.items()}
        size = next(iter(inside.values())).shape
        found = np.zeros(size, np.uint8 if max(inside) < 256 else np.uint16)
        for value, pixels in inside.items():
            self._check_size(value, pixels.shape, size)
            both = pixels & (found != NO_MASK)
            if both.any():
                other = self.masks[int(found[both][0])].path
                count = int(np.count_nonzero(both))
                message = f"{count:,} of its pixels are in {other} too; a pixel has one label"
                raise DataError(Problem(self.masks[value].path, message))
            found[pixels] = value
        return found

    def _check_size(self, value: int, size: tuple[int, ...], first: tuple[int, ...]) -> None:
        if size == first:
            return
        message = f"is {size[1]} wide and {size[0]} high"
        expected = f"{self.path} is {first[1]} wide and {first[0]} high"
        raise DataError(Problem(self.masks[value].path, f"{message}; {expected}"))


def read_masks(path: str, names: Mapping[int, str] | None) -> LabelMaps:
    """Masks in a folder, by path relative to the label's folder.

    Args:
        path: The folder.
        names: Labels by value, as the ground truth says them; None: this is the ground truth.

    Raises:
        DataError: There is no such folder; a mask is in no label's folder; a label is not known.
    """
    found = read_folder(path)
    parts = {name: name.partition("/") for name in found.maps}
    loose = [found.maps[name].path for name, (_, slash, _) in parts.items() if not slash]
    problems = [Problem(one, "not in the folder of a label") for one in loose]
    labels = sorted({label for label, slash, _ in parts.values() if slash})
    known = dict(enumerate(labels, 1)) if names is None else dict(names)
    for label in labels:
        if label not in known.values():
            near = did_you_mean(label, known.values())
            message = f"the ground truth has no label '{printable(label)}'{near}"
            problems.append(Problem(os.path.join(path, label), message))
    if problems:
        hint = "Masks are <label>/<name>.png; a label without a mask has an empty one."
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)
    value_of = {label: value for value, label in known.items()}
    masks: dict[str, dict[int, LabelMap]] = {}
    for name in sorted(found.maps):
        label, _, stem = parts[name]
        masks.setdefault(stem, {})[value_of[label]] = found.maps[name]
    maps = {stem: MaskedLabelMap(dict(sorted(one.items()))) for stem, one in masks.items()}
    categories = known if names is None else None
    return LabelMaps(path, path, maps, categories=categories, others=found.others)
