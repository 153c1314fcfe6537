"""Read objects as DOTA label files: rotated boxes by their corners.

Ground truth has a file an image, with lines `x1 y1 x2 y2 x3 y3 x4 y4 category difficult`; the first
lines may say `imagesource:` and `gsd:`. Difficult objects are ignored in matching. Results have a
file a class, `Task1_plane.txt`, with lines `image score x1 y1 x2 y2 x3 y3 x4 y4`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.values import describe

HEADERS: Final = ("imagesource:", "gsd:")
_CORNERS: Final = ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4")


_RESULTS: Final = ("Task1_", "Task2_")
"""What files of results begin with: those of rotated boxes, and those of upright ones."""


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Polygons of a folder of label files; image ids are file names without extension.

    Args:
        path: The folder.
        role: Which side it is.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read, or a line is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata)
    for file, text in images.files(".txt", may_be_empty=True):
        label = _label_of(stem_of(file))
        if not images.predicted:
            images.add_image(stem_of(file))
        for line, content in enumerate(text.split("\n"), 1):
            fields = content.split()
            if not fields or content.lower().startswith(HEADERS):
                continue
            images.found += 1
            if images.predicted:
                _add_result(fields, label, line, images)
            else:
                _add_object(fields, line, images)
    return images.object_file(how.invalid)


def is_result(name: str) -> bool:
    """Whether a file of this name holds results."""
    return name.startswith(_RESULTS)


def _label_of(stem: str) -> str:
    return stem.split("_", 1)[1] if is_result(stem) else stem


def _add_object(fields: Sequence[str], line: int, images: AnnotatedImages) -> None:
    if len(fields) not in (9, 10):
        message = (
            "expected 8 coordinates, a category and whether it is difficult, found "
            f"{len(fields)} fields"
        )
        images.problems.add(line, "", message)
        return
    before = images.problems.total
    ring = _ring(fields[:8], line, images)
    difficult = fields[9] if len(fields) > 9 else "0"
    # DOTA 1.5 marks very small objects 2.
    if difficult not in ("0", "1", "2"):
        message = f"expected 0, 1 or 2, found {describe(difficult)}"
        images.problems.add(line, "difficult", message)
    if images.problems.total == before:
        images.add_polygon(fields[8], ring, line, difficult=difficult != "0")


def _add_result(fields: Sequence[str], label: str, line: int, images: AnnotatedImages) -> None:
    if len(fields) not in (6, 10):
        message = f"expected an image, a score and 8 coordinates, found {len(fields)} fields"
        images.problems.add(line, "", message)
        return
    before = images.problems.total
    score = images.number(fields[1], line, "score")
    sides = fields[2:]
    if len(sides) == 4:
        left, top, right, bottom = sides
        sides = [left, top, right, top, right, bottom, left, bottom]
    ring = _ring(sides, line, images)
    if images.problems.total == before:
        images.of_image(fields[0])
        images.add_polygon(label, ring, line, score=score)


def _ring(fields: Sequence[str], line: int, images: AnnotatedImages) -> list[float]:
    return [images.number(one, line, name) for name, one in zip(_CORNERS, fields, strict=True)]
