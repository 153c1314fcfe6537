"""Read objects as KITTI label files, one per image.

A line is `type truncated occluded alpha left top right bottom h w l x y z rotation_y`, and in
results a score at its end: the box is read, in pixels. Regions marked `DontCare` are left out.
"""

from __future__ import annotations

from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading

SCORED_FIELDS: Final = 16
_BOX: Final = slice(4, 8)
_CORNERS: Final = ("left", "top", "right", "bottom")
_NO_OBJECT: Final = "DontCare"


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Boxes of a folder of label files; image ids are file names without extension.

    Args:
        path: The folder.
        role: Which side it is.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read, or a line is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata)
    expected = SCORED_FIELDS - (not images.predicted)
    ignored = 0
    for file, text in images.files(".txt", may_be_empty=True):
        images.add_image(stem_of(file))
        for line, fields in enumerate(map(str.split, text.split("\n")), 1):
            if not fields:
                continue
            if fields[0] == _NO_OBJECT:
                ignored += 1
                continue
            images.found += 1
            # A ground truth may be made of results.
            if len(fields) not in (expected, SCORED_FIELDS):
                hint = ": the score is missing" if len(fields) == expected - 1 else ""
                message = f"expected {expected} fields, found {len(fields)}{hint}"
                images.problems.add(line, "", message)
                continue
            before = images.problems.total
            corners = [
                images.number(one, line, name)
                for name, one in zip(_CORNERS, fields[_BOX], strict=True)
            ]
            score = images.number(fields[-1], line, "score") if images.predicted else 0.0
            if images.problems.total == before:
                images.add_box(fields[0], corners, line, score=score)
    warnings = [
        f"{path}: regions marked DontCare are left out, and detections in them count: {ignored:,}"
    ] * (ignored > 0)
    return images.object_file(how.invalid, warnings)
