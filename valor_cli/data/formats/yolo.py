"""Read and write objects as YOLO label files, one per image.

A label file is named after its image and has one line per object, in units of the image's width
and height: `class cx cy width height`, or `class x y x y …` for a polygon (a rotated box is the
polygon of its four corners), followed by a score in predictions. An empty file is an image without
objects.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.folders import digest_of, no_metadata, text_of
from valor_cli.data.formats.images import image_size
from valor_cli.data.formats.yolo_dataset import LabelFile, LabelFiles, label_files
from valor_cli.data.shapes.objects.known_images import KnownImages, sizes_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Piece, Role, text_column
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import Frame, ImageRows, Named, object_file
from valor_cli.data.shapes.objects.scene import (
    WriteOptions,
    Written,
    by_row,
    category_names,
    check_kinds,
    check_polygons,
    image_numbers,
    images_of,
    labels_of,
    losses,
    rows_by_image,
    sizes_needed,
    stems_of,
)
from valor_cli.data.table import SKIP_HINT, Columns
from valor_cli.data.values import LineProblems, describe, stop_on
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean, printable
from valor_cli.kernels.geometry.shapes import (
    BOX,
    POLYGON,
    Floats,
    Ints,
    Kind,
    Masks,
    Polygons,
    Shapes,
)
from valor_cli.results import InputFile

Flags: TypeAlias = NDArray[np.bool_]

KINDS: tuple[Kind, ...] = ("box", "polygon")
CLASSES: Final = "classes.txt"
_HOLDS: Final = frozenset({"size", "empty_image", "empty_category"})

_NEAR: Final = (-1, 2)
"""Range of coordinates in units of the image: predictions may reach over its edges."""

_WIDEST: Final = 2
"""Of a width or height, likewise."""

_SIZES_HINT: Final = (
    "YOLO labels are in units of the image: name the folder of the image files as `images:` "
    "under `data:`."
)
_OF_TRUTH: Final = "\nOr give a ground truth that says the sizes of its images."


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Objects of a folder of label files, or of the data.yaml of a data set.

    Image ids are paths of label files in the folder, without extension. Category ids are the
    classes. In ground truth, images beside those with label files are images without objects, as
    in Ultralytics' tools.

    Args:
        path: The folder of label files; for ground truth also a data.yaml, or the folder that has
            it with its images.
        role: Which side it is.
        how: Its options; there is no metadata of images in this format. Without `images`, the
            folder is the one that the data set names, or `images` beside `labels`.

    Raises:
        DataError: The folder cannot be read or has no label files; names or sizes are not known;
            a line is wrong.
    """
    no_metadata(path, role, how.metadata)
    source = label_files(path, role, how)
    rows, sized = ImageRows(), LineProblems(path)
    lines = _Lines(role)
    digests: dict[str, str] = {}
    sizes = _known_sizes(path, source, how.known)
    for at, (one, size) in enumerate(zip(source.files, sizes, strict=True)):
        text = ""
        if one.name is not None:
            text, digests[one.name] = text_of(one.path)
            lines.read(at, text)
        _add_image(rows, one, size, source, sized, needed=bool(text.strip()))
    stop_on([sized], _SIZES_HINT + (_OF_TRUTH if role == "predictions" else ""))
    piece = lines.piece(source.names, np.array([rows.height, rows.width], np.float64).T)
    problems = lines.problems(path, [one.path for one in source.files])
    if how.invalid == "error":
        stop_on([problems], SKIP_HINT)
    skipped = lines.found - len(piece.shapes)
    return object_file(
        path,
        piece,
        images=rows.table(path, "image {row}"),
        image_ids=text_column(rows.ids),
        labels=Named(list(source.names), list(source.names.values()), by_use=False),
        files=[InputFile(path, digest_of(digests), lines.found, skipped)],
        skipped=skipped,
        image_names="file",
        part_of=[one.path for one in source.files],
        warnings=source.warnings,
        class_names=source.names,
    )


def _known_sizes(path: str, source: LabelFiles, known: KnownImages | None) -> list[Frame | None]:
    """Height and width of each image as the ground truth says; 0 or None where it does not.

    Raises:
        DataError: No label file is named like an image of the ground truth.
    """
    names = [one.image for one in source.files]
    sizes = sizes_of(names, known)
    if source.images is None and known is not None and len(known.ids) and not any(sizes):
        message = (
            f"no label file is named like an image of {known.path} (images: "
            f"{_some(known.called(one) for one in range(len(known.ids)))}; label files: "
            f"{_some(map(repr, names))})"
        )
        hint = "Label files are named after their images: give predictions for the same images."
        raise DataError(Problem(path, message), hint=hint)
    return sizes


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(map(printable, listed[:3])) + (", …" if len(listed) > 3 else "")


