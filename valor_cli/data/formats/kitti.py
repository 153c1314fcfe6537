"""Read objects as KITTI label files, one per image.

A line is `type truncated occluded alpha left top right bottom h w l x y z rotation_y`, and in
results a score at its end: the box is read, in pixels. Regions marked `DontCare` are left out.
Image ids are file names without extension.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, field_lines, read_annotations

SCORED_FIELDS: Final = 16
_BOX: Final = slice(4, 8)
_CORNERS: Final = ("left", "top", "right", "bottom")
_NO_OBJECT: Final = "DontCare"
_LEFT_OUT: Final = "regions marked DontCare are left out, and detections in them count"


def _parse(found: AnnotatedImages, text: str) -> None:
    expected = SCORED_FIELDS - (not found.predicted)
    found.add_image()
    for line, fields in field_lines(text):
        if fields[0] == _NO_OBJECT:
            found.left_out[_LEFT_OUT] += 1
            continue
        found.begin(line)
        # A ground truth may be made of results.
        if len(fields) not in (expected, SCORED_FIELDS):
            hint = ": the score is missing" if len(fields) == expected - 1 else ""
            found.fault("", f"expected {expected} fields, found {len(fields)}{hint}")
            continue
        corners = list(map(found.number, fields[_BOX], _CORNERS))
        score = found.number(fields[-1], "score") if found.predicted else 0.0
        found.add("box", fields[0], corners, score=score)


read_objects = partial(read_annotations, parse=_parse, ending=".txt")
