"""Boxes in; uneven outlines inside them, and their masks as COCO writes them, out."""

from __future__ import annotations

from typing import Any

import numpy as np
from pycocotools import mask

CORNERS = 14

Array = np.ndarray[Any, Any]


def outlines(rng: np.random.Generator, box: Array) -> Array:
    """(n, CORNERS, 2) corners of stars that fill some 60 % of (n, 4) boxes."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, (len(box), CORNERS)), axis=1)
    reach = rng.uniform(0.72, 1.0, (len(box), CORNERS)) / 2
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=2) * reach[..., None] + 0.5
    return np.round(box[:, None, :2] + unit * box[:, None, 2:], 2)


def moved(outline: Array, old: Array, new: Array) -> Array:
    """Outlines inside (n, 4) old boxes, moved and stretched into the new ones."""
    unit = (outline - old[:, None, :2]) / old[:, None, 2:]
    return new[:, None, :2] + unit * new[:, None, 2:]


def run_lengths(outline: Array, size: Array) -> list[dict[str, Any]]:
    """Compressed run lengths of each outline in an image of that width and height."""
    found = []
    for points, (width, height) in zip(outline, size.tolist(), strict=True):
        one = mask.frPyObjects([points.ravel()], height, width)[0]
        found.append({"size": [height, width], "counts": one["counts"].decode()})
    return found


def listed(one: dict[str, Any]) -> dict[str, Any]:
    """The same run lengths, not compressed, as COCO has those of crowds."""
    line = mask.decode(one).ravel(order="F")
    ends = np.flatnonzero(np.diff(line, prepend=0))
    return {"size": one["size"], "counts": np.diff(ends, prepend=0, append=line.size).tolist()}


def area(one: dict[str, Any]) -> float:
    """Pixels of run lengths."""
    return float(mask.area(one))
