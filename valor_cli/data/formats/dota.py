"""Read ground truth as DOTA label files, one per image.

A line is `x1 y1 x2 y2 x3 y3 x4 y4 category difficult`, the corners of a rotated box in pixels; the
first lines may say `imagesource:` and `gsd:`. Difficult objects are ignored in matching.
"""

from __future__ import annotations

from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.values import describe

HEADERS: Final = ("imagesource:", "gsd:")
_CORNERS: Final = ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4")


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Polygons of a folder of label files; image ids are file names without extension.

    Args:
        path: The folder.
        role: Which side it is: ground truth, as there are no scores.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read, or a line is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata, unscored="DOTA")
    for file, text in images.files(".txt", may_be_empty=True):
        images.add_image(stem_of(file))
        for line, content in enumerate(text.split("\n"), 1):
            fields = content.split()
            if not fields or content.lower().startswith(HEADERS):
                continue
            images.found += 1
            if len(fields) not in (9, 10):
                message = (
                    "expected 8 coordinates, a category and whether it is difficult, found "
                    f"{len(fields)} fields"
                )
                images.problems.add(line, "", message)
                continue
            before = images.problems.total
            ring = [
                images.number(one, line, name)
                for name, one in zip(_CORNERS, fields[:8], strict=True)
            ]
            difficult = fields[9] if len(fields) > 9 else "0"
            # DOTA 1.5 marks very small objects 2.
            if difficult not in ("0", "1", "2"):
                message = f"expected 0, 1 or 2, found {describe(difficult)}"
                images.problems.add(line, "difficult", message)
            if images.problems.total == before:
                images.add_polygon(fields[8], ring, line, difficult=difficult != "0")
    return images.object_file(how.invalid)
