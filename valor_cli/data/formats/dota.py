"""Read objects as DOTA label files: rotated boxes by their corners.

Ground truth has a file an image, with lines `x1 y1 x2 y2 x3 y3 x4 y4 category difficult`; the first
lines may say `imagesource:` and `gsd:`. Difficult objects are ignored in matching. Results have a
file a class, `Task1_plane.txt`, with lines `image score x1 y1 x2 y2 x3 y3 x4 y4`. Image ids are
names of files without extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from valor_cli.data.formats.annotated_images import (
    AnnotatedImages,
    field_lines,
    read_annotations,
    stem_of,
)
from valor_cli.data.values import describe

_HEADERS: Final = ("imagesource:", "gsd:")
_CORNERS: Final = ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4")
_RESULTS: Final = ("Task1_", "Task2_")
"""What files of results begin with: those of rotated boxes, and those of upright ones."""


def is_result(name: str) -> bool:
    """Whether a file of this name holds results."""
    return name.startswith(_RESULTS)


def _parse(found: AnnotatedImages, text: str) -> None:
    stem = stem_of(found.path)
    label = stem.split("_", 1)[1] if is_result(stem) else stem
    if not found.predicted:
        found.add_image()
    for line, fields in field_lines(text):
        if fields[0].lower().startswith(_HEADERS):
            continue
        found.begin(line)
        if found.predicted:
            _add_result(found, fields, label)
        else:
            _add_object(found, fields)


def _add_object(found: AnnotatedImages, fields: Sequence[str]) -> None:
    if len(fields) not in (9, 10):
        expected = "8 coordinates, a category and whether it is difficult"
        found.fault("", f"expected {expected}, found {len(fields)} fields")
        return
    ring = list(map(found.number, fields[:8], _CORNERS))
    difficult = fields[9] if len(fields) > 9 else "0"
    # DOTA 1.5 marks very small objects 2.
    if difficult not in ("0", "1", "2"):
        found.fault("difficult", f"expected 0, 1 or 2, found {describe(difficult)}")
    found.add("polygon", fields[8], ring, difficult=difficult != "0")


def _add_result(found: AnnotatedImages, fields: Sequence[str], label: str) -> None:
    if len(fields) not in (6, 10):
        message = f"expected an image, a score and 8 coordinates, found {len(fields)} fields"
        found.fault("", message)
        return
    image, said, *sides = fields
    score = found.number(said, "score")
    if len(sides) == 4:
        left, top, right, bottom = sides
        sides = [left, top, right, top, right, bottom, left, bottom]
    ring = list(map(found.number, sides, _CORNERS))
    if found.sound:
        found.of_image(image)
        found.add("polygon", label, ring, score=score)


read_objects = partial(read_annotations, parse=_parse, ending=".txt")
