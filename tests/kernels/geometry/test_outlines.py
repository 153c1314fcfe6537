"""Outlines of masks, by hand and against the union of their pixels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapely

from tests.oracles.coco_masks import (
    masks_of,
    polygons_of,
    random_bitmaps,
)
from valor_cli.kernels.geometry import outlines as kernel
from valor_cli.kernels.geometry.outlines import outlines, simplified
from valor_cli.kernels.geometry.polygons import geometries
from valor_cli.kernels.geometry.shapes import Masks, Polygons


def bitmap(*rows: str) -> np.ndarray:
    return np.array([[pixel == "#" for pixel in row] for row in rows])


def shape_of(polygons: Polygons) -> list[list[list[int]]]:
    """How many points each ring of each part of each object has."""
    sizes = np.diff(polygons.rings).tolist()
    parts = [
        sizes[begin:end] for begin, end in zip(polygons.parts, polygons.parts[1:], strict=False)
    ]
    ends = polygons.objects
    return [parts[begin:end] for begin, end in itertools.pairwise(ends)]


def raw(polygons: Polygons, row: int) -> shapely.MultiPolygon:
    """The rings of one object as they are, nothing mended."""
    parts = []
    for part in range(polygons.objects[row], polygons.objects[row + 1]):
        rings = [
            polygons.points[polygons.rings[ring] : polygons.rings[ring + 1]]
            for ring in range(polygons.parts[part], polygons.parts[part + 1])
        ]
        parts.append(shapely.Polygon(rings[0], rings[1:]))
    return shapely.MultiPolygon(parts)


def assert_outline(found: Polygons, row: int, pixels: np.ndarray) -> shapely.MultiPolygon:
    outline = raw(found, row)
    assert outline.is_valid
    assert outline.area == pixels.sum()
    return outline


def test_by_hand() -> None:
    found = outlines(masks_of([bitmap("..#", ".##")]))
    assert shape_of(found) == [[[6]]]
    assert {tuple(point) for point in found.points.tolist()} == {
        (2, 0), (3, 0), (3, 2), (1, 2), (1, 1), (2, 1),
    }  # fmt: skip


def test_holes_parts_and_corners_that_meet() -> None:
    cases = {
        # A ring of pixels with a hole; the same with a pixel in the hole.
        ("###", "#.#", "###"): [[4, 4]],
        ("#####", "#...#", "#.#.#", "#...#", "#####"): [[4, 4], [4]],
        # Pixels that meet at corners are parts; holes that do are holes.
        ("#.#", ".#.", "#.#"): [[4]] * 5,
        ("####", "##.#", "#.##", "####"): [[4, 4, 4]],
        # The hole opens to the outside in a corner alone: the ring would meet itself there.
        ("###.", "#.#.", "##.#"): [[6, 4], [4]],
        # Two holes, one beside and one below the other.
        ("#####", "#.#.#", "#####", "#.###", "#####"): [[4, 4, 4, 4]],
        ("...",): [],
    }
    found = outlines(masks_of([bitmap(*rows) for rows in cases]))
    for row, (rows, expected) in enumerate(cases.items()):
        assert sorted(shape_of(found)[row]) == sorted(expected), rows


@pytest.mark.parametrize("block", [1, 1 << 17])
def test_outlines_are_valid_and_the_union_of_the_pixels(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "RUNS_AT_ONCE", block)
    bitmaps = random_bitmaps(7, 100)
    found = outlines(masks_of(bitmaps))
    for row, pixels in enumerate(bitmaps):
        outline = assert_outline(found, row, pixels)
        cells = [shapely.box(x, y, x + 1, y + 1) for y, x in np.argwhere(pixels)]
        assert shapely.equals(outline, shapely.union_all(cells))
        # Every point is a corner: no edge goes on in the direction of the one before.
        assert shapely.get_num_coordinates(outline) == shapely.get_num_coordinates(
            shapely.simplify(outline, 0)
        )


def test_small_noise_in_every_arrangement() -> None:
    # All 512 masks of 3x3 pixels, one row and column of background around them or none.
    bits = (np.arange(512)[:, None] >> np.arange(9)) & 1
    bitmaps = [*bits.reshape(-1, 3, 3).astype(bool)]
    bitmaps += [np.pad(one, 1, constant_values=True) for one in bitmaps]
    found = outlines(masks_of(bitmaps))
    for row, pixels in enumerate(bitmaps):
        assert_outline(found, row, pixels)


def test_runs_with_nothing_between_them() -> None:
    # 3 high, 2 wide; the first two pixels of a column as two runs, and a run of no length.
    mask = Masks(np.array([0, 1, 0, 1, 1, 0, 3]), np.array([0, 7]), np.array([[3, 2]]))
    found = outlines(mask)
    assert shape_of(found) == [[[4]]]
    assert raw(found, 0).bounds == (0, 0, 1, 2)
    assert len(outlines(Masks.none())) == 0


def test_simplified() -> None:
    # The bump of 0.5 goes with a tolerance of 1; the hole and the far part stay.
    bumpy = [0, 0, 5, 0.5, 10, 0, 10, 10, 0, 10]
    hole = [4, 4, 6, 4, 6, 6, 4, 6]
    far = [20, 20, 23, 20, 23, 23, 20, 23]
    found = simplified(polygons_of([[[bumpy, hole], [far]], []]), 1.0)
    assert shape_of(found) == [[[4, 4], [4]], []]
    assert shapely.area(geometries(found)).tolist() == [100 - 4 + 9, 0]
