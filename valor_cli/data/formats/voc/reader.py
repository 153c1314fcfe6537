"""Read objects from Pascal VOC XML, one file per image.

An `annotation` has a `filename`, optionally a `size` (width, height), and an `object` for each
object in the image: `name`, `bndbox` (xmin, ymin, xmax, ymax) or `polygon` (x1, y1, x2, y2, …),
and in predictions `score` or `confidence`. The width of a box is xmax - xmin, its height ymax -
ymin. In ground truth `difficult` is read, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np
from msgspec.structs import replace

from valor_cli.data.formats.folders import digest_of, files_under, is_folder, no_metadata
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted, text_column
from valor_cli.data.shapes.objects.parse import CROWD
from valor_cli.data.shapes.objects.rows import (
    Codes,
    ImageRows,
    Named,
    ObjectRows,
    checked_ids,
    object_file,
)
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import SKIP_HINT, InvalidRows
from valor_cli.data.values import LARGEST_COORDINATE, LineProblems, describe, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.results import InputFile

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


@dataclass(slots=True)
class Element:
    """An element: its name, the line it begins on, what is inside it. Attributes are left out."""

    name: str
    line: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, less white space around it."""
        return "".join(self.pieces).strip()

    def first(self, *names: str) -> Element | None:
        """The first child of one of these names."""
        return next((child for child in self.children if child.name in names), None)


def read_voc(
    path: str,
    role: Role,
    *,
    wanted: Wanted = "box",
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
) -> ObjectFile:
    """Objects of a folder of XML files, or of one; image ids are file names without extension.

    Args:
        path: The folder or the file.
        role: Which side it is.
        wanted: Which geometry to take of an object that has a box and a polygon.
        metadata: Must be empty for ground truth: there is none in this format.
        invalid: "skip" leaves out objects that cannot be used and counts them; faults of a file
            itself are errors always.

    Raises:
        DataError: A file cannot be read or is no such XML; an image has two files; an object is
            wrong.
    """
    no_metadata(path, role, metadata)
    alone = not is_folder(path)
    files = [""] if alone else files_under(path, ".xml")
    if not files:
        raise DataError(Problem(path, "there are no XML files in this folder"))
    reader = _AnnotationReader(role, wanted, LineProblems(path), LineProblems(path))
    digests: dict[str, str] = {}
    for file in files:
        source = TextSource(path if alone else os.path.join(path, file))
        text = source.whole()
        digests[file] = source.sha256
        reader.read(parse_xml(text, source.path), source.path)
    found = reader.rows.piece()
    if role == "ground_truth":
        difficult = np.array(reader.difficult, np.bool_)
        found = checked_ids(found, reader.problems)
        found = replace(found, columns={**found.columns, "difficult": difficult})
    stop_on([reader.faults])
    if invalid == "error":
        stop_on([reader.problems], SKIP_HINT)
    skipped = reader.found - len(found.shapes)
    digest = digests[""] if alone else digest_of(digests)
    return object_file(
        path,
        found,
        images=reader.images.table(path, "image {row}"),
        image_ids=text_column(reader.images.ids),
        labels=Named.in_order(reader.labels),
        files=[InputFile(path, digest, reader.found, skipped)],
        skipped=skipped,
        image_names="file",
        part_of=list(reader.files.values()),
    )


