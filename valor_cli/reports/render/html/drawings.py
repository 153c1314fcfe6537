"""SVG drawings of examples for the HTML report."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape
from msgspec import Struct

from valor_cli.reports.sections.errors.outcomes import Outcome, outcome_of
from valor_cli.reports.sections.errors.worst_images import KIND as WHOLE
from valor_cli.reports.sections.formatting import clean, number
from valor_cli.results import EmbeddedImages, ExampleObject, ExampleResult, Picture

INK = 1_000_000
"""Characters of drawings at most, divided evenly among the models and kinds of examples."""

DRAWING = 20_000
"""Characters of the objects in one drawing, about 80 boxes; errors are drawn before the rest."""

CLOSE = 3.0
"""Drawings of few objects show no more than so many times their extent, and at least a third of
the picture."""

_EXACT = 48
"""Points of a ring up to which all are kept."""

_FINE = 250
"""Longer rings keep points as far apart as this part of the picture's longer side."""

Ring = Sequence[Sequence[float]]


class Drawings:
    """Draws examples; an image is embedded once, however many drawings use it."""

    def __init__(self, images: EmbeddedImages, shares: int) -> None:
        self._images = images
        self._share = INK // max(shares, 1)
        self._ink: dict[tuple[str, str], int] = {}
        self._defined: dict[str, str] = {}

    def drawable(self, example: ExampleResult) -> bool:
        """Whether the example has an outline or an image."""
        outlined = any(thing.geometry is not None for thing in example.objects)
        return outlined or self._source(example.picture) is not None

    def draw(self, example: ExampleResult) -> Markup | None:
        """The drawing; None if there is nothing to draw or no room."""
        found = [_drawn(thing, example) for thing in example.objects]
        shapes = [shape for shape in found if shape is not None]
        frame = _frame(example.picture, shapes)
        if frame is not None and example.kind != WHOLE:
            frame = _near(frame, shapes)
        owner = (example.model, example.metric)
        left = self._ink.get(owner, self._share)
        if left <= 0:
            return None
        picture = None if frame is None else self._picture(example.picture)
        if not shapes and picture is None:
            return self._photo(example)
        if frame is None:
            return None
        ready = _svg(example, shapes, frame, picture)
        self._ink[owner] = left - len(ready)
        return Markup(ready)  # noqa: S704 - _svg escapes what comes from the data

    def definitions(self) -> Markup:
        """The images that the drawings refer to."""
        return Markup("").join(map(Markup, self._defined.values()))

    def _photo(self, example: ExampleResult) -> Markup | None:
        """The image alone, for a sample without outlines and an image of unknown size."""
        source = self._source(example.picture)
        if source is None:
            return None
        name = escape(f"Picture of {clean(str(example.sample_id), 60)}")
        ready = f'<img class="thumb" alt="{name}" src="{source}">'
        return Markup(ready)  # noqa: S704 - escaped just before

    def _source(self, picture: Picture | None) -> str | None:
        """The URL of an image, embedded or beside the page."""
        if picture is None or picture.file is None:
            return None
        content = self._images.photos.get(picture.file)
        return embedded(content) if content else self._images.links.get(picture.file)

    def _picture(self, picture: Picture | None) -> int | None:
        """The number of an embedded image."""
        if picture is None or not picture.file or not picture.width or not picture.height:
            return None
        if picture.file in self._defined:
            return list(self._defined).index(picture.file)
        source = self._source(picture)
        if source is None:
            return None
        index = len(self._defined)
        self._defined[picture.file] = (
            f'<image id="p{index}" width="{picture.width:d}" height="{picture.height:d}" '
            f'preserveAspectRatio="none" '
            f'href="{source}"/>'
        )
        return index


def embedded(content: bytes) -> str:
    """JPEG or PNG bytes as a data URL."""
    kind = "png" if content.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


class _Shape(Struct, frozen=True):
    thing: ExampleObject
    outcome: Outcome
    rings: tuple[Ring, ...]
    bounds: tuple[float, float, float, float]

    @property
    def area(self) -> float:
        left, top, right, bottom = self.bounds
        return (right - left) * (bottom - top)


def _drawn(thing: ExampleObject, example: ExampleResult) -> _Shape | None:
    rings = _rings(thing.geometry)
    xs = [point[0] for ring in rings for point in ring]
    ys = [point[1] for ring in rings for point in ring]
    if not xs:
        return None
    outcome = outcome_of(thing, example.kind)
    return _Shape(thing, outcome, rings, (min(xs), min(ys), max(xs), max(ys)))


def _rings(geometry: Mapping[str, Any] | None) -> tuple[Ring, ...]:
    """All rings of a Polygon or MultiPolygon; even-odd filling shows holes."""
    if geometry is None or geometry.get("type") not in ("Polygon", "MultiPolygon"):
        return ()
    parts = geometry["coordinates"]
    rings = parts if geometry["type"] == "Polygon" else [ring for part in parts for ring in part]
    return tuple(ring for ring in rings if ring)


def _frame(
    picture: Picture | None, shapes: Sequence[_Shape]
) -> tuple[float, float, float, float] | None:
    """The drawn area: the whole image, or all shapes with a margin."""
    if picture is not None and picture.width and picture.height:
        return 0.0, 0.0, float(picture.width), float(picture.height)
    if not shapes:
        return None
    left, top = (min(shape.bounds[side] for shape in shapes) for side in (0, 1))
    right, bottom = (max(shape.bounds[side] for shape in shapes) for side in (2, 3))
    margin = 0.05 * max(right - left, bottom - top, 1.0)
    return left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin


