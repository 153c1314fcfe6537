"""Load detection datasets: map labels, join objects by image, apply the selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import (
    DetectionDataset,
    Detections,
    Federation,
    GroundTruths,
)
from valor_cli.data.shapes.objects.gallery import Gallery
from valor_cli.data.shapes.objects.known_images import Joined, join_images, own_images
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.load.federation import federation_of
from valor_cli.evaluators.detection.load.geometry import (
    common_kind,
    image_sizes,
    kind_counts,
    of_kind,
)
from valor_cli.evaluators.detection.load.images import gallery_of, with_images
from valor_cli.evaluators.detection.load.images_and_labels import Frame, make_frame
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.load.joining import (
    check_categories,
    label_positions,
    things_of,
    unknown_ids,
)
from valor_cli.evaluators.detection.load.left_out_files import images_with_detections
from valor_cli.evaluators.detection.load.objects import Side, apply_valor_matching, make_side
from valor_cli.evaluators.detection.load.reading import objects_of, read_inputs
from valor_cli.evaluators.detection.load.warnings import TRUTHS, DataWarnings, remarks_of
from valor_cli.evaluators.id_mismatch import SHOWN
from valor_cli.evaluators.input_files import invalid_row_warnings
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.kernels.geometry.shapes import Kind, Shapes
from valor_cli.metric import Loaded, OneSided, Selection
from valor_cli.results import InputFile, Scalar

Flags = NDArray[np.bool_]


def load_detections(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection
) -> Loaded[DetectionDataset]:
    """Load ground truth and every model's detections as boxes.

    Raises:
        DataError: A file cannot be used, a detection names an image or category that the ground
            truth does not have, the selection leaves no image, or shapes cannot be compared.
    """
    shapes = options.geometry not in (None, "box")
    return _load(inputs, options, selection, shapes=shapes)


def load_instances(
    inputs: DetectionInputs, options: DetectionOptions, selection: Selection
) -> Loaded[DetectionDataset]:
    """Load ground truth and every model's detections as shapes.

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
    frame, told = make_frame(truth, list(predicted.values()), selection)
    frame, lost = images_with_detections(truth, predicted, frame)
    told += lost
    kinds = {"ground truths": kind_counts(truth.shapes)}
    for model, file in predicted.items():
        check_categories(file, truth)
        kinds[f"detections of {model}"] = kind_counts(file.shapes)
    kind, of_kinds = common_kind(kinds, options.geometry)
    loaded, resized = load_objects(inputs, options, selection, kind, frame, truth, predicted)
    datasets, of_pictures = _pictured(loaded.datasets, frame, inputs.images)
    read = InputNotes(
        [warning for file in (truth, *predicted.values()) for warning in file.warnings] + told,
        [*of_kinds, *resized],
        truth.files,
        {model: file.files for model, file in predicted.items()},
    )
    finished = finish(replace(loaded, datasets=datasets), frame, kind, options, read)
    return replace(finished, warnings=[*finished.warnings, *of_pictures])


def _pictured(
    datasets: Mapping[str, DetectionDataset], frame: Frame, folder: str | None
) -> tuple[dict[str, DetectionDataset], list[str]]:
    """The datasets with image files, and warnings."""
    first = next(iter(datasets.values())).gallery or Gallery()
    shown, warnings = with_images(first, frame, folder)
    return {
        model: replace(
            dataset,
            gallery=replace(
                shown,
                detection_ids=None if dataset.gallery is None else dataset.gallery.detection_ids,
            ),
        )
        for model, dataset in datasets.items()
    }, warnings


class InputNotes(Struct, frozen=True):
    """What the inputs contain besides objects.

    Attributes:
        warnings: Of files and of labels.
        of_kinds: Of the geometry that objects are compared as.
        truth: The files of the ground truth.
        models: By model, the files of its detections.
    """

    warnings: Sequence[str]
    of_kinds: Sequence[str]
    truth: Sequence[InputFile]
    models: Mapping[str, Sequence[InputFile]]


def load_objects(
    inputs: DetectionInputs,
    options: DetectionOptions,
    selection: Selection,
    kind: Kind,
    frame: Frame,
    truth: ObjectFile,
    predicted: Mapping[str, ObjectFile],
    seen: Flags | None = None,
) -> tuple[Loaded[DetectionDataset], list[str]]:
    """Load the datasets of all images or of a range, with warnings about image sizes.

    Args:
        inputs: What was read.
        options: How objects are compared.
        selection: What is wanted.
        kind: The geometry that they are compared as.
        frame: The images, and the labels of the run.
        truth: Their ground truth.
        predicted: By model, their detections.
        seen: Which labels objects have, where these are not all objects.

    Raises:
        DataError: As `load_detections`, but for what a file alone says.
    """
    files = [truth, *predicted.values()]
    joined = [own_images(truth, frame.images)]
    joined += [join_images(file, frame.images) for file in predicted.values()]
    true, _ = make_side("ground truths", truth, joined[0], frame)
    sides: dict[str, Side] = {}
    counts: dict[tuple[str, str], int] = {}
    strangers: dict[str, Sequence[str]] = {}
    for (model, file), found in zip(predicted.items(), joined[1:], strict=True):
        sides[model], unknown = make_side(f"detections of {model}", file, found, frame)
        counts["unknown", model] = unknown
        strange = found.objects < 0
        counts["whole", model] = len(strange)
        counts["strangers", model] = int(strange.sum())
        strangers[model] = sorted(set(map(str, file.objects["image_id"][strange].tolist())))[:SHOWN]
        if unknown and inputs.on_invalid == "error":
            raise unknown_ids(
                file, found, label_positions(file, frame), truth, _first_images(frame)
            )
    if options.matching == "valor":
        true, sides, left_out = apply_valor_matching(true, sides)
        counts |= left_out
    everything = [true, *sides.values()]
    shapes, crossing, resized = _compared(everything, files, joined, frame, kind, options)
    for whose, count in zip((TRUTHS, *sides), crossing, strict=True):
        counts["mended", whose] = count
    ground_truths = _ground_truths(true, shapes[0], options)
    detections = {
        model: _detections(side, shape)
        for (model, side), shape in zip(sides.items(), shapes[1:], strict=True)
    }
    remarks = remarks_of(ground_truths, detections, len(frame.labels))
    gallery = gallery_of(truth, frame, true)
    parts = {
        model: _Part(detections[model], replace(gallery, detection_ids=sides[model].ids))
        for model in detections
    }
    federation = federation_of(truth, frame) if "federated" in selection.needs else None
    return _loaded(
        frame,
        ground_truths,
        parts,
        options,
        federation,
        things_of(truth, frame),
        replace(remarks, counts={**remarks.counts, **counts}, strangers=strangers),
        remarks.seen if seen is None else seen,
    ), resized


