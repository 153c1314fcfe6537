"""Collect the images and objects of annotation files, in which image ids are names of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from valor_cli.data.column_names import number_in
from valor_cli.data.formats.folders import digest_of, files_under, is_folder, no_metadata, text_of
from valor_cli.data.shapes.objects.checks import image_side
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, text_column
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    ObjectRows,
    Ring,
    checked_ids,
    object_file,
)
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import LINE, SKIP_HINT, InvalidRows, Parts
from valor_cli.data.values import LARGEST_COORDINATE, LineProblems, describe, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import BOX, POLYGON, ROTATED_BOX
from valor_cli.results import InputFile


def stem_of(name: str) -> str:
    """The name of a file without folder and extension, whatever the system that wrote it."""
    return os.path.splitext(os.path.basename(name.replace("\\", "/")))[0]


class AnnotatedImages:
    """The images and objects of an input.

    Attributes:
        path: The input.
        predicted: Whether objects need a score.
        faults: Of files as such, which are always errors.
        problems: Of objects.
        found: How many objects there were, good or not.
    """

    def __init__(
        self, path: str, role: Role, metadata: Sequence[str], *, unscored: str = ""
    ) -> None:
        """Start without images.

        Args:
            path: The input: a folder of annotation files, or one.
            role: Which side it is.
            metadata: Must be empty for ground truth: these formats have none.
            unscored: The name of a format without scores, which is no format of predictions.

        Raises:
            DataError: Metadata or predictions are wanted that the format does not have.
        """
        no_metadata(path, role, metadata)
        if unscored and role == "predictions":
            problem = Problem(path, f"{unscored} has no scores, which predictions need")
            raise DataError(
                problem, hint="give predictions as COCO, JSONL, CSV, YOLO, VOC or KITTI"
            )
        self.path = path
        self.predicted = role == "predictions"
        self.faults, self.problems = LineProblems(path), LineProblems(path)
        self.found = 0
        self._role: Role = role
        self._rows = ObjectRows(role)
        self._images = ImageRows()
        self._labels: dict[str, int] = {}
        self._files: dict[str, str] = {}
        self._known: dict[str, int] = {}
        self._image = -1
        self._paths: dict[str, int] = {}
        self._part: list[int] = []
        self._difficult: list[bool] = []
        self._digests: dict[str, str] = {}

    def files(self, ending: str, *, may_be_empty: bool = False) -> Iterator[tuple[str, str]]:
        """Read the files of the input one by one: the path and text of each.

        Raises:
            DataError: There are none, or one cannot be read.
        """
        alone = not is_folder(self.path)
        names = [""] if alone else files_under(self.path, ending)
        if not names:
            what = ending[1:].upper()
            raise DataError(Problem(self.path, f"there are no {what} files in this folder"))
        for name in names:
            path = self.path if alone else os.path.join(self.path, name)
            if may_be_empty:
                text, self._digests[name] = text_of(path)
            else:
                source = TextSource(path)
                text, self._digests[name] = source.whole().decode(), source.sha256
            self.faults.path = self.problems.path = path
            yield path, text

    def add_image(
        self,
        image: str,
        width: int = 0,
        height: int = 0,
        *,
        line: int = 0,
        key: str = "",
        file_name: str | None = None,
    ) -> None:
        """Add an image by its id; its objects follow. `line` and `key` are where a file says it."""
        path = self.faults.path
        if image in self._files:
            message = f"duplicate image '{image}', also in {self._files[image]}"
            self.faults.add(line, key, message)
        self._files[image] = path
        self._image = len(self._images.ids)
        self._images.ids.append(image)
        self._images.width.append(width)
        self._images.height.append(height)
        self._images.file_name.append(file_name)

    def of_image(self, image: str) -> None:
        """Let objects follow of an image that other files may speak of, too."""
        if image not in self._known:
            self._known[image] = len(self._images.ids)
            self._images.ids.append(image)
            self._images.width.append(0)
            self._images.height.append(0)
            self._images.file_name.append(None)
        self._image = self._known[image]

    def side(self, text: str, line: int, key: str) -> int:
        """The width or height of an image from its text; 0 for a fault, which is noted."""
        return image_side(number_in(text)[0], text, self.faults, line, key)

    def number(self, text: str, line: int, key: str) -> float:
        """A coordinate or a score from its text; 0 for a fault, which is noted."""
        value, fault = number_in(text)
        if not fault and abs(value) <= LARGEST_COORDINATE:
            return value
        expected = "a finite number" if fault else f"at most {LARGEST_COORDINATE}"
        found = describe(text) if text else "nothing"
        self.problems.add(line, key, f"expected {expected}, found {found}")
        return 0.0

    def add_box(
        self,
        label: str,
        corners: Sequence[float],
        line: int,
        /,
        *,
        place: tuple[int, str] | None = None,
        score: float = 0.0,
        difficult: bool = False,
        crowd: bool = False,
    ) -> None:
        """Add a box of the last image by its left, top, right and bottom edges.

        `place` is the line and the key of a fault; None for the line of the object.
        """
        left, top, right, bottom = corners
        before = self.problems.total
        for low, high, axis in ((left, right, "x"), (top, bottom, "y")):
            if high < low:
                message = f"expected {axis}max of at least {axis}min ({low!r}), found {high!r}"
                self.problems.add(*(place or (line, "")), message)
        if self.problems.total == before:
            box = [left, top, right - left, bottom - top]
            self._add(BOX, box, label, line, score, difficult, crowd=crowd)

    def add_rotated_box(
        self, label: str, sides: Sequence[float], line: int, score: float = 0.0
    ) -> None:
        """Add a rotated box of the last image: centre x, centre y, width, height, degrees."""
        self._add(ROTATED_BOX, sides, label, line, score)

    def add_polygon(
        self,
        label: str,
        ring: Ring,
        line: int,
        /,
        *,
        place: tuple[int, str] | None = None,
        parts: Sequence[Ring] = (),
        score: float = 0.0,
        difficult: bool = False,
    ) -> None:
        """Add a polygon of the last image: x1, y1, x2, y2, …; `place` likewise.

        `parts` are the rings of its other parts.
        """
        rings = [
            one[:-2] if one[:2] == one[-2:] and len(one) > 2 else one for one in (ring, *parts)
        ]
        for one in rings:
            if len(one) < 6:
                message = f"expected at least 3 points, found {len(one) // 2}"
                self.problems.add(*(place or (line, "")), message)
                return
        self._add(POLYGON, [[one] for one in rings], label, line, score, difficult)

    def _add(
        self,
        kind: int,
        shape: Sequence[Any],
        label: str,
        line: int,
        score: float,
        difficult: bool = False,
        *,
        crowd: bool = False,
    ) -> None:
        self._difficult.append(difficult)
        self._part.append(self._paths.setdefault(self.problems.path, len(self._paths)))
        code = self._labels.setdefault(label, len(self._labels))
        self._rows.add(kind, shape, self._image, code, line, score=score, crowd=crowd)

    def object_file(
        self,
        invalid: InvalidRows,
        warnings: Sequence[str] = (),
        place: str = LINE,
        hint: str = "",
    ) -> ObjectFile:
        """All images and objects.

        Args:
            invalid: "skip" leaves out objects that cannot be used and counts them.
            place: How objects are named in a file, as in `Table`.
            hint: What to do about faults of files.
            warnings: Oddities that did not prevent use.

        Raises:
            DataError: A file has a fault; or an object, and none may be left out.
        """
        piece = self._rows.piece()
        if not self.predicted:
            piece = checked_ids(piece, self.problems)
            columns = {**piece.columns, "difficult": np.array(self._difficult, np.bool_)}
            piece = replace(piece, columns=columns)
        stop_on([self.faults], hint)
        if invalid == "error":
            stop_on([self.problems], SKIP_HINT)
        skipped = self.found - len(piece.shapes)
        digest = self._digests[""] if "" in self._digests else digest_of(self._digests)
        return object_file(
            self.path,
            piece,
            images=self._images.table(self.path, "image {row}"),
            image_ids=text_column(self._images.ids),
            labels=list(self._labels),
            files=[InputFile(self.path, digest, self.found, skipped)],
            skipped=skipped,
            image_names="file",
            parts=Parts([(one, place) for one in self._paths], np.array(self._part, np.int64)),
            place=place,
            warnings=warnings,
        )