def _add_image(
    rows: ImageRows,
    one: LabelFile,
    frame: Frame | None,
    source: LabelFiles,
    problems: LineProblems,
    *,
    needed: bool,
) -> None:
    """Add an image. That its size is not known is a problem where it is needed.

    `frame` is what is known already.
    """
    problems.path = one.path
    if not (frame and frame[0]):
        frame = None
    if frame is None and one.picture is not None:
        try:
            frame = image_size(one.picture)
        except DataError as error:
            if one.name is None:
                raise
            found = error.problems[0]
            problems.add(0, "", f"the size of its image is not known ({found})")
    elif frame is None and needed:
        where = source.images and f": there is no image '{one.image}.*' in {source.images}"
        problems.add(0, "", f"the size of its image is not known{where or ''}")
    rows.ids.append(one.image)
    rows.height.append(0 if frame is None else frame[0])
    rows.width.append(0 if frame is None else frame[1])
    rows.file_name.append(one.file_name)


class _Lines:
    """The lines of all label files, as columns.

    Attributes:
        found: How many lines there were, good or not.
    """

    def __init__(self, role: Role) -> None:
        self.found = 0
        self._predicted = role == "predictions"
        self._values = array("d")
        self._count: list[int] = []
        """Numbers of each line, 0 for one without an object."""
        self._first: list[tuple[int, int]] = []
        """Position of the image of each file, and how many lines were before."""
        self._faults: list[tuple[int, int, str, str]] = []
        """Image, line, place in it, and message."""

    def read(self, image: int, text: str) -> None:
        """Add the lines of a file; `image` is the position of its image."""
        lines = [line.split() for line in text.split("\n")]
        self.found += sum(map(bool, lines))
        before = len(self._values)
        # Python's float takes more than what other tools call a number.
        sound = text.isascii() and "_" not in text
        try:
            self._values.extend(map(float, chain.from_iterable(lines)))
        except ValueError:
            sound = False
        if not sound or not all(map(math.isfinite, self._values[before:])):
            del self._values[before:]
            for at, fields in enumerate(lines):
                if self._wrong_fields(image, at + 1, fields):
                    lines[at] = []
            self._values.extend(map(float, chain.from_iterable(lines)))
        self._first.append((image, len(self._count)))
        self._count += map(len, lines)

    def _wrong_fields(self, image: int, line: int, fields: Sequence[str]) -> bool:
        before = len(self._faults)
        for at, field in enumerate(fields, 1):
            try:
                sound = math.isfinite(float(field)) and field.isascii() and "_" not in field
            except ValueError:
                sound = False
            if not sound:
                message = f"expected a finite number, found {describe(field)}"
                self._faults.append((image, line, f"field {at}", message))
        return len(self._faults) > before

    def problems(self, path: str, files: Sequence[str]) -> LineProblems:
        """What is wrong with lines, in their order; `files` are the label files of the images."""
        problems = LineProblems(path)
        for image, line, key, message in sorted(self._faults, key=itemgetter(0, 1)):
            problems.path = files[image]
            problems.add(line, key, message)
        return problems

    def piece(self, names: Mapping[int, str], size: Floats) -> Piece:
        """The objects of the lines that can be used; faults of the others are kept.

        Args:
            names: Of the classes.
            size: (images, 2) height and width.
        """
        every = np.array(self._count, np.int64)
        rows = np.flatnonzero(every)
        count, start = every[rows], (np.cumsum(every) - every)[rows]
        values: Floats = np.frombuffer(self._values) if self._values else np.zeros(0)
        images, lines = np.array(self._first, np.int64).reshape(-1, 2).T
        file = np.searchsorted(lines, rows, side="right") - 1
        image, line = images[file], rows - lines[file] + 1
        scale = size[image][:, ::-1]
        good = np.ones(len(rows), np.bool_)

        def reject(bad: Flags, message: Callable[[Floats], str]) -> None:
            for row in np.flatnonzero(bad & good).tolist():
                said = message(values[start[row] : start[row] + count[row]])
                self._faults.append((int(image[row]), int(line[row]), "", said))
            good[bad] = False

        known = np.array(list(names), np.int64)
        order = np.argsort(known)
        label = order[np.searchsorted(known[order], values[start]).clip(max=len(known) - 1)]
        reject(known[label] != values[start], lambda one: _class_message(one[0], len(names)))
        # After the class: the geometry, then the score.
        n = count - 1
        scored = (n == 5) | ((n >= 7) & (n % 2 == 1))
        reject((n < 4) | (self._predicted & ~scored), lambda one: self._expected(len(one) - 1))
        sides = n - scored
        box = (sides == 4) & good
        boxes = values[start[box, None] + np.arange(1, 5)]
        reject(_of_rows(box, (boxes[:, 2:] < 0).any(axis=1)), _negative_message)
        low, high = _NEAR
        far = (boxes[:, :2] < low) | (boxes[:, :2] > high) | (boxes[:, 2:] > _WIDEST)
        reject(_of_rows(box, far.any(axis=1)), _far_message)
        polygon = (sides != 4) & good
        points, ring = _points(values, start, sides, polygon)
        far = (points < low) | (points > high)
        reject(np.bincount(ring, far.any(axis=1), len(rows)) > 0, _far_message)
        points = points * scale[ring]
        kept = ~_closing(points, ring)
        points, ring = points[kept], ring[kept]
        length = np.bincount(ring, minlength=len(rows))
        reject(polygon & (length < 3), _short_message)
        columns: Columns = {
            "image": image[good],
            "label": label[good],
            "line": line[good],
            "position": np.full(int(good.sum()), -1),
        }
        if self._predicted:
            columns["score"] = values[(start + n)[good]]
        starts = np.concatenate([[0], np.cumsum(length[good & polygon])])
        one_each = np.arange(len(starts))
        shapes = Shapes(
            np.where(box, BOX, POLYGON).astype(np.uint8)[good],
            _pixel_boxes(boxes[good[box]], scale[box & good]),
            np.zeros((0, 5)),
            Polygons(points[good[ring]], starts, one_each, one_each),
            Masks.none(),
        )
        return Piece(columns, shapes)

    def _expected(self, found: int) -> str:
        if not self._predicted:
            return (
                "expected a class and cx, cy, width, height, or a class and x, y, x, y, … of a "
                f"polygon, found a class and {found} numbers"
            )
        hint = ""
        if found == 4 or (found >= 6 and found % 2 == 0):
            hint = ": the score is missing; predict with save_conf=True"
        return (
            "expected a class, cx, cy, width, height and a score, or a class, x, y, x, y, … of a "
            f"polygon and a score, found a class and {found} numbers{hint}"
        )


