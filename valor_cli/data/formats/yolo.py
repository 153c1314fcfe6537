"""Read and write objects as YOLO label files, one per image.

A label file is named after its image and has one line per object, in units of the image's width
and height: `class cx cy width height`, or `class x y x y …` for a polygon (a rotated box is the
polygon of its four corners), followed by a score in predictions. An empty file is an image without
objects.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.column_names import number_in, some_of
from valor_cli.data.formats.annotated_images import NEAR, SIZES_HINT, not_fractions
from valor_cli.data.formats.folders import digest_of, no_metadata, text_of
from valor_cli.data.formats.images import image_size
from valor_cli.data.formats.yolo_dataset import LabelFile, LabelFiles, label_files
from valor_cli.data.shapes.objects.known_images import KnownImages, sizes_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Piece, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import Frame, ImageRows, object_file
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written
from valor_cli.data.table import LINE, SKIP_HINT, Columns, Parts, Problems, stop_on
from valor_cli.data.values import describe
from valor_cli.errors import DataError, Problem, did_you_mean, printable
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

Flags: TypeAlias = NDArray[np.bool_]

KINDS: tuple[Kind, ...] = ("box", "polygon")
CLASSES: Final = "classes.txt"
_HOLDS: Final = frozenset({"size", "empty_image", "empty_category"})

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
    images, sized = ImageRows(), Problems(path, LINE)
    lines = _Lines(predicted=role == "predictions")
    digests: dict[str, str] = {}
    for one, known in zip(source.files, _known_frames(path, source, how.known), strict=True):
        text = ""
        if one.name is not None:
            text, digests[one.name] = text_of(one.path)
        lines.read(text)
        frame = known if known and all(known) else None
        height, width = frame or _frame(one, source.images, sized, needed=bool(text.strip()))
        images.ids.append(one.image)
        images.height.append(height)
        images.width.append(width)
        images.file_name.append(one.file_name)
    stop_on(
        [sized], SIZES_HINT.format("YOLO labels") + (_OF_TRUTH if role == "predictions" else "")
    )
    piece = lines.piece(source.names.keys(), np.array([images.width, images.height], np.float64).T)
    paths = [one.path for one in source.files]
    if how.invalid == "error":
        stop_on([lines.problems(path, paths)], SKIP_HINT)
    return object_file(
        path,
        piece,
        images,
        source.names,
        found=lines.found,
        sha256=digest_of(digests),
        parts=Parts([(one, LINE) for one in paths], piece.columns["image"]),
        warnings=source.warnings,
        class_names=source.names,
    )


def _known_frames(path: str, source: LabelFiles, known: KnownImages | None) -> list[Frame | None]:
    """Height and width of each image as the ground truth says; 0 or None where it does not.

    Raises:
        DataError: No label file is named like an image of the ground truth.
    """
    names = [one.image for one in source.files]
    frames = sizes_of(names, known)
    if source.images is None and known is not None and len(known.ids) and not any(frames):
        message = (
            f"no label file is named like an image of {known.path} (images: "
            f"{some_of(known.called(one) for one in range(len(known.ids)))}; label files: "
            f"{some_of(map(repr, names))})"
        )
        hint = "Label files are named after their images: give predictions for the same images."
        raise DataError(Problem(path, message), hint=hint)
    return frames


def _frame(one: LabelFile, folder: str | None, problems: Problems, *, needed: bool) -> Frame:
    """Height and width of an image by its file; 0 where not known, a problem where needed."""
    where = f": there is no image '{one.image}.*' in {folder}" if folder else ""
    if one.picture is not None:
        try:
            return image_size(one.picture)
        except DataError as error:
            if one.name is None:
                raise
            needed, where = True, f" ({error.problems[0]})"
    if needed:
        problems.path = one.path
        problems.add(0, "", f"the size of its image is not known{where}")
    return 0, 0


class _Lines:
    """The lines of all label files, as columns.

    Attributes:
        found: How many lines there were, good or not.
    """

    def __init__(self, *, predicted: bool) -> None:
        self.found = 0
        self._predicted = predicted
        self._values = array("d")
        self._count: list[int] = []
        """Numbers of each line, 0 for one without an object."""
        self._lines: list[int] = []
        """Lines of each image."""
        self._faults: list[tuple[int, int, str, str]] = []
        """Image, line, place in it, and message."""

    def read(self, text: str) -> None:
        """Add the lines of the label file of the next image."""
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
                for place, field in enumerate(fields, 1):
                    if number_in(field)[1]:
                        said = f"expected a finite number, found {describe(field)}"
                        self._faults.append((len(self._lines), at + 1, f"field {place}", said))
                        lines[at] = []
            self._values.extend(map(float, chain.from_iterable(lines)))
        self._lines.append(len(lines))
        self._count += map(len, lines)

    def problems(self, path: str, files: Sequence[str]) -> Problems:
        """What is wrong with lines, in their order; `files` are the label files of the images."""
        problems = Problems(path, LINE)
        for image, line, key, message in sorted(self._faults, key=itemgetter(0, 1)):
            problems.path = files[image]
            problems.add(line, key, message)
        return problems

    def piece(self, classes: Collection[int], size: Floats) -> Piece:
        """The objects of the lines that can be used; faults of the others are kept.

        Args:
            classes: Those that have names.
            size: (images, 2) width and height.
        """
        every, per_image = np.array(self._count, np.int64), np.array(self._lines, np.int64)
        rows = np.flatnonzero(every)
        count, start = every[rows], (np.cumsum(every) - every)[rows]
        values: Floats = np.frombuffer(self._values) if self._values else np.zeros(0)
        image = np.repeat(np.arange(len(per_image)), per_image)[rows]
        line = rows - (np.cumsum(per_image) - per_image)[image] + 1
        known = np.array(list(classes), np.int64)
        order = np.argsort(known)
        label = order[np.searchsorted(known[order], values[start]).clip(max=len(known) - 1)]
        # After the class: the geometry, then the score.
        n = count - 1
        scored = _scored(n)
        good = (known[label] == values[start]) & (n >= 4) & (scored | (not self._predicted))
        sides = np.where(good, n - scored, 0)
        owner = np.repeat(np.arange(len(rows)), sides)
        shift = start + 1 - np.cumsum(sides) + sides
        flat = values[shift[owner] + np.arange(len(owner))]
        far = (flat < NEAR[0]) | (flat > NEAR[1])
        good[owner[far]] = False
        box = sides == 4
        in_box = box[owner]
        boxes = flat[in_box].reshape(-1, 4)
        good[box] &= (boxes[:, 2:] >= 0).all(axis=1)
        points, ring = _opened(flat[~in_box].reshape(-1, 2), owner[~in_box][::2])
        length = np.bincount(ring, minlength=len(rows))
        good &= box | (length >= 3)
        for row in np.flatnonzero(~good).tolist():
            said = self._fault(values[start[row] : start[row] + count[row]].tolist(), classes)
            self._faults.append((int(image[row]), int(line[row]), "", said))
        columns: Columns = {
            "image": image,
            "label": label,
            "line": line,
            "position": np.full(len(rows), -1),
        }
        if self._predicted:
            columns["score"] = values[start + n]
        starts = np.concatenate([[0], np.cumsum(length[~box])])
        one_each = np.arange(len(starts))
        shapes = Shapes(
            np.where(box, BOX, POLYGON).astype(np.uint8),
            _pixel_boxes(boxes, size[image[box]]),
            np.zeros((0, 5)),
            Polygons(points * size[image[ring]], starts, one_each, one_each),
            Masks.none(),
        )
        if good.all():
            return Piece(columns, shapes)
        kept = np.flatnonzero(good)
        return Piece({name: one[kept] for name, one in columns.items()}, shapes.take(kept))

    def _fault(self, line: Sequence[float], classes: Collection[int]) -> str:
        """What is wrong with the numbers of a line."""
        number, *sides = line
        n = len(sides)
        if number < 0 or not number.is_integer():
            return f"expected a class of 0, 1, 2, …, found {number:g}"
        if number not in classes:
            return f"there is no name for class {int(number)} ({len(classes)} names are known)"
        scored = bool(_scored(np.array(n)))
        if n < 4 or (self._predicted and not scored):
            return self._expected(n)
        sides = sides[: n - scored]
        if len(sides) == 4 and min(sides[2:]) < 0:
            name, side = ("width", sides[2]) if sides[2] < 0 else ("height", sides[3])
            return f"expected a {name} of 0 or more, found {side!r}"
        if wrong := not_fractions(sides):
            return wrong
        found = len(sides) // 2 - (sides[:2] == sides[-2:])
        return f"expected a polygon of at least 3 points, found {found}"

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


def _scored(count: Ints) -> Flags:
    """Whether a score is behind the geometry, by how many numbers follow the class."""
    scored: Flags = (count == 5) | ((count >= 7) & (count % 2 == 1))
    return scored


def _opened(points: Floats, ring: Ints) -> tuple[Floats, Ints]:
    """Points and the polygon of each, less closing points: those that repeat a polygon's first."""
    first = np.flatnonzero(np.diff(ring, prepend=-1))
    last = np.flatnonzero(np.diff(ring, append=-1))
    closing = last[(points[first] == points[last]).all(axis=1) & (first < last)]
    return np.delete(points, closing, axis=0), np.delete(ring, closing)


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
    scene = Scene(objects, "YOLO", KINDS)
    scene.check_polygons(parts=False, instead="box")
    stems = scene.stems(reserved=("classes",))
    # Width before height, as x stands before y.
    size = scene.sizes()[:, ::-1].astype(np.float64)
    classes = _classes(scene, wishes.names)
    lines, off = _lines(scene, size, classes)
    files = {CLASSES: "".join(f"{name}\n" for name in classes).encode()}
    for stem, rows in zip(stems, scene.rows(), strict=True):
        text = "".join(lines[row] for row in rows)
        files[f"{stem}.txt"] = text.encode()
    what = f"YOLO stores fractions of the image: coordinates are off by up to {off:.1g} pixels"
    return Written(files, [*scene.losses(_HOLDS), *[what] * (off > 0)])


