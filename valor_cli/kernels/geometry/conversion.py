"""Areas and bounds of shapes, and conversion to one kind of shape."""

from __future__ import annotations

import numpy as np

from valor_cli.kernels.geometry import masks
from valor_cli.kernels.geometry.outlines import outlines
from valor_cli.kernels.geometry.polygons import POLYGON_TYPE, corners, geometries
from valor_cli.kernels.geometry.raster import raster_boxes, raster_polygons
from valor_cli.kernels.geometry.shapes import (
    BOX,
    KINDS,
    MASK,
    POLYGON,
    ROTATED_BOX,
    Floats,
    Ints,
    Kind,
    Polygons,
    Shapes,
    joined,
)


def areas(shapes: Shapes) -> Floats:
    """(n,) area in pixels²: for polygons the union of the parts, for masks the number of pixels."""
    of_boxes = shapes.box[:, 2] * shapes.box[:, 3]
    if len(of_boxes) == len(shapes):
        return of_boxes
    area = np.zeros(len(shapes))
    area[shapes.rows_of(BOX)] = of_boxes
    area[shapes.rows_of(ROTATED_BOX)] = shapes.rotated_box[:, 2] * shapes.rotated_box[:, 3]
    area[shapes.rows_of(MASK)] = masks.areas(shapes.mask)
    if len(shapes.polygon):
        import shapely

        area[shapes.rows_of(POLYGON)] = shapely.area(geometries(shapes.polygon))
    return area


def bounds(shapes: Shapes) -> Floats:
    """(n, 4) bounding box of each shape; zeros if empty."""
    if len(shapes.box) == len(shapes):
        return shapes.box
    box = np.zeros((len(shapes), 4))
    box[shapes.rows_of(BOX)] = shapes.box
    box[shapes.rows_of(ROTATED_BOX)] = _around(_rotated_corners(shapes.rotated_box))
    box[shapes.rows_of(POLYGON)] = _around(shapes.polygon)
    box[shapes.rows_of(MASK)] = masks.bounds(shapes.mask)
    return box


def converted(shapes: Shapes, kind: Kind, size: Ints) -> Shapes:
    """Convert shapes to one kind.

    To less detail, a mask becomes its exact outline, a polygon or mask the smallest rotated box,
    anything its bounds. To more detail, a box becomes a rotated box at angle 0, both their corners,
    and any of them the mask that pycocotools makes.

    Args:
        shapes: n shapes.
        kind: What they shall be.
        size: (n, 2) height and width of the images, 0 where unknown.

    Raises:
        ValueError: A size is unknown, or too large, where a mask is to be made.
    """
    target = KINDS.index(kind)
    if (shapes.kind == target).all():
        return shapes
    parts: list[Shapes] = []
    rows: list[Ints] = []
    for source in range(len(KINDS)):
        mine = shapes.rows_of(source)
        rows.append(mine)
        if len(mine):
            part = shapes.take(mine)
            parts.append(part if source == target else _as(part, kind, size[mine]))
    order = np.concatenate(rows)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return joined(parts).take(place)


def _as(shapes: Shapes, kind: Kind, size: Ints) -> Shapes:
    """Shapes of one kind as another one."""
    if kind == "box":
        return Shapes.boxes(bounds(shapes))
    if kind == "rotated_box":
        return Shapes.rotated_boxes(_rotated_boxes(shapes))
    if kind == "polygon":
        return Shapes.polygons(_polygons(shapes))
    if (size <= 0).any():
        raise ValueError("cannot make a mask: the size of an image is not known")
    if shapes.kinds == ("box",):
        return Shapes.masks(raster_boxes(shapes.box, size))
    return Shapes.masks(raster_polygons(_polygons(shapes), size))


def _polygons(shapes: Shapes) -> Polygons:
    """Polygons of shapes of one kind."""
    kind = shapes.kinds[0]
    if kind == "box":
        x, y, width, height = shapes.box.T
        right, bottom = x + width, y + height
        points = np.stack([x, y, right, y, right, bottom, x, bottom], axis=1)
        return _quadrilaterals(points.reshape(-1, 4, 2))
    if kind == "rotated_box":
        return _rotated_corners(shapes.rotated_box)
    return shapes.polygon if kind == "polygon" else outlines(shapes.mask)


def _rotated_corners(rotated_box: Floats) -> Polygons:
    return _quadrilaterals(corners(rotated_box))


def _quadrilaterals(points: Floats) -> Polygons:
    """Polygons of (n, 4, 2) corners."""
    single = np.arange(len(points) + 1)
    return Polygons(points.reshape(-1, 2), 4 * single, single, single)


def _around(polygons: Polygons) -> Floats:
    """(n, 4) smallest box around the points of each object; zeros around none."""
    starts = polygons.starts
    box = np.zeros((len(polygons), 4))
    some = np.flatnonzero(np.diff(starts))
    if len(some):
        low = np.minimum.reduceat(polygons.points, starts[some])
        box[some, :2] = low
        box[some, 2:] = np.maximum.reduceat(polygons.points, starts[some]) - low
    return box


def _rotated_boxes(shapes: Shapes) -> Floats:
    """(n, 5) smallest rotated boxes around shapes of one kind, turned by -45 to 45 degrees."""
    if shapes.kinds == ("box",):
        x, y, width, height = shapes.box.T
        return np.column_stack([x + width / 2, y + height / 2, width, height, np.zeros(len(x))])
    import shapely

    polygons = _polygons(shapes)
    starts = polygons.starts
    some = np.flatnonzero(np.diff(starts))
    owner = np.repeat(np.arange(len(some)), np.diff(starts)[some])
    rotated = np.zeros((len(polygons), 5))
    if not len(some):
        return rotated
    rectangle = shapely.oriented_envelope(shapely.multipoints(polygons.points, indices=owner))
    # What is flat keeps its middle and has no size.
    rotated[some, :2] = (_around(polygons)[:, :2] + _around(polygons)[:, 2:] / 2)[some]
    solid = shapely.get_type_id(rectangle) == POLYGON_TYPE
    points = shapely.get_coordinates(rectangle[solid]).reshape(-1, 5, 2)
    rotated[some[solid]] = _of_corners(points)
    return rotated


def _of_corners(points: Floats) -> Floats:
    """(n, 5) rotated boxes of (n, 5, 2) rings around rectangles."""
    side, other = points[:, 1] - points[:, 0], points[:, 2] - points[:, 1]
    centre = (points[:, 0] + points[:, 2]) / 2
    width, height = np.hypot(*side.T), np.hypot(*other.T)
    angle = np.rad2deg(np.arctan2(side[:, 1], side[:, 0]))
    quarter = np.rint(angle / 90)
    upright = quarter % 2 != 0
    return np.column_stack(
        [
            centre,
            np.where(upright, height, width),
            np.where(upright, width, height),
            angle - 90 * quarter,
        ]
    )
