"""Read ground truth as CVAT XML 1.1 ("CVAT for images").

`<annotations>` has an `<image name width height>` for each image, and in it `<box label xtl ytl xbr
ybr rotation>` and `<polygon label points="x,y;x,y;…">`. Boxes that are rotated turn about their
centre, clockwise, by degrees. Image ids are names without extension.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, read_annotations
from valor_cli.data.formats.folders import without_extension
from valor_cli.data.formats.xml_elements import Element, root_element

_CORNERS: Final = ("xtl", "ytl", "xbr", "ybr")
_READ: Final = {"box": _CORNERS, "polygon": ("points",)}
"""The attributes of objects that are read."""

_OTHERS: Final = ("cuboid", "ellipse", "mask", "points", "polyline", "skeleton")


def _parse(found: AnnotatedImages, text: str) -> None:
    root = root_element(found, text, "annotations", "CVAT")
    for one in () if root is None else root.children:
        name = one.attributes.get("name")
        if one.name == "track":
            message = 'tracks are not read; export the task as "CVAT for images 1.1"'
            found.faults.add(one.line, "track", message)
        elif one.name == "image" and not name:
            found.faults.add(one.line, "image", "the attribute 'name' is missing")
        elif one.name == "image" and name:
            width, height = (
                found.side(one.attributes.get(key) or None, f"image.{key}", one.line)
                for key in ("width", "height")
            )
            image = without_extension(name)
            found.add_image(image, width, height, line=one.line, key="image.name", file_name=name)
            for child in one.children:
                _add_object(found, child)


def _add_object(found: AnnotatedImages, one: Element) -> None:
    if one.name in _READ or one.name in _OTHERS:
        found.begin(one.line)
    if one.name in _OTHERS:
        found.fault(one.name, f"expected <box> or <polygon>, found <{one.name}>")
    if one.name not in _READ:
        return
    said = one.attributes
    if missing := [key for key in ("label", *_READ[one.name]) if not said.get(key)]:
        found.fault(one.name, f"attributes are missing: {', '.join(missing)}")
        return
    if one.name == "polygon":
        points = [point.split(",") for point in said["points"].split(";")]
        if any(len(point) != 2 for point in points):
            found.fault("polygon.points", "expected points as x,y;x,y;…")
            return
        ring = [found.number(text, "polygon.points") for pair in points for text in pair]
        found.add("polygon", said["label"], ring, key=one.name)
        return
    left, top, right, bottom = (found.number(said[key], f"box.{key}") for key in _CORNERS)
    turn = found.number(said.get("rotation", "0"), "box.rotation")
    if turn % 360 and right >= left and bottom >= top:
        centre = (left + right) / 2, (top + bottom) / 2
        found.add("rotated_box", said["label"], [*centre, right - left, bottom - top, turn])
    else:
        found.add("box", said["label"], [left, top, right, bottom], key=one.name)


read_objects = partial(read_annotations, parse=_parse, ending=".xml", unscored="CVAT XML")
