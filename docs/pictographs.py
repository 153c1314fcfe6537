"""Flat drawings of the 20 labels of PASCAL VOC, each as large as its box."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from PIL.Image import Image
from PIL.ImageDraw import Draw

Colour: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]

SCALE: Final = 3
"""Pixels of the drawing, wide and high, that are one of the image."""

INK: Final = (44, 48, 60)
WHITE: Final = (250, 250, 247)
GLASS: Final = (186, 220, 234)
STEEL: Final = (150, 158, 170)
LAMP: Final = (255, 224, 130)
WOOD: Final = (176, 124, 78)
SKINS: Final = ((244, 204, 170), (228, 178, 140), (190, 134, 96), (138, 92, 64), (250, 216, 188))
HAIRS: Final = ((58, 44, 40), (98, 66, 44), (184, 136, 76), (40, 40, 48), (150, 84, 50))
CLOTHES: Final = (
    (206, 84, 72),
    (66, 122, 178),
    (236, 178, 74),
    (96, 150, 110),
    (134, 104, 164),
    (232, 232, 226),
    (70, 150, 160),
    (218, 126, 140),
)
TROUSERS: Final = ((58, 74, 112), (76, 72, 78), (128, 108, 84), (92, 112, 140))
PAINTS: Final = ((204, 70, 66), (62, 116, 176), (238, 186, 72), (76, 146, 128), (236, 236, 232))
PAINTS_DARK: Final = ((176, 58, 62), (52, 92, 150), (60, 120, 110), (92, 84, 120), (196, 112, 60))


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """One colour with a share of another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def darker(colour: Colour, share: float = 0.18) -> Colour:
    """The colour in shadow."""
    return mix(colour, (24, 28, 48), share)


def lighter(colour: Colour, share: float = 0.25) -> Colour:
    """The colour in the light."""
    return mix(colour, (255, 255, 255), share)


class Pen:
    """Draws in a box: points are shares of its width and height, radii and line widths of the less.

    Attributes:
        box: Left, top, width, height, in pixels of the image.
        ratio: Width by height.
        small: Whether details would be dust.
        random: What varies from one object to the next.
        cut: Whether the image ends where the box does, at the bottom.
        head: Where the head of a half person is.
        holds: Whether a person has something to hold.
    """

    def __init__(self, image: Image, box: Box, random: Random, haze: tuple[Colour, float]) -> None:
        self.box = box
        self.ratio = box[2] / box[3]
        self.small = min(box[2:]) < 24
        self.random = random
        self.cut = box[1] + box[3] > image.height / SCALE - 4
        self.unit = min(box[2:]) * SCALE
        self.head, self.holds = 0.5, False
        self._draw = Draw(image)
        self._haze = haze
        self._flipped = random.random() < 0.5

    def any(self, colours: Sequence[Colour]) -> Colour:
        """One of the colours, a little lighter or darker."""
        colour = self.random.choice(colours)
        return mix(colour, self.random.choice((WHITE, INK)), self.random.random() * 0.1)

    def lean(self, head: float) -> None:
        """Put the head of a half person there, as the box has it from the left."""
        self.head = 1 - head if self._flipped else head

    def wide(self, radius: float) -> float:
        """A radius as a share of the width."""
        return radius * self.unit / SCALE / self.box[2]

    def high(self, radius: float) -> float:
        """A radius as a share of the height."""
        return radius * self.unit / SCALE / self.box[3]

    def shape(self, colour: Colour, *corners: Point | str) -> None:
        """A polygon."""
        self._draw.polygon([self._at(one) for one in _points(corners)], fill=self._ink(colour))

    def curve(self, colour: Colour, *through: Point | str) -> None:
        """A closed, smooth line through points, filled."""
        line, points = list[Point](), _points(through)
        count = len(points)
        for index in range(count):
            before, start, end, after = (points[(index + step) % count] for step in range(-1, 3))
            for step in range(8):
                line.append(_between(before, start, end, after, step / 8))
        held = [(min(max(u, 0.0), 1.0), min(max(v, 0.0), 1.0)) for u, v in line]
        self.shape(colour, *held)

    def bar(
        self,
        colour: Colour,
        left: float,
        top: float,
        right: float,
        bottom: float,
        round_: float = 0.0,
    ) -> None:
        """A rectangle; its corners are round by a share of its shorter side."""
        (x0, y0), (x1, y1) = self._at((left, top)), self._at((right, bottom))
        area = (min(x0, x1), min(y0, y1), max(x0, x1) - 1, max(y0, y1) - 1)
        if area[2] < area[0] or area[3] < area[1]:
            return
        radius = round_ * min(area[2] - area[0], area[3] - area[1])
        self._draw.rounded_rectangle(area, radius, fill=self._ink(colour))

    def oval(self, colour: Colour, u: float, v: float, wide: float, high: float) -> None:
        """An ellipse about a point, by its half axes."""
        (x0, y0), (x1, y1) = self._at((u - wide, v - high)), self._at((u + wide, v + high))
        area = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        self._draw.ellipse(area, fill=self._ink(colour))

    def disc(self, colour: Colour, u: float, v: float, radius: float) -> None:
        """A circle."""
        self.oval(colour, u, v, self.wide(radius), self.high(radius))

    def ring(self, colour: Colour, u: float, v: float, radius: float, width: float) -> None:
        """A circle's line, inside of its radius."""
        x, y = self._at((u, v))
        size = radius * self.unit
        self._draw.ellipse(
            (x - size, y - size, x + size, y + size),
            outline=self._ink(colour),
            width=max(2, round(width * self.unit)),
        )

    def line(self, colour: Colour, width: float, *along: Point | str) -> None:
        """A line with round ends and corners."""
        ink, thick = self._ink(colour), max(2, round(width * self.unit))
        line = [self._at(one) for one in _points(along)]
        self._draw.line(line, fill=ink, width=thick, joint="curve")
        if thick > 4:
            half = thick / 2
            for x, y in line:
                self._draw.ellipse((x - half, y - half, x + half, y + half), fill=ink)

    def _at(self, point: Point) -> Point:
        left, top, width, height = self.box
        u = 1 - point[0] if self._flipped else point[0]
        return (left + u * width) * SCALE, (top + point[1] * height) * SCALE

    def _ink(self, colour: Colour) -> Colour:
        return mix(colour, *self._haze)


def _points(parts: Sequence[Point | str]) -> list[Point]:
    """Points; a text has several, as SVG writes them."""
    points = list[Point]()
    for part in parts:
        if isinstance(part, str):
            pairs = [pair.split(",") for pair in part.split()]
            points += [(float(u), float(v)) for u, v in pairs]
        else:
            points.append(part)
    return points


