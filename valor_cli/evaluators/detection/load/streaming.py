"""Stream detection inputs: read them in pieces, load images range by range.

Ground truth is one piece; detections are collected by ranges of images, whichever piece they are
in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.formats.coco.ranges import ResultsFacts, one_list, read_results_piece
from valor_cli.data.inputs.joined_objects import joined_objects
from valor_cli.data.inputs.objects import format_of, read_objects
from valor_cli.data.partition.pieces import Piece, UnsplittableError, cut
from valor_cli.data.partition.ranges import (
    NUMBERED,
    IdRange,
    SampledIds,
    before_each,
    edges_of,
    ranges_between,
    sampled,
    whole_files,
)
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.inputs import expanded
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.load.dataset import InputNotes, finish, load_objects
from valor_cli.evaluators.detection.load.geometry import common_kind, kind_counts
from valor_cli.evaluators.detection.load.images_and_labels import (
    Frame,
    ids_of,
    images_of,
    make_frame,
)
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.load.joining import (
    check_categories,
    check_named,
    label_positions,
)
from valor_cli.evaluators.detection.load.reading import objects_of, reading_of
from valor_cli.evaluators.detection.load.warnings import DataWarnings
from valor_cli.kernels.geometry.shapes import Kind
from valor_cli.metric import Loaded, Selection, Stream, Survey
from valor_cli.results import Illustration, MetricExample

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

RANGE_OBJECTS: Final = 1 << 18
"""Objects that a range has, about: what is made of them fits in memory many times over."""

_POSITION: Final = "position"
"""The column of positions in the input, of objects without an id."""


class ObjectPiece(Struct, frozen=True):
    """A piece of an input.

    Attributes:
        model: Whose detections it holds; "" for the ground truth.
        path: The input, as the user wrote it.
        format: Of the file; None to tell it by the file.
    """

    model: str
    path: str
    format: str | None
    reading: Reading
    piece: Piece


class PieceSummary(Struct, frozen=True):
    """Summary of a piece, before its objects are read.

    Attributes:
        head: The piece without its objects.
        some: Of its objects one of each category.
        kinds: How many are of each kind of geometry.
        images: Image ids of some objects.
        facts: What its file must know of it; None where it was read by itself.
    """

    head: ObjectFile
    some: ObjectFile
    kinds: Sequence[int]
    images: SampledIds
    facts: ResultsFacts | None


class Ground(Struct, frozen=True):
    """What all ranges share.

    Attributes:
        frame: All images, and the labels of the run.
        heads: By model, all its pieces without their objects; under "" the ground truth.
        pieces: Of each piece, whose it is.
        before: Of each piece, the objects of its input that stand before it.
        in_file: Of each piece, those of its file.
        seen: (labels of the run) which labels objects have.
    """

    inputs: DetectionInputs
    options: DetectionOptions
    selection: Selection
    kind: Kind
    frame: Frame
    heads: Mapping[str, ObjectFile]
    pieces: Sequence[str]
    before: Sequence[int]
    in_file: Sequence[int]
    seen: Flags
    notes: InputNotes


def cut_detections(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection, size: int
) -> list[ObjectPiece]:
    """The pieces of all inputs.

    Raises:
        DataError: An input is not there, or its format cannot be told.
        UnsplittableError: Detections are in one, or all are needed at once.
    """
    return _cut(inputs, selection, size, options.geometry not in (None, "box"))


def cut_instances(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection, size: int
) -> list[ObjectPiece]:
    """The same as `cut_detections`, for shapes."""
    return _cut(inputs, selection, size, shapes=True)


def _cut(
    inputs: DetectionInputs, selection: Selection, size: int, shapes: bool
) -> list[ObjectPiece]:
    if inputs.images or selection.keep or selection.every_metadata or selection.limit is not None:
        raise UnsplittableError
    reading = reading_of(inputs, selection, shapes=shapes)
    if reading.fields:
        raise UnsplittableError
    form = inputs.format_of("ground_truth")
    truth = inputs.ground_truth
    pieces = [ObjectPiece("", truth, form, reading, Piece(truth))]
    reading = replace(reading, metadata=())
    for model, path in inputs.models.items():
        for file in expanded(path):
            found = inputs.format_of("predictions") or format_of(file)
            if found not in ("coco", "jsonl", "csv"):
                raise UnsplittableError
            ranges = cut(file, size) if found == "coco" else [Piece(file)]
            pieces += [ObjectPiece(model, path, found, reading, one) for one in ranges]
    if len(pieces) == 1 + len(inputs.models):
        raise UnsplittableError
    return pieces


def read_piece(task: ObjectPiece) -> tuple[PieceSummary, ObjectFile]:
    """A piece with its objects by image.

    Raises:
        DataError: What it holds is wrong.
        UnsplittableError: The input must be read whole.
    """
    file, facts = _read(task)
    if file.objects.skipped or file.image_names != "typed":
        raise UnsplittableError
    if task.model:
        if file.images is not None and {"width", "height"} & set(file.images.columns):
            # Sizes of images come together from all files.
            raise UnsplittableError
        file = replace(file, images=None)
    elif file.images is None:
        file = replace(file, images=images_of(file))
    ids = file.objects["image_id"]
    order = np.argsort(ids if ids.dtype.kind == "i" else ids.astype(str), kind="stable")
    file = _taken(_positioned(file), order)
    _, one_each = np.unique(_sortable(file.objects["category_id"]), return_index=True)
    told = PieceSummary(
        head=_taken(file, order[:0]),
        some=_taken(file, one_each.astype(np.int64)),
        kinds=kind_counts(file.shapes),
        images=sampled(_sortable(file.objects["image_id"])),
        facts=facts,
    )
    return told, replace(file, images=None, metadata={})


def survey(
    inputs: DetectionInputs,
    options: DetectionOptions,
    selection: Selection,
    pieces: Sequence[ObjectPiece],
    summaries: Sequence[PieceSummary],
) -> Survey:
    """The labels of the run and ranges of images.

    Raises:
        DataError: Files do not belong together.
        UnsplittableError: Image ids have mixed types, or pieces are not those of their files.
    """
    truth = _in_order(summaries[0].head)
    if not summaries[0].images.rows:
        problem = Problem(objects_of(truth), "there are no objects to evaluate against")
        raise DataError(problem, hint="give a ground truth with at least one annotation")
    if not _are_lists(pieces, summaries):
        raise UnsplittableError
    own = _by_model(pieces, summaries)
    heads = {"": truth}
    for model, parts in own.items():
        heads[model] = joined_objects(parts[0][0].path, [part.head for _, part in parts])
        check_named(replace(heads[model], objects=parts[0][1].some.objects), truth)
        check_categories(heads[model], truth)
    numbers = images_of(truth)["id"].dtype.kind == "i"
    if any(isinstance(one.images.ids[0], int) != numbers for one in summaries if one.images.rows):
        raise UnsplittableError
    predicted = {model: head for model, head in heads.items() if model}
    frame, warnings = make_frame(truth, list(predicted.values()), selection)
    kinds = {"ground truths": summaries[0].kinds} | {
        f"detections of {model}": np.sum([part.kinds for _, part in parts], axis=0).tolist()
        for model, parts in own.items()
    }
    kind, of_kinds = common_kind(kinds, options.geometry)
    seen = np.zeros(len(frame.labels), bool)
    for one in summaries:
        label = label_positions(one.some, frame)
        seen[label[label >= 0]] = True
    read = InputNotes(
        [warning for head in heads.values() for warning in head.warnings] + warnings,
        of_kinds,
        truth.files,
        {model: whole_files(head.files) for model, head in predicted.items()},
    )
    counts = [one.images.rows for one in summaries]
    ground = Ground(
        inputs,
        options,
        selection,
        kind,
        frame,
        heads,
        [piece.model for piece in pieces],
        before_each(counts, [piece.model for piece in pieces]),
        before_each(counts, [piece.piece.path for piece in pieces]),
        seen,
        read,
    )
    edges = edges_of([one.images for one in summaries], max(-(-sum(counts) // RANGE_OBJECTS), 1))
    spans = ranges_between(_dividing(edges, frame.image_ids))
    meeting = [[at for at, one in enumerate(summaries) if span.meets(one.images)] for span in spans]
    return Survey(ground, list(zip(spans, meeting, strict=True)))


def load_range(
    ground: Ground, span: IdRange, parts: Sequence[tuple[int, ObjectFile]]
) -> Loaded[DetectionDataset]:
    """The datasets of the images in a range.

    Args:
        ground: What all ranges know.
        span: The range.
        parts: Of each piece that has some of them, its position among all pieces, and its objects.

    Raises:
        DataError: As `load_detections`, of these images.
    """
    found: dict[str, list[ObjectFile]] = {model: [] for model in ground.heads}
    for at, file in parts:
        found[ground.pieces[at]].append(_slice(ground, span, at, file))
    first, last = span.within(ground.frame.image_ids)
    frame = _within(ground.frame, first, last)
    heads = ground.heads
    objects, *_ = [*found.pop(""), heads[""]]
    images = images_of(heads[""]).between(first, last)
    truth = replace(_identified(objects, heads[""]), images=images)
    predicted = {
        model: _identified(joined_objects(heads[model].path, [heads[model], *own]), heads[model])
        for model, own in found.items()
    }
    loaded, _ = load_objects(
        ground.inputs,
        ground.options,
        ground.selection,
        ground.kind,
        frame,
        truth,
        predicted,
        ground.seen,
    )
    return replace(
        loaded,
        datasets={
            model: _numbered(dataset, span.number * NUMBERED)
            for model, dataset in loaded.datasets.items()
        },
    )


def join_ranges(
    ground: Ground, parts: Sequence[Loaded[DetectionDataset]]
) -> Loaded[DetectionDataset]:
    """Join all ranges.

    Raises:
        UnsplittableError: Dropped objects have labels of their own.
    """
    remarks = DataWarnings.joined([part.facts for part in parts])
    if not np.array_equal(remarks.seen, ground.seen):
        raise UnsplittableError
    metadata = dict.fromkeys(remarks.predicted, ground.frame.metadata)
    loaded = replace(parts[0], metadata=metadata, facts=remarks)
    return finish(loaded, ground.frame, ground.kind, ground.options, ground.notes)


def illustrate(
    parts: Sequence[DetectionDataset], examples: Sequence[MetricExample]
) -> list[Illustration]:
    """The illustration of each example, from the range with its objects."""
    shown: dict[int, Illustration] = {}
    of_part: dict[int, list[int]] = {}
    for at, example in enumerate(examples):
        of_part.setdefault(example.objects[0].number // NUMBERED, []).append(at)
    for part, places in of_part.items():
        own = [_without_range(examples[at]) for at in places]
        shown |= dict(zip(places, parts[part].illustrate(own), strict=True))
    return [shown[at] for at in range(len(examples))]


def _without_range(example: MetricExample) -> MetricExample:
    refs = tuple(structs.replace(ref, number=ref.number % NUMBERED) for ref in example.objects)
    return structs.replace(example, objects=refs)


def _numbered(dataset: DetectionDataset, first: int) -> DetectionDataset:
    truths, found = dataset.ground_truths, dataset.detections
    return replace(
        dataset,
        ground_truths=replace(truths, number=truths.number + first),
        detections=replace(found, number=found.number + first),
    )


def _read(task: ObjectPiece) -> tuple[ObjectFile, ResultsFacts | None]:
    piece, reading = task.piece, task.reading
    if not task.model:
        return read_objects(task.path, "ground_truth", reading, task.format), None
    if piece.end is None:
        return read_objects(piece.path, "predictions", reading, task.format), None
    return read_results_piece(piece, reading)


def _taken(file: ObjectFile, at: Ints) -> ObjectFile:
    """Some objects of a file, in some order."""
    return replace(file, objects=file.objects.pick(at), shapes=file.shapes.take(at))


def _slice(ground: Ground, span: IdRange, at: int, file: ObjectFile) -> ObjectFile:
    """The objects of a piece whose images are in a range."""
    low, high = span.within(_sortable(file.objects["image_id"]))
    objects = file.objects.between(low, high)
    if objects.rows is not None:
        objects = replace(objects, rows=objects.rows + ground.in_file[at])
    if _POSITION in objects.columns:
        moved = objects[_POSITION] + ground.before[at]
        objects = replace(objects, columns={**objects.columns, _POSITION: moved})
    return replace(file, objects=objects, shapes=file.shapes.between(low, high))


def _positioned(file: ObjectFile) -> ObjectFile:
    """Objects with their positions in the piece, where it gives them no ids."""
    objects = file.objects
    if "id" in objects.columns:
        return file
    columns = {**objects.columns, _POSITION: np.arange(len(objects))}
    return replace(file, objects=replace(objects, columns=columns))


def _identified(file: ObjectFile, head: ObjectFile) -> ObjectFile:
    """Objects with the ids that they have where the whole input is loaded at once.

    Args:
        file: Some of its objects.
        head: All of its pieces.
    """
    objects = file.objects
    if _POSITION not in objects.columns:
        return file
    columns = dict(objects.columns)
    position, rows = columns.pop(_POSITION), objects.rows
    columns["id"] = rows if head.objects.parts is None and rows is not None else position
    return replace(file, objects=replace(objects, columns=columns))


def _sortable(ids: NDArray[Any]) -> NDArray[Any]:
    return ids if ids.dtype.kind == "i" else ids.astype(str)


def _by_model(
    pieces: Sequence[ObjectPiece], summaries: Sequence[PieceSummary]
) -> dict[str, list[tuple[ObjectPiece, PieceSummary]]]:
    own: dict[str, list[tuple[ObjectPiece, PieceSummary]]] = {}
    for piece, one in zip(pieces, summaries, strict=True):
        if piece.model:
            own.setdefault(piece.model, []).append((piece, one))
    return own


def _are_lists(pieces: Sequence[ObjectPiece], summaries: Sequence[PieceSummary]) -> bool:
    """Whether the pieces together equal their files."""
    files: dict[tuple[str, str], list[tuple[ResultsFacts, int]]] = {}
    for piece, one in zip(pieces, summaries, strict=True):
        if one.facts is not None and piece.piece.end is not None:
            own = files.setdefault((piece.model, piece.piece.path), [])
            own.append((one.facts, piece.piece.end))
    return all(one_list([facts for facts, _ in own], own[-1][1]) for own in files.values())


def _in_order(truth: ObjectFile) -> ObjectFile:
    """Ground truth whose images are listed by id."""
    images = images_of(truth)
    order = np.argsort(ids_of(images))
    metadata = {name: [values[at] for at in order] for name, values in truth.metadata.items()}
    return replace(truth, images=images.pick(order), metadata=metadata)


def _dividing(edges: Sequence[Any], images: NDArray[Any]) -> list[Any]:
    """The edges that have images on both sides."""
    at = np.searchsorted(images, edges)
    kept = (np.diff(at, prepend=0) > 0) & (at < len(images))
    return [edge for edge, keep in zip(edges, kept.tolist(), strict=True) if keep]


def _within(frame: Frame, first: int, last: int) -> Frame:
    """The frame of the images from one position to below another."""
    part = slice(first, last)
    known = frame.images
    return replace(
        frame,
        image_ids=frame.image_ids[part],
        image_number=np.arange(last - first),
        images=KnownImages(
            known.path, known.ids[part], known.files[part], known.size[part], known.typed
        ),
        metadata={name: values[part] for name, values in frame.metadata.items()},
    )


DETECTIONS: Final = Stream(
    cut=cut_detections,
    read=read_piece,
    survey=survey,
    load=load_range,
    join=join_ranges,
    illustrate=illustrate,
)
INSTANCES: Final = replace(DETECTIONS, cut=cut_instances)
