"""Select the evaluated objects of one file and index them by image and label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import Joined
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.evaluators.detection.load.geometry import Located
from valor_cli.evaluators.detection.load.images_and_labels import Frame
from valor_cli.evaluators.detection.load.joining import label_positions
from valor_cli.evaluators.detection.load.warnings import TRUTHS

Ints = NDArray[np.int64]


class Side(Struct, frozen=True):
    """The evaluated objects of one file.

    Attributes:
        placed: The objects, with what the file says of them.
        image, label: (n,) their numbers in the run.
    """

    placed: Located
    image: Ints
    label: Ints

    def column(self, name: str) -> NDArray[Any] | None:
        """A column of the file, if present."""
        found = self.placed.file.objects.columns.get(name)
        # Of all rows, which ascend, no copy is made.
        if found is None or len(found) == len(self.placed.rows):
            return found
        return found[self.placed.rows]

    def where(self, kept: NDArray[np.bool_]) -> Side:
        """Select objects."""
        placed = self.placed
        return Side(
            placed._replace(
                rows=placed.rows[kept], image=placed.image[kept], shapes=placed.shapes.take(kept)
            ),
            self.image[kept],
            self.label[kept],
        )

    @property
    def ids(self) -> NDArray[Any]:
        """Ids in the file; positions for objects without ids."""
        ids = self.column("id")
        if ids is not None:
            return ids
        rows, objects = self.placed.rows, self.placed.file.objects
        # Positions in one of several files would name several objects.
        return rows if objects.rows is None or objects.parts is not None else objects.rows[rows]


def make_side(name: str, file: ObjectFile, joined: Joined, frame: Frame) -> tuple[Side, int]:
    """The selected objects, and counts of those with unknown images or categories."""
    at, label = joined.objects, label_positions(file, frame)
    unknown = int(((at < 0) | (label == -2)).sum())
    image = np.where(at >= 0, frame.image_number[at], -1)
    kept = (image >= 0) & (label >= 0)
    if kept.all():
        rows = np.arange(len(kept))
        return Side(Located(name, file, rows, at, file.shapes), image, label), unknown
    rows = np.flatnonzero(kept)
    placed = Located(name, file, rows, at[rows], file.shapes.take(rows))
    return Side(placed, image[rows], label[rows]), unknown


def apply_valor_matching(
    true: Side, sides: Mapping[str, Side]
) -> tuple[Side, dict[str, Side], dict[tuple[str, str], int]]:
    """Apply `matching: valor`: no crowd regions, scores above 0; with counts of the dropped
    objects.
    """
    counts: dict[tuple[str, str], int] = {}
    found = dict(sides)
    crowd = true.column("crowd")
    if crowd is not None and crowd.any():
        true = true.where(~crowd)
        counts["left out", TRUTHS] = int(crowd.sum())
    for model, side in sides.items():
        score = side.column("score")
        nothing = np.zeros(0, bool) if score is None else score <= 0
        if nothing.any():
            found[model] = side.where(~nothing)
            counts["left out", model] = int(nothing.sum())
    return true, found, counts