def _between(before: Point, start: Point, end: Point, after: Point, share: float) -> Point:
    """Catmull and Rom's curve from start to end."""

    def along(a: float, b: float, c: float, d: float) -> float:
        turned = 2 * a - 5 * b + 4 * c - d
        return b + share / 2 * (c - a + share * (turned + share * (3 * (b - c) + d - a)))

    return (
        along(before[0], start[0], end[0], after[0]),
        along(before[1], start[1], end[1], after[1]),
    )


# --- People and animals ---------------------------------------------------------------------------


def person(pen: Pen) -> None:
    """Standing; or half of one where the box is wide, or the image ends."""
    skin, hair = pen.any(SKINS), pen.any(HAIRS)
    if pen.ratio < 0.6 or (pen.ratio < 0.75 and not pen.cut):
        _standing(pen, skin, hair)
    else:
        _half(pen, skin, hair)


def _standing(pen: Pen, skin: Colour, hair: Colour) -> None:
    """To the knees where the image ends, or a mount hides the rest."""
    top, legs = pen.any(CLOTHES), pen.any(TROUSERS)
    near = 1.45 if pen.holds else 1.3 if pen.cut else 1.0
    tall = pen.box[3] / pen.box[2]
    head = min(0.4 * pen.box[2], 0.085 * near * pen.box[3]) / min(pen.box[2:])
    neck, wide = 2 * pen.high(head), pen.wide(head)
    hip = neck + 0.34 * near
    arm = min(0.26, wide * 0.75)
    thick = arm * pen.box[2] / min(pen.box[2:])
    half = min(0.34, 0.125 * near * tall)
    foot = min(0.3, 0.085 * near * tall)
    _hair(pen, 0.5, pen.high(head), head, hair)
    for side in (-1, 1):
        knee = (0.5 + side * foot, 0.95 if near == 1.0 else 1.0)
        pen.line(legs, thick * 1.3, (0.5 + side * half * 0.5, hip), knee)
        if near == 1.0:
            shoe = arm * 0.85
            pen.bar(darker(INK, 0.3), knee[0] - shoe, 0.955, knee[0] + shoe, 1.0, 0.4)
    if not pen.holds:
        _arms(pen, top, skin, (half, neck, hip, arm))
    pen.bar(top, 0.5 - half, neck + 0.015, 0.5 + half, hip + 0.03, 0.3)
    if pen.holds:
        _arms(pen, top, skin, (half, neck, hip, arm))
    throat = wide * 0.38
    pen.bar(darker(skin, 0.12), 0.5 - throat, neck - 0.03, 0.5 + throat, neck + 0.04, 0.3)
    _head(pen, 0.5, pen.high(head), head, skin, hair)


def _arms(pen: Pen, top: Colour, skin: Colour, body: tuple[float, float, float, float]) -> None:
    """They reach both sides of the box: hanging, or with hands on the hips or on what they hold."""
    half, neck, hip, arm = body
    thick = arm * pen.box[2] / min(pen.box[2:])
    for side in (-1, 1):
        edge = 0.5 + side * (0.5 - arm / 2)
        shoulder, hand = (0.5 + side * (half - arm / 2), neck + 0.06), (edge, hip + 0.01)
        if pen.holds or half < 0.3:
            hand = (0.5 + side * (0.12 if pen.holds else half * 0.9), hip - 0.04)
            pen.line(darker(top), thick, shoulder, (edge, (neck + hip) / 2 + 0.03), hand)
        else:
            pen.line(darker(top), thick, shoulder, hand)
        pen.disc(skin, hand[0], hand[1], thick * 0.52)


def _half(pen: Pen, skin: Colour, hair: Colour) -> None:
    top = pen.any(CLOTHES)
    head = min(0.23 * pen.box[3], 0.27 * pen.box[2]) / min(pen.box[2:])
    neck = 2 * pen.high(head)
    wide = pen.wide(head)
    at = min(max(pen.head, wide), 1 - wide)
    _hair(pen, at, pen.high(head), head, hair)
    shoulder = neck + 0.05
    pen.curve(
        top,
        (0.0, 1.0),
        (0.01, min(shoulder + 0.2, 0.9)),
        (at * 0.4, shoulder + 0.04),
        (at - wide * 0.4, shoulder),
        (at, shoulder + 0.05),
        (at + wide * 0.4, shoulder),
        (1 - (1 - at) * 0.4, shoulder + 0.04),
        (0.99, min(shoulder + 0.2, 0.9)),
        (1.0, 1.0),
    )
    for side in (0.17, 0.83):
        pen.line(darker(top), 0.016, (side, 1.0), (side, min(shoulder + 0.3, 0.92)))
    throat = wide * 0.4
    pen.bar(darker(skin, 0.14), at - throat, neck * 0.8, at + throat, neck + 0.11, 0.45)
    _head(pen, at, pen.high(head), head, skin, hair)


def _hair(pen: Pen, u: float, v: float, radius: float, hair: Colour) -> None:
    """What falls on the shoulders, behind them."""
    wide, high = pen.wide(radius), pen.high(radius)
    if sum(hair) % 5 < 2:  # of one person in two or three
        pen.bar(hair, u - wide, v - high * 0.2, u + wide, v + high * 1.3, 0.4)


def _head(pen: Pen, u: float, v: float, radius: float, skin: Colour, hair: Colour) -> None:
    wide, high = pen.wide(radius), pen.high(radius)
    pen.oval(hair, u, v - high * 0.14, wide, high * 0.86)
    pen.oval(skin, u, v + high * 0.14, wide * 0.84, high * 0.86)
    pen.curve(
        hair,
        (u - wide * 0.92, v - high * 0.05),
        (u - wide * 0.6, v - high * 0.9),
        (u + wide * 0.6, v - high * 0.9),
        (u + wide * 0.92, v - high * 0.05),
        (u + wide * 0.5, v - high * 0.42),
        (u - wide * 0.2, v - high * 0.5),
    )
    if radius * pen.unit / SCALE > 9:
        for side in (-0.32, 0.32):
            pen.disc(INK, u + wide * side, v + high * 0.14, radius * 0.085)
        smile = [(step / 4, 0.5 + 0.13 * (1 - (step / 4) ** 2)) for step in range(-4, 5)]
        mouth = [(u + wide * 0.3 * x, v + high * y) for x, y in smile]
        pen.line(darker(skin, 0.5), radius * 0.07, *mouth)
        for side in (-0.52, 0.52):
            pen.disc(
                mix(skin, (232, 110, 100), 0.3), u + wide * side, v + high * 0.4, radius * 0.12
            )