class _AnnotationReader:
    """Reads annotations one by one.

    Attributes:
        rows, images, labels: What was found so far.
        difficult: Of each row, whether it is marked so.
        faults: Of files as such.
        problems: Of objects.
        files: Position of each image.
        found: How many objects there were, good or not.
    """

    def __init__(
        self, role: Role, wanted: Wanted, faults: LineProblems, problems: LineProblems
    ) -> None:
        self.rows = ObjectRows(role)
        self.images = ImageRows()
        self.labels = Codes()
        self.faults = faults
        self.problems = problems
        self.found = 0
        self._predicted = role == "predictions"
        self._wanted = wanted
        self.files: dict[str, str] = {}
        self.difficult: list[bool] = []

    def read(self, root: Element, path: str) -> None:
        """Add the image of a file and its objects."""
        self.faults.path = self.problems.path = path
        if root.name != "annotation":
            message = f"expected <annotation> (Pascal VOC), found <{root.name}>"
            self.faults.add(root.line, "", message)
            return
        named = root.first("filename")
        file_name = named.text if named is not None and named.text else None
        base = os.path.basename((file_name or path).replace("\\", "/"))
        image = os.path.splitext(base)[0] if base.count(".") else base
        if image in self.files:
            message = f"duplicate image '{image}', also in {self.files[image]}"
            self.faults.add(root.line if named is None else named.line, "filename", message)
        self.files[image] = path
        size = root.first("size")
        self.images.ids.append(image)
        self.images.width.append(self._side(size, "width"))
        self.images.height.append(self._side(size, "height"))
        self.images.file_name.append(file_name)
        for one in root.children:
            if one.name == "object":
                self.found += 1
                self._object(one)
            elif one.first("bndbox", "polygon") is not None:
                message = f"<{one.name}> holds an object that is not read: objects are <object>"
                self.faults.add(one.line, one.name, message)

    def _side(self, size: Element | None, name: str) -> int:
        """Width or height of an image; 0 if unknown."""
        element = None if size is None else size.first(name)
        if element is None or not element.text:
            return 0
        value = _finite(element.text)
        if value is not None and value.is_integer() and 0 <= value <= LARGEST_SIDE:
            return int(value)
        found = describe(element.text)
        message = f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {found}"
        self.faults.add(element.line, f"size.{name}", message)
        return 0

    def _object(self, one: Element) -> None:
        before = self.problems.total
        name = one.first("name")
        if name is None or not name.text:
            self.problems.add(
                one.line if name is None else name.line, "object", "<name> is missing"
            )
        score = self._score(one) if self._predicted else 0.0
        polygon, box = one.first("polygon"), one.first("bndbox")
        ring: list[float] = []
        sides: list[float] = []
        if polygon is not None and polygon.children and (box is None or self._wanted == "shape"):
            ring = self._ring(polygon)
        elif box is not None:
            sides = self._box(box)
        else:
            self.problems.add(one.line, "object", "<bndbox> is missing")
        difficult = not self._predicted and self._difficult(one)
        if self.problems.total > before or name is None:
            return
        self.difficult.append(difficult)
        if ring:
            self.rows.shapes.add_polygon([[ring]])
        else:
            self.rows.shapes.add_box(sides)
        image, label = len(self.images.ids) - 1, self.labels[name.text]
        self.rows.add(image, label, one.line, position=-1, score=score)

    def _score(self, one: Element) -> float:
        element = one.first("score", "confidence")
        if element is None:
            message = "<score> (or <confidence>) is missing, which predictions need"
            self.problems.add(one.line, "object", message)
            return 0.0
        return self._number(element, element.name)

    def _difficult(self, one: Element) -> bool:
        element = one.first("difficult")
        said = "0" if element is None else element.text.casefold()
        if element is not None and said not in CROWD:
            message = f"expected 0, 1, true or false, found {describe(element.text)}"
            self.problems.add(element.line, "difficult", message)
        return CROWD.get(said, False)

    def _number(self, element: Element, key: str) -> float:
        value = _finite(element.text)
        if value is None:
            found = describe(element.text) if element.text else "nothing"
            self.problems.add(element.line, key, f"expected a finite number, found {found}")
            return 0.0
        if abs(value) > LARGEST_COORDINATE:
            message = f"expected at most {LARGEST_COORDINATE}, found {describe(element.text)}"
            self.problems.add(element.line, key, message)
        return value

    def _box(self, box: Element) -> list[float]:
        before = self.problems.total
        corners: list[float] = []
        for name in _CORNERS:
            element = box.first(name)
            if element is None:
                self.problems.add(box.line, "bndbox", f"<{name}> is missing")
            else:
                corners.append(self._number(element, f"bndbox.{name}"))
        if self.problems.total > before:
            return []
        left, top, right, bottom = corners
        for low, high, side in ((left, right, "x"), (top, bottom, "y")):
            if high < low:
                message = f"expected {side}max of at least {side}min ({low!r}), found {high!r}"
                self.problems.add(box.line, "bndbox", message)
        return [left, top, right - left, bottom - top]

    def _ring(self, polygon: Element) -> list[float]:
        """x1, y1, x2, y2, …: points by their numbers, less a first one repeated at the end."""
        values = {child.name: child for child in polygon.children}
        count = sum(name[:1] == "x" for name in values)
        ring: list[float] = []
        for point in range(1, count + 1):
            for axis in "xy":
                element = values.get(f"{axis}{point}")
                if element is None:
                    self.problems.add(polygon.line, "polygon", f"<{axis}{point}> is missing")
                    return []
                ring.append(self._number(element, f"polygon.{element.name}"))
        if ring[:2] == ring[-2:] and len(ring) > 2:
            ring = ring[:-2]
        if len(ring) < 6:
            message = f"expected at least 3 points, found {len(ring) // 2}"
            self.problems.add(polygon.line, "polygon", message)
        return ring


def _finite(text: str) -> float | None:
    # Python's float takes more than what other tools call a number.
    if "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_xml(text: bytes, path: str) -> Element:
    """The root element of a document.

    Entities of its own and references to other files are refused: they can grow without bound
    or reach what is no part of the data.

    Args:
        text: UTF-8.
        path: The file, for messages.

    Raises:
        DataError: It is no XML, or has what is refused.
    """
    # Readers check for UTF-8; a declaration of another encoding is then wrong.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    document = Element("", 0)
    stack = [document]

    def start(name: str, _attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber)
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
