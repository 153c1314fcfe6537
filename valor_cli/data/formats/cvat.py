"""Read ground truth as CVAT XML 1.1 ("CVAT for images").

`<annotations>` has an `<image name width height>` for each image, and in it `<box label xtl ytl xbr
ybr rotation>` and `<polygon label points="x,y;x,y;…">`. Boxes that are rotated turn about their
centre, clockwise, by degrees.
"""

from __future__ import annotations

from typing import Final

from valor_cli.data.formats.annotated_images import AnnotatedImages
from valor_cli.data.formats.folders import without_extension
from valor_cli.data.formats.voc import Element, parse_xml
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading

_CORNERS: Final = ("xtl", "ytl", "xbr", "ybr")
_OTHERS: Final = ("cuboid", "ellipse", "mask", "points", "polyline", "skeleton")


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Objects of an XML file, or of a folder of them; image ids are names without extension.

    Args:
        path: The file or the folder.
        role: Which side it is: ground truth, as there are no scores.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read or is no such XML; an object is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata, unscored="CVAT XML")
    for file, text in images.files(".xml"):
        root = parse_xml(text, file)
        if root.name != "annotations":
            message = f"expected <annotations> (CVAT), found <{root.name}>"
            images.faults.add(root.line, "", message)
            continue
        for one in root.children:
            if one.name == "track":
                message = 'tracks are not read; export the task as "CVAT for images 1.1"'
                images.faults.add(one.line, "track", message)
            elif one.name == "image":
                _add_image(one, images)
    return images.object_file(how.invalid)


def _add_image(image: Element, images: AnnotatedImages) -> None:
    name = image.attributes.get("name", "")
    if not name:
        images.faults.add(image.line, "image", "the attribute 'name' is missing")
        return
    width, height = (
        images.side(text, image.line, f"image.{key}") if (text := image.attributes.get(key)) else 0
        for key in ("width", "height")
    )
    images.add_image(
        without_extension(name), width, height, line=image.line, key="image.name", file_name=name
    )
    for one in image.children:
        if one.name in ("box", "polygon"):
            images.found += 1
            _add_object(one, images)
        elif one.name in _OTHERS:
            images.found += 1
            message = f"expected <box> or <polygon>, found <{one.name}>"
            images.problems.add(one.line, one.name, message)


def _add_object(one: Element, images: AnnotatedImages) -> None:
    before = images.problems.total
    wanted = ("label", *(_CORNERS if one.name == "box" else ("points",)))
    if missing := [key for key in wanted if not one.attributes.get(key)]:
        images.problems.add(one.line, one.name, f"attributes are missing: {', '.join(missing)}")
        return
    label = one.attributes["label"]
    place = one.line, one.name
    if one.name == "polygon":
        points = [point.split(",") for point in one.attributes["points"].split(";")]
        if any(len(point) != 2 for point in points):
            images.problems.add(one.line, "polygon.points", "expected points as x,y;x,y;…")
            return
        ring = [images.number(text, one.line, "polygon.points") for pair in points for text in pair]
        if images.problems.total == before:
            images.add_polygon(label, ring, one.line, place=place)
        return
    corners = [images.number(one.attributes[key], one.line, f"box.{key}") for key in _CORNERS]
    turn = images.number(one.attributes.get("rotation", "0"), one.line, "box.rotation")
    if images.problems.total > before:
        return
    left, top, right, bottom = corners
    if turn % 360 and right >= left and bottom >= top:
        centre = (left + right) / 2, (top + bottom) / 2
        images.add_rotated_box(label, [*centre, right - left, bottom - top, turn], one.line)
    else:
        images.add_box(label, corners, one.line, place=place)