def _sitting(pen: Pen, coat: Colour, *, pointed: bool) -> None:
    """A dog or a cat from the front."""
    light, dark = lighter(coat, 0.35), darker(coat)
    pen.curve(dark, ".7,.96 .92,.9 1,.66 .9,.56 .88,.74 .7,.82")
    pen.curve(coat, ".2,.99 .16,.75 .3,.42 .7,.42 .84,.75 .8,.99")
    pen.oval(light, 0.5, 0.66, 0.15, 0.18)
    for side in (0.36, 0.64):
        pen.line(mix(coat, light, 0.4), 0.15, (side, 0.66), (side, 0.93))
        pen.bar(light, side - 0.12, 0.93, side + 0.12, 1.0, 0.5)
    if pointed:
        for side in (-1, 1):
            pen.shape(
                coat, (0.5 + side * 0.48, 0.0), (0.5 + side * 0.08, 0.14), (0.5 + side * 0.42, 0.3)
            )
            pen.shape(
                (236, 170, 160),
                (0.5 + side * 0.42, 0.06),
                (0.5 + side * 0.2, 0.15),
                (0.5 + side * 0.37, 0.24),
            )
        pen.oval(coat, 0.5, 0.28, 0.42, 0.2)
    else:
        pen.oval(coat, 0.5, 0.24, 0.36, 0.24)
        for side in (-1, 1):
            pen.curve(
                dark,
                (0.5 + side * 0.26, 0.06),
                (0.5 + side * 0.5, 0.14),
                (0.5 + side * 0.5, 0.38),
                (0.5 + side * 0.37, 0.42),
            )
    pen.oval(light, 0.5, 0.35, 0.17, 0.1)
    pen.oval(INK, 0.5, 0.31, 0.055, 0.025)
    for side in (-0.15, 0.15):
        pen.disc(INK, 0.5 + side, 0.23, 0.04)
        pen.disc(WHITE, 0.5 + side + 0.012, 0.222, 0.013)
    if pointed and not pen.small:
        for side, rise in ((-1, 0.33), (-1, 0.37), (1, 0.33), (1, 0.37)):
            pen.line(WHITE, 0.008, (0.5 + side * 0.14, 0.345), (0.5 + side * 0.42, rise))


def dog(pen: Pen) -> None:
    """Sitting, or from the side where the box is wide."""
    coat = pen.any(((176, 122, 74), (120, 86, 62), (214, 178, 126), (92, 84, 84)))
    if pen.ratio < 1.25:
        _sitting(pen, coat, pointed=False)
        return
    dark, light = darker(coat), lighter(coat, 0.3)
    for at, colour in ((0.42, dark), (0.84, dark), (0.34, coat), (0.77, coat)):
        pen.line(colour, 0.12, (at, 0.6), (at, 0.93))
        pen.bar(light, at - 0.06, 0.92, at + 0.045, 1.0, 0.5)
    pen.line(coat, 0.08, ".83,.45 .92,.28 .96,.08")
    pen.curve(coat, ".2,.3 .5,.36 .84,.38 .88,.56 .76,.72 .4,.74 .26,.6")
    pen.curve(coat, ".12,.08 .26,.02 .36,.16 .34,.36 .22,.44 .1,.32")
    pen.bar(light, 0.0, 0.2, 0.2, 0.38, 0.5)
    pen.oval(INK, 0.025, 0.24, 0.025, 0.05)
    pen.curve(dark, ".24,.06 .36,.1 .38,.4 .28,.38")
    pen.disc(INK, 0.16, 0.16, 0.035)
    pen.line(CLOTHES[0], 0.05, (0.2, 0.46), (0.33, 0.38))


def cat(pen: Pen) -> None:
    """Sitting, or lying where the box is wide."""
    coat = pen.any(((226, 150, 80), (120, 120, 128), (72, 70, 78), (222, 206, 182)))
    if pen.ratio < 1.0:
        _sitting(pen, coat, pointed=True)
        return
    dark, light = darker(coat), lighter(coat, 0.4)
    pen.line(dark, 0.09, ".82,.9 .95,.8 .95,.5")
    pen.curve(coat, ".12,.97 .2,.5 .5,.36 .85,.48 .95,.8 .88,.99 .5,1")
    for at in (0.5, 0.64, 0.78):
        pen.line(dark, 0.05, (at, 0.42), (at + 0.03, 0.62))
    pen.bar(light, 0.06, 0.88, 0.44, 1.0, 0.5)
    for side in (-1, 1):
        pen.shape(
            coat, (0.26 + side * 0.24, 0.0), (0.26 + side * 0.03, 0.16), (0.26 + side * 0.24, 0.4)
        )
        pen.shape(
            (236, 170, 160),
            (0.26 + side * 0.2, 0.09),
            (0.26 + side * 0.09, 0.18),
            (0.26 + side * 0.2, 0.3),
        )
    pen.oval(coat, 0.26, 0.4, 0.26, 0.27)
    pen.oval(light, 0.26, 0.53, 0.12, 0.1)
    pen.oval((214, 120, 120), 0.26, 0.47, 0.03, 0.025)
    for side in (-0.11, 0.11):
        pen.oval((150, 190, 90), 0.26 + side, 0.37, 0.045, 0.05)
        pen.oval(INK, 0.26 + side, 0.37, 0.014, 0.045)


def _hoofed(pen: Pen, coat: Colour, hoof: Colour) -> None:
    """Four legs and the body of a large animal that looks to the left."""
    dark = darker(coat)
    for at, colour in ((0.42, dark), (0.88, dark), (0.33, coat), (0.8, coat)):
        pen.line(colour, 0.1, (at, 0.6), (at - 0.01, 0.94))
        pen.bar(hoof, at - pen.wide(0.055), 0.93, at + pen.wide(0.055), 1.0, 0.2)
    pen.curve(coat, ".22,.36 .4,.3 .84,.28 .93,.42 .88,.66 .6,.72 .34,.7 .24,.58")