def _class_message(value: float, known: int) -> str:
    if value < 0 or not value.is_integer():
        return f"expected a class of 0, 1, 2, …, found {value:g}"
    return f"there is no name for class {int(value)} ({known} names are known)"


def _negative_message(line: Floats) -> str:
    name, side = next(
        (name, side)
        for name, side in zip(("width", "height"), line[3:5].tolist(), strict=True)
        if side < 0
    )
    return f"expected a {name} of 0 or more, found {side!r}"


def _far_message(line: Floats) -> str:
    low, high = _NEAR
    is_box = len(line) in (5, 6)
    ends = 3 if is_box else len(line) - (len(line) % 2 == 0)
    far = [one for one in line[1:ends].tolist() if not low <= one <= high]
    far += [one for one in line[3:5].tolist() if is_box and one > _WIDEST]
    return f"expected fractions of the image, found {far[0]:g} (pixels?)"


def _short_message(line: Floats) -> str:
    points = line[1 : len(line) - (len(line) % 2 == 0)].reshape(-1, 2)
    found = len(points) - bool((points[0] == points[-1]).all())
    return f"expected a polygon of at least 3 points, found {found}"


def _of_rows(rows: Flags, flags: Flags) -> Flags:
    """Flags of some rows as flags of all."""
    found = np.zeros(len(rows), np.bool_)
    found[rows] = flags
    return found


def _points(values: Floats, start: Ints, sides: Ints, wanted: Flags) -> tuple[Floats, Ints]:
    """(p, 2) the points of some lines, and (p,) the line of each."""
    rows = np.flatnonzero(wanted)
    length = sides[rows] // 2
    ring = np.repeat(rows, length)
    inside = np.arange(len(ring)) - np.repeat(np.cumsum(length) - length, length)
    at = start[ring] + 1 + 2 * inside
    return np.column_stack([values[at], values[at + 1]]), ring


def _closing(points: Floats, ring: Ints) -> Flags:
    """(p,) whether a point is the last one of its polygon and repeats the first."""
    change = np.flatnonzero(np.diff(ring))
    first = np.concatenate([[0], change + 1])[: len(ring)]
    last = np.append(change, len(ring) - 1)[: len(ring)]
    closes = np.zeros(len(ring), np.bool_)
    closes[last] = (points[first] == points[last]).all(axis=1) & (last > first)
    return closes


def _pixel_boxes(sides: Floats, scale: Floats) -> Floats:
    """Left, top, width and height in pixels of boxes by their centre in units of the image.

    Args:
        sides: (n, 4) centre x, centre y, width, height.
        scale: (n, 2) width and height of their images.
    """
    return np.column_stack([(sides[:, :2] - sides[:, 2:] / 2) * scale, sides[:, 2:] * scale])


