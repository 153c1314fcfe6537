"""Read and write objects as Pascal VOC XML, one file per image.

An `annotation` has a `filename`, optionally a `size` (width, height), and an `object` for each
object in the image: `name`, `bndbox` (xmin, ymin, xmax, ymax) or `polygon` (x1, y1, x2, y2, …),
and in predictions `score` or `confidence`. The width of a box is xmax - xmin, its height ymax -
ymin. In ground truth `difficult` is read, too. Image ids are file names without extension.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from xml.sax.saxutils import escape

import numpy as np

from valor_cli.data.formats.annotated_images import AnnotatedImages, read_annotations
from valor_cli.data.formats.xml_elements import Element, root_element
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.parse import CROWD
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written
from valor_cli.data.values import describe
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import Floats, Kind

KINDS: tuple[Kind, ...] = ("box",)
_HOLDS = frozenset({"size", "file_name", "empty_image", "difficult"})
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, escaped or not."""

_ESCAPES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def _parse(found: AnnotatedImages, text: str) -> None:
    root = root_element(found, text, "annotation", "Pascal VOC")
    if root is None:
        return
    named, size = root.first("filename"), root.first("size")
    sides = [size.first(name) for name in ("width", "height")]
    found.add_image(
        None,
        *(found.side(side.text or None, f"size.{side.name}", side.line) for side in sides),
        line=named.line,
        key="filename",
        file_name=named.text or None,
    )
    for one in root.children:
        if one.name == "object":
            found.begin(one.line)
            _add_object(found, one)
        elif one.first("bndbox", "polygon").name:
            message = f"<{one.name}> holds an object that is not read: objects are <object>"
            found.faults.add(one.line, one.name, message)


def _add_object(found: AnnotatedImages, one: Element) -> None:
    label, score = one.first("name"), 0.0
    if not label.text:
        found.fault("object", "<name> is missing", label.line)
    if found.predicted:
        said = one.first("score", "confidence")
        if said.name:
            score = found.number(said.text, said.name, said.line)
        else:
            found.fault("object", "<score> (or <confidence>) is missing, which predictions need")
    said = one.first("difficult")
    difficult = None if found.predicted else CROWD.get(said.text.casefold())
    if difficult is None and not found.predicted:
        message = f"expected 0, 1, true or false, found {describe(said.text)}"
        found.fault("difficult", message, said.line)
    polygon, box = one.first("polygon"), one.first("bndbox")
    drawn = bool(polygon.children) and (not box.name or found.how.wanted == "shape")
    shape = polygon if drawn else box
    if not shape.name:
        found.fault("object", "<bndbox> is missing")
        return
    found.add(
        "polygon" if drawn else "box",
        label.text,
        _numbers(found, shape, drawn=drawn),
        key=shape.name,
        line=shape.line,
        score=score,
        difficult=bool(difficult),
    )


def _numbers(found: AnnotatedImages, shape: Element, *, drawn: bool) -> list[float]:
    """The corners of a box, or the points of a polygon by their numbers."""
    values = {child.name: child for child in reversed(shape.children)}
    names: Sequence[str] = _CORNERS
    if drawn:
        points = sum(name.startswith("x") for name in values)
        names = [f"{axis}{point}" for point in range(1, points + 1) for axis in "xy"]
    numbers = []
    for name in names:
        if name in values:
            element = values[name]
            numbers.append(found.number(element.text, f"{shape.name}.{name}", element.line))
        else:
            found.fault(shape.name, f"<{name}> is missing", shape.line)
    return numbers


read_objects = partial(read_annotations, parse=_parse, ending=".xml")


def write_voc(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """One annotation per image, also without objects; coordinates are not rounded.

    Raises:
        DataError: Other shapes than boxes, an image without a size, no labels, or a name that no
            file or XML can have.
    """
    scene = Scene(objects, "VOC", KINDS)
    stems = scene.stems()
    scene.sizes()
    elements, names = _elements(scene), _file_names(objects.path, scene.file_names)
    files = {}
    for stem, name, (height, width), rows in zip(
        stems, names, scene.size.tolist(), scene.rows(), strict=True
    ):
        size = f"  <size><width>{width}</width><height>{height}</height></size>\n" if height else ""
        objects_of_image = "".join(elements[row] for row in rows)
        content = f"<annotation>\n{name}{size}{objects_of_image}</annotation>\n"
        files[f"{stem}.xml"] = content.encode()
    return Written(files, [*scene.losses(_HOLDS), *_rounded(objects.shapes.box)])


def _elements(scene: Scene) -> list[str]:
    """The element of each object."""
    corners = scene.shapes.box.copy()
    corners[:, 2:] += corners[:, :2]
    table, labels = scene.table, scene.labels
    known = {label: _escaped(label) for label in dict.fromkeys(labels) if _holdable(label)}
    place = table.place_of
    bad = [(place(row), label) for row, label in enumerate(labels) if label not in known]
    _refuse(bad, "label", "rename the category")
    facts = [""] * len(table)
    if "score" in table.columns:
        facts = [f"<score>{score!r}</score>" for score in table["score"].tolist()]
    if "difficult" in table.columns:
        facts = [f"<difficult>{flag:d}</difficult>" for flag in table["difficult"].tolist()]
    return [
        f"  <object><name>{known[label]}</name>{fact}<bndbox><xmin>{xmin!r}</xmin>"
        f"<ymin>{ymin!r}</ymin><xmax>{xmax!r}</xmax><ymax>{ymax!r}</ymax></bndbox></object>\n"
        for label, fact, (xmin, ymin, xmax, ymax) in zip(
            labels, facts, corners.tolist(), strict=True
        )
    ]


def _file_names(path: str, names: Sequence[str | None]) -> list[str]:
    """The line with the file name of each image; empty where it has none."""
    bad = [(path, name) for name in names if name is not None and _NO_XML.search(name)]
    _refuse(bad, "file name", "rename the image")
    return ["" if one is None else f"  <filename>{_escaped(one)}</filename>\n" for one in names]


def _refuse(bad: Sequence[tuple[str, str]], what: str, hint: str) -> None:
    """Raise an error for texts that XML cannot hold, by place."""
    if bad:
        raise DataError(
            [Problem(at, f"XML cannot hold the {what} {text!r}") for at, text in bad], hint=hint
        )


def _holdable(label: str) -> bool:
    """Whether XML gives a label back: no control characters, no white space around it."""
    return bool(label) and label == label.strip() and not _NO_XML.search(label)


def _escaped(text: str) -> str:
    return escape(text, _ESCAPES)


def _rounded(box: Floats) -> list[str]:
    """A word on sides that the difference of corners does not give back."""
    lost = np.abs((box[:, :2] + box[:, 2:]) - box[:, :2] - box[:, 2:])
    count, most = int(lost.any(axis=1).sum()), lost.max(initial=0)
    what = f"VOC stores corners: the sides of {count:,} boxes are off by up to {most:.1g} pixels"
    return [what] * (count > 0)
