"""Files to detection datasets: labels mapped, objects joined by image, the selection kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.detection import DetectionDataset, Detections, Federation, GroundTruths
from valor_cli.dataset.gallery import Gallery
from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.detection.federation import federation_of
from valor_cli.evaluators.detection.frame import Frame, images_of, make_frame
from valor_cli.evaluators.detection.geometry import Placed, common_kind, image_sizes, of_kind
from valor_cli.evaluators.detection.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.joining import (
    check_categories,
    check_named,
    label_positions,
    positions,
    unknown_ids,
)
from valor_cli.evaluators.detection.panoptic_things import things_of
from valor_cli.evaluators.detection.plan import AREAS
from valor_cli.kernels.conversion import areas
from valor_cli.kernels.shapes import Kind, Shapes
from valor_cli.metric import METADATA, Loaded, Selection
from valor_cli.readers.formats import read_objects
from valor_cli.readers.known_images import Joined, KnownImages, join_images, own_images
from valor_cli.readers.objects import ObjectFile
from valor_cli.readers.pictures import PictureFolder
from valor_cli.results import InputFile, Scalar

Ints = NDArray[np.int64]


def load_detections(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection
) -> Loaded[DetectionDataset]:
    """Read ground truth and every model's detections, boxes first.

    Raises:
        DataError: A file cannot be used, a detection names an image or category that the ground
            truth does not have, the selection leaves no image, or shapes cannot be compared.
    """
    shapes = options.geometry not in (None, "box")
    return _load(inputs, options, selection, shapes=shapes)


def load_instances(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection
) -> Loaded[DetectionDataset]:
    """Read ground truth and every model's detections, each object's shape first.

    Raises:
        DataError: As `load_detections`.
    """
    return _load(inputs, options, selection, shapes=True)


@dataclass(frozen=True, slots=True)
class _Side:
    """The objects of one file that are evaluated."""

    placed: Placed
    image: Ints
    label: Ints

    def column(self, name: str) -> NDArray[Any] | None:
        found = self.placed.file.objects.columns.get(name)
        return None if found is None else found[self.placed.rows]

    def where(self, kept: NDArray[np.bool_]) -> _Side:
        placed = self.placed
        return _Side(
            placed._replace(
                rows=placed.rows[kept], image=placed.image[kept], shapes=placed.shapes.take(kept)
            ),
            self.image[kept],
            self.label[kept],
        )


def _load(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection, *, shapes: bool
) -> Loaded[DetectionDataset]:
    truth, predicted = _read(inputs, selection, shapes)
    if not len(truth.objects):
        problem = Problem(_objects_of(truth), "there are no objects to evaluate against")
        raise DataError(problem, hint="give a ground truth with at least one annotation")
    files = [truth, *predicted.values()]
    frame, warnings = make_frame(truth, list(predicted.values()), selection)
    warnings = [*(warning for file in files for warning in file.warnings), *warnings]
    joined = [own_images(truth, frame.images)]
    joined += [join_images(file, frame.images) for file in predicted.values()]
    true, _ = _side("ground truths", truth, joined[0], frame)
    sides: dict[str, _Side] = {}
    skipped = {}
    for (model, file), found in zip(predicted.items(), joined[1:], strict=True):
        check_categories(file, truth)
        sides[model], skipped[model] = _side(f"detections of {model}", file, found, frame)
        if skipped[model] and inputs.on_invalid == "error":
            raise unknown_ids(file, found, label_positions(file, frame), truth.path)
    if options.matching == "valor":
        true, sides, told = _as_valor_has_it(true, sides)
        warnings += told
    everything = [true, *sides.values()]
    kind, shapes_of, told = _compared(everything, files, joined, frame, options)
    warnings += told
    ground_truths = _ground_truths(true, shapes_of[0])
    detections = {
        model: _detections(side, shape)
        for (model, side), shape in zip(sides.items(), shapes_of[1:], strict=True)
    }
    warnings += _remarkable(ground_truths, detections)
    records = [*truth.files]
    for model, file in predicted.items():
        records += _records(file, skipped[model])
    warnings += [
        f"{one.path}: left out as invalid: {one.skipped:,} of {one.rows:,} rows"
        for one in records
        if one.skipped
    ]
    gallery, told = _gallery(truth, frame, true, inputs.images)
    warnings += told
    return _loaded(
        frame,
        ground_truths,
        {
            model: _Part(detections[model], replace(gallery, detection_ids=_ids(sides[model])))
            for model in detections
        },
        records,
        warnings,
        options,
        kind,
        federation_of(truth, frame) if "federated" in selection.needs else None,
        things_of(truth, frame),
    )


def _read(
    inputs: DetectionInputs, selection: Selection, shapes: bool
) -> tuple[ObjectFile, dict[str, ObjectFile]]:
    """Read every file, and report the problems of all that cannot be used together."""
    filtered = [key.removeprefix(METADATA) for key in selection.keep if key.startswith(METADATA)]
    metadata = tuple(dict.fromkeys([*selection.metadata, *filtered]))
    fields = selection.needs & {"keypoints", "federated"}
    reading = inputs.reading(shapes=shapes, metadata=metadata, fields=fields)
    errors: list[DataError] = []
    truth, predicted = None, {}
    try:
        truth = read_objects(
            inputs.ground_truth, "ground_truth", reading, inputs.format_of("ground_truth")
        )
    except DataError as error:
        errors.append(error)
    known = None if truth is None else KnownImages.of(images_of(truth), truth.image_names)
    reading = replace(reading, metadata=(), known=known)
    for model, path in inputs.models.items():
        try:
            found = read_objects(path, "predictions", reading, inputs.format_of("predictions"))
            predicted[model] = found
            if truth is not None:
                check_named(found, truth)
        except DataError as error:
            errors.append(error)
    errors += _without_keypoints([truth, *predicted.values()], fields)
    if truth is None or errors:
        raise DataError(
            list(dict.fromkeys(problem for error in errors for problem in error.problems)),
            total=sum({error.problems: error.total for error in errors}.values()),
            hint="\n".join(dict.fromkeys(error.hint for error in errors if error.hint)),
        )
    return truth, predicted


def _objects_of(file: ObjectFile) -> str:
    """Where the objects of a file stand, for messages: "gt.json: annotations", or the file."""
    name, bracket, _ = file.objects.place.partition("[")
    return f"{file.path}: {name}" if name and bracket else file.path


def _without_keypoints(
    files: Sequence[ObjectFile | None], fields: frozenset[str]
) -> list[DataError]:
    """The files that lack the keypoints that a metric needs."""
    return [
        DataError(
            Problem(_objects_of(file), "no keypoints"),
            hint="give files with keypoints, or leave coco_keypoints out",
        )
        for file in files
        if file is not None
        and "keypoints" in fields
        and len(file.objects)
        and "keypoints" not in file.objects.columns
    ]


def _side(name: str, file: ObjectFile, joined: Joined, frame: Frame) -> tuple[_Side, int]:
    """The objects that the selection keeps, and how many are of unknown images or categories."""
    at, label = joined.objects, label_positions(file, frame)
    unknown = int(((at < 0) | (label == -2)).sum())
    image = np.where(at >= 0, frame.image_number[at], -1)
    kept = (image >= 0) & (label >= 0)
    if kept.all():
        rows = np.arange(len(kept))
        return _Side(Placed(name, file, rows, at, file.shapes), image, label), unknown
    rows = np.flatnonzero(kept)
    placed = Placed(name, file, rows, at[rows], file.shapes.take(rows))
    return _Side(placed, image[rows], label[rows]), unknown


def _compared(
    sides: Sequence[_Side],
    files: Sequence[ObjectFile],
    joined: Sequence[Joined],
    frame: Frame,
    options: DetectionOptions,
) -> tuple[Kind, list[Shapes], list[str]]:
    """The kind that shapes are compared as, the shapes of each side, and what to warn of."""
    placed = [side.placed for side in sides]
    whole = {part.name: part.file.shapes for part in placed}
    kind, warnings = common_kind(whole, options.geometry)
    known = {file.path: found.images for file, found in zip(files, joined, strict=True)}
    shapes, told = of_kind(placed, kind, image_sizes(files, known, len(frame.image_ids)))
    if options.inclusive_pixels:
        if kind != "box":
            problem = Problem("inclusive_pixels", f"is for boxes; objects are compared as {kind}")
            raise DataError(problem, hint="set `geometry: box`, or leave inclusive_pixels out")
        shapes = [Shapes.boxes(found.box + np.array([0, 0, 1, 1])) for found in shapes]
    return kind, shapes, [*warnings, *told]


def _ground_truths(side: _Side, shapes: Shapes) -> GroundTruths:
    count = len(side.image)
    area, crowd = side.column("area"), side.column("crowd")
    if area is None or np.isnan(area).any():
        own = areas(shapes)
        area = own if area is None else np.where(np.isnan(area), own, area)
    return GroundTruths(
        side.image,
        side.label,
        shapes,
        area,
        np.zeros(count, bool) if crowd is None else crowd,
        np.arange(count),
        side.column("keypoints"),
    )


def _detections(side: _Side, shapes: Shapes) -> Detections:
    score = side.column("score")
    if score is None:
        raise ValueError(f"{side.placed.file.path}: read as predictions, yet without scores")
    return Detections(
        side.image, side.label, shapes, score, np.arange(len(score)), side.column("keypoints")
    )


def _as_valor_has_it(
    true: _Side, sides: Mapping[str, _Side]
) -> tuple[_Side, dict[str, _Side], list[str]]:
    """What `matching: valor` looks at: no crowd regions, and scores above 0."""
    warnings, found = [], dict(sides)
    crowd = true.column("crowd")
    if crowd is not None and crowd.any():
        true = true.where(~crowd)
        warnings.append(
            f"matching: valor knows no crowd regions, which are left out: {int(crowd.sum()):,}"
        )
    for model, side in sides.items():
        score = side.column("score")
        nothing = np.zeros(0, bool) if score is None else score <= 0
        if count := int(nothing.sum()):
            found[model] = side.where(~nothing)
            warnings.append(
                f"matching: valor leaves out detections of {model} with a score of 0 or less: "
                f"{count:,}"
            )
    return true, found, warnings


def _remarkable(truths: GroundTruths, detections: Mapping[str, Detections]) -> list[str]:
    """What is legal and yet worth a warning."""
    warnings = _zero_areas(truths.shapes, "ground truths")
    if huge := int((truths.area > AREAS["all"][1]).sum()):
        warnings.append(f"ground truths above 1e10 square pixels, which count nowhere: {huge:,}")
    for model, part in detections.items():
        warnings += _zero_areas(part.shapes, f"detections of {model}")
        if below := int((part.score < 0).sum()):
            warnings.append(
                f"detections of {model} with a score below 0: {below:,}; average_recall leaves "
                "them out, unless recall_score_threshold is lower"
            )
    return warnings


def _zero_areas(shapes: Shapes, what: str) -> list[str]:
    if shapes.kinds in ((), ("box",)):
        empty, word = int((shapes.box[:, 2:] == 0).any(axis=1).sum()), "box"
    else:
        empty, word = int((areas(shapes) == 0).sum()), shapes.kinds[0].replace("_", " ")
    return [f"{what} whose {word} has no area, which match nothing: {empty:,}"] if empty else []


def _records(file: ObjectFile, unknown: int) -> list[InputFile]:
    """The files read; objects of unknown images or categories are skipped ones too."""
    first, *others = file.files
    return [replace(first, skipped=first.skipped + unknown), *others]


def _gallery(
    truth: ObjectFile, frame: Frame, side: _Side, folder: str | None
) -> tuple[Gallery, list[str]]:
    """What it takes to show objects, and what to warn of."""
    images = images_of(truth)
    order = np.argsort(positions(images["id"], frame.image_ids))
    columns = {
        name: images[name][order] if name in images.columns else None
        for name in ("file_name", "width", "height")
    }
    gallery = Gallery(
        truth_ids=_ids(side),
        image_ids=frame.image_ids,
        files=columns["file_name"],
        width=columns["width"],
        height=columns["height"],
    )
    return (
        (gallery, []) if folder is None else _with_pictures(gallery, frame, PictureFolder(folder))
    )


def _with_pictures(
    gallery: Gallery, frame: Frame, folder: PictureFolder
) -> tuple[Gallery, list[str]]:
    """The files of the pictures as the folder names them, and a warning if some have none."""
    names = (frame.image_ids.astype(str) if gallery.files is None else gallery.files).tolist()
    found = [name and folder.find(name) for name in names]
    files = np.array([file or name for file, name in zip(found, names, strict=True)], object)
    kept = (frame.image_number >= 0).tolist()
    missing = [
        name for name, file, keep in zip(names, found, kept, strict=True) if keep and not file
    ]
    warnings = []
    if missing:
        warnings.append(
            f"images: {len(missing):,} of {sum(kept):,} images have no file in {folder.folder} "
            f"(the first: {printable(str(missing[0]))}); they are drawn without"
        )
    return replace(gallery, files=files, size_of=folder.size), warnings


def thumbnails(
    inputs: DetectionInputs, names: Sequence[str]
) -> tuple[Mapping[str, bytes], Sequence[str]]:
    """The pictures of some images, where the config names their folder; and what to warn of."""
    return ({}, ()) if inputs.images is None else PictureFolder(inputs.images).thumbnails(names)


def _ids(side: _Side) -> NDArray[Any]:
    """Ids in the file; positions there for objects without."""
    ids = side.column("id")
    if ids is not None:
        return ids
    rows, objects = side.placed.rows, side.placed.file.objects
    # Positions in one of several files would name several objects.
    return rows if objects.rows is None or objects.parts is not None else objects.rows[rows]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one model adds to a dataset."""

    detections: Detections
    gallery: Gallery