def cow(pen: Pen) -> None:
    """With patches; from the front where the box is high."""
    coat = pen.random.choice((WHITE, WHITE, (166, 104, 68), (206, 160, 112)))
    patch = (62, 56, 58) if coat == WHITE else lighter(coat, 0.7)
    if pen.ratio < 0.95:
        _from_the_front(pen, coat, patch, horns=True)
        return
    pen.line(darker(coat), 0.04, ".92,.36 .975,.46 .975,.7")
    pen.oval(patch, 0.975, 0.74, 0.025, 0.07)
    _hoofed(pen, coat, INK)
    pen.oval((240, 176, 170), 0.7, 0.72, 0.07, 0.05)
    pen.curve(patch, ".42,.31 .6,.3 .62,.48 .5,.56 .4,.46")
    pen.curve(patch, ".76,.3 .9,.34 .92,.5 .8,.56 .73,.42")
    pen.curve(patch, ".27,.5 .38,.6 .34,.68 .26,.6")
    pen.line((232, 220, 190), 0.04, (0.12, 0.12), (0.08, 0.02))
    pen.line((232, 220, 190), 0.04, (0.23, 0.12), (0.27, 0.02))
    pen.curve(coat, ".12,.1 .26,.1 .34,.34 .28,.52 .16,.5 .06,.36")
    pen.curve(patch, ".22,.12 .34,.08 .36,.18 .26,.24")
    pen.curve((240, 186, 176), "0,.36 .06,.28 .18,.36 .16,.5 .04,.48")
    pen.disc(INK, 0.13, 0.22, 0.03)
    pen.disc(darker((240, 186, 176), 0.4), 0.045, 0.38, 0.018)


def horse(pen: Pen) -> None:
    """With a mane; from the front where the box is high."""
    coat = pen.any(((142, 90, 58), (104, 70, 52), (196, 150, 100), (206, 202, 198)))
    mane = darker(coat, 0.5)
    if pen.ratio < 0.75:
        _from_the_front(pen, coat, mane, horns=False)
        return
    pen.curve(mane, ".88,.34 .96,.36 1,.6 .97,.82 .93,.6")
    _hoofed(pen, coat, INK)
    pen.curve(coat, ".14,.08 .26,.06 .36,.2 .48,.36 .38,.6 .24,.54 .2,.3")
    pen.curve(mane, ".19,.02 .28,.03 .38,.16 .5,.34 .4,.34 .28,.16")
    pen.shape(coat, ".17,.1 .21,0 .25,.1")
    pen.curve(coat, "0,.29 .1,.12 .2,.06 .28,.14 .2,.26 .06,.38")
    pen.curve(darker(coat, 0.3), "0,.29 .05,.24 .09,.3 .06,.37 .02,.36")
    pen.disc(INK, 0.15, 0.14, 0.026)


def _from_the_front(pen: Pen, coat: Colour, other: Colour, *, horns: bool) -> None:
    """A cow or a horse that looks at one."""
    dark = darker(coat, 0.12)
    for at in (0.25, 0.75):
        pen.line(darker(coat, 0.3), 0.13, (at, 0.66), (at, 0.9))
        pen.line(dark, 0.16, ((at + 0.5) / 2, 0.66), ((at + 0.5) / 2, 0.94))
        pen.bar(
            INK, (at + 0.5) / 2 - pen.wide(0.09), 0.95, (at + 0.5) / 2 + pen.wide(0.09), 1.0, 0.2
        )
    pen.oval(dark, 0.5, 0.53, 0.5, 0.24)
    pen.curve(coat, ".32,.1 .68,.1 .76,.5 .5,.68 .24,.5")
    for side in (-1, 1):
        if horns:
            pen.line((232, 220, 190), 0.06, (0.5 + side * 0.14, 0.08), (0.5 + side * 0.22, 0.02))
            pen.curve(
                other,
                (0.5 + side * 0.18, 0.12),
                (0.5 + side * 0.42, 0.08),
                (0.5 + side * 0.38, 0.18),
            )
        else:
            pen.shape(
                coat, (0.5 + side * 0.05, 0.09), (0.5 + side * 0.16, 0.0), (0.5 + side * 0.2, 0.12)
            )
    pen.curve(coat, ".32,.08 .68,.08 .7,.24 .62,.46 .38,.46 .3,.24")
    if horns:
        pen.curve(other, ".34,.1 .48,.09 .42,.26 .32,.24")
        muzzle = (240, 186, 176)
    else:
        pen.curve(other, ".4,.03 .6,.03 .56,.18 .48,.22")
        muzzle = darker(coat, 0.3)
    pen.oval(muzzle, 0.5, 0.43, 0.18, 0.07)
    for side in (-0.14, 0.14):
        pen.disc(INK, 0.5 + side, 0.22, 0.035)
        pen.disc(darker(muzzle, 0.5), 0.5 + side * 0.5, 0.43, 0.02)


def sheep(pen: Pen) -> None:
    """Wool with a dark face."""
    wool = pen.any(((244, 240, 230), (232, 226, 214), (250, 248, 242)))
    face = pen.any(((66, 60, 64), (92, 82, 80)))
    shade = darker(wool, 0.12)
    for at in (0.36, 0.46, 0.74, 0.84):
        pen.line(face, 0.07, (at, 0.7), (at, 0.97))
    curls = [(0.3, 0.34), (0.4, 0.24), (0.52, 0.2), (0.64, 0.2), (0.76, 0.24), (0.86, 0.34)]
    curls += [(0.88, 0.5), (0.84, 0.64), (0.72, 0.7), (0.6, 0.72), (0.48, 0.72), (0.36, 0.66)]
    for u, v in curls:
        pen.oval(shade, u, v + 0.03, 0.115, 0.2)
    for u, v in curls:
        pen.oval(wool, u, v - 0.01, 0.11, 0.18)
    pen.oval(wool, 0.58, 0.46, 0.34, 0.32)
    if not pen.small:
        for u, v in ((0.5, 0.4), (0.68, 0.36), (0.62, 0.56), (0.78, 0.52)):
            pen.line(shade, 0.022, (u - 0.04, v), (u, v + 0.05), (u + 0.04, v))
    pen.curve(face, ".06,.18 .2,.14 .28,.3 .2,.54 .07,.58 0,.44")
    pen.curve(darker(face), ".2,.2 .36,.22 .34,.34 .24,.32")
    pen.oval(wool, 0.17, 0.11, 0.11, 0.11)
    pen.disc(WHITE, 0.11, 0.3, 0.045)
    pen.disc(INK, 0.1, 0.3, 0.024)