def _classes(scene: Scene, names: Sequence[str]) -> Mapping[str, int]:
    """The number of each label: its place among the names asked for, else among the categories."""
    own = list(scene.names.values())
    classes = list(names) or own
    unknown = [label for label in dict.fromkeys(scene.labels) if label not in classes]
    problems = [
        Problem("--names", f"no label '{label}'{did_you_mean(label, classes)}") for label in unknown
    ] + [
        Problem(scene.objects.path, f"a line of {CLASSES} cannot hold the label '{label}'")
        for label in classes
        if not label.strip() or label != label.strip() or len(label.splitlines()) > 1
    ]
    if len(set(classes)) < len(classes):
        twice = next(label for label in classes if classes.count(label) > 1)
        problems.append(Problem("--names", f"duplicate label '{printable(twice)}'"))
    if problems:
        raise DataError(problems)
    return {label: at for at, label in enumerate(classes)}


def _lines(scene: Scene, size: Floats, classes: Mapping[str, int]) -> tuple[list[str], float]:
    """The line of each object, and by how many pixels fractions are off.

    `size` is (n, 2), width and height of its image.
    """
    shapes, table = scene.shapes, scene.table
    box, polygon = shapes.box, shapes.polygon
    at = size[shapes.rows_of(BOX)]
    boxes = np.concatenate([(box[:, :2] + box[:, 2:] / 2) / at, box[:, 2:] / at], axis=1)
    # Every polygon is one ring.
    scale = size[np.repeat(shapes.rows_of(POLYGON), np.diff(polygon.rings))]
    points = polygon.points / scale
    off = max(
        np.abs(_pixel_boxes(boxes, at) - box).max(initial=0),
        np.abs(points * scale - polygon.points).max(initial=0),
    )
    flat, starts = points.ravel().tolist(), (2 * polygon.rings).tolist()
    rings = [flat[start:end] for start, end in pairwise(starts)]
    numbers = scene.by_row({BOX: boxes.tolist(), POLYGON: rings})
    if "score" in table.columns:
        for mine, score in zip(numbers, table["score"].tolist(), strict=True):
            mine.append(score)
    lines = [
        f"{classes[label]} {' '.join(map(repr, mine))}\n"
        for label, mine in zip(scene.labels, numbers, strict=True)
    ]
    return lines, float(off)
