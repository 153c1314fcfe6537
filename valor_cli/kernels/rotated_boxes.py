"""Overlap of rotated boxes: pairs of them in, the areas they share out."""

from __future__ import annotations

import numpy as np

from valor_cli.kernels.columns import quotient
from valor_cli.kernels.polygons import corners, directions
from valor_cli.kernels.shapes import Floats


def shared_areas(a: Floats, b: Floats) -> Floats:
    """(pairs,) area that each of (pairs, 5) `a` shares with its (pairs, 5) `b`.

    Seen from the corner of `b`, it is the rectangle from 0, 0 to its width and height. The area of
    `a` inside is the sum over its edges of the integral of y, cut to the rectangle, over x, cut
    to the rectangle: the trapezoids below edges to the right, less those below edges to the left.
    """
    width, height = b[:, 2:3], b[:, 3:4]
    x, y = _seen_from(b, a)
    x2, y2 = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    left, right = np.clip(x, 0, width), np.clip(x2, 0, width)
    run, rise = x2 - x, y2 - y
    start = y + quotient(left - x, run, 0.0) * rise
    stop = y + quotient(right - x, run, 0.0) * rise
    area = (_mean_height(start, stop, height) * (right - left)).sum(axis=1)
    # Rounding may leave a trace more than there is.
    most = np.minimum(a[:, 2] * a[:, 3], b[:, 2] * b[:, 3])
    return np.asarray(np.minimum(np.abs(area), most))


def _seen_from(b: Floats, a: Floats) -> tuple[Floats, Floats]:
    """x and y (pairs, 4) of the corners of `a`, along the sides of `b`, from its first corner."""
    cosine, sine = directions(b[:, 4])
    x, y = a[:, 0] - b[:, 0], a[:, 1] - b[:, 1]
    moved = np.column_stack(
        [x * cosine + y * sine, y * cosine - x * sine, a[:, 2:4], a[:, 4] - b[:, 4]]
    )
    seen = corners(moved) + b[:, None, 2:4] / 2
    return seen[:, :, 0], seen[:, :, 1]


def _mean_height(start: Floats, stop: Floats, height: Floats) -> Floats:
    """Mean of a straight line from start to stop, cut to 0 … height."""
    low, high = np.clip(start, 0, height), np.clip(stop, 0, height)
    # Between the ends of the part inside it is straight; before and after, it is constant.
    climb = stop - start
    begin = np.clip(quotient(low - start, climb, 0.0), 0, 1)
    end = np.clip(1 - quotient(stop - high, climb, 0.0), 0, 1)
    return np.asarray(low * begin + (low + high) / 2 * (end - begin) + high * (1 - end))