def write_yolo(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """Lines of `class x y width height [score]` or `class x1 y1 x2 y2 … [score]`, as fractions.

    An image without objects has an empty file.

    Raises:
        DataError: A geometry that YOLO has no line for, an image without a size, no labels or
            one that is not in `wishes.names`, or a name that no file or line can have.
    """
    check_kinds(objects, KINDS, "YOLO")
    check_polygons(objects, "YOLO", parts=False, instead="box")
    images = images_of(objects)
    stems = stems_of(images, objects.path, reserved=("classes",))
    number = image_numbers(objects, images)
    # Width before height, as x stands before y.
    size = sizes_needed(objects, images, number)[:, ::-1].astype(np.float64)
    classes = _classes(objects, wishes.names)
    lines = _lines(objects, size, classes)
    own = rows_by_image(number, len(images))
    files = {CLASSES: "".join(f"{name}\n" for name in classes).encode()}
    for stem, rows in zip(stems, own, strict=True):
        text = "".join(lines[row] for row in rows)
        files[f"{stem}.txt"] = text.encode()
    return Written(files, [*losses(objects, "YOLO", _HOLDS), *_rounded(objects.shapes, size)])


def _classes(objects: ObjectFile, names: Sequence[str]) -> Mapping[str, int]:
    """The number of each label: its place among the names asked for, else among the categories."""
    own = list(category_names(objects).values())
    classes = list(names) or own
    unknown = [label for label in dict.fromkeys(labels_of(objects)) if label not in classes]
    problems = [
        Problem("--names", f"no label '{label}'{did_you_mean(label, classes)}") for label in unknown
    ] + [
        Problem(objects.path, f"a line of {CLASSES} cannot hold the label '{label}'")
        for label in classes
        if not label.strip() or label != label.strip() or len(label.splitlines()) > 1
    ]
    if len(set(classes)) < len(classes):
        twice = next(label for label in classes if classes.count(label) > 1)
        problems.append(Problem("--names", f"duplicate label '{printable(twice)}'"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    return {label: at for at, label in enumerate(classes)}


def _lines(objects: ObjectFile, size: Floats, classes: Mapping[str, int]) -> list[str]:
    """The line of each object; `size` is (n, 2), width and height of its image."""
    shapes = objects.shapes
    polygon = shapes.polygon
    points = _fractions_of_points(shapes, size).ravel().tolist()
    starts = (2 * polygon.rings).tolist()
    numbers = by_row(
        shapes,
        {
            BOX: _fractions_of_boxes(shapes, size).tolist(),
            POLYGON: [points[start:end] for start, end in pairwise(starts)],
        },
    )
    table = objects.objects
    if "score" in table.columns:
        for mine, score in zip(numbers, table["score"].tolist(), strict=True):
            mine.append(score)
    return [
        f"{classes[label]} {' '.join(map(repr, mine))}\n"
        for label, mine in zip(labels_of(objects), numbers, strict=True)
    ]


def _fractions_of_boxes(shapes: Shapes, size: Floats) -> Floats:
    """(b, 4) centre x, centre y, width, height."""
    box, at = shapes.box, size[shapes.rows_of(BOX)]
    return np.concatenate([(box[:, :2] + box[:, 2:] / 2) / at, box[:, 2:] / at], axis=1)


def _fractions_of_points(shapes: Shapes, size: Floats) -> Floats:
    """(p, 2) x, y; every polygon is one ring."""
    owner = np.repeat(shapes.rows_of(POLYGON), np.diff(shapes.polygon.rings))
    fractions: Floats = shapes.polygon.points / size[owner]
    return fractions


def _rounded(shapes: Shapes, size: Floats) -> list[str]:
    """A word on what going through fractions does to pixels, where it does anything."""
    at = size[shapes.rows_of(BOX)]
    fractions = _fractions_of_boxes(shapes, size)
    sides = fractions[:, 2:] * at
    corners = (fractions[:, :2] - fractions[:, 2:] / 2) * at
    owner = np.repeat(shapes.rows_of(POLYGON), np.diff(shapes.polygon.rings))
    points = _fractions_of_points(shapes, size) * size[owner]
    off = max(
        np.abs(corners - shapes.box[:, :2]).max(initial=0),
        np.abs(sides - shapes.box[:, 2:]).max(initial=0),
        np.abs(points - shapes.polygon.points).max(initial=0),
    )
    if not off:
        return []
    return [f"YOLO stores fractions of the image: coordinates are off by up to {off:.1g} pixels"]