def _loaded(
    frame: Frame,
    ground_truths: GroundTruths,
    found: Mapping[str, _Part],
    files: Sequence[InputFile],
    warnings: Sequence[str],
    options: DetectionOptions,
    kind: Kind,
    federation: Federation | None,
    things: tuple[bool | None, ...] | None,
) -> Loaded[DetectionDataset]:
    """The datasets, over the labels that any file uses."""
    count = len(frame.labels)
    objects = ground_truths.label[~ground_truths.crowd]
    true = np.bincount(objects, minlength=count) > 0
    crowds = np.bincount(ground_truths.label, minlength=count) > 0
    predicted = {
        model: np.bincount(part.detections.label, minlength=count) > 0
        for model, part in found.items()
    }
    seen = np.logical_or.reduce([crowds, *predicted.values()])
    number = np.cumsum(seen) - 1
    labels = _names_where(frame.labels, seen)
    ids = frame.image_ids[frame.image_number >= 0]
    truths = replace(ground_truths, label=number[ground_truths.label])
    settings: dict[str, Scalar] = {"matching": options.matching, "geometry": kind}
    if options.inclusive_pixels:
        settings["pixels"] = "inclusive"
    return Loaded(
        datasets={
            model: DetectionDataset(
                ids,
                labels,
                truths,
                replace(part.detections, label=number[part.detections.label]),
                options.matching,
                federation and federation.of_labels(np.flatnonzero(seen)),
                part.gallery,
                things and tuple(compress(things, seen.tolist())),
            )
            for model, part in found.items()
        },
        metadata=frame.metadata,
        labels=labels,
        sizes={"images": len(ids), "ground_truths": len(objects), "labels": len(labels)},
        files=files,
        warnings=warnings,
        missing_prediction_labels={
            model: _names_where(frame.labels, true & ~part) for model, part in predicted.items()
        },
        ignored_prediction_labels={
            model: _names_where(frame.labels, part & ~true) for model, part in predicted.items()
        },
        settings=settings,
    )


def _names_where(names: Sequence[str], flags: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, flag in zip(names, flags.tolist(), strict=True) if flag)
