"""Read objects from JSONL, one image per line.

A line is `{"image_id": …, "width": …, "height": …, "file_name": …, "metadata": {…}, "objects":
…}`; all but `image_id` are optional. An object has a `label`, one or more of `box`, `polygon`,
`rotated_box` and `mask`, a `score` in predictions, and optionally `id`, `crowd` and `area` in
ground truth. `names` lists aliases. A second list of objects is an error, because it would not be
read; unknown keys are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.jsonl.object_geometry import MaskFiles
from valor_cli.data.formats.jsonl.object_rows import LineReader
from valor_cli.data.shapes.objects.names import spellings
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Piece, Role, Wanted, id_column
from valor_cli.data.shapes.objects.parse import (
    ObjectFields,
    ObjectParser,
    image_sides,
    whole_numbers,
)
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    Named,
    checked_ids,
    in_line_order,
    joined_pieces,
    object_file,
)
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE, SKIP_HINT, InvalidRows
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
    json_tape,
)
from valor_cli.data.values import LineProblems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.results import InputFile

_BLOCK: Final = 1 << 19
"""Bytes that are read at once."""

_GEOMETRIES: Final = ("box", "rotated_box", "polygon", "mask", "segmentation")
_OF_TRUTH: Final = ("crowd", "area", "id")


def read_jsonl(
    path: str,
    role: Role,
    *,
    wanted: Wanted = "box",
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
) -> ObjectFile:
    """Read objects from a JSONL file; a line without objects is an image without objects.

    Args:
        path: The file, plain or compressed, or "-" for standard input. Paths of PNG masks in it
            are relative to its folder.
        role: Which side it is: predictions need scores; ids, crowd and area of objects are read
            of ground truth alone.
        wanted: Which geometry to take of an object that has several.
        metadata: Names to read for every image, from its "metadata" object or else from the line.
        invalid: "skip" leaves out objects that cannot be used and counts them; faults of a line
            itself are errors always.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; an image
            is on two lines; no image has metadata of a name.
    """
    source = TextSource(path)
    names = metadata if role == "ground_truth" else ()
    lines = _Lines(path, role, wanted, names)
    first = 1
    for block in blocks_of_lines(source, _BLOCK):
        lines.add(block, first)
        first += block.count(b"\n")
    images, faults, problems = lines.images, lines.slow.faults, lines.slow.problems
    found = lines.objects(role)
    images.check(faults, "image_id")
    total = lines.found + lines.slow.found
    if role == "ground_truth":
        found = checked_ids(found, problems)
    if invalid == "error":
        stop_on([faults, problems], SKIP_HINT * bool(problems.total))
    stop_on([faults])
    if role == "ground_truth" and not images.ids:
        raise DataError(Problem(path, "there are no images; at least one is needed"))
    skipped = total - len(found.shapes)
    return object_file(
        path,
        found,
        images=images.table(path, LINE),
        image_ids=id_column(images.ids),
        labels=Named.in_order(lines.labels.names),
        files=[InputFile(path, source.sha256, total, skipped), *lines.masks.input_files()],
        metadata=metadata_of(lines.records, names, path, images.lines, lines.keys),
        skipped=skipped,
    )


class _Lines:
    """The lines of a file.

    Attributes:
        images, labels: What was found so far.
        records: What each image says of the metadata, and whatever else.
        keys: Names of images that are not in `records`.
        masks: PNG files of masks.
        slow: Reads lines that are unusual, or wrong.
        found: How many objects other lines have.
    """

    def __init__(self, path: str, role: Role, wanted: Wanted, metadata: Sequence[str]) -> None:
        self.images, self.labels = ImageRows(), Vocabulary()
        self.records: list[dict[str, Any]] = []
        self.keys: dict[str, None] = {}
        self.masks = MaskFiles(path)
        self.found = 0
        self._metadata = metadata
        self._predicted = role == "predictions"
        self._parser = ObjectParser(role, wanted, self.labels)
        self.slow = LineReader(
            role,
            wanted,
            self.labels,
            self.images,
            self.records if metadata else None,
            self.masks,
            LineProblems(path),
            LineProblems(path),
        )
        self._pieces: list[Piece] = []

    def objects(self, role: Role) -> Piece:
        """All objects; they and the images are sorted by line."""
        piece = in_line_order(joined_pieces(self._pieces, role))
        lines = self.images.lines
        if lines == sorted(lines):
            return piece
        if self.records:
            pairs = zip(lines, self.records, strict=True)
            self.records = [record for _, record in sorted(pairs, key=lambda pair: pair[0])]
        position = self.images.sort()
        columns = {**piece.columns, "image": position[piece.columns["image"]]}
        return Piece(columns, piece.shapes)

    def add(self, block: bytes, first: int) -> None:
        """Add whole lines; the first has number `first`."""
        lines = json_tape(block)
        left = [(first + at, line) for at, line in lines.left]
        if len(lines.values):
            number = first + lines.line
            wrong = np.flatnonzero(self._add(lines.values, number)).tolist()
            left += [(int(number[at]), lines.content(block, at)) for at in wrong]
        if left:
            self._pieces.append(self.slow.piece(sorted(left)))

    def _add(self, values: Column, number: Ints) -> Bools:
        """Add lines; which of them must be read one by one."""
        keys = values.tape.keys
        names, inner = spellings(keys, "image"), spellings(keys, "object")
        if names is None or inner is None:
            return np.ones(len(values), np.bool_)
        image_id, objects = (values.field(*names[key]) for key in ("image_id", "objects"))
        sides = [image_sides(values.field(*names[key])) for key in ("width", "height")]
        file_name = values.field(*names["file_name"])
        ids, is_number = whole_numbers(image_id)
        wrong = ~values.is_of(OBJECT) | ~objects.is_of(LIST)
        wrong |= ~(is_number | image_id.is_of(TEXT)) | ~file_name.is_of(TEXT, *NOTHING)
        wrong |= ~sides[0][1] | ~sides[1][1] | _other_lists(values, objects)
        more = values.field("metadata")
        described = {name: more.field(name).or_else(values.field(name)) for name in self._metadata}
        for column in (more, *described.values()) if described else ():
            wrong |= column.is_of(DUPLICATE, INVALID)
        for column in described.values():
            wrong |= column.is_of(LIST, OBJECT)
        frame = np.stack([sides[1][0], sides[0][0]], axis=1)
        piece = self._parser.parse(self._fields(objects, inner, number, wrong), frame, wrong)
        self.found += len(piece.shapes)
        right = np.flatnonzero(~wrong)
        image = np.cumsum(~wrong) - 1 + len(self.images.ids)
        columns = {**piece.columns, "image": image[piece.columns["image"]]}
        self._pieces.append(Piece(columns, piece.shapes))
        images = self.images
        images.ids += _ids(image_id.take(right), ids[right], is_number[right])
        images.lines += number[right].tolist()
        images.width += sides[0][0][right].tolist()
        images.height += sides[1][0][right].tolist()
        images.file_name += file_name.take(right).scalars().tolist()
        if described:
            self._note({name: column.take(right) for name, column in described.items()})
            said = [*values.keys(), *more.keys()]
            self.keys |= dict.fromkeys(key for key in said if key not in names["objects"])
        return wrong

    def _fields(
        self, objects: Column, names: Mapping[str, tuple[str, ...]], number: Ints, wrong: Bools
    ) -> ObjectFields:
        """The columns of the objects of lines, by meaning."""
        count, held = objects.where(~wrong).items()
        row = np.repeat(np.arange(len(count)), count)
        fields = {key: held.field(*names[key]) for key in ("label", *_GEOMETRIES)}
        more = ("score",) if self._predicted else _OF_TRUTH
        return ObjectFields(
            row=row,
            line=number[row],
            position=np.arange(len(row)) - (np.cumsum(count) - count)[row],
            label=fields.pop("label"),
            geometry=fields,
            unusable=~held.is_of(OBJECT),
            **{key: held.field(*names[key]) for key in more if names[key]},
        )

    def _note(self, described: Mapping[str, Column]) -> None:
        """Add what images say of the metadata."""
        there = [column.node >= 0 for column in described.values()]
        columns = [column.scalars() for column in described.values()]
        for said, *each in zip(np.stack(there, axis=1).tolist(), *columns, strict=True):
            pairs = zip(said, described, each, strict=True)
            self.records.append({name: value for one, name, value in pairs if one})


def _ids(column: Column, number: Ints, is_number: Bools) -> list[Id]:
    if is_number.all():
        found: list[Id] = number.tolist()
        return found
    texts = column.texts()
    pairs = zip(texts, number.tolist(), is_number.tolist(), strict=True)
    return [one if numeric else text for text, one, numeric in pairs]


def _other_lists(values: Column, objects: Column) -> Bools:
    """(n,) which lines have another list that holds objects."""
    count, children = values.items()
    owner = np.repeat(np.arange(len(count)), count)
    other = children.is_of(LIST)
    other &= children.node != objects.node[owner]
    found = np.zeros(len(values), np.bool_)
    if other.any():
        count, items = children.take(other).items()
        owner = np.repeat(owner[other], count)
        found[owner[items.is_of(OBJECT, DUPLICATE, INVALID)]] = True
    return found
