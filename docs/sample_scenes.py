"""Draw the images of the sample data for object detection: scenes in place of photos.

`python docs/sample_scenes.py` writes sample_data/object_detection/images. Each box of the ground
truth holds a drawing of its label. What a detector reports with a high score and nobody annotated
is drawn as well, in paler colours, like the distant objects that such detections mostly are.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from PIL import Image as pillow  # noqa: N813 - its module is called like its class
from PIL.Image import Image
from PIL.ImageDraw import Draw

from docs.pictographs import DRAWN, SCALE, WHITE, WOOD, Box, Colour, Pen, darker, lighter, mix

SAMPLE: Final = Path(__file__).parents[1] / "sample_data" / "object_detection"
SURE: Final = 0.5
"""From which score on a detection of nothing is drawn."""
APART: Final = 0.2
"""Largest IoU of a detection with any box of its image, for it to be one of nothing."""
QUALITY: Final = 60
"""Of the JPEGs: what is flat needs little, and is in the package."""
INDOORS: Final = {"sofa", "chair", "tvmonitor", "diningtable", "bottle", "cat", "pottedplant"}
FURNITURE: Final = {"sofa", "chair"}
MOUNTS: Final = {"horse", "bicycle", "motorbike", "diningtable"}


@dataclass(frozen=True)
class Thing:
    """A label and where it is; whether it is far away."""

    label: str
    box: Box
    far: bool = False

    @property
    def bottom(self) -> float:
        """Where it stands."""
        return self.box[1] + self.box[3]


@dataclass(frozen=True)
class Stage:
    """What a ground is drawn on, in pixels of the image.

    Attributes:
        image: The drawing, `SCALE` times as large.
        width: Of the image.
        height: Of the image.
        horizon: Where the sky ends, or the wall.
        random: What varies from one image to the next.
    """

    image: Image
    width: int
    height: int
    horizon: float
    random: Random

    def bar(self, colour: Colour, left: float, top: float, right: float, bottom: float) -> None:
        """A rectangle."""
        area = [round(one * SCALE) for one in (left, top, right, bottom)]
        if area[2] > area[0] and area[3] > area[1]:
            Draw(self.image).rectangle((area[0], area[1], area[2] - 1, area[3] - 1), fill=colour)

    def shape(self, colour: Colour, *points: tuple[float, float]) -> None:
        """A polygon."""
        Draw(self.image).polygon([(x * SCALE, y * SCALE) for x, y in points], fill=colour)

    def oval(self, colour: Colour, x: float, y: float, wide: float, high: float) -> None:
        """An ellipse about a point."""
        area = (x - wide, y - high, x + wide, y + high)
        left, top, right, bottom = (one * SCALE for one in area)
        Draw(self.image).ellipse((left, top, right, bottom), fill=colour)

    def line(self, colour: Colour, width: float, *points: tuple[float, float]) -> None:
        """A line."""
        line = [(x * SCALE, y * SCALE) for x, y in points]
        Draw(self.image).line(line, fill=colour, width=max(1, round(width * SCALE)), joint="curve")

    def between(self, low: float, high: float) -> float:
        """A number of those."""
        return low + (high - low) * self.random.random()


# --- Grounds --------------------------------------------------------------------------------------


def _sky(stage: Stage, bottom: float) -> None:
    top, low, sun = stage.random.choice(
        (
            ((126, 190, 226), (214, 236, 242), (255, 240, 190)),
            ((112, 172, 218), (204, 228, 240), (255, 236, 170)),
            ((134, 168, 206), (250, 222, 196), (255, 210, 140)),
            ((148, 196, 214), (240, 240, 224), (255, 246, 214)),
        )
    )
    bands = 6
    for band in range(bands):
        stage.bar(
            mix(top, low, band / (bands - 1)),
            *(0, bottom * band / bands, stage.width, bottom * (band + 1) / bands + 1),
        )
    size = stage.width * 0.05
    stage.oval(sun, stage.width * stage.between(0.1, 0.9), bottom * 0.3, size, size)
    for _ in range(3):
        x, y = stage.width * stage.random.random(), bottom * stage.between(0.1, 0.75)
        size = stage.width * stage.between(0.02, 0.04)
        for step, part in ((-1.4, 0.7), (0, 1.1), (1.3, 0.8)):
            stage.oval(
                (248, 250, 250), x + step * size, y - part * size * 0.5, size * part, size * part
            )
        stage.oval((248, 250, 250), x, y, size * 2.6, size * 0.55)


def _hills(stage: Stage, colour: Colour, height: float) -> None:
    """A ridge that ends at the horizon."""
    start, wave = stage.between(0, 6), stage.between(1.5, 3.0)
    ridge = []
    for step in range(41):
        x = step / 40
        rise = 0.6 + 0.4 * math.sin(start + wave * 2 * x) * math.sin(1.7 * start + 5 * x)
        ridge.append((x * stage.width, stage.horizon - height * rise))
    stage.shape(colour, (0, stage.horizon + 1), *ridge, (stage.width, stage.horizon + 1))


def _trees(stage: Stage, count: int, size: float) -> None:
    for _ in range(count):
        x, high = stage.width * stage.random.random(), size * stage.between(0.7, 1.2)
        leaf = stage.random.choice(((92, 146, 98), (112, 160, 92), (76, 130, 96)))
        foot = stage.horizon + size * 0.06
        stage.bar((120, 88, 66), x - high * 0.05, foot - high * 0.5, x + high * 0.05, foot)
        stage.oval(leaf, x, foot - high * 0.62, high * 0.3, high * 0.38)
        stage.oval(
            lighter(leaf, 0.12), x - high * 0.08, foot - high * 0.7, high * 0.17, high * 0.22
        )


def _earth(stage: Stage, colour: Colour) -> None:
    """Level ground: lighter bands at the horizon."""
    deep = stage.height - stage.horizon
    for band, share in enumerate((0.0, 0.12, 0.36)):
        tone = mix(lighter(colour, 0.14), colour, band / 2)
        stage.bar(tone, 0, stage.horizon + deep * share, stage.width, stage.height)


def _spots(stage: Stage, count: int) -> Iterator[tuple[float, float, float]]:
    """Places on the ground, and how near each is, from 0 to 1."""
    for _ in range(count):
        near = stage.random.random() ** 1.3
        y = stage.horizon + (stage.height - stage.horizon) * (0.06 + 0.92 * near)
        yield stage.width * stage.random.random(), y, near


def _meadow(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _hills(stage, (156, 190, 178), stage.height * 0.14)
    _hills(stage, (134, 180, 140), stage.height * 0.07)
    _trees(stage, 4, stage.height * 0.14)
    _earth(stage, stage.random.choice(((136, 186, 104), (150, 188, 98), (126, 178, 112))))
    rail, y = (226, 214, 192), stage.horizon + 3
    for step in range(13):
        x = step * stage.width / 12
        stage.bar(rail, x - 2, y - 13, x + 2, y + 5)
    for rise in (10, 3):
        stage.bar(rail, 0, y - rise, stage.width, y - rise + 2.2)
    for x, y, near in _spots(stage, 26):
        size = 3 + 6 * near
        for lean in (-0.6, 0, 0.6):
            stage.line((104, 156, 84), 1.2, (x, y), (x + lean * size, y - size))
    for x, y, near in _spots(stage, 12):
        colour = stage.random.choice((WHITE, (246, 208, 96), (226, 120, 130)))
        stage.oval(colour, x, y, 1.2 + 1.8 * near, 1.2 + 1.8 * near)


def _park(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _hills(stage, (150, 190, 170), stage.height * 0.12)
    _trees(stage, 7, stage.height * 0.3)
    _earth(stage, (146, 188, 112))
    middle, deep = stage.width * stage.between(0.3, 0.7), stage.height - stage.horizon
    stage.shape(
        (226, 208, 172),
        (middle - 12, stage.horizon + deep * 0.04),
        (middle + 12, stage.horizon + deep * 0.04),
        (middle + stage.width * 0.42, stage.height),
        (middle - stage.width * 0.34, stage.height),
    )
    for x, y, near in _spots(stage, 14):
        size = 3 + 6 * near
        for lean in (-0.6, 0, 0.6):
            stage.line((112, 162, 90), 1.2, (x, y), (x + lean * size, y - size))


def _houses(stage: Stage) -> None:
    x = -stage.width * 0.04
    while x < stage.width:
        wide = stage.width * stage.between(0.12, 0.22)
        high = max(stage.horizon * stage.between(0.5, 0.86), 20)
        wall = stage.random.choice(
            ((226, 178, 148), (238, 214, 176), (198, 206, 208), (214, 160, 140), (222, 204, 190))
        )
        top = stage.horizon - high
        stage.bar(wall, x, top, x + wide - 1, stage.horizon)
        stage.bar(darker(wall, 0.25), x - 2, top - 4, x + wide + 1, top + 2)
        columns = max(2, int(wide / 26))
        room = wide / columns
        rows = max(1, int((high - 26) / 30))
        for row in range(rows):
            for column in range(columns):
                left, upper = x + room * (column + 0.25), top + 12 + row * 30
                stage.bar((128, 158, 176), left, upper, left + room * 0.5, upper + 15)
                stage.bar(
                    lighter(wall, 0.6),
                    left - 1.5,
                    upper + 15,
                    left + room * 0.5 + 1.5,
                    upper + 17.5,
                )
        stage.bar(
            darker(wall, 0.45), x + wide * 0.42, stage.horizon - 20, x + wide * 0.58, stage.horizon
        )
        x += wide


def _street(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _houses(stage)
    deep = stage.height - stage.horizon
    _trees(stage, 3, stage.height * 0.2)
    stage.bar((214, 206, 196), 0, stage.horizon, stage.width, stage.height)
    kerb = stage.horizon + deep * 0.1
    stage.bar((184, 178, 172), 0, kerb - 2.5, stage.width, kerb)
    stage.bar((136, 140, 150), 0, kerb, stage.width, stage.height)
    stage.bar((128, 132, 142), 0, kerb + deep * 0.4, stage.width, stage.height)
    line, start = kerb + deep * 0.36, stage.between(-60, 0)
    for step in range(7):
        x = start + step * 95
        stage.shape(
            (240, 236, 222),
            (x, line),
            (x + 52, line),
            (x + 46, line + deep * 0.03),
            (x - 8, line + deep * 0.03),
        )


def _track(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _hills(stage, (150, 188, 168), stage.height * 0.16)
    _trees(stage, 7, stage.height * 0.18)
    deep = stage.height - stage.horizon
    _earth(stage, (150, 184, 112))
    for step in range(4):
        x = stage.width * (0.04 + step * 0.31)
        stage.bar((128, 132, 138), x - 2, stage.horizon * 0.2, x + 2, stage.horizon + 4)
        stage.bar((128, 132, 138), x - 2, stage.horizon * 0.26, x + 32, stage.horizon * 0.26 + 2.5)
    stage.line((104, 108, 116), 1, (0, stage.horizon * 0.3), (stage.width, stage.horizon * 0.3))
    bed = stage.horizon + deep * 0.1
    stage.bar((186, 174, 160), 0, bed, stage.width, stage.height)
    for share in (0.22, 0.62):
        y = bed + deep * share
        for step in range(18):
            x = step * stage.width / 17 - 8
            stage.shape(
                (134, 108, 88),
                (x, y),
                (x + 11, y),
                (x + 5, y + deep * 0.16),
                (x - 8, y + deep * 0.16),
            )
        for rail in (0.025, 0.115):
            stage.bar((112, 118, 128), 0, y + deep * rail, stage.width, y + deep * rail + 3)


def _sea(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _hills(stage, (142, 172, 182), stage.height * 0.07)
    deep = stage.height - stage.horizon
    water = stage.random.choice(((84, 156, 186), (70, 146, 172), (98, 160, 196)))
    for band, share in enumerate((0.0, 0.08, 0.22, 0.45, 0.72)):
        stage.bar(
            mix(lighter(water, 0.3), darker(water, 0.12), band / 4),
            0,
            stage.horizon + deep * share,
            stage.width,
            stage.height,
        )
    for x, y, near in _spots(stage, 34):
        wide = 7 + 18 * near
        stage.line(
            lighter(water, 0.45),
            1 + near,
            (x - wide, y),
            (x - wide / 2, y - 1 - near),
            (x, y),
            (x + wide / 2, y - 1 - near),
            (x + wide, y),
        )


def _air(stage: Stage) -> None:
    _sky(stage, stage.height)
    stage.oval(
        (250, 251, 251),
        stage.width * 0.2,
        stage.height * 1.02,
        stage.width * 0.3,
        stage.height * 0.1,
    )
    stage.oval(
        (242, 246, 248),
        stage.width * 0.75,
        stage.height * 1.03,
        stage.width * 0.4,
        stage.height * 0.12,
    )


def _airfield(stage: Stage) -> None:
    _sky(stage, stage.horizon)
    _hills(stage, (148, 184, 178), stage.height * 0.08)
    base, left = stage.horizon, stage.width * stage.between(0.05, 0.6)
    stage.bar((206, 210, 214), left, base - 20, left + stage.width * 0.3, base)
    for step in range(8):
        x = left + 6 + step * stage.width * 0.3 / 8.4
        stage.bar((120, 152, 172), x, base - 14, x + 10, base - 6)
    x = left + stage.width * 0.34
    stage.bar((196, 200, 206), x - 5, base - 46, x + 5, base)
    stage.shape(
        (96, 128, 150),
        (x - 13, base - 62),
        (x + 13, base - 62),
        (x + 9, base - 46),
        (x - 9, base - 46),
    )
    stage.bar((226, 228, 230), x - 14, base - 66, x + 14, base - 61)
    deep = stage.height - stage.horizon
    stage.bar((156, 188, 116), 0, base, stage.width, stage.height)
    stage.bar((168, 172, 178), 0, base + deep * 0.14, stage.width, stage.height)
    stage.bar((158, 162, 169), 0, base + deep * 0.5, stage.width, stage.height)
    y = base + deep * 0.72
    for step in range(6):
        x = step * 110 - 30
        stage.shape(
            (246, 242, 226),
            (x, y),
            (x + 60, y),
            (x + 54, y + deep * 0.03),
            (x - 8, y + deep * 0.03),
        )


def _room(stage: Stage) -> None:
    wall, floor = stage.random.choice(
        (
            ((232, 220, 200), (192, 148, 108)),
            ((206, 220, 216), (176, 136, 100)),
            ((226, 208, 206), (168, 142, 122)),
            ((214, 218, 230), (186, 152, 116)),
            ((228, 226, 208), (160, 124, 94)),
        )
    )
    base, width, height = stage.horizon, stage.width, stage.height
    stage.bar(wall, 0, 0, width, base)
    for step in range(1, 12, 2):
        stage.bar(lighter(wall, 0.18), step * width / 12, 0, (step + 1) * width / 12, base)
    _window(stage, width * stage.random.choice((0.04, 0.7)), base)
    _frames(stage, base)
    stage.bar(floor, 0, base, width, height)
    row, deep = base, 9.0
    while row < height:
        stage.bar(darker(floor, 0.08), 0, row, width, row + 1.4)
        start = stage.between(0, 120)
        for step in range(5):
            x = start + step * 120
            stage.bar(darker(floor, 0.08), x, row, x + 1.4, row + deep)
        row, deep = row + deep, deep * 1.35
    stage.bar(lighter(wall, 0.6), 0, base - 9, width, base)
    rug = stage.random.choice(((196, 96, 86), (88, 122, 150), (118, 148, 116), (210, 170, 98)))
    middle = base + (height - base) * 0.6
    for size, colour in ((1.0, rug), (0.84, lighter(rug, 0.4)), (0.7, rug)):
        stage.oval(colour, width * 0.5, middle, width * 0.42 * size, (height - base) * 0.32 * size)


def _window(stage: Stage, left: float, base: float) -> None:
    wide, high = stage.width * 0.26, base * 0.58
    top = base * 0.1
    stage.bar((250, 248, 242), left - 5, top - 5, left + wide + 5, top + high + 5)
    stage.bar((172, 214, 234), left, top, left + wide, top + high)
    stage.oval((248, 250, 250), left + wide * 0.62, top + high * 0.3, wide * 0.2, high * 0.07)
    stage.oval((248, 250, 250), left + wide * 0.5, top + high * 0.34, wide * 0.16, high * 0.06)
    stage.shape(
        (140, 186, 138),
        (left, top + high),
        (left, top + high * 0.76),
        (left + wide * 0.4, top + high * 0.66),
        (left + wide, top + high * 0.8),
        (left + wide, top + high),
    )
    stage.bar((250, 248, 242), left + wide / 2 - 2, top, left + wide / 2 + 2, top + high)
    stage.bar((236, 232, 222), left - 9, top + high + 4, left + wide + 9, top + high + 10)


def _frames(stage: Stage, base: float) -> None:
    """Two pictures on the wall."""
    for at in (0.38, 0.54):
        wide, high = stage.width * 0.1, base * stage.between(0.2, 0.3)
        left, top = stage.width * at, base * stage.between(0.14, 0.22)
        stage.bar(WOOD, left - 3, top - 3, left + wide + 3, top + high + 3)
        stage.bar((244, 236, 220), left, top, left + wide, top + high)
        colour = stage.random.choice(((206, 120, 92), (110, 148, 160), (222, 178, 96)))
        stage.oval(colour, left + wide * 0.5, top + high * 0.45, wide * 0.22, wide * 0.22)
        stage.bar(darker(colour, 0.3), left, top + high * 0.7, left + wide, top + high)


GROUNDS: Final[Sequence[tuple[set[str], Callable[[Stage], None]]]] = (
    ({"boat"}, _sea),
    ({"aeroplane"}, _airfield),
    ({"train"}, _track),
    ({"bus", "motorbike", "car"}, _street),
    ({"cow", "sheep", "horse"}, _meadow),
    (INDOORS, _room),
    ({"bicycle"}, _street),
    (set(DRAWN), _park),
)
"""The first that has a label of the image is its ground."""


# --- Scenes ---------------------------------------------------------------------------------------


def scene(frame: Mapping[str, Any], things: Sequence[Thing]) -> Image:
    """An image: its ground, what is far away, and what is annotated."""
    width, height = frame["width"], frame["height"]
    labels = {one.label for one in things if not one.far}
    draw = next(ground for known, ground in GROUNDS if known & labels)
    flying = draw is _airfield and not labels & {"person", "bus", "car"}
    if flying and max(one.bottom for one in things) < 0.8 * height:
        draw = _air
    image = pillow.new("RGB", (width * SCALE, height * SCALE))
    random = Random(f"scene {frame['id']}")  # noqa: S311 - it draws
    stage = Stage(image, width, height, _horizon(things, height), random)
    draw(stage)
    order = _back_to_front(things)
    for index, thing in enumerate(order):
        _place(stage, thing, order[index + 1 :], draw)
    return image.reduce(SCALE)


def _horizon(things: Sequence[Thing], height: int) -> float:
    """A little above where the first thing stands, as far as it may be."""
    feet = [one.bottom for one in things if one.label in _STANDING and not one.far]
    return min(max(min(feet, default=height) - 0.06 * height, 0.3 * height), 0.62 * height)


_STANDING: Final = set(DRAWN) - {"aeroplane", "bird", "bottle", "tvmonitor", "pottedplant"}


def _back_to_front(things: Sequence[Thing]) -> list[Thing]:
    """By where they stand; what another one would hide, after that one."""
    rank = {one: one.bottom - _BEHIND * one.far - _behind(one) for one in things}
    order = sorted(things, key=lambda one: -one.box[2] * one.box[3])
    for index, one in enumerate(order):
        for larger in order[:index]:
            like = one.far and (larger.far or larger.label == one.label)
            if not (like or _rides(one, larger)) and _inside(one.box, larger.box) > 0.7:
                rank[one] = max(rank[one], rank[larger] + 0.01)
    return sorted(things, key=rank.__getitem__)


_BEHIND: Final = 10_000
"""How far behind all others what is far away is, unless one of them would hide it."""


def _behind(thing: Thing) -> float:
    return thing.box[3] if thing.label in FURNITURE else 0.0


def _rides(thing: Thing, other: Thing) -> bool:
    """Whether it sits on the other one or at it, which hides its legs."""
    return thing.label == "person" and other.label in MOUNTS


def _place(
    stage: Stage, thing: Thing, before: Sequence[Thing], ground: Callable[[Stage], None]
) -> None:
    """Draw a thing; others will stand before it."""
    left, top, wide, high = thing.box
    key = f"{left} {top} {wide} {high} {thing.label} {stage.width}"
    random = Random(key)  # noqa: S311 - it draws
    x, y = left + wide / 2, min(thing.bottom, stage.height - 1)
    under = _colour(stage, x, y)
    flies = ground is _air or thing.label == "bird" or thing.bottom < stage.horizon - 4
    if ground is _room and thing.label == "tvmonitor" and not flies:
        _desk(stage, thing)
    elif ground is _room and flies and not thing.far and thing.label != "bird":
        _shelf(stage, thing)
    elif ground is _sea:
        if thing.label == "boat":
            stage.oval(lighter(under, 0.35), x, y - 1, wide * 0.54, max(2.0, high * 0.045))
    elif not flies and thing.label != "bottle":
        stage.oval(darker(under, 0.2), x, y - 1, wide * 0.52, max(1.5, min(high, wide) * 0.05))
    haze = (_colour(stage, x, top + high / 2), 0.45 if thing.far else 0.0)
    pen = Pen(stage.image, thing.box, random, haze)
    if thing.label == "person":
        pen.holds = any(_rides(thing, one) and _inside(thing.box, one.box) > 0.25 for one in before)
        pen.lean(
            min((0.5, 0.28, 0.72), key=lambda at: (_hidden(thing.box, at, before), abs(at - 0.5)))
        )
    DRAWN[thing.label](pen)


def _hidden(box: Box, at: float, before: Sequence[Thing]) -> int:
    """How much others hide of a head, in tenths."""
    left, top, wide, high = box
    head = (left + (at - 0.25) * wide, top, 0.5 * wide, 0.45 * high)
    return round(10 * max((_inside(head, one.box) for one in before), default=0))


def _colour(stage: Stage, x: float, y: float) -> Colour:
    at = (
        min(max(int(x * SCALE), 0), stage.image.width - 1),
        min(max(int(y * SCALE), 0), stage.image.height - 1),
    )
    found: Any = stage.image.getpixel(at)
    red, green, blue = found
    return red, green, blue


def _shelf(stage: Stage, thing: Thing) -> None:
    """What holds a thing that stands on no floor."""
    left, _, wide, _ = thing.box
    y = thing.bottom
    stage.bar(darker(WOOD, 0.1), left - wide * 0.12, y - 1, left + wide * 1.12, y + 7)
    stage.bar(darker(WOOD, 0.35), left - wide * 0.06, y + 7, left + wide * 1.06, y + 10)


def _desk(stage: Stage, thing: Thing) -> None:
    """What a screen stands on, down to the end of the image."""
    left, _, wide, _ = thing.box
    start, end, y = left - wide * 0.2, left + wide * 1.2, thing.bottom - 4
    front = darker(WOOD, 0.08)
    stage.bar(front, start + 6, y, end - 6, stage.height)
    stage.bar(lighter(WOOD, 0.15), start, y, end, y + 9)
    stage.bar(darker(front, 0.2), start + 6, y + 9, end - 6, y + 12)
    middle, deep = (start + end) / 2, (stage.height - y - 12) / 2
    for side in (start + 14, middle + 4):
        for row in range(2):
            top, right = y + 18 + row * deep, side + (end - start) / 2 - 18
            stage.bar(lighter(front, 0.1), side, top, right, top + deep - 10)
            knob = (side + right) / 2
            stage.bar(darker(front, 0.4), knob - 8, top + 8, knob + 8, top + 11)


def _inside(box: Box, other: Box) -> float:
    """The share of a box that is in another one."""
    return _shared(box, other) / (box[2] * box[3])


def _shared(box: Box, other: Box) -> float:
    wide = min(box[0] + box[2], other[0] + other[2]) - max(box[0], other[0])
    high = min(box[1] + box[3], other[1] + other[3]) - max(box[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def _iou(box: Box, other: Box) -> float:
    shared = _shared(box, other)
    return shared / (box[2] * box[3] + other[2] * other[3] - shared)


def scenes() -> Iterator[tuple[str, Callable[[], Image]]]:
    """The name of each file and what draws it."""
    truth = json.loads((SAMPLE / "ground_truth.json").read_text(encoding="utf-8"))
    detections = json.loads((SAMPLE / "large.json").read_text(encoding="utf-8"))
    names = {one["id"]: one["name"] for one in truth["categories"]}
    things: dict[int, list[Thing]] = {one["id"]: [] for one in truth["images"]}
    for one in truth["annotations"]:
        left, top, wide, high = one["bbox"]
        things[one["image_id"]].append(Thing(names[one["category_id"]], (left, top, wide, high)))
    for one in detections:
        left, top, wide, high = one["bbox"]
        box, there = (left, top, wide, high), things[one["image_id"]]
        if one["score"] >= SURE and all(
            _iou(box, other.box) <= APART for other in there if not other.far
        ):
            there.append(Thing(names[one["category_id"]], box, far=True))
    for frame in truth["images"]:
        yield frame["file_name"], lambda frame=frame: scene(frame, things[frame["id"]])


def main(folder: Path = SAMPLE / "images") -> None:
    """Write the images."""
    folder.mkdir(exist_ok=True)
    wanted = set(sys.argv[1:])
    for name, draw in scenes():
        if not wanted or name in wanted:
            draw().save(folder / name, quality=QUALITY, optimize=True, progressive=True)


if __name__ == "__main__":
    main()
