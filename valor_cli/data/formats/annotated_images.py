"""Collect the images and objects of annotation files, in which image ids are names of files."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from valor_cli.data.column_names import number_in
from valor_cli.data.formats.folders import digest_of, files_under, is_folder, no_metadata, text_of
from valor_cli.data.formats.images import ImageFolder
from valor_cli.data.shapes.objects.checks import image_side
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.parse import FEWEST
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    ObjectRows,
    Ring,
    object_file,
)
from valor_cli.data.table import LINE, SKIP_HINT, Parts, Problems, stop_on
from valor_cli.data.values import LARGEST_COORDINATE, describe, number
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import KINDS, Kind

FileParser: TypeAlias = Callable[["AnnotatedImages", str], None]
"""Adds the images and objects of a file from its text."""

NEAR: Final = (-1, 2)
"""Range of coordinates and sides in units of the image: boxes may reach over its edges."""

SIZES_HINT: Final = (
    "{} are in units of the image: name the folder of the image files as `images:` under `data:`."
)


def stem_of(name: str) -> str:
    """The name of a file without folder and extension, whatever the system that wrote it."""
    return os.path.splitext(os.path.basename(name.replace("\\", "/")))[0]


def not_fractions(values: Iterable[float]) -> str:
    """What to say of the first value that is not in units of an image; empty if all are."""
    low, high = NEAR
    far = [one for one in values if not low <= one <= high]
    return f"expected fractions of the image, found {far[0]:g} (pixels?)" if far else ""


def field_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a text that are not blank, by number, as what white space divides."""
    for line, fields in enumerate(map(str.split, text.split("\n")), 1):
        if fields:
            yield line, fields


def read_annotations(
    path: str,
    role: Role,
    how: Reading,
    *,
    parse: FileParser,
    ending: str,
    place: str = LINE,
    unscored: str = "",
    hint: str = "",
) -> ObjectFile:
    """Objects of annotation files.

    Args:
        path: A folder of them, or one.
        role: Which side it is.
        how: Its options; there is no metadata of images in these formats.
        parse: What reads one file.
        ending: How the names of files end. Values of ".json" have types; ".txt" may be empty.
        place: How objects are named in a file, as in `Table`.
        unscored: The name of a format without scores, which is no format of predictions.
        hint: What to do about faults of files.

    Raises:
        DataError: A file cannot be read or has a fault; an object is wrong, and none may be left
            out; metadata or predictions are wanted that the format does not have.
    """
    no_metadata(path, role, how.metadata)
    if unscored and role == "predictions":
        problem = Problem(path, f"{unscored} has no scores, which predictions need")
        raise DataError(problem, hint="give predictions as COCO, JSONL, CSV, YOLO, VOC or KITTI")
    alone = not is_folder(path)
    names = [""] if alone else files_under(path, ending)
    if not names:
        message = f"there are no {ending[1:].upper()} files in this folder"
        raise DataError(Problem(path, message))
    found = AnnotatedImages(path, role, how, typed=ending == ".json")
    digests: dict[str, str] = {}
    for name in names:
        file = path if alone else os.path.join(path, name)
        text, digests[name] = text_of(file, may_be_empty=ending == ".txt")
        found.begin_file(file)
        parse(found, text)
    stop_on([found.faults], hint)
    return found.object_file(place, digests[""] if alone else digest_of(digests))