def bird(pen: Pen) -> None:
    """From the side, or in flight where the box is wide."""
    coat = pen.any(((74, 128, 176), (206, 92, 74), (240, 190, 84), (96, 108, 124), (96, 160, 120)))
    dark, beak = darker(coat, 0.3), (240, 162, 60)
    if pen.small and pen.ratio > 0.8:
        pen.line(INK, 0.2, ".05,.2 .5,.8 .95,.2")
        return
    if pen.ratio > 1.4:
        pen.curve(dark, ".36,.55 .5,0 .74,.06 .6,.56")
        pen.shape(dark, ".72,.6 1,.5 .98,.8 .74,.76")
        pen.curve(coat, ".06,.5 .18,.4 .5,.46 .8,.64 .7,.82 .3,.8 .1,.66")
        pen.curve(lighter(coat), ".34,.54 .62,.54 .8,1 .56,.96")
        pen.shape(beak, "0,.58 .09,.5 .1,.62")
        pen.disc(INK, 0.15, 0.52, 0.035)
        return
    for at in (0.48, 0.58):
        pen.line(beak, 0.03, (at, 0.8), (at, 0.98), (at - 0.08, 0.985))
    pen.shape(dark, ".7,.56 1,.84 .92,.94 .6,.76")
    pen.curve(coat, ".16,.1 .32,0 .5,.1 .62,.32 .84,.62 .72,.84 .46,.88 .26,.7 .2,.4")
    pen.curve(lighter(coat, 0.55), ".22,.4 .36,.46 .5,.84 .34,.78")
    pen.curve(dark, ".48,.36 .66,.44 .88,.76 .64,.74 .5,.58")
    pen.shape(beak, "0,.2 .18,.1 .19,.24")
    pen.disc(WHITE, 0.31, 0.14, 0.05)
    pen.disc(INK, 0.3, 0.14, 0.03)


# --- Vehicles -------------------------------------------------------------------------------------


def _wheel(pen: Pen, u: float, v: float, radius: float) -> None:
    pen.disc(INK, u, v, radius)
    pen.disc((196, 202, 208), u, v, radius * 0.55)
    pen.disc(STEEL, u, v, radius * 0.2)