def finish(
    loaded: Loaded[DetectionDataset],
    frame: Frame,
    kind: Kind,
    options: DetectionOptions,
    notes: InputNotes,
) -> Loaded[DetectionDataset]:
    """Complete the loaded data with all warnings.

    Args:
        loaded: Its facts are `DataWarnings`.
        frame: All images, and the labels of the run.
        kind: The geometry that objects are compared as.
        options: How they are.
        notes: What the inputs say.
    """
    remarks: DataWarnings = loaded.facts
    records = [*notes.truth]
    for model, files in notes.models.items():
        first, *others = files
        records += [structs.replace(first, skipped=first.skipped + remarks.unknown(model)), *others]
    warnings = [
        *notes.warnings,
        *remarks.of_images(
            {model: files[0].path for model, files in notes.models.items()},
            notes.truth[0].path,
            _first_images(frame),
        ),
        *remarks.of_matching(),
        *notes.of_kinds,
        *remarks.of_shapes(),
        *remarks.of_objects(kind),
        *invalid_row_warnings(records),
    ]
    settings: dict[str, Scalar] = {"matching": options.matching, "geometry": kind}
    if options.inclusive_pixels:
        settings["pixels"] = "inclusive"
    if options.difficult == "count":
        settings["difficult"] = "count"
    true = remarks.true
    return replace(
        loaded,
        sizes={
            "images": int((frame.image_number >= 0).sum()),
            "ground_truths": remarks.objects,
            "labels": len(loaded.labels),
        },
        files=records,
        warnings=warnings,
        one_sided={
            model: OneSided(
                _names_where(frame.labels, true & ~part), _names_where(frame.labels, part & ~true)
            )
            for model, part in remarks.predicted.items()
        },
        settings=settings,
        facts=None,
    )


def _first_images(frame: Frame) -> list[str]:
    """What the first images of the ground truth are called."""
    return [frame.images.called(at).strip("'") for at in range(min(SHOWN, len(frame.image_ids)))]


def _compared(
    sides: Sequence[Side],
    files: Sequence[ObjectFile],
    joined: Sequence[Joined],
    frame: Frame,
    kind: Kind,
    options: DetectionOptions,
) -> tuple[list[Shapes], list[int], list[str]]:
    """The shapes of each side, counts of repaired polygons, and warnings about sizes."""
    known = {file.path: found.images for file, found in zip(files, joined, strict=True)}
    size, resized = image_sizes(files, known, len(frame.image_ids))
    shapes, crossing = of_kind([side.placed for side in sides], kind, size)
    if options.inclusive_pixels:
        if kind != "box":
            problem = Problem("inclusive_pixels", f"is for boxes; objects are compared as {kind}")
            raise DataError(problem, hint="set `geometry: box`, or leave inclusive_pixels out")
        shapes = [Shapes.boxes(found.box + np.array([0, 0, 1, 1])) for found in shapes]
    return shapes, crossing, resized


def _ground_truths(side: Side, shapes: Shapes, options: DetectionOptions) -> GroundTruths:
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
        side.column("difficult") if options.difficult == "ignore" else None,
    )


def _detections(side: Side, shapes: Shapes) -> Detections:
    score = side.column("score")
    if score is None:
        raise ValueError(f"{side.placed.file.path}: read as predictions, yet without scores")
    return Detections(
        side.image, side.label, shapes, score, np.arange(len(score)), side.column("keypoints")
    )


class _Part(Struct, frozen=True):
    """What one model adds to a dataset."""

    detections: Detections
    gallery: Gallery


def _loaded(
    frame: Frame,
    ground_truths: GroundTruths,
    found: Mapping[str, _Part],
    options: DetectionOptions,
    federation: Federation | None,
    things: tuple[bool | None, ...] | None,
    remarks: DataWarnings,
    seen: Flags,
) -> Loaded[DetectionDataset]:
    """The datasets, over the labels that are seen."""
    number = np.cumsum(seen) - 1
    labels = _names_where(frame.labels, seen)
    ids = frame.image_ids[frame.image_number >= 0]
    truths = replace(ground_truths, label=number[ground_truths.label])
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
                options.inclusive_pixels,
            )
            for model, part in found.items()
        },
        metadata=dict.fromkeys(found, frame.metadata),
        labels=labels,
        facts=remarks,
    )


def _names_where(names: Sequence[str], flags: Flags) -> tuple[str, ...]:
    return tuple(compress(names, flags.tolist()))
