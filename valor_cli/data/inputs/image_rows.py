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
from typing import Any, Final

import numpy as np
from msgspec import Struct

from valor_cli.data.batch import Batch, Block, Fault, RowFile, TypedReading
from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.inputs.object_geometry import (
    GEOMETRIES,
    GeometryReader,
    MaskFiles,
    geometry_of,
)
from valor_cli.data.json_records import plain, present_keys
from valor_cli.data.schema import Path
from valor_cli.data.shapes.objects.checks import crowd_flag, missing_keys, stated_area
from valor_cli.data.shapes.objects.names import (
    IMAGE,
    IMAGE_NAMES,
    spelled,
    spellings,
    standard_object,
    unread_lists,
)
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Piece, Role, Wanted, id_column
from valor_cli.data.shapes.objects.parse import (
    ObjectFields,
    ObjectParser,
    image_sides,
    whole_numbers,
)
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    Named,
    ObjectRows,
    checked_ids,
    in_line_order,
    joined_pieces,
    object_file,
)
from valor_cli.data.table import SKIP_HINT, RowProblems
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
from valor_cli.data.values import describe, number, stop_on, text
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.results import InputFile

_GEOMETRIES: Final = ("box", "rotated_box", "polygon", "mask", "segmentation")
_OF_TRUTH: Final = ("crowd", "area", "id")
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
    rows = _Images(file, role, reading.wanted, names)
    ways = [way for own in IMAGE.candidates(file.names, {}).values() for way in own]
    wanted: list[Path] = [*ways, *((name,) for name in names if name in file.names)]
    for block in file.blocks(typed=TypedReading(wanted, most=1 << 12)):
        rows.add(block)
    images, faults, problems = rows.images, rows.faults, rows.problems
    found = rows.objects()
    images.check(faults, "image_id")
    if role == "ground_truth":
        found = checked_ids(found, problems)
    if reading.invalid == "error":
        stop_on([faults, problems], SKIP_HINT * bool(problems.total))
    stop_on([faults])
    path = file.path
    if role == "ground_truth" and not images.ids:
        raise DataError(Problem(path, "there are no images; at least one is needed"))
    skipped = rows.found - len(found.shapes)
    return object_file(
        path,
        found,
        images=images.table(path, file.place),
        image_ids=id_column(images.ids),
        labels=Named.in_order(rows.labels.names),
        files=[InputFile(path, file.sha256, rows.found, skipped), *rows.masks.input_files()],
        metadata=metadata_of(rows.records, names, path, images.lines, rows.keys),
        skipped=skipped,
        place=file.place,
    )


class _Held(Struct, frozen=True):
    """The objects of rows.

    Attributes:
        count: (n,) how many each row has.
        usable: (objects,) which are objects.
        field: The values under the first of some keys, of all objects.
    """

    count: Ints
    usable: Bools
    field: Callable[..., Column]


