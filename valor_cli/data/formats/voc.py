"""Read and write objects as Pascal VOC XML, one file per image.

An `annotation` has a `filename`, optionally a `size` (width, height), and an `object` for each
object in the image: `name`, `bndbox` (xmin, ymin, xmax, ymax) or `polygon` (x1, y1, x2, y2, …),
and in predictions `score` or `confidence`. The width of a box is xmax - xmin, its height ymax -
ymin. In ground truth `difficult` is read, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np
from msgspec import Struct

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted
from valor_cli.data.shapes.objects.parse import CROWD
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.scene import (
    Images,
    WriteOptions,
    Written,
    check_kinds,
    image_numbers,
    images_of,
    labels_of,
    losses,
    rows_by_image,
    sizes_needed,
    stems_of,
)
from valor_cli.data.values import describe
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.shapes import Floats, Kind

KINDS: tuple[Kind, ...] = ("box",)
_HOLDS = frozenset({"size", "file_name", "empty_image", "difficult"})
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, escaped or not."""

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


class Element(Struct):
    """An XML element.

    Attributes:
        name: Its name.
        line: The line on which it begins.
        attributes: Their texts by name.
        children: The elements in it.
        pieces: Its own text, in pieces.
    """

    name: str
    line: int
    attributes: dict[str, str] = {}
    children: list[Element] = []
    pieces: list[str] = []

    @property
    def text(self) -> str:
        """Its own text, less white space around it."""
        return "".join(self.pieces).strip()

    def first(self, *names: str) -> Element | None:
        """The first child of one of these names."""
        for child in self.children:
            if child.name in names:
                return child
        return None


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Objects of a folder of XML files, or of one; image ids are file names without extension.

    Args:
        path: The folder or the file.
        role: Which side it is.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read or is no such XML; an image has two files; an object is
            wrong.
    """
    images = AnnotatedImages(path, role, how.metadata)
    for file, text in images.files(".xml"):
        root = parse_xml(text, file)
        if root.name != "annotation":
            message = f"expected <annotation> (Pascal VOC), found <{root.name}>"
            images.faults.add(root.line, "", message)
            continue
        named, size = root.first("filename"), root.first("size")
        file_name = named.text if named is not None and named.text else None
        images.add_image(
            stem_of(file_name or file),
            _side(size, "width", images),
            _side(size, "height", images),
            line=root.line if named is None else named.line,
            key="filename",
            file_name=file_name,
        )
        for one in root.children:
            if one.name == "object":
                images.found += 1
                _add_object(one, images, how.wanted)
            elif one.first("bndbox", "polygon") is not None:
                message = f"<{one.name}> holds an object that is not read: objects are <object>"
                images.faults.add(one.line, one.name, message)
    return images.object_file(how.invalid)


def _side(size: Element | None, name: str, images: AnnotatedImages) -> int:
    """Width or height of an image; 0 if unknown."""
    element = None if size is None else size.first(name)
    if element is None or not element.text:
        return 0
    return images.side(element.text, element.line, f"size.{name}")


def _add_object(one: Element, images: AnnotatedImages, wanted: Wanted) -> None:
    problems = images.problems
    before = problems.total
    name = one.first("name")
    if name is None or not name.text:
        problems.add(one.line if name is None else name.line, "object", "<name> is missing")
    score = 0.0
    if images.predicted:
        element = one.first("score", "confidence")
        if element is None:
            message = "<score> (or <confidence>) is missing, which predictions need"
            problems.add(one.line, "object", message)
        else:
            score = images.number(element.text, element.line, element.name)
    difficult = not images.predicted and _difficult(one, images)
    polygon, box = one.first("polygon"), one.first("bndbox")
    drawn = polygon is not None and polygon.children and (box is None or wanted == "shape")
    shape = polygon if drawn else box
    if shape is None:
        problems.add(one.line, "object", "<bndbox> is missing")
        return
    numbers = _ring(shape, images) if drawn else _corners(shape, images)
    if problems.total > before or name is None:
        return
    place = shape.line, shape.name
    if drawn:
        images.add_polygon(
            name.text, numbers, one.line, place=place, score=score, difficult=difficult
        )
    else:
        images.add_box(name.text, numbers, one.line, place=place, score=score, difficult=difficult)


def _difficult(one: Element, images: AnnotatedImages) -> bool:
    element = one.first("difficult")
    said = "0" if element is None else element.text.casefold()
    if element is not None and said not in CROWD:
        message = f"expected 0, 1, true or false, found {describe(element.text)}"
        images.problems.add(element.line, "difficult", message)
    return CROWD.get(said, False)


def _corners(box: Element, images: AnnotatedImages) -> list[float]:
    corners: list[float] = []
    for name in _CORNERS:
        element = box.first(name)
        if element is None:
            images.problems.add(box.line, "bndbox", f"<{name}> is missing")
        else:
            corners.append(images.number(element.text, element.line, f"bndbox.{name}"))
    return corners


def _ring(polygon: Element, images: AnnotatedImages) -> list[float]:
    """x1, y1, x2, y2, …: points by their numbers."""
    values = {child.name: child for child in polygon.children}
    ring: list[float] = []
    for point in range(1, sum(name[:1] == "x" for name in values) + 1):
        for axis in "xy":
            element = values.get(f"{axis}{point}")
            if element is None:
                images.problems.add(polygon.line, "polygon", f"<{axis}{point}> is missing")
                return []
            ring.append(images.number(element.text, element.line, f"polygon.{element.name}"))
    return ring


def parse_xml(text: str, path: str) -> Element:
    """The root element of a document.

    Entities of its own and references to other files are refused: they can grow without bound
    or reach what is no part of the data.

    Args:
        text: Its content.
        path: The file, for messages.

    Raises:
        DataError: It is no XML, or has what is refused.
    """
    # Readers check for UTF-8; a declaration of another encoding is then wrong.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    document = Element("", 0)
    stack = [document]

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber, attributes)
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_what: Any) -> NoReturn:
        message = "entity declarations and external references are refused; write plain XML"
        raise DataError(Problem(f"{path}:{parser.CurrentLineNumber}", message))

    def doctype(_name: str, system: str | None, public: str | None, _internal: bool) -> None:
        if system is not None or public is not None:
            refuse()

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: stack.pop()
    parser.CharacterDataHandler = lambda content: stack[-1].pieces.append(content)
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        place = f"{path}:{error.lineno}:{error.offset + 1}"
        raise DataError(Problem(place, f"not XML: {reason}")) from None
    return document.children[0]


def write_voc(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """One annotation per image, also without objects; coordinates are not rounded.

    Raises:
        DataError: Other shapes than boxes, an image without a size, no labels, or a name that no
            file or XML can have.
    """
    check_kinds(objects, KINDS, "VOC")
    images = images_of(objects)
    stems = stems_of(images, objects.path)
    number = image_numbers(objects, images)
    sizes_needed(objects, images, number)
    blocks = _objects(objects)
    order, starts = rows_by_image(number, len(images))
    names = _file_names(objects, images)
    files = {}
    for at, (stem, (start, end)) in enumerate(zip(stems, pairwise(starts), strict=True)):
        height, width = images.size[at].tolist()
        lines = ["<annotation>", *names[at]]
        if height:
            lines.append(f"  <size><width>{width}</width><height>{height}</height></size>")
        lines += [blocks[row] for row in order[start:end].tolist()]
        lines.append("</annotation>\n")
        files[f"{stem}.xml"] = "\n".join(lines).encode()
    return Written(files, [*losses(objects, "VOC", _HOLDS), *_rounded(objects.shapes.box)])


def _objects(objects: ObjectFile) -> list[str]:
    """The element of each object."""
    corners = objects.shapes.box.copy()
    corners[:, 2:] += corners[:, :2]
    table = objects.objects
    facts = [""] * len(table)
    if "score" in table.columns:
        facts = [f"<score>{score!r}</score>" for score in table["score"].tolist()]
    if "difficult" in table.columns:
        flags = table["difficult"].astype(int).tolist()
        facts = [f"<difficult>{flag}</difficult>" for flag in flags]
    return [
        f"  <object><name>{name}</name>{fact}<bndbox><xmin>{xmin!r}</xmin><ymin>{ymin!r}</ymin>"
        f"<xmax>{xmax!r}</xmax><ymax>{ymax!r}</ymax></bndbox></object>"
        for name, fact, (xmin, ymin, xmax, ymax) in zip(
            _names(objects), facts, corners.tolist(), strict=True
        )
    ]


def _names(objects: ObjectFile) -> list[str]:
    """The label of each object, escaped."""
    labels = labels_of(objects)
    known = {label: _escaped(label) for label in dict.fromkeys(labels) if _holdable(label)}
    place = objects.objects.place_of
    bad = [(place(row), label) for row, label in enumerate(labels) if label not in known]
    _refuse(bad, "label", "rename the category")
    return [known[label] for label in labels]


def _file_names(objects: ObjectFile, images: Images) -> list[list[str]]:
    """The line with the file name of each image; none where it has no name."""
    names = images.file_names
    bad = [(objects.path, name) for name in names if name is not None and _NO_XML.search(name)]
    _refuse(bad, "file name", "rename the image")
    return [[] if name is None else [f"  <filename>{_escaped(name)}</filename>"] for name in names]


def _refuse(bad: Sequence[tuple[str, str]], what: str, hint: str) -> None:
    """Raise an error for texts that XML cannot hold, by place."""
    if bad:
        problems = [
            Problem(at, f"XML cannot hold the {what} {text!r}") for at, text in bad[:LISTED]
        ]
        raise DataError(problems, total=len(bad), hint=hint)


def _holdable(label: str) -> bool:
    """Whether XML gives a label back: no control characters, no white space around it."""
    return bool(label) and label == label.strip() and not _NO_XML.search(label)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _rounded(box: Floats) -> list[str]:
    """A word on sides that the difference of corners does not give back."""
    lost = np.abs((box[:, :2] + box[:, 2:]) - box[:, :2] - box[:, 2:])
    if not lost.any():
        return []
    count = int(lost.any(axis=1).sum())
    return [
        f"VOC stores corners: the sides of {count:,} boxes are off by up to {lost.max():.1g} pixels"
    ]
