"""Files to detection datasets: labels mapped, objects joined by image, the selection kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.detection import DetectionDataset, Detections, Federation, GroundTruths
from valor_cli.dataset.gallery import Gallery
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.federation import federation_of
from valor_cli.evaluators.detection.frame import Frame, make_frame
from valor_cli.evaluators.detection.geometry import common_kind, image_sizes, of_kind
from valor_cli.evaluators.detection.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.joining import (
    check_categories,
    label_positions,
    unknown_ids,
)
from valor_cli.evaluators.detection.panoptic_things import things_of
from valor_cli.evaluators.detection.pictures import gallery_of
from valor_cli.evaluators.detection.reading import objects_of, read_inputs
from valor_cli.evaluators.detection.remarks import remarks
from valor_cli.evaluators.detection.sides import Side, as_valor_has_it, make_side
from valor_cli.kernels.conversion import areas
from valor_cli.kernels.shapes import Kind, Shapes
from valor_cli.metric import Loaded, Selection
from valor_cli.readers.known_images import Joined, join_images, own_images
from valor_cli.readers.objects import ObjectFile
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


def _load(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection, *, shapes: bool
) -> Loaded[DetectionDataset]:
    truth, predicted = read_inputs(inputs, selection, shapes)
    if not len(truth.objects):
        problem = Problem(objects_of(truth), "there are no objects to evaluate against")
        raise DataError(problem, hint="give a ground truth with at least one annotation")
    files = [truth, *predicted.values()]
    frame, warnings = make_frame(truth, list(predicted.values()), selection)
    warnings = [*(warning for file in files for warning in file.warnings), *warnings]
    joined = [own_images(truth, frame.images)]
    joined += [join_images(file, frame.images) for file in predicted.values()]
    true, _ = make_side("ground truths", truth, joined[0], frame)
    sides: dict[str, Side] = {}
    skipped = {}
    for (model, file), found in zip(predicted.items(), joined[1:], strict=True):
        check_categories(file, truth)
        sides[model], skipped[model] = make_side(f"detections of {model}", file, found, frame)
        if skipped[model] and inputs.on_invalid == "error":
            raise unknown_ids(file, found, label_positions(file, frame), truth.path)
    if options.matching == "valor":
        true, sides, told = as_valor_has_it(true, sides)
        warnings += told
    everything = [true, *sides.values()]
    kind, shapes_of, told = _compared(everything, files, joined, frame, options)
    warnings += told
    ground_truths = _ground_truths(true, shapes_of[0])
    detections = {
        model: _detections(side, shape)
        for (model, side), shape in zip(sides.items(), shapes_of[1:], strict=True)
    }
    warnings += remarks(ground_truths, detections)
    records = [*truth.files]
    for model, file in predicted.items():
        records += _records(file, skipped[model])
    warnings += [
        f"{one.path}: left out as invalid: {one.skipped:,} of {one.rows:,} rows"
        for one in records
        if one.skipped
    ]
    gallery, told = gallery_of(truth, frame, true, inputs.images)
    warnings += told
    return _loaded(
        frame,
        ground_truths,
        {
            model: _Part(detections[model], replace(gallery, detection_ids=sides[model].ids))
            for model in detections
        },
        records,
        warnings,
        options,
        kind,
        federation_of(truth, frame) if "federated" in selection.needs else None,
        things_of(truth, frame),
    )


def _compared(
    sides: Sequence[Side],
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
    size, resized = image_sizes(files, known, len(frame.image_ids))
    shapes, told = of_kind(placed, kind, size)
    if options.inclusive_pixels:
        if kind != "box":
            problem = Problem("inclusive_pixels", f"is for boxes; objects are compared as {kind}")
            raise DataError(problem, hint="set `geometry: box`, or leave inclusive_pixels out")
        shapes = [Shapes.boxes(found.box + np.array([0, 0, 1, 1])) for found in shapes]
    return kind, shapes, [*warnings, *resized, *told]


def _ground_truths(side: Side, shapes: Shapes) -> GroundTruths:
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


def _detections(side: Side, shapes: Shapes) -> Detections:
    score = side.column("score")
    if score is None:
        raise ValueError(f"{side.placed.file.path}: read as predictions, yet without scores")
    return Detections(
        side.image, side.label, shapes, score, np.arange(len(score)), side.column("keypoints")
    )


def _records(file: ObjectFile, unknown: int) -> list[InputFile]:
    """The files read; objects of unknown images or categories are skipped ones too."""
    first, *others = file.files
    return [replace(first, skipped=first.skipped + unknown), *others]


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
        metadata=dict.fromkeys(found, frame.metadata),
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