class _Images:
    """The rows of a file.

    Attributes:
        images, labels: What was found so far.
        records: What each image says of the metadata, and whatever else.
        keys: Names of images that are not in `records`.
        masks: PNG files of masks.
        faults, problems: Of rows as such, and of their objects.
        found: How many objects there were, good or not.
    """

    def __init__(self, file: RowFile, role: Role, wanted: Wanted, metadata: Sequence[str]) -> None:
        self.images, self.labels = ImageRows(), Vocabulary()
        self.records: list[dict[str, Any]] = []
        self.keys: dict[str, None] = {}
        self.masks = MaskFiles(file.path)
        self.faults = RowProblems(file.path, file.place)
        self.problems = RowProblems(file.path, file.place)
        self.found = 0
        self._role: Role = role
        self._wanted: Wanted = wanted
        self._metadata = metadata
        self._parser = ObjectParser(role, wanted, self.labels)
        self._pieces: list[Piece] = []

    def objects(self) -> Piece:
        """All objects; they and the images are sorted by line."""
        piece = in_line_order(joined_pieces(self._pieces, self._role))
        lines = self.images.lines
        if lines == sorted(lines):
            return piece
        if self.records:
            pairs = zip(lines, self.records, strict=True)
            self.records = [record for _, record in sorted(pairs, key=lambda pair: pair[0])]
        position = self.images.sort()
        columns = {**piece.columns, "image": position[piece.columns["image"]]}
        return Piece(columns, piece.shapes)

    def add(self, block: Block) -> None:
        """Add the rows of a block."""
        left: list[tuple[int, list[Fault] | tuple[Any]]] = [*block.wrong]
        for batch in block.batches:
            wrong = np.flatnonzero(self._add(batch)).tolist() if len(batch) else []
            records = batch.records(wrong) if wrong else []
            left += [
                (int(batch.line[at]), (plain(record),))
                for at, record in zip(wrong, records, strict=True)
            ]
        if not left:
            return
        rows = ObjectRows(self._role)
        geometry = GeometryReader(rows.shapes, self.masks, self.problems)
        for line, one in sorted(left, key=lambda pair: pair[0]):
            if isinstance(one, tuple):
                self._row(one[0], line, rows, geometry)
            else:
                for key, message in one:
                    self.faults.add(line, key, message)
        self._pieces.append(rows.piece())

    def _add(self, batch: Batch) -> Bools:
        """Add rows; which of them must be read one by one."""
        values, names = batch.objects, IMAGE.candidates(batch.names, {})
        image_id, objects = batch.at(names["image_id"]), batch.at(names["objects"])
        sides = [image_sides(batch.at(names[key])) for key in _SIDES]
        file_name = batch.at(names["file_name"])
        ids, is_number = whole_numbers(image_id)
        wrong = np.zeros(len(batch), np.bool_) if values is None else ~values.is_of(OBJECT)
        held, unread = _held(objects)
        wrong |= unread | ~(is_number | image_id.is_of(TEXT)) | ~file_name.is_of(TEXT, *NOTHING)
        wrong |= ~sides[0][1] | ~sides[1][1] | _other_lists(batch, objects)
        more = batch.at([(_INNER,)])
        described = {name: more.field(name).or_else(batch.at([(name,)])) for name in self._metadata}
        for column in (more, *described.values()) if described else ():
            wrong |= column.is_of(DUPLICATE, INVALID)
        for column in described.values():
            wrong |= column.is_of(LIST, OBJECT)
        frame = np.stack([sides[1][0], sides[0][0]], axis=1)
        fields = self._fields(held, spellings(objects.tape.keys, "object"), batch.line)
        piece = self._parser.parse(fields, frame, wrong)
        self.found += len(piece.shapes)
        right = np.flatnonzero(~wrong)
        image = np.cumsum(~wrong) - 1 + len(self.images.ids)
        columns = {**piece.columns, "image": image[piece.columns["image"]]}
        self._pieces.append(Piece(columns, piece.shapes))
        images = self.images
        images.ids += _ids(image_id.take(right), ids[right], is_number[right])
        images.lines += batch.line[right].tolist()
        images.width += sides[0][0][right].tolist()
        images.height += sides[1][0][right].tolist()
        images.file_name += file_name.take(right).scalars().tolist()
        if described:
            self._note({name: column.take(right) for name, column in described.items()})
            read = {way[0] for way in names["objects"]}
            self.keys |= dict.fromkeys(
                key for key in [*batch.names, *more.keys()] if key not in read
            )
        return wrong

    def _fields(
        self, held: _Held, names: Mapping[str, tuple[str, ...]], number: Ints
    ) -> ObjectFields:
        """The columns of the objects of rows, by meaning."""
        count = held.count
        row = np.repeat(np.arange(len(count)), count)
        fields = {key: held.field(*names[key]) for key in ("label", *_GEOMETRIES)}
        more = ("score",) if self._role == "predictions" else _OF_TRUTH
        return ObjectFields(
            row=row,
            line=number[row],
            position=np.arange(len(row)) - (np.cumsum(count) - count)[row],
            label=fields.pop("label"),
            geometry=fields,
            unusable=~held.usable,
            **{key: held.field(*names[key]) for key in more if names[key]},
        )

    def _note(self, described: Mapping[str, Column]) -> None:
        """Add what images say of the metadata."""
        there = [column.node >= 0 for column in described.values()]
        columns = [column.scalars() for column in described.values()]
        for said, *each in zip(np.stack(there, axis=1).tolist(), *columns, strict=True):
            pairs = zip(said, described, each, strict=True)
            self.records.append({name: value for one, name, value in pairs if one})

    def _row(self, record: Any, line: int, rows: ObjectRows, geometry: GeometryReader) -> None:
        """Read a row that is wrong or unusual."""
        if not isinstance(record, dict):
            found = describe(record)
            message = f"expected an object with image_id and objects, found {found}"
            self.faults.add(line, "", message)
            return
        before = self.faults.total
        names = spelled(tuple(record), "image")
        if "image_id" not in names:
            self.faults.add(line, "", missing_keys(["image_id"], record))
        width, height = (self._side(record, names.get(key, key), line) for key in _SIDES)
        name = record.get(names.get("file_name", ""))
        if name is not None:
            name = text(name, self.faults, line, names["file_name"])
        key = names.get("objects", "objects")
        objects = listed_objects(record.get(key, []))
        for message in _not_read(record, names):
            self.faults.add(line, "", message)
        if not isinstance(objects, list):
            message = f"expected a list, found {describe(objects)}"
            self.faults.add(line, key, message)
        if self.faults.total > before:
            return
        images = self.images
        image = len(images.ids)
        images.ids.append(record[names["image_id"]])
        images.lines.append(line)
        images.width.append(width)
        images.height.append(height)
        images.file_name.append(name)
        if self._metadata:
            self.records.append({one: record[one] for one in record if one != key})
        geometry.frame = (height, width)
        self.found += len(objects)
        for position, value in enumerate(objects):
            self._object(value, image, line, f"{key}[{position}]", position, rows, geometry)

    def _object(
        self,
        value: object,
        image: int,
        line: int,
        key: str,
        position: int,
        rows: ObjectRows,
        geometry: GeometryReader,
    ) -> None:
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
        shape = f"{key}.{names.get(kind) or names['segmentation']}"
        label = text(value["label"], problems, line, f"{key}.{names['label']}")
        score, crowd, area = 0.0, False, math.nan
        if predicted:
            given = number(value["score"], problems, line, f"{key}.{names['score']}")
            score = 0.0 if given is None else given
        else:
            place = f"{key}.{names.get('crowd')}"
            crowd = crowd_flag(value.get("crowd", False), problems, line, place)
            if value.get("area") is not None:
                area = stated_area(value["area"], problems, line, f"{key}.{names['area']}")
        # Last, for what is added to the shapes must become a row.
        if problems.total > before or label is None:
            geometry = GeometryReader(ObjectRows(self._role).shapes, self.masks, problems)
            geometry.add(kind, value[kind], line, shape)
            return
        if geometry.add(kind, value[kind], line, shape):
            rows.add(
                image,
                self.labels.code(label.encode()),
                line,
                position=position,
                score=score,
                crowd=crowd,
                area=area,
                identity=value.get("id"),
            )

    def _side(self, record: Mapping[str, Any], key: str, line: int) -> int:
        """The width or height of an image; 0 where it is not said."""
        value = record.get(key)
        if value is None:
            return 0
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= LARGEST_SIDE:
            return value
        message = f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {describe(value)}"
        self.faults.add(line, key, message)
        return 0