def _near(
    frame: tuple[float, float, float, float], shapes: Sequence[_Shape]
) -> tuple[float, float, float, float]:
    """The part of the frame around the shapes, in the frame's proportions."""
    left, top, width, height = frame
    xs = [shape.bounds[side] for shape in shapes for side in (0, 2)] or [left, left + width]
    ys = [shape.bounds[side] for shape in shapes for side in (1, 3)] or [top, top + height]
    extent = max((max(xs) - min(xs)) / width, (max(ys) - min(ys)) / height)
    part = min(1.0, max(1 / CLOSE, CLOSE * extent))
    x = (min(xs) + max(xs) - width * part) / 2
    y = (min(ys) + max(ys) - height * part) / 2
    return (
        min(max(x, left), left + width * (1 - part)),
        min(max(y, top), top + height * (1 - part)),
        width * part,
        height * part,
    )


def _objects(
    shapes: Sequence[_Shape], frame: tuple[float, float, float, float], size: float
) -> list[str]:
    """As many as there is room for; large ones below small ones, so that each can be pointed at."""
    drawn: list[tuple[float, str]] = []
    room = DRAWING
    for shape in sorted(shapes, key=lambda shape: not shape.outcome.mark):
        if room <= 0:
            break
        drawn.append((-shape.area, _object(shape, frame, size)))
        room -= len(drawn[-1][1])
    return [text for _, text in sorted(drawn, key=lambda pair: pair[0])]


def _svg(
    example: ExampleResult,
    shapes: Sequence[_Shape],
    frame: tuple[float, float, float, float],
    picture: int | None,
) -> str:
    left, top, width, height = frame
    # As large on the screen for a wide picture as for a tall one, in a box of 4 by 3.
    size = max(width, height * 4 / 3) / 24
    drawn = _objects(shapes, frame, size)
    sample = clean(str(example.sample_id), 60)
    things = "1 object" if len(drawn) == 1 else f"{len(drawn)} objects"
    name = f"Image {sample}, {things} drawn" if drawn else f"Picture of {sample}"
    ground = f'<rect class="ground" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
    ground += f'height="{height:.1f}"/>'
    under = ground if picture is None else f'<use href="#p{picture}"/>'
    return (
        f'<svg class="drawing{"" if picture is None else " photo"}" role="group" tabindex="0" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" aria-label="{escape(name)}" '
        f'font-size="{size:.1f}">{under}{"".join(drawn)}</svg>'
    )


def _object(shape: _Shape, frame: tuple[float, float, float, float], size: float) -> str:
    thing, outcome = shape.thing, shape.outcome
    label = clean(thing.label, 40)
    score = "" if thing.score is None else f" {number(thing.score)}"
    what = "ground truth" if thing.role == "ground_truth" else "prediction"
    fate = "" if outcome.name == "found" else f", {outcome.words}"
    title = f"{what} {label}{score}{fate} ({clean(str(thing.id), 30)})"
    x = max(shape.bounds[0], frame[0]) + size / 4
    y = _line(shape, frame, size)
    end = x > frame[0] + 0.62 * frame[2]
    if end:
        x = min(shape.bounds[2], frame[0] + frame[2]) - size / 4
    tolerance = max(frame[2], frame[3]) / _FINE
    return (
        f'<g class="o {outcome.name}" tabindex="-1"><title>{escape(title)}</title>'
        f'<path d="{path(shape.rings, tolerance)}"/>'
        f'<text{" class=end" if end else ""} x="{x:.1f}" y="{y:.1f}">'
        f"{outcome.mark}<tspan> {escape(label)}{score}</tspan></text></g>"
    )


def _line(shape: _Shape, frame: tuple[float, float, float, float], size: float) -> float:
    """Position of an object's text: above predictions, below ground truth, otherwise inside."""
    above, below = shape.bounds[1] - size / 4, shape.bounds[3] + size
    if shape.thing.role == "ground_truth":
        return below if below < frame[1] + frame[3] else frame[1] + frame[3] - size / 4
    return above if above - size > frame[1] else max(shape.bounds[1], frame[1]) + size


def path(rings: Sequence[Ring], tolerance: float) -> str:
    """An SVG path with one decimal; long rings are simplified by `tolerance`."""
    return "".join(_ring(ring if len(ring) <= _EXACT else _thin(ring, tolerance)) for ring in rings)


def _thin(ring: Ring, tolerance: float) -> Ring:
    kept = [ring[0]]
    x, y = ring[0][0], ring[0][1]
    for point in ring:
        if abs(point[0] - x) + abs(point[1] - y) >= tolerance:
            kept.append(point)
            x, y = point[0], point[1]
    return kept


def _ring(ring: Ring) -> str:
    # Whole tenths: differences of rounded places add up to rounded places.
    points = [(round(point[0] * 10), round(point[1] * 10)) for point in ring]
    if points[0] == points[-1] and len(points) > 1:
        points.pop()
    (x, y), rest = points[0], points[1:]
    parts = [f"M{x / 10:.12g} {y / 10:.12g}"]
    for to_x, to_y in rest:
        across, down = f"{(to_x - x) / 10:.12g}", f"{(to_y - y) / 10:.12g}"
        if to_x == x:
            parts.append(f"v{down}")
        elif to_y == y:
            parts.append(f"h{across}")
        else:
            parts.append(f"l{across} {down}")
        x, y = to_x, to_y
    return "".join(parts) + "z"