class AnnotatedImages:
    """The images and objects of an input.

    Attributes:
        path: The file that is read.
        predicted: Whether objects need a score.
        how: The options of the reader.
        faults: Of files as such, which are always errors.
        found: How many objects there were, good or not.
        left_out: What is left out on purpose, with counts.
    """

    def __init__(self, path: str, role: Role, how: Reading, *, typed: bool) -> None:
        """Start without images; `typed` says whether numbers are numbers, rather than texts."""
        self.path = self._input = path
        self.predicted = role == "predictions"
        self.how = how
        self.faults = Problems(path, LINE)
        self.found = 0
        self.left_out = Counter[str]()
        self._typed = typed
        self._problems = Problems(path, LINE)
        self._files: list[str] = []
        self._known: dict[str, tuple[int, str]] = {}
        """Position of each image, and the last file that has it."""
        self._images = ImageRows()
        self._labels: dict[str, int] = {}
        self._rows = ObjectRows(role)
        self._part: list[int] = []
        self._difficult: list[bool] = []
        self._image = self._row = self._before = 0

    @cached_property
    def pictures(self) -> ImageFolder | None:
        """The image files; None if the options name no folder of them."""
        return None if self.how.images is None else ImageFolder(self.how.images)

    def begin_file(self, path: str) -> None:
        """Let the images and objects of another file follow."""
        self.path = self.faults.path = self._problems.path = path
        self._files.append(path)

    def add_image(
        self,
        image: str | None = None,
        width: int = 0,
        height: int = 0,
        *,
        line: int = 0,
        key: str = "",
        file_name: str | None = None,
    ) -> None:
        """Add an image; its objects follow.

        Args:
            image: Its id; if None, the name of its file, else that of the file that is read,
                without folder and extension.
            width, height: Pixels, 0 where unknown.
            line, key: Where the file says its id.
            file_name: Its own.
        """
        if image is None:
            image = stem_of(file_name or self.path)
        if image in self._known:
            message = f"duplicate image '{image}', also in {self._known[image][1]}"
            self.faults.add(line, key, message)
        self._image = len(self._images.ids)
        self._known[image] = self._image, self.path
        self._images.ids.append(image)
        self._images.width.append(width)
        self._images.height.append(height)
        self._images.file_name.append(file_name)

    def of_image(self, image: str) -> None:
        """Let objects follow of an image that other files may speak of, too."""
        if image in self._known:
            self._image = self._known[image][0]
        else:
            self.add_image(image)

    def begin(self, row: int, count: int = 1) -> None:
        """Let an object of the last image follow: `row` is its line, or its position in a list."""
        self._row, self._before = row, self._problems.total
        self.found += count

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with the object so far."""
        return self._problems.total == self._before

    def fault(self, key: str, message: str, line: int | None = None) -> None:
        """Note what is wrong with the object; `line` is that of the object if None."""
        own = 0 if self._typed else self._row
        self._problems.add(own if line is None else line, key, message)

    def side(self, value: object, key: str, line: int = 0, *, least: int = 0) -> int:
        """The width or height of an image; 0 where it is not said, and for a noted fault."""
        if value is None and not least:
            return 0
        side: object = value if type(value) is int else math.nan
        if isinstance(value, str) and not self._typed:
            side, _ = number_in(value)
        return image_side(side, value, self.faults, line, key, least=least)

    def number(self, value: Any, key: str, line: int | None = None) -> float:
        """A coordinate or a score of the object; 0 for a fault, which is noted."""
        fault = ""
        if not self._typed:
            found, fault = number_in(value)
            if not fault and abs(found) <= LARGEST_COORDINATE:
                return found
        elif type(value) in (float, int) and abs(value) <= LARGEST_COORDINATE:
            return float(value)
        elif number(value, self._problems, 0, key) is None:
            return 0.0
        expected = "a finite number" if fault else f"at most {LARGEST_COORDINATE}"
        said = "nothing" if value == "" else describe(value)
        self.fault(key, f"expected {expected}, found {said}", line)
        return 0.0

    def add(
        self,
        kind: Kind,
        label: str,
        numbers: Ring,
        *,
        key: str = "",
        line: int | None = None,
        parts: Sequence[Ring] = (),
        score: float = 0.0,
        difficult: bool = False,
        crowd: bool = False,
    ) -> None:
        """Add the object, unless something is wrong with it.

        Args:
            kind: What it is.
            label: Its class.
            numbers: Left, top, right and bottom edge of a box; centre x, centre y, width, height,
                degrees of a rotated one; x1, y1, x2, y2, … of a polygon.
            key, line: Where its shape stands, as in `fault`.
            parts: The rings of the other parts of a polygon.
            score, difficult, crowd: As in `ObjectFile`.
        """
        if self._problems.total > self._before:
            return
        shape: Sequence[Any] = numbers
        if kind == "box":
            left, top, right, bottom = numbers
            if right < left or bottom < top:
                for low, high, axis in ((left, right, "x"), (top, bottom, "y")):
                    if high < low:
                        message = (
                            f"expected {axis}max of at least {axis}min ({low!r}), found {high!r}"
                        )
                        self.fault(key, message, line)
                return
            shape = [left, top, right - left, bottom - top]
        elif kind == "polygon":
            rings = [
                one[:-2] if one[:2] == one[-2:] and len(one) > 2 else one
                for one in (numbers, *parts)
            ]
            if (shortest := min(map(len, rings))) < FEWEST:
                self.fault(key, f"expected at least 3 points, found {shortest // 2}", line)
                return
            shape = [[one] for one in rings]
        self._difficult.append(difficult)
        self._part.append(len(self._files) - 1)
        code = self._labels.setdefault(label, len(self._labels))
        which = KINDS.index(kind)
        self._rows.add(which, shape, self._image, code, self._row, score=score, crowd=crowd)

    def object_file(self, place: str, digest: str) -> ObjectFile:
        """All images and objects.

        Args:
            place: How objects are named in a file, as in `Table`.
            digest: The SHA-256 of the input.

        Raises:
            DataError: An object is wrong, and none may be left out.
        """
        if self.how.invalid == "error":
            stop_on([self._problems], SKIP_HINT)
        piece = self._rows.piece()
        piece.columns["difficult"] = np.array(self._difficult, np.bool_)
        # No object has one.
        piece.columns.pop("id", None)
        return object_file(
            self._input,
            piece,
            self._images,
            list(self._labels),
            found=self.found,
            sha256=digest,
            parts=Parts([(one, place) for one in self._files], np.array(self._part, np.int64)),
            place=place,
            warnings=[f"{self._input}: {what}: {n:,}" for what, n in self.left_out.items()],
        )
