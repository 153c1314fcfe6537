"""Look up the ids, images and GeoJSON of objects for reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.kernels.geometry.conversion import converted
from valor_cli.kernels.geometry.outlines import simplified
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.results import ExampleObject, ObjectRef, Picture, Scalar

TOLERANCE = 0.5
"""Tolerance of the drawn outline of a mask, in pixels."""


def unknown_size(name: str) -> tuple[int | None, int | None]:
    """No width and height, for images whose file is not read."""
    return None, None


class Gallery(Struct, frozen=True):
    """Looks up images and objects for reports.

    Attributes:
        truth_ids, detection_ids: Id of each object in its file; None for its position there.
        image_ids: (u,) ascending.
        files, width, height: (u,) of the images; None where the files do not say.
        size_of: Width and height of an image file, for images whose size no file says.
    """

    truth_ids: NDArray[Any] | None = None
    detection_ids: NDArray[Any] | None = None
    image_ids: NDArray[Any] | None = None
    files: NDArray[Any] | None = None
    width: NDArray[Any] | None = None
    height: NDArray[Any] | None = None
    size_of: Callable[[str], tuple[int | None, int | None]] = unknown_size

    def picture(self, sample_id: Scalar) -> Picture | None:
        """The image of a sample, if known."""
        if self.image_ids is None:
            return None
        at = int(np.searchsorted(self.image_ids, np.asarray(sample_id)))
        file = None if self.files is None else self.files[at]
        width, height = (
            None if column is None or not column[at] else int(column[at])
            for column in (self.width, self.height)
        )
        if file is not None and width is None:
            width, height = self.size_of(file)
        return None if file is None and width is None else Picture(file, width, height)

    def files_of(self, image_ids: NDArray[Any]) -> dict[Any, str]:
        """The file of each of these images that has one, by image id."""
        if self.image_ids is None or self.files is None:
            return {}
        files = self.files[np.searchsorted(self.image_ids, image_ids)].tolist()
        return {one: file for one, file in zip(image_ids.tolist(), files, strict=True) if file}


def shown_objects(
    refs: Sequence[ObjectRef],
    labels: Sequence[str],
    ids: NDArray[Any] | None,
    shapes: Shapes,
    label: NDArray[np.int64],
    score: NDArray[np.float64] | None = None,
) -> dict[ObjectRef, ExampleObject]:
    """Objects of one side, as reports show them.

    Args:
        refs: Which.
        labels: All names.
        ids, shapes, label, score: Of all objects of the side.
    """
    rows = np.unique(np.array([ref.number for ref in refs], np.int64))
    outlines = dict(zip(rows.tolist(), geojson(shapes.take(rows)), strict=True))
    return {
        ref: ExampleObject(
            role=ref.role,
            id=ref.number if ids is None else ids[[ref.number]].tolist()[0],
            label=labels[label[ref.number]],
            score=None if score is None else float(score[ref.number]),
            outcome=ref.outcome,
            geometry=outlines[ref.number],
        )
        for ref in refs
    }


def geojson(shapes: Shapes) -> list[Mapping[str, Any] | None]:
    """GeoJSON geometry of each shape in pixels; None if empty.

    Masks are outlined to half a pixel.
    """
    outlines = converted(shapes, "polygon", np.zeros((len(shapes), 2), np.int64)).polygon
    if "mask" in shapes.kinds:
        outlines = simplified(outlines, TOLERANCE)
    rings = [[*ring, *ring[:1]] for ring in _cut(outlines.points.tolist(), outlines.rings)]
    return list(map(_geometry, _cut(_cut(rings, outlines.parts), outlines.objects)))


def _cut(values: Sequence[Any], starts: NDArray[np.int64]) -> list[Any]:
    return [values[start:end] for start, end in pairwise(starts.tolist())]


def _geometry(parts: Sequence[Any]) -> Mapping[str, Any] | None:
    if len(parts) == 1:
        return {"type": "Polygon", "coordinates": parts[0]}
    return {"type": "MultiPolygon", "coordinates": parts} if parts else None
