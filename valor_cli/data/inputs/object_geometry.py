"""Read the geometry of a JSON object: box, rotated box, polygon or mask."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.folders import digest_of
from valor_cli.data.formats.images import pixel_values, png_content
from valor_cli.data.shapes.objects.checks import (
    UNKNOWN,
    box,
    coordinates,
    rotated_box,
    run_lengths,
)
from valor_cli.data.shapes.objects.object_file import Wanted
from valor_cli.data.shapes.objects.parse import FEWEST
from valor_cli.data.shapes.objects.rows import Ring
from valor_cli.data.source.files import STDIN
from valor_cli.data.table import Problems
from valor_cli.data.values import describe
from valor_cli.errors import DataError, Problem, printable
from valor_cli.kernels.geometry.masks import from_bitmap
from valor_cli.kernels.geometry.rle import from_counts
from valor_cli.kernels.geometry.shapes import KINDS, Kind, Masks
from valor_cli.paths import beside, own_folder
from valor_cli.results import InputFile

GEOMETRIES: Final = KINDS[::-1]
"""Keys of an object, from the most detailed on."""


def geometry_of(record: Mapping[str, Any], wanted: Wanted) -> Kind | None:
    """The key of the geometry to use; None if the object has none."""
    there = [key for key in GEOMETRIES if record.get(key) is not None]
    if wanted == "box" and "box" in there:
        return "box"
    return there[0] if there else None


class GeometryReader:
    """Reads the geometries of one file; PNG files that masks name are relative to its folder.

    Attributes:
        frame: Height and width of the current image; 0 where the line does not say.
    """

    def __init__(self, path: str, problems: Problems) -> None:
        self.frame = UNKNOWN
        self._problems = problems
        self._folder = "" if path == STDIN else own_folder(path)
        self._digests: dict[str, str] = {}
        self._last: tuple[str, NDArray[np.int64]] | None = None

    def read(self, kind: Kind, value: object, line: int, key: str) -> Sequence[Any] | Masks | None:
        """A geometry, as `ObjectRows` has it; None if a problem was recorded.

        Args:
            kind: Which it is.
            value: What stands there.
            line, key: Where.
        """
        if kind == "mask":
            return self._mask(value, line, key)
        read = {"box": box, "rotated_box": rotated_box, "polygon": polygon_parts}[kind]
        return read(value, self._problems, line, key)

    def input_files(self) -> list[InputFile]:
        """All PNG files as one record; empty if there were none."""
        if not self._digests:
            return []
        return [InputFile(self._folder or ".", digest_of(self._digests), 0)]

    def _mask(self, value: object, line: int, key: str) -> Masks | None:
        if isinstance(value, str):
            return self._png(value, None, line, key)
        if isinstance(value, dict) and "png" in value:
            return self._png(value["png"], value.get("value"), line, f"{key}.png")
        if isinstance(value, dict) and "size" in value and "counts" in value:
            before = self._problems.total
            runs = run_lengths(value, self.frame, self._problems, line, key, least=0)
            if runs is None or self._problems.total > before:
                return None
            return from_counts([runs.counts], np.array([runs.size], np.int64))[0]
        found = describe(value)
        if isinstance(value, dict):
            found = f"an object with {', '.join(map(printable, value)) or 'nothing'}"
        message = (
            "expected run lengths (an object with size and counts) or the path of a PNG "
            f"(a string, or an object with png and value), found {found}"
        )
        self._problems.add(line, key, message)
        return None

    def _png(self, path: object, value: object, line: int, key: str) -> Masks | None:
        message = ""
        if not isinstance(path, str) or not path or "\0" in path:
            message = f"expected the path of a PNG, found {describe(path)}"
        elif value is not None and (type(value) is not int or value < 0):
            message = f"expected a whole number of 0 or more, found {describe(value)}"
            key = f"{key.removesuffix('.png')}.value"
        else:
            try:
                pixels = self._pixels(path)
            except DataError as error:
                found = error.problems[0]
                message = f"{printable(found.place)}: {found.message}"
            else:
                if all(
                    own in (0, side) for own, side in zip(self.frame, pixels.shape, strict=True)
                ):
                    return from_bitmap(pixels != 0 if value is None else pixels == value)
                message = (
                    f"the mask is {pixels.shape[1]} x {pixels.shape[0]} pixels (width x height), "
                    f"its image is {self.frame[1]} x {self.frame[0]}"
                )
        self._problems.add(line, key, message)
        return None

    def _pixels(self, name: str) -> NDArray[np.int64]:
        """(height, width) values of a PNG; the last file is cached.

        Objects of one image stand together, often in one file.

        Raises:
            DataError: The file is missing or no PNG that can be a mask.
        """
        if self._last is None or self._last[0] != name:
            try:
                path = beside(self._folder, name)
            except ValueError as error:
                raise DataError(Problem(name, str(error))) from None
            content = png_content(path)
            self._last = name, pixel_values(path, content)
            self._digests[name] = hashlib.sha256(content).hexdigest()
        return self._last[1]


def polygon_parts(
    value: object, problems: Problems, line: int, key: str
) -> Sequence[Sequence[Ring | None]] | None:
    """The parts of a polygon: a list of flat rings, or a GeoJSON Polygon or MultiPolygon."""
    before = problems.total
    parts: Sequence[Sequence[Ring | None]] = []
    if isinstance(value, dict):
        parts = _geojson_parts(value, problems, line, key)
    elif isinstance(value, list) and value:
        parts = [[ring_of(ring, problems, line, f"{key}[{at}]")] for at, ring in enumerate(value)]
    else:
        expected = "a list of rings [[x, y, x, y, …], …] or a GeoJSON object"
        problems.add(line, key, f"expected {expected}, found {describe(value)}")
    return parts if problems.total == before else None


def _geojson_parts(
    value: Mapping[str, Any], problems: Problems, line: int, key: str
) -> Sequence[Sequence[Ring | None]]:
    kind, coordinates = value.get("type"), value.get("coordinates")
    if kind not in ("Polygon", "MultiPolygon"):
        message = f'expected "Polygon" or "MultiPolygon", found {describe(kind)}'
        problems.add(line, f"{key}.type", message)
        return []
    key = f"{key}.coordinates"
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not polygons:
        problems.add(line, key, f"expected a list of polygons, found {describe(polygons)}")
        return []
    parts: list[list[Ring | None]] = []
    for at, part in enumerate(polygons):
        place = key if kind == "Polygon" else f"{key}[{at}]"
        if not isinstance(part, list) or not part:
            problems.add(line, place, f"expected a list of rings, found {describe(part)}")
            continue
        rings = enumerate(part)
        parts.append(
            [_geojson_ring(ring, problems, line, f"{place}[{nth}]") for nth, ring in rings]
        )
    return parts


def _geojson_ring(value: object, problems: Problems, line: int, key: str) -> Ring | None:
    """A list of positions; what follows x and y in one (a height) is not looked at."""
    if not isinstance(value, list):
        problems.add(line, key, f"expected a list of [x, y], found {describe(value)}")
        return None
    for at, position in enumerate(value):
        if not isinstance(position, list) or len(position) < 2:
            problems.add(line, f"{key}[{at}]", f"expected [x, y], found {describe(position)}")
            return None
    flat = [side for position in value for side in position[:2]]
    return ring_of(flat, problems, line, key)


def ring_of(value: object, problems: Problems, line: int, key: str) -> Ring | None:
    """A flat ring of at least three points, without the repeated last point."""
    if not isinstance(value, list):
        message = f"expected a list of x, y, x, y, …, found {describe(value)}"
    elif len(value) % 2:
        message = f"expected pairs of x and y, found {len(value)} numbers"
    else:
        ring = coordinates(value, problems, line, key)
        if ring is None:
            return None
        if len(ring) > 2 and ring[:2] == ring[-2:]:
            ring = ring[:-2]
        if len(ring) >= FEWEST:
            return ring
        message = f"expected a ring x, y, x, y, … of at least 3 points, found {len(ring) // 2}"
    problems.add(line, key, message)
    return None
