"""Read objects from columns, whatever format these come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.columns import FORMS, Form
from valor_cli.data.shapes.objects.object_file import Piece, Role, Wanted, text_column
from valor_cli.data.table import Columns
from valor_cli.data.tape import (
    DUPLICATE,
    FALSE,
    INVALID,
    LIST,
    NOTHING,
    NUMBER,
    OBJECT,
    TEXT,
    TRUE,
    Bools,
    Column,
    Floats,
    Ints,
)
from valor_cli.data.values import LARGEST_COORDINATE, LARGEST_EXACT
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.rle import LARGEST_SIDE, decoded_text, from_counts
from valor_cli.kernels.geometry.shapes import (
    BOX,
    KINDS,
    MASK,
    POLYGON,
    ROTATED_BOX,
    Masks,
    Polygons,
    Shapes,
    joined_masks,
)

CROWD: Final = {"": False, "0": False, "1": True, "false": False, "true": True}
"""What a cell of `crowd` may say, in lower case."""

FEWEST: Final = 6
"""Numbers of a ring: x and y of three points."""

_TENS: Final = 10 ** np.arange(1, 19)
"""The least numbers of two and more digits."""

_NO_SHAPE: Final = 255


class ObjectFields(Struct, frozen=True):
    """The columns of some objects, by meaning.

    Attributes:
        row: (n,) the row of the file that each is in.
        line: (n,) its number.
        position: (n,) place among the objects of the row; -1 where a row is one object.
        unusable: (n,) which are known to be wrong.
        values: Columns by standard name, those of the geometry included: the sides of a box, or
            what `OBJECT` has.
        form: How boxes are written in cells of a table, where numbers are texts, and nothing is an
            empty one; None for values of JSON.
    """

    row: Ints
    line: Ints
    position: Ints
    unusable: Bools
    values: Mapping[str, Column]
    form: Form | None = None

    def take(self, chosen: Bools) -> ObjectFields:
        """Select objects."""
        return ObjectFields(
            self.row[chosen],
            self.line[chosen],
            self.position[chosen],
            self.unusable[chosen],
            {name: column.take(chosen) for name, column in self.values.items()},
            self.form,
        )


class ObjectParser:
    """Reads objects of a file. Labels are numbered as they appear."""

    def __init__(self, role: Role, wanted: Wanted, labels: Vocabulary) -> None:
        """Initialise with the columns to fill.

        Args:
            role: Which side it is.
            wanted: Which geometry to take of an object that has several.
            labels: Names seen so far; new ones are added.
        """
        self._predicted = role == "predictions"
        self._wanted = wanted
        self._labels = labels

    def parse(self, fields: ObjectFields, frame: Ints, wrong: Bools) -> Piece:
        """The objects of rows that are not wrong; others that are found to be are marked.

        Args:
            fields: The columns.
            frame: (rows, 2) height and width of the image of each row; 0 where unknown.
            wrong: (rows,) which are known to be wrong.

        Returns:
            Objects whose `image` is their row.
        """
        while True:
            if wrong.any():
                fields = fields.take(~wrong[fields.row])
            bad = fields.unusable.copy()
            columns = self._columns(fields, bad)
            if fields.form is None:
                shapes = self._shapes(fields.values, frame[fields.row], bad)
            else:
                shapes = _of_cells(fields.values, fields.form, bad)
            if not bad.any():
                label = fields.values["label"]
                columns["label"] = self._labels.codes(label.tape.text, *label.spans())
                return Piece(columns, shapes)
            wrong[fields.row[bad]] = True

    def _columns(self, fields: ObjectFields, bad: Bools) -> Columns:
        """The columns besides labels and geometry."""
        said, n = fields.values, len(fields.row)
        bad |= ~said["label"].is_of(TEXT)
        columns: Columns = {
            "image": fields.row,
            "line": fields.line,
            "position": fields.position,
        }
        if self._predicted:
            columns["score"], read = np.zeros(n), np.zeros(n, np.bool_)
            if "score" in said:
                columns["score"], read = said["score"].numbers()
            bad |= ~read
            return columns
        columns["crowd"] = np.zeros(n, np.bool_)
        columns["area"] = np.full(n, np.nan)
        columns["id"] = np.full(n, None, object)
        if "crowd" in said:
            columns["crowd"] = (crowds if fields.form is None else _said_crowds)(said["crowd"], bad)
        if "area" in said:
            columns["area"], read = said["area"].numbers()
            bad |= ~(said["area"].is_of(*NOTHING) | (read & (columns["area"] >= 0)))
        if "id" in said:
            columns["id"] = _ids(said["id"], bad)
        return columns

    def _shapes(self, said: Mapping[str, Column], frame: Ints, bad: Bools) -> Shapes:
        """The geometry of JSON values."""
        columns = _with_segmentations(said)
        kind = np.full(len(bad), _NO_SHAPE, np.uint8)
        for number, name in enumerate(KINDS):
            kind[~columns[name].is_of(*NOTHING)] = number
        if self._wanted == "box":
            kind[~columns["box"].is_of(*NOTHING)] = BOX
        bad |= kind == _NO_SHAPE
        rows = [np.flatnonzero(kind == number) for number in range(len(KINDS))]
        own = [columns[name].take(at) for name, at in zip(KINDS, rows, strict=True)]
        box, rotated = box_sides(own[BOX]), box_sides(own[ROTATED_BOX], 5)
        polygon, mask = _polygons(own[POLYGON]), _masks(own[MASK], frame[rows[MASK]])
        for at, (_, wrong) in zip(rows, (box, rotated, polygon, mask), strict=True):
            bad[at[wrong]] = True
        return Shapes(kind, box[0], rotated[0], polygon[0], mask[0])


def whole_numbers(column: Column) -> tuple[Ints, Bools]:
    """(n,) whole numbers of 64 bits, and which values are such: 17.0 is 17, as pandas writes it."""
    value, read = column.numbers()
    with np.errstate(invalid="ignore"):
        read &= np.floor(value) == value
        exact = read & (np.abs(value) < LARGEST_EXACT)
    number = np.where(exact, value, 0).astype(np.int64)
    large = np.flatnonzero(read & ~exact)
    for at, text in zip(large.tolist(), column.take(large).texts(), strict=True):
        read[at] = text.lstrip("-").isdigit() and -(2**63) <= int(text) < 2**63
        number[at] = int(text) if read[at] else 0
    return number, read


def image_sides(column: Column) -> tuple[Ints, Bools]:
    """(n,) width or height of images, 0 where it is not said, and which values are such."""
    side, read = whole_numbers(column)
    return side, column.is_of(*NOTHING) | (read & (side >= 0) & (side <= LARGEST_SIDE))


def _said_crowds(column: Column, bad: Bools) -> Bools:
    """What columns of a table say in words and numbers, false for nothing; others are marked."""
    bad |= column.is_of(LIST, OBJECT, DUPLICATE)
    said = Vocabulary()
    code = said.codes(column.tape.text, *column.spans())
    known = [CROWD.get(name.strip().casefold()) for name in said.names]
    bad |= np.array([one is None for one in known], np.bool_)[code]
    crowd = np.array([bool(one) for one in known], np.bool_)[code]
    if not column.is_cells:
        # What has only a number has no words.
        unwritten = column.is_of(NUMBER, INVALID) & (column.length == 0)
        number, _ = column.numbers()
        bad |= unwritten & (number != 0) & (number != 1)
        crowd |= unwritten & (number == 1)
    return crowd


def crowds(column: Column, bad: Bools) -> Bools:
    """Truth values, 0 and 1, false where nothing is said; others are marked."""
    number, read = column.numbers()
    digit = read & (column.length == 1) & ((number == 0) | (number == 1))
    bad |= ~(digit | column.is_of(TRUE, FALSE) | (column.node < 0))
    return np.asarray((digit & (number == 1)) | column.is_of(TRUE))


def _ids(column: Column, bad: Bools) -> NDArray[np.int64] | NDArray[np.object_]:
    """Whole numbers, texts, and None for no id; int64 where all are numbers."""
    if column.is_of(TEXT).all():
        return text_column(column.texts())
    number, read = (np.zeros(len(bad), np.int64), np.zeros(len(bad), np.bool_))
    if not column.is_cells:
        number, read = whole_numbers(column)
    if read.all():
        return number
    nothing, text = column.is_of(*NOTHING), column.is_of(TEXT)
    bad |= ~(read | nothing | text)
    ids = np.full(len(bad), None, object)
    ids[read] = number[read].tolist()
    ids[text] = text_column(column.take(text).texts())
    return ids


def _of_cells(said: Mapping[str, Column], form: Form, bad: Bools) -> Shapes:
    """Boxes, or rotated boxes, of cells."""
    box = np.empty((len(bad), len(FORMS[form])))
    for at, name in enumerate(FORMS[form]):
        box[:, at] = said[name].numbers()[0]
    with np.errstate(invalid="ignore"):
        bad |= ~(np.abs(box) <= LARGEST_COORDINATE).all(axis=1)
        if form == "corners":
            box[:, 2:] -= box[:, :2]
        bad |= ~(box[:, 2:4] >= 0).all(axis=1)
    return Shapes.rotated_boxes(box) if form == "rotated_box" else Shapes.boxes(box)


def _with_segmentations(said: Mapping[str, Column]) -> dict[str, Column]:
    """The values by key, where a segmentation is a polygon or a mask that is not there."""
    shape = said["segmentation"]
    columns: dict[str, Column] = {name: said[name] for name in KINDS}
    if shape.is_of(*NOTHING).all():
        return columns
    # Rings or GeoJSON, rather than run lengths or the path of a PNG.
    is_polygon = shape.is_of(LIST) | (shape.field("type").node >= 0)
    for name, of_kind in (("polygon", is_polygon), ("mask", ~is_polygon)):
        own = columns[name]
        missing = own.is_of(*NOTHING) & of_kind
        columns[name] = Column(own.tape, np.where(missing, shape.node, own.node))
    return columns


def box_sides(column: Column, length: int = 4) -> tuple[Floats, Bools]:
    """(n, length) the sides of boxes, or of rotated boxes, and (n,) which are wrong."""
    if not len(column):
        return np.zeros((0, length)), np.zeros(0, np.bool_)
    count, items = column.items()
    wrong = ~column.is_of(LIST) | (count != length)
    if wrong.any():
        return np.zeros((len(column), length)), wrong
    number, _ = items.numbers()
    sides = number.reshape(-1, length)
    with np.errstate(invalid="ignore"):
        right = (np.abs(sides) <= LARGEST_COORDINATE).all(axis=1)
        right &= (sides[:, 2:4] >= 0).all(axis=1)
    return sides, np.asarray(~right)


class _Lists(NamedTuple):
    """Values that lists hold.

    Attributes:
        begin, end: (n,) those of each list.
        items: All of them.
    """

    begin: Ints
    end: Ints
    items: Column

    @classmethod
    def of(cls, column: Column) -> _Lists:
        count, items = column.items()
        end = np.cumsum(count)
        return cls(end - count, end, items)

    def any_of(self, one: Bools) -> Bools:
        """(n,) which lists hold one of some of the values."""
        before = np.append(0, np.cumsum(one))
        return np.asarray(before[self.end] > before[self.begin])


def outlines(column: Column) -> tuple[Polygons, Bools]:
    """Polygons whose parts are flat rings of three points or more, as they are written.

    Returns:
        The polygons, none if one is wrong, and (n,) which are wrong or written in other ways.
    """
    if not len(column):
        return Polygons.none(), np.zeros(0, np.bool_)
    rings = _Lists.of(column)
    numbers = _Lists.of(rings.items)
    length = numbers.end - numbers.begin
    value, read = numbers.items.numbers()
    with np.errstate(invalid="ignore"):
        unread = ~(read & (np.abs(value) <= LARGEST_COORDINATE))
    broken = ~rings.items.is_of(LIST) | (length < FEWEST) | (length % 2 > 0)
    broken |= numbers.any_of(unread)
    wrong = ~column.is_of(LIST) | (rings.end == rings.begin) | rings.any_of(broken)
    if wrong.any():
        return Polygons.none(), wrong
    starts = np.append(0, numbers.end // 2)
    parts = np.arange(len(starts))
    return Polygons(value.reshape(-1, 2), starts, parts, np.append(0, rings.end)), wrong


def opened(polygons: Polygons, least: int = 0) -> Polygons:
    """Polygons whose rings do not repeat their first point, unless that leaves too few points."""
    points, rings = polygons.points, polygons.rings
    closed = (points[rings[:-1]] == points[rings[1:] - 1]).all(axis=1) & (np.diff(rings) > least)
    if not closed.any():
        return polygons
    starts = np.append(0, np.cumsum(np.diff(rings) - closed))
    points = np.delete(points, rings[1:][closed] - 1, axis=0)
    return Polygons(points, starts, polygons.parts, polygons.objects)


def _polygons(column: Column) -> tuple[Polygons, Bools]:
    """Polygons of rings, and (n,) which are wrong or GeoJSON."""
    polygons, wrong = outlines(column)
    if len(polygons):
        polygons = opened(polygons)
        short = np.append(0, np.cumsum(2 * np.diff(polygons.rings) < FEWEST))
        wrong = np.diff(short[polygons.objects]) > 0
    return polygons, wrong


def run_lengths(column: Column) -> tuple[Masks, Bools]:
    """Masks of run lengths, compressed or not.

    Returns:
        The masks, none if one is wrong, and (n,) which are wrong or written in other ways.
    """
    if not len(column):
        return Masks.none(), np.zeros(0, np.bool_)
    size, counts = column.field("size"), column.field("counts")
    sides = _Lists.of(size)
    is_text = counts.is_of(TEXT)
    wrong = ~column.is_of(OBJECT) | (column.field("png").node >= 0)
    wrong |= ~size.is_of(LIST) | (sides.end - sides.begin != 2) | ~(is_text | counts.is_of(LIST))
    if wrong.any():
        return Masks.none(), wrong
    side, read = _integers(sides.items)
    side, within = side.reshape(-1, 2), (read & (side <= LARGEST_SIDE)).reshape(-1, 2)
    runs = _Lists.of(counts.take(~is_text))
    count, whole = _integers(runs.items)
    wrong = np.asarray(~within.all(axis=1))
    wrong[~is_text] |= runs.any_of(~whole)
    if wrong.any():
        return Masks.none(), wrong
    texts = counts.take(is_text)
    spans = zip(*(at.tolist() for at in texts.spans()), strict=True)
    letters = b"".join([counts.tape.text[start:end] for start, end in spans])
    masks, valid = decoded_text(np.frombuffer(letters, np.uint8), texts.length, side[is_text])
    if is_text.all():
        return masks, ~valid
    pairs = zip(runs.begin.tolist(), runs.end.tolist(), strict=True)
    others, right = from_counts([count[a:b].tolist() for a, b in pairs], side[~is_text])
    order = np.argsort(np.append(np.flatnonzero(is_text), np.flatnonzero(~is_text)))
    return joined_masks([masks, others]).take(order), ~np.append(valid, right)[order]


def _integers(column: Column) -> tuple[Ints, Bools]:
    """(n,) whole numbers of 0 or more, and which values are written as such: not as 480.0."""
    number, read = whole_numbers(column)
    digits = np.searchsorted(_TENS, number, side="right") + 1
    return number, read & (number >= 0) & (column.length == digits)


def _masks(column: Column, frame: Ints) -> tuple[Masks, Bools]:
    """Masks of run lengths that have the size of their image, and (n,) which are wrong."""
    masks, wrong = run_lengths(column)
    if len(masks):
        wrong = np.asarray(wrong | np.any((frame != 0) & (frame != masks.size), axis=1))
    return masks, wrong