def listed_objects(value: Any) -> Any:
    """An object of lists of equal length as the list of what stands side by side in them."""
    if not isinstance(value, dict) or not value:
        return value
    lists = [one for one in value.values() if isinstance(one, list)]
    if len(lists) < len(value) or len(set(map(len, lists))) > 1:
        return value
    return [dict(zip(value, one, strict=True)) for one in zip(*lists, strict=True)]


def _held(objects: Column) -> tuple[_Held, Bools]:
    """The objects of rows, and which rows hold no list of objects."""
    columns = objects.is_of(OBJECT)
    if not columns.any() or objects.is_of(LIST).any():
        count, held = objects.where(objects.is_of(LIST)).items()
        return _Held(count, held.is_of(OBJECT), held.field), ~objects.is_of(LIST)
    owner, lists = objects.items()
    size, _ = lists.items()
    row = np.repeat(np.arange(len(owner)), owner)
    count = np.zeros(len(owner), np.int64)
    count[row] = size
    unread = ~columns | (owner == 0)
    unread[row[~lists.is_of(LIST) | (size != count[row])]] = True
    count[unread] = 0
    kept = objects.where(~unread)

    def field(*names: str) -> Column:
        node = np.full(int(count.sum()), -1, np.int64)
        for name in reversed(names):
            own, items = kept.field(name).items()
            node[np.repeat(own == count, count)] = items.node
        return Column(objects.tape, node)

    return _Held(count, np.ones(int(count.sum()), np.bool_), field), unread


def _ids(column: Column, number: Ints, is_number: Bools) -> list[Id]:
    if is_number.all():
        found: list[Id] = number.tolist()
        return found
    texts = column.texts()
    pairs = zip(texts, number.tolist(), is_number.tolist(), strict=True)
    return [one if numeric else text for text, one, numeric in pairs]


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
