"""Convert objects from one file format to another.

Everything is read, checked and converted in memory before the output is touched.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from valor_cli.data.conversion.formats import Format, format_named, format_of
from valor_cli.data.conversion.ids import known_images, under_ids_of
from valor_cli.data.conversion.output import check_place, write_file, write_folder
from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, SplitName, Wanted
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written, image_table
from valor_cli.data.source.files import STDIN
from valor_cli.data.table import InvalidRows
from valor_cli.errors import DataError, Problem, printable
from valor_cli.kernels.geometry.conversion import bounds, converted
from valor_cli.kernels.geometry.shapes import BOX, MASK, Floats, Kind
from valor_cli.pipeline.convert_input import (
    is_single_pass,
    metadata_in,
    names_in,
    role_of,
    unread_keys,
    with_sizes,
)

STDOUT = "-"


class Conversion(Struct, frozen=True):
    """Options of a conversion.

    Attributes:
        source: The input: a file, a folder, or "-" for standard input.
        out: The place of the output, or "-" for standard output.
        source_format: Format of the input; None to find it out.
        target: Format of the output; None for what the ending of `out` says.
        role: What the objects are; None to find it out.
        geometry: What every object becomes; None to leave them as they are.
        names: Labels in the order of their numbers, for YOLO: a file, or separated by commas.
        images: Folder of the pictures, for the sizes of images.
        split: Split of a YOLO data set.
        ground_truth: File that the ids, the labels and the images of predictions come from.
        invalid: What to do with objects that cannot be used.
        force: Whether to replace an existing output.
    """

    source: str
    out: str
    source_format: str | None = None
    target: str | None = None
    role: Role | None = None
    geometry: Kind | None = None
    names: str | None = None
    images: str | None = None
    split: SplitName | None = None
    ground_truth: str | None = None
    invalid: InvalidRows = "error"
    force: bool = False


class Converted(Struct, frozen=True):
    """The result of a conversion.

    Attributes:
        content: The file's bytes if it goes to standard output; otherwise None.
        summary: The number of objects and images, in words.
        warnings: What was dropped or fixed.
    """

    content: bytes | None
    summary: str
    warnings: Sequence[str]


def convert(options: Conversion) -> Converted:
    """Read, convert and write.

    Raises:
        UnknownNameError: There is no such format, or none was named.
        DataError: The input cannot be used, the output format cannot hold it, or the output
            cannot be written. Nothing is left behind then.
    """
    name = options.target or format_of(options.out)
    target = format_named(name)
    _check_out(options, target, name)
    options = replace(options, role=options.role or role_of(options.source, options.source_format))
    metadata, lost = _metadata(options)
    objects = _read(options, "box" if options.geometry == "box" else "shape", metadata)
    box, boxes_lost = _boxes_beside(options, objects) if target.boxes_beside else (None, [])
    objects = _reshaped(objects, options.geometry)
    names = () if options.names is None else names_in(options.names)
    wishes = WriteOptions(names, results=options.ground_truth is not None, box=box)
    written = target.write(objects, wishes)
    content = _place(options.out, target, written)
    return Converted(
        content,
        _summary(objects, options.out, name),
        [*lost, *boxes_lost, *_warnings(objects, written)],
    )


def _read(options: Conversion, wanted: Wanted, metadata: Sequence[str] = ()) -> ObjectFile:
    """The objects of the input, under the ids of a ground truth where one is given."""
    reading = Reading(
        wanted=wanted,
        metadata=metadata,
        fields=frozenset({"some_keypoints", "federated"}),
        invalid=options.invalid,
        names=() if options.names is None else names_in(options.names),
        images=options.images,
        split=options.split,
    )
    role = options.role or "ground_truth"
    if options.ground_truth is None:
        objects = read_objects(options.source, role, reading, options.source_format)
    else:
        truth = _truth(options, role, reading)
        reading = replace(reading, known=known_images(truth), class_names=truth.class_names)
        objects = read_objects(options.source, role, reading, options.source_format)
        objects = under_ids_of(objects, truth, options.invalid)
    return objects if options.images is None else with_sizes(objects, options.images)


def _metadata(options: Conversion) -> tuple[list[str], list[str]]:
    """The names of metadata to read, and a warning for what cannot be read."""
    unread = unread_keys(options.source, options.source_format)
    keys = ", ".join(printable(key) for key in unread)
    left = [f"keys that valor does not read are dropped: {keys}"] * bool(unread)
    if options.role == "predictions":
        return [], left
    names, others = metadata_in(options.source, options.source_format)
    shown = ", ".join(f"'{printable(name)}'" for name in others)
    message = f"metadata values that are lists or objects are dropped: {shown}"
    return names, [*left, *[message] * bool(others)]


def _truth(options: Conversion, role: Role, reading: Reading) -> ObjectFile:
    """The ground truth of predictions."""
    if options.source == options.ground_truth == STDIN:
        problem = Problem(
            "--ground-truth", "standard input (-) can be read only once, and is already the input"
        )
        raise DataError(problem, hint="name a file for the other")
    if role == "ground_truth":
        problem = Problem("--ground-truth", f"{options.source} is ground truth itself")
        raise DataError(problem, hint="leave it out, or set --role predictions")
    reading = replace(reading, wanted="box", metadata=(), invalid="error")
    return read_objects(options.ground_truth or "", "ground_truth", reading)


def _boxes_beside(options: Conversion, objects: ObjectFile) -> tuple[Floats | None, list[str]]:
    """The input's own boxes beside its shapes, and a warning if they are lost.

    What is converted to another shape has that shape's bounds.
    """
    if options.geometry is not None or objects.shapes.kinds in ((), ("box",)):
        return None, []
    if options.source != STDIN and not is_single_pass(options.source):
        beside = _read(options, "box").shapes
        # Leaving out invalid rows may differ between the two ways of reading.
        if len(beside) == len(objects.shapes):
            stated = (beside.kind == BOX) & (objects.shapes.kind != BOX)
            return np.where(stated[:, None], bounds(beside), np.nan), []
    return None, ["boxes beside other shapes are dropped: the input can be read only once"]


def _check_out(options: Conversion, target: Format, name: str) -> None:
    if options.out != STDOUT:
        check_place(options.out, suffixes=target.endings * target.in_folder, force=options.force)
    elif target.in_folder:
        message = f"{name} is a folder of files, which standard output cannot hold"
        raise DataError(Problem("OUT", message), hint="name a folder")


def _place(out: str, target: Format, written: Written) -> bytes | None:
    """Write to the place; the bytes where that is standard output."""
    if target.in_folder:
        write_folder(out, written.files)
        return None
    content = written.files[""]
    if out == STDOUT:
        return content
    write_file(out, content)
    return None


def _summary(objects: ObjectFile, out: str, name: str) -> str:
    count, images = len(objects.objects), len(image_table(objects))
    thing = "detection" if "score" in objects.objects.columns else "ground truth"
    return (
        f"wrote {count:,} {thing}{'s' * (count != 1)} of {images:,} image{'s' * (images != 1)} "
        f"to {'standard output' if out == STDOUT else out} ({name})"
    )


def _warnings(objects: ObjectFile, written: Written) -> list[str]:
    skipped = [
        f"{file.path}: left out as invalid: {file.skipped:,} of {file.rows:,} rows"
        for file in objects.files
        if file.skipped
    ]
    return [*objects.warnings, *skipped, *written.warnings]


def _reshaped(objects: ObjectFile, kind: Kind | None) -> ObjectFile:
    """The same objects, each of one kind of shape."""
    if kind is None or objects.shapes.kinds in ((), (kind,)):
        return objects
    scene = Scene(objects)
    if kind == "mask":
        # A mask has the size of its image already.
        scene.sizes(np.flatnonzero(objects.shapes.kind != MASK))
    shapes = converted(objects.shapes, kind, scene.size[scene.number])
    return replace(objects, shapes=shapes)