def aeroplane(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    stripe = pen.any(PAINTS[:4])
    if pen.ratio < 1.55:
        _aeroplane_from_the_front(pen, stripe)
        return
    body, shade = (240, 243, 246), (196, 206, 216)
    pen.shape(darker(stripe), ".86,.62 1,.56 .985,.64 .88,.7")
    pen.shape(stripe, ".8,.46 .91,0 1,0 .95,.5")
    pen.curve(body, "0,.62 .05,.48 .16,.4 .5,.39 .84,.42 .98,.5 .86,.66 .5,.78 .16,.78 .04,.72")
    pen.curve(shade, ".02,.69 .16,.68 .5,.69 .86,.6 .84,.67 .5,.78 .16,.78")
    pen.shape(stripe, ".12,.62 .93,.555 .88,.61 .12,.66")
    pen.shape(INK, ".045,.52 .075,.46 .115,.46 .115,.54")
    if not pen.small:
        for step in range(12):
            at = 0.19 + step * 0.048
            pen.bar((96, 140, 176), at, 0.49, at + 0.022, 0.555, 0.4)
    pen.shape(darker(shade, 0.2), ".38,.64 .54,.64 .76,1 .66,1")
    pen.bar(darker(stripe), 0.36, 0.76, 0.5, 0.93, 0.5)
    pen.bar(STEEL, 0.36, 0.78, 0.385, 0.91, 0.4)


def _aeroplane_from_the_front(pen: Pen, stripe: Colour) -> None:
    body, shade = (240, 243, 246), (190, 200, 212)
    pen.shape(stripe, ".465,.3 .49,0 .51,0 .535,.3")
    pen.shape(shade, ".5,.26 .76,.2 .76,.24 .5,.36")
    pen.shape(shade, ".5,.26 .24,.2 .24,.24 .5,.36")
    for side in (-1, 1):
        pen.shape(
            shade, (0.5, 0.6), (0.5 + side * 0.5, 0.42), (0.5 + side * 0.5, 0.47), (0.5, 0.76)
        )
        pen.disc(stripe, 0.5 + side * 0.27, 0.66, 0.085)
        pen.disc(INK, 0.5 + side * 0.27, 0.66, 0.055)
        pen.line(STEEL, 0.02, (0.5 + side * 0.12, 0.8), (0.5 + side * 0.12, 0.94))
        pen.bar(INK, 0.5 + side * 0.12 - 0.02, 0.9, 0.5 + side * 0.12 + 0.02, 1.0, 0.4)
    pen.oval(body, 0.5, 0.57, pen.wide(0.19), pen.high(0.27))
    pen.oval(stripe, 0.5, 0.7, pen.wide(0.1), pen.high(0.05))
    pen.shape(
        INK,
        (0.5 - pen.wide(0.12), 0.48),
        (0.5 - pen.wide(0.07), 0.42),
        (0.5 + pen.wide(0.07), 0.42),
        (0.5 + pen.wide(0.12), 0.48),
    )


def bicycle(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    paint = pen.any(PAINTS[:4])
    if pen.ratio < 0.85:
        pen.line(STEEL, 0.07, ".03,.12 .5,.06 .97,.12")
        pen.line(INK, 0.1, (0.05, 0.12), (0.17, 0.1))
        pen.line(INK, 0.1, (0.83, 0.1), (0.95, 0.12))
        pen.bar(INK, 0.36, 0.0, 0.64, 0.05, 0.5)
        pen.oval(INK, 0.5, 0.7, 0.17, 0.3)
        pen.oval(STEEL, 0.5, 0.7, 0.07, 0.24)
        pen.line(paint, 0.1, (0.5, 0.08), (0.5, 0.34))
        pen.line(paint, 0.08, ".26,.7 .28,.38 .72,.38 .74,.7")
        pen.disc(LAMP, 0.5, 0.24, 0.12)
        return
    radius = min(0.3 * pen.box[3], 0.235 * pen.box[2]) / min(pen.box[2:])
    high, wide = 1 - pen.high(radius), pen.wide(radius)
    front, back = (wide, high), (1 - wide, high)
    pedals, saddle, fork = (0.52, high + 0.02), (0.62, 0.24), (0.3, 0.2)
    for u, v in (front, back):
        pen.ring(INK, u, v, radius, 0.035)
        if not pen.small:
            for one, other in ((0.7, 0.7), (0.7, -0.7), (1, 0), (0, 1)):
                du, dv = wide * 0.9 * one, pen.high(radius) * 0.9 * other
                pen.line((176, 182, 190), 0.006, (u - du, v - dv), (u + du, v + dv))
        pen.disc(STEEL, u, v, radius * 0.14)
    pen.line(paint, 0.045, back, (0.61, 0.3), pedals, back)
    pen.line(paint, 0.045, (0.61, 0.32), (0.31, 0.32), pedals)
    pen.line(paint, 0.045, front, fork)
    pen.line(STEEL, 0.03, (0.61, 0.32), (saddle[0] + 0.01, 0.16))
    pen.bar(INK, 0.55, 0.1, 0.73, 0.17, 0.5)
    pen.line(INK, 0.04, fork, (0.28, 0.03), (0.2, 0.02))
    pen.ring(STEEL, pedals[0], pedals[1], radius * 0.32, 0.03)
    pen.line(INK, 0.03, pedals, (0.5, min(high + 0.16, 0.97)))


def motorbike(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    paint = pen.any(PAINTS_DARK)
    if pen.ratio < 1.1:
        pen.line(STEEL, 0.06, ".03,.26 .25,.16 .75,.16 .97,.26")
        for side in (0.14, 0.86):
            pen.line(STEEL, 0.03, (side, 0.2), (side, 0.08))
            pen.oval(INK, side, 0.05, 0.09, 0.05)
        pen.bar(INK, 0.36, 0.42, 0.64, 1.0, 0.45)
        pen.bar(STEEL, 0.29, 0.3, 0.35, 0.84, 0.5)
        pen.bar(STEEL, 0.65, 0.3, 0.71, 0.84, 0.5)
        pen.curve(paint, ".26,.52 .2,.16 .5,0 .8,.16 .74,.52 .5,.62")
        pen.curve(GLASS, ".3,.16 .5,.03 .7,.16 .5,.22")
        pen.disc(LAMP, 0.5, 0.36, 0.12)
        return
    radius = min(0.3 * pen.box[3], 0.2 * pen.box[2]) / min(pen.box[2:])
    high, wide = 1 - pen.high(radius), pen.wide(radius)
    pen.line(STEEL, 0.05, (wide, high), (0.34, 0.16))
    pen.line(INK, 0.1, (1 - wide, high), (0.66, 0.62))
    _wheel(pen, wide, high, radius)
    _wheel(pen, 1 - wide, high, radius)
    pen.bar(darker(STEEL, 0.3), 0.4, 0.52, 0.64, 0.86, 0.2)
    pen.disc(STEEL, 0.5, 0.68, 0.13)
    pen.line(lighter(STEEL), 0.06, (0.5, 0.84), (0.94, 0.8))
    pen.curve(INK, ".56,.36 .7,.3 .96,.22 1,.3 .9,.44 .6,.5")
    pen.curve(paint, ".3,.3 .4,.22 .58,.28 .64,.44 .5,.56 .34,.5")
    pen.curve(
        paint,
        (wide * 0.3, high - pen.high(radius) * 0.85),
        (wide, high - pen.high(radius) * 1.2),
        (wide * 1.9, high - pen.high(radius) * 0.7),
        (wide, high - pen.high(radius) * 0.8),
    )
    pen.line(INK, 0.05, ".34,.16 .38,.03 .47,.06")
    pen.disc(LAMP, 0.28, 0.24, 0.085)
    pen.shape(GLASS, ".29,.14 .36,0 .39,.02 .35,.16")


def car(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    paint = pen.any(PAINTS)
    if pen.ratio < 1.35:
        pen.bar(INK, 0.06, 0.7, 0.24, 1.0, 0.3)
        pen.bar(INK, 0.76, 0.7, 0.94, 1.0, 0.3)
        pen.curve(paint, ".1,.46 .2,.04 .5,0 .8,.04 .9,.46")
        pen.shape(GLASS, ".17,.44 .25,.1 .75,.1 .83,.44")
        pen.bar(paint, 0.0, 0.42, 1.0, 0.86, 0.3)
        pen.bar(darker(paint, 0.3), 0.28, 0.6, 0.72, 0.76, 0.3)
        pen.bar(darker(paint), 0.02, 0.78, 0.98, 0.86, 0.5)
        for side in (0.13, 0.87):
            pen.oval(LAMP, side, 0.58, 0.085, 0.075)
        pen.bar(WHITE, 0.39, 0.78, 0.61, 0.85, 0.2)
        return
    radius = min(0.22 * pen.box[3], 0.12 * pen.box[2]) / min(pen.box[2:])
    high = 1 - pen.high(radius)
    pen.curve(paint, ".16,.46 .3,.06 .42,0 .66,0 .78,.1 .9,.46")
    pen.shape(GLASS, ".25,.44 .36,.13 .51,.12 .51,.44")
    pen.shape(GLASS, ".55,.44 .55,.12 .69,.13 .82,.44")
    pen.bar(paint, 0.0, 0.4, 1.0, 0.86, 0.36)
    pen.bar(darker(paint), 0.02, 0.7, 0.98, 0.86, 0.5)
    pen.bar(LAMP, 0.0, 0.5, 0.05, 0.62, 0.5)
    pen.bar((214, 72, 62), 0.96, 0.5, 1.0, 0.62, 0.5)
    if not pen.small:
        pen.line(darker(paint, 0.3), 0.014, (0.53, 0.44), (0.53, 0.8))
        pen.bar(darker(paint, 0.4), 0.57, 0.52, 0.63, 0.555, 0.5)
    for at in (0.22, 0.79):
        pen.disc(darker(paint, 0.5), at, high, radius * 1.18)
        _wheel(pen, at, high, radius)


def bus(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    paint = pen.any(((214, 74, 66), (240, 182, 64), (64, 124, 178), (84, 152, 124)))
    if pen.ratio < 1.3:
        pen.bar(INK, 0.08, 0.85, 0.26, 1.0, 0.3)
        pen.bar(INK, 0.74, 0.85, 0.92, 1.0, 0.3)
        pen.bar(darker(paint), 0.0, 0.3, 0.04, 0.48, 0.4)
        pen.bar(darker(paint), 0.96, 0.3, 1.0, 0.48, 0.4)
        pen.bar(paint, 0.03, 0.0, 0.97, 0.94, 0.1)
        pen.bar(INK, 0.2, 0.03, 0.8, 0.12, 0.3)
        pen.bar(LAMP, 0.26, 0.055, 0.64, 0.095, 0.2)
        pen.bar(GLASS, 0.09, 0.16, 0.91, 0.56, 0.12)
        pen.shape(lighter(GLASS, 0.5), ".2,.17 .36,.17 .26,.55 .1,.55")
        pen.bar(darker(paint), 0.49, 0.16, 0.51, 0.56)
        pen.bar(WHITE, 0.03, 0.62, 0.97, 0.67)
        for side in (0.17, 0.83):
            pen.oval(LAMP, side, 0.78, 0.075, 0.05)
        pen.bar(darker(paint, 0.4), 0.3, 0.73, 0.7, 0.83, 0.2)
        return
    radius = min(0.15 * pen.box[3], 0.1 * pen.box[2]) / min(pen.box[2:])
    high = 1 - pen.high(radius)
    pen.bar(paint, 0.0, 0.0, 1.0, 0.9, 0.12)
    pen.bar(WHITE, 0.0, 0.56, 1.0, 0.62)
    pen.bar(darker(paint), 0.0, 0.8, 1.0, 0.9, 0.3)
    pen.bar(GLASS, 0.02, 0.14, 0.12, 0.52, 0.2)
    pen.bar(GLASS, 0.15, 0.14, 0.25, 0.84, 0.15)
    pen.bar(darker(paint), 0.195, 0.14, 0.205, 0.84)
    for step in range(5):
        at = 0.285 + step * 0.139
        pen.bar(GLASS, at, 0.14, at + 0.12, 0.46, 0.15)
        pen.shape(
            lighter(GLASS, 0.5),
            (at + 0.04, 0.15),
            (at + 0.07, 0.15),
            (at + 0.04, 0.45),
            (at + 0.01, 0.45),
        )
    pen.bar(LAMP, 0.0, 0.68, 0.03, 0.76, 0.5)
    for at in (0.34, 0.82):
        pen.disc(darker(paint, 0.5), at, high, radius * 1.2)
        _wheel(pen, at, high, radius)


def train(pen: Pen) -> None:
    """From the side; from the front where the box is narrow."""
    paint = pen.any(((196, 66, 62), (58, 110, 164), (70, 136, 110), (226, 160, 60)))
    if pen.ratio < 1.7:
        pen.shape(darker(paint, 0.3), ".58,.06 1,.24 1,.84 .58,.96")
        for step in range(4):
            at = 0.72 + step * 0.07
            pen.shape(
                GLASS,
                (at, 0.26 + step * 0.025),
                (at + 0.045, 0.276 + step * 0.025),
                (at + 0.045, 0.49),
                (at, 0.495),
            )
        pen.bar(INK, 0.06, 0.84, 0.6, 1.0, 0.1)
        pen.curve(paint, "0,.9 .02,.3 .1,.06 .34,0 .58,.06 .67,.3 .68,.9 .34,.94")
        pen.bar(GLASS, 0.08, 0.2, 0.6, 0.46, 0.2)
        pen.bar(paint, 0.33, 0.2, 0.35, 0.46)
        pen.bar(INK, 0.18, 0.07, 0.5, 0.14, 0.4)
        pen.bar(LAMP, 0.24, 0.09, 0.44, 0.125, 0.3)
        pen.bar(WHITE, 0.02, 0.55, 0.66, 0.6)
        for side in (0.13, 0.55):
            pen.disc(LAMP, side, 0.7, 0.055)
        pen.bar(darker(paint, 0.4), 0.26, 0.66, 0.42, 0.82, 0.1)
        return
    wagons = max(1, round(pen.ratio / 2.4))
    for wagon in range(wagons):
        left, wide = wagon / wagons, 1 / wagons - 0.006
        right = left + wide
        for step in (0.14, 0.26, 0.74, 0.86):
            pen.disc(INK, left + wide * step, 1 - pen.high(0.1), 0.1)
        pen.bar(paint, left, 0.08, right, 0.88, 0.1)
        if wagon == 0:
            pen.curve(
                paint,
                (0.0, 0.88),
                (0.0, 0.56),
                (wide * 0.16, 0.08),
                (wide * 0.4, 0.07),
                (wide * 0.4, 0.88),
            )
        pen.bar(darker(paint, 0.4), left + wide * 0.06, 0.8, right, 0.9)
        pen.bar(WHITE, left, 0.56, right, 0.63)
        pen.bar(darker(paint, 0.35), left + wide * 0.2, 0.0, right - wide * 0.06, 0.1, 0.3)
        for step in range(5):
            at = left + wide * (0.24 + step * 0.148)
            pen.bar(GLASS, at, 0.22, at + wide * 0.11, 0.5, 0.2)
    first = 1 / wagons
    pen.shape(
        GLASS, (first * 0.055, 0.46), (first * 0.14, 0.2), (first * 0.2, 0.2), (first * 0.2, 0.46)
    )
    pen.oval(LAMP, first * 0.05, 0.68, first * 0.025, 0.05)


def boat(pen: Pen) -> None:
    """A sail, or a cabin where the box is wide."""
    hull = pen.any(((186, 68, 62), (52, 92, 140), (238, 238, 234), (150, 98, 60)))
    if pen.ratio < 1.35:
        pen.line(WOOD, 0.03, (0.46, 0.01), (0.46, 0.84))
        pen.shape((250, 246, 234), ".49,.03 .98,.72 .49,.76")
        pen.shape(pen.any(CLOTHES[:4]), ".43,.1 .43,.76 .06,.74")
        pen.curve(hull, "0,.8 .5,.82 1,.79 .9,.95 .72,1 .26,1 .1,.94")
        pen.shape(darker(hull), ".08,.92 .93,.92 .76,1 .22,1")
        return
    pen.line(STEEL, 0.03, (0.56, 0.0), (0.56, 0.4))
    pen.shape(CLOTHES[0], ".57,.01 .72,.08 .57,.16")
    pen.bar(WHITE, 0.36, 0.26, 0.78, 0.62, 0.15)
    pen.bar(darker(hull), 0.32, 0.22, 0.82, 0.3, 0.5)
    for at in (0.41, 0.54, 0.67):
        pen.bar((110, 160, 190), at, 0.36, at + 0.08, 0.5, 0.3)
    pen.shape(hull, "0,.5 .2,.58 1,.56 .92,1 .2,1")
    pen.shape(WHITE, "0,.5 .2,.58 1,.56 .985,.64 .2,.66 .04,.58")
    pen.shape(darker(hull), ".15,.88 .945,.88 .92,1 .2,1")


# --- What stands in rooms -------------------------------------------------------------------------


def bottle(pen: Pen) -> None:
    """With a label; a fallen one would look the same."""
    glass = pen.any(((70, 130, 88), (140, 84, 48), (84, 140, 176), (110, 60, 74)))
    pen.bar(lighter(glass, 0.1), 0.34, 0.04, 0.66, 0.4, 0.2)
    pen.curve(glass, ".36,.26 .64,.26 .72,.34 1,.46 1,.8 .98,1 .5,1 .02,1 0,.8 0,.46 .28,.34")
    pen.bar(pen.random.choice((LAMP, CLOTHES[0], WHITE)), 0.3, 0.0, 0.7, 0.09, 0.3)
    pen.bar((246, 238, 218), 0.0, 0.56, 1.0, 0.82)
    pen.bar(darker(glass), 0.2, 0.62, 0.8, 0.66, 0.5)
    pen.bar(CLOTHES[0], 0.32, 0.69, 0.68, 0.76, 0.5)
    pen.bar(lighter(glass, 0.5), 0.12, 0.46, 0.22, 0.54, 0.5)


def chair(pen: Pen) -> None:
    """Of wood, with a cushion."""
    wood = pen.any(((180, 126, 78), (132, 88, 60), (210, 168, 112), (88, 104, 120)))
    dark, seat = darker(wood), pen.any(CLOTHES[:5])
    for at in (0.22, 0.78):
        pen.line(darker(dark), 0.055, (at, 0.6), (at, 0.9))
    for at in (0.1, 0.9):
        pen.line(wood, 0.075, (at, 0.05), (at, 0.58))
        pen.line(wood, 0.075, (at, 0.6), (0.04 if at < 0.5 else 0.96, 0.97))
    pen.bar(wood, 0.06, 0.0, 0.94, 0.13, 0.4)
    for at in (0.3, 0.5, 0.7):
        pen.bar(dark, at - 0.04, 0.12, at + 0.04, 0.52)
    pen.shape(seat, ".1,.48 .9,.48 1,.6 0,.6")
    pen.bar(darker(seat), 0.0, 0.6, 1.0, 0.66, 0.3)


def diningtable(pen: Pen) -> None:
    """Laid, with a cloth."""
    wood, cloth = pen.any((WOOD, (146, 98, 64), (204, 160, 106))), pen.any(CLOTHES)
    top = 0.3 if pen.ratio > 1.0 else 0.22
    for at in (0.14, 0.86):
        pen.bar(darker(wood, 0.3), at - 0.035, top, at + 0.035, 0.92 if not pen.cut else 1.0)
    for at in (0.05, 0.95):
        pen.bar(wood, at - 0.05, top, at + 0.05, 1.0, 0.1)
    pen.shape(lighter(wood), (0.12, 0.0), (0.88, 0.0), (1.0, top), (0.0, top))
    pen.bar(wood, 0.0, top, 1.0, top + 0.1, 0.2)
    pen.shape(lighter(cloth, 0.3), (0.32, 0.0), (0.68, 0.0), (0.74, top), (0.26, top))
    pen.shape(
        darker(lighter(cloth, 0.3), 0.1),
        (0.26, top),
        (0.74, top),
        (0.74, top + 0.2),
        (0.5, top + 0.26),
        (0.26, top + 0.2),
    )
    for at in (0.22, 0.78):
        pen.oval(WHITE, at, top * 0.5, 0.085, top * 0.28)
        pen.oval((214, 220, 222), at, top * 0.5, 0.05, top * 0.16)
    pen.oval((214, 122, 70), 0.5, top * 0.45, 0.07, top * 0.3)
    for at, fruit in ((0.47, (206, 84, 72)), (0.53, (240, 190, 84)), (0.5, (120, 164, 88))):
        pen.oval(fruit, at, top * 0.3, 0.025, top * 0.16)


def sofa(pen: Pen) -> None:
    """With two cushions."""
    cloth = pen.any(
        ((94, 130, 150), (188, 96, 82), (146, 150, 104), (120, 104, 148), (208, 160, 92))
    )
    dark = darker(cloth)
    for at in (0.1, 0.9):
        pen.bar(darker(WOOD, 0.4), at - 0.025, 0.9, at + 0.025, 1.0)
    pen.bar(dark, 0.06, 0.0, 0.94, 0.7, 0.2)
    pen.bar(cloth, 0.1, 0.04, 0.495, 0.62, 0.15)
    pen.bar(cloth, 0.505, 0.04, 0.9, 0.62, 0.15)
    pen.bar(lighter(cloth), 0.1, 0.5, 0.497, 0.74, 0.3)
    pen.bar(lighter(cloth), 0.503, 0.5, 0.9, 0.74, 0.3)
    pen.bar(dark, 0.08, 0.72, 0.92, 0.93, 0.1)
    for left in (0.0, 0.86):
        pen.bar(cloth, left, 0.34, left + 0.14, 0.95, 0.4)
        pen.bar(lighter(cloth, 0.15), left, 0.34, left + 0.14, 0.48, 0.5)
    pillow = pen.any(CLOTHES)
    pen.curve(pillow, ".16,.26 .34,.3 .32,.58 .15,.54")


def pottedplant(pen: Pen) -> None:
    """Leaves over a pot."""
    leaf, pot = (
        pen.any(((88, 150, 88), (64, 128, 92), (122, 164, 84))),
        pen.any(((196, 106, 70), (214, 210, 202), (84, 116, 140))),
    )
    for tip, colour in (
        ((0.03, 0.34), darker(leaf)),
        ((0.97, 0.3), darker(leaf)),
        ((0.16, 0.08), leaf),
        ((0.84, 0.1), leaf),
        ((0.1, 0.56), leaf),
        ((0.9, 0.55), leaf),
        ((0.36, 0.03), lighter(leaf, 0.15)),
        ((0.66, 0.0), darker(leaf, 0.1)),
        ((0.5, 0.06), lighter(leaf, 0.25)),
    ):
        u, v = tip
        across = 0.1 if abs(u - 0.5) < 0.25 else 0.03
        mid = ((0.5 + u) / 2, (0.68 + v) / 2 - 0.05)
        pen.curve(
            colour,
            (0.5, 0.7),
            (mid[0] - across, mid[1] - 0.07),
            tip,
            (mid[0] + across, mid[1] + 0.07),
        )
    pen.shape(pot, ".24,.7 .76,.7 .68,1 .32,1")
    pen.bar(lighter(pot), 0.2, 0.66, 0.8, 0.75, 0.3)


def tvmonitor(pen: Pen) -> None:
    """With a landscape on its screen."""
    sky, hill = (
        pen.any(((126, 186, 216), (240, 180, 140), (104, 140, 196))),
        pen.any(((96, 152, 116), (70, 110, 130))),
    )
    pen.bar(STEEL, 0.44, 0.8, 0.56, 0.96)
    pen.bar(darker(STEEL, 0.3), 0.26, 0.94, 0.74, 1.0, 0.5)
    pen.bar(INK, 0.0, 0.0, 1.0, 0.87, 0.07)
    pen.bar(sky, 0.05, 0.06, 0.95, 0.79, 0.03)
    pen.disc(LAMP, 0.72, 0.26, 0.08)
    pen.shape(lighter(hill, 0.2), ".05,.79 .05,.56 .3,.34 .58,.66 .7,.79")
    pen.shape(hill, ".3,.79 .66,.46 .95,.7 .95,.79")
    pen.disc((120, 220, 140), 0.93, 0.83, 0.015)


DRAWN: Final[Mapping[str, Callable[[Pen], None]]] = {
    one.__name__: one
    for one in (
        *(aeroplane, bicycle, bird, boat, bottle, bus, car, cat, chair, cow, diningtable, dog),
        *(horse, motorbike, person, pottedplant, sheep, sofa, train, tvmonitor),
    )
}
"""How each label is drawn."""
