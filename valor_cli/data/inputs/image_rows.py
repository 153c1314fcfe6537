"""Read objects from rows of any format, one image a row.

A row is `{"image_id": …, "width": …, "height": …, "file_name": …, "metadata": {…}, "objects":
…}`; all but `image_id` are optional. An object has a `label`, one or more of `box`, `polygon`,
`rotated_box` and `mask`, a `score` in predictions, and optionally `id`, `crowd` and `area` in
ground truth. `names` lists aliases. Objects may be an object of lists of equal length instead,
as the package `datasets` has them. A second list of objects is an error, because it would not be
read; unknown keys are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np

from valor_cli.data.batch import Batch, Fault, RowFile, TypedReading
from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.inputs.object_geometry import GEOMETRIES, GeometryReader, geometry_of
from valor_cli.data.inputs.row_objects import ObjectReader
from valor_cli.data.json_records import plain, present_keys
from valor_cli.data.schema import Path
from valor_cli.data.shapes.objects.checks import (
    Size,
    crowd_flag,
    image_side,
    missing_keys,
    stated_area,
)
from valor_cli.data.shapes.objects.names import (
    IMAGE,
    IMAGE_NAMES,
    spelled,
    spellings,
    standard_object,
    unread_lists,
)
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Piece, Role
from valor_cli.data.shapes.objects.parse import ObjectFields, image_sides, whole_numbers
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import OF_ROLE, ImageRows, ObjectRows
from valor_cli.data.tape import (
    DUPLICATE,
    INVALID,
    LIST,
    NOTHING,
    OBJECT,
    TEXT,
    Bools,
    Column,
    Ints,
)
from valor_cli.data.values import describe, number, text
from valor_cli.errors import did_you_mean, printable
from valor_cli.kernels.geometry.shapes import KINDS

_Image: TypeAlias = tuple[int, Id, int, int, str | None, Mapping[str, Any]]
"""Line, id, width, height, file and metadata of an image."""

_SHAPES: Final = (*KINDS, "segmentation")
_SIDES: Final = ("width", "height")
_INNER: Final = "metadata"
_SHOWN: Final = 40
_OF_AN_OBJECT = ("label", "score", "category_id", "bbox", "segmentation", *GEOMETRIES)
"""Keys that have no meaning beside `image_id`."""


def read_image_rows(file: RowFile, role: Role, reading: Reading) -> ObjectFile:
    """The objects of images; a row without objects is an image without objects.

    Args:
        file: The rows. Paths of PNG masks in them are relative to its folder.
        role: Which side it is: predictions need scores; ids, crowd and area of objects are read
            of ground truth alone.
        reading: How to read it; metadata is that of an image's "metadata" object or else of the
            row. Faults of a row itself are errors always.

    Raises:
        DataError: The file cannot be read; a value is wrong; an image is in two rows; no image has
            metadata of a name.
    """
    names = reading.metadata if role == "ground_truth" else ()
    rows = _Images(file, role, reading, names)
    ways = [way for own in IMAGE.candidates(file.names, {}).values() for way in own]
    wanted: list[Path] = [*ways, *((name,) for name in names if name in file.names)]
    found = rows.read(TypedReading(wanted, most=1 << 12))
    images, records = rows.all_images()
    columns = {**found.columns, "image": np.searchsorted(images.lines, found.columns["line"])}
    images.check(rows.faults, "image_id")
    return rows.object_file(
        Piece(columns, found.shapes),
        images,
        reading.invalid,
        lambda: metadata_of(records, names, file.path, images.lines, rows.keys, file.place),
        masks=rows.geometry.input_files(),
    )


class _Images(ObjectReader):
    """The rows of a file, each an image. What says where its objects are is its line.

    Attributes:
        keys: Keys of images that are not read.
        geometry: Reads those of rows that are read one by one.
    """

    def __init__(
        self, file: RowFile, role: Role, reading: Reading, metadata: Sequence[str]
    ) -> None:
        super().__init__(file, role, reading)
        self.keys: dict[str, None] = {}
        self.geometry = GeometryReader(file.path, self.problems)
        self._wanted = reading.wanted
        self._metadata = metadata
        self._images: list[_Image] = []

    def all_images(self) -> tuple[ImageRows, Sequence[Mapping[str, Any]]]:
        """The images by line, and what each says of the metadata, and whatever else."""
        images = sorted(self._images, key=itemgetter(0))
        lines, ids, width, height, names, records = (
            map(list, zip(*images, strict=True)) if images else ([], [], [], [], [], [])
        )
        return ImageRows(ids, lines, width, height, names), records

    def columns(self, batch: Batch) -> tuple[Piece, Bools]:
        """The objects of a batch, and (n,) which rows are read one by one instead."""
        names = IMAGE.candidates(batch.names, {})
        image_id, objects = batch.at(names["image_id"]), batch.at(names["objects"])
        (width, is_width), (height, is_height) = (
            image_sides(batch.at(names[key])) for key in _SIDES
        )
        file_name = batch.at(names["file_name"])
        ids, is_number = whole_numbers(image_id)
        fields, unread = self._fields(objects, batch.line)
        wrong = unread | ~(is_number | image_id.is_of(TEXT)) | ~is_width | ~is_height
        wrong |= ~file_name.is_of(TEXT, *NOTHING) | _other_lists(batch, objects)
        if batch.objects is not None:
            wrong |= ~batch.objects.is_of(OBJECT)
        more = batch.at([(_INNER,)])
        described = {name: more.field(name).or_else(batch.at([(name,)])) for name in self._metadata}
        for column in described.values():
            wrong |= column.is_of(LIST, OBJECT, DUPLICATE, INVALID)
        if described:
            wrong |= more.is_of(DUPLICATE, INVALID)
            read = {way[0] for way in names["objects"]}
            self.keys |= dict.fromkeys(
                key for key in [*batch.names, *more.keys()] if key not in read
            )
        piece = self._parser.parse(fields, np.stack([height, width], axis=1), wrong)
        right = np.flatnonzero(~wrong)
        image_id = image_id.take(right)
        self._images += zip(
            batch.line[right].tolist(),
            (ids[right] if is_number[right].all() else image_id.scalars()).tolist(),
            width[right].tolist(),
            height[right].tolist(),
            file_name.take(right).scalars().tolist(),
            _records({name: column.take(right) for name, column in described.items()}, len(right)),
            strict=True,
        )
        return piece, wrong

    def _fields(self, objects: Column, line: Ints) -> tuple[ObjectFields, Bools]:
        """The columns of the objects of rows, and (n,) which rows hold no list of objects."""
        names = spellings(objects.tape.keys, "object")
        more = [key for key in OF_ROLE[self._role] if names[key]]
        count, unusable, field, unread = _held(objects)
        row = np.repeat(np.arange(len(count)), count)
        fields = ObjectFields(
            row=row,
            line=line[row],
            position=np.arange(len(row)) - (np.cumsum(count) - count)[row],
            unusable=unusable,
            values={key: field(*names[key]) for key in ("label", *_SHAPES, *more)},
        )
        return fields, unread

    def refuse(self, line: int, faults: Sequence[Fault]) -> None:
        """Note what is wrong with a row, which is an image."""
        for key, message in faults:
            self.faults.add(line, key, message)

    def row(self, record: Any, line: int, rows: ObjectRows) -> None:
        """Read a row that is wrong or unusual."""
        record, faults = plain(record), self.faults
        if not isinstance(record, dict):
            found = describe(record)
            faults.add(line, "", f"expected an object with image_id and objects, found {found}")
            return
        before = faults.total
        names = spelled(tuple(record), "image")
        if "image_id" not in names:
            faults.add(line, "", missing_keys(["image_id"], record))
        width, height = (
            image_side(record.get(key), record.get(key), faults, line, key)
            for key in (names.get(side, side) for side in _SIDES)
        )
        name = record.get(names.get("file_name", ""))
        if name is not None:
            name = text(name, faults, line, names["file_name"])
        key = names.get("objects", "objects")
        objects = listed_objects(record.get(key, []))
        for message in _not_read(record, names):
            faults.add(line, "", message)
        if not isinstance(objects, list):
            faults.add(line, key, f"expected a list, found {describe(objects)}")
        if faults.total > before:
            return
        others = {one: record[one] for one in record if one != key} if self._metadata else {}
        self._images.append((line, record[names["image_id"]], width, height, name, others))
        self.geometry.frame = Size(height, width)
        self.found += len(objects)
        for position, value in enumerate(objects):
            self._object(value, line, f"{key}[{position}]", position, rows)

    def _object(self, value: object, line: int, key: str, position: int, rows: ObjectRows) -> None:
        problems = self.problems
        if not isinstance(value, dict):
            problems.add(line, key, f"expected an object, found {describe(value)}")
            return
        said, value = value, standard_object(value)
        names = spelled(tuple(said), "object")
        predicted = self._role == "predictions"
        missing = [one for one in ("label", "score")[: 1 + predicted] if one not in value]
        if missing:
            problems.add(line, key, missing_keys(missing, said))
            return
        kind = geometry_of(value, self._wanted)
        if kind is None:
            shown = ", ".join(reversed(GEOMETRIES))
            problems.add(line, key, f"there is no geometry, one of {shown} ({present_keys(said)})")
            return
        before = problems.total
        label = text(value["label"], problems, line, f"{key}.{names['label']}")
        score, crowd, area = None, False, math.nan
        if predicted:
            score = number(value["score"], problems, line, f"{key}.{names['score']}")
        else:
            place = f"{key}.{names.get('crowd')}"
            crowd = crowd_flag(value.get("crowd", False), problems, line, place)
            if value.get("area") is not None:
                area = stated_area(value["area"], problems, line, f"{key}.{names['area']}")
        place = f"{key}.{names.get(kind) or names['segmentation']}"
        shape = self.geometry.read(kind, value[kind], line, place)
        if problems.total == before and label is not None:
            rows.add(
                KINDS.index(kind),
                shape,
                line,
                self.label_code(label),
                line,
                position=position,
                score=0.0 if score is None else score,
                crowd=crowd,
                area=area,
                identity=value.get("id"),
            )


def _records(described: Mapping[str, Column], count: int) -> list[dict[str, Any]]:
    """What each of some images says of the metadata."""
    records: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, column in described.items():
        said = np.flatnonzero(column.node >= 0)
        for at, value in zip(said.tolist(), column.take(said).scalars().tolist(), strict=True):
            records[at][name] = value
    return records


def listed_objects(value: Any) -> Any:
    """An object of lists of equal length as the list of what stands side by side in them."""
    if not isinstance(value, dict) or not value:
        return value
    lists = [one for one in value.values() if isinstance(one, list)]
    if len(lists) < len(value) or len(set(map(len, lists))) > 1:
        return value
    return [dict(zip(value, one, strict=True)) for one in zip(*lists, strict=True)]


def _held(objects: Column) -> tuple[Ints, Bools, Callable[..., Column], Bools]:
    """The objects of rows.

    Returns:
        (n,) how many each row has; (objects,) which are no objects; the values under the first of
        some keys, of all objects; and (n,) which rows hold no list of objects.
    """
    columns, lists = objects.is_of(OBJECT), objects.is_of(LIST)
    if not columns.any() or lists.any():
        count, held = objects.where(lists).items()
        return count, ~held.is_of(OBJECT), held.field, ~lists
    owner, values = objects.items()
    size, _ = values.items()
    row = np.repeat(np.arange(len(owner)), owner)
    count = np.zeros(len(owner), np.int64)
    count[row] = size
    unread = ~columns | (owner == 0)
    unread[row[~values.is_of(LIST) | (size != count[row])]] = True
    count[unread] = 0
    kept = objects.where(~unread)

    def field(*names: str) -> Column:
        node = np.full(int(count.sum()), -1, np.int64)
        for name in reversed(names):
            own, items = kept.field(name).items()
            node[np.repeat(own == count, count)] = items.node
        return Column(objects.tape, node)

    return count, np.zeros(int(count.sum()), np.bool_), field, unread


def _other_lists(batch: Batch, objects: Column) -> Bools:
    """(n,) which rows have another list that holds objects."""
    found = np.zeros(len(batch), np.bool_)
    if batch.objects is None:
        return found
    count, children = batch.objects.items()
    owner = np.repeat(np.arange(len(count)), count)
    other = children.is_of(LIST)
    other &= children.node != objects.node[owner]
    if other.any():
        count, items = children.take(other).items()
        owner = np.repeat(owner[other], count)
        found[owner[items.is_of(OBJECT, DUPLICATE, INVALID)]] = True
    return found


def _not_read(record: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with where the objects of an image stand."""
    key = names.get("objects")
    if key is None and (unexpected := [one for one in _OF_AN_OBJECT if one in record]):
        yield (
            f'"objects" is missing, yet there is {", ".join(unexpected)}: '
            "each line is an image with the list of its objects"
        )
        return
    for one in unread_lists(record, tuple(names.values()), alone=key is None):
        shown = f'"{printable(one[:_SHOWN])}"'
        if key is None:
            near = did_you_mean(one, ("objects", *IMAGE_NAMES["objects"]))
            yield (
                f'"objects" is missing, yet {shown} holds a list{near}: objects go under '
                '"objects", and an image without any has "objects": []'
            )
        else:
            yield (
                f'{shown} holds a list of objects, which is not read beside "{key}": keep one of '
                'them; what describes the image belongs under "metadata"'
            )
