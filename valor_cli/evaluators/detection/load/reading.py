"""Read all input files of a detection run, and report the problems of all."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile, UnnamedClassesError
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.load.images_and_labels import images_of
from valor_cli.evaluators.detection.load.inputs import DetectionInputs
from valor_cli.evaluators.detection.load.joining import check_named
from valor_cli.evaluators.input_files import error_of_inputs
from valor_cli.evaluators.selection import filtered_columns, with_metadata
from valor_cli.metric import Selection


def read_inputs(
    inputs: DetectionInputs, selection: Selection, shapes: bool
) -> tuple[ObjectFile, dict[str, ObjectFile]]:
    """Read the ground truth and each model's detections.

    Args:
        inputs: What to read.
        selection: What of it is wanted.
        shapes: Whether an object's shape is wanted rather than its box.

    Raises:
        DataError: The problems of all files that cannot be used.
    """
    if selection.every_metadata:
        # Few runs look for slices: the others need none of its parsers.
        from valor_cli.data.inputs.object_metadata import object_metadata

        form = inputs.format_of("ground_truth")
        names = object_metadata(inputs.ground_truth, inputs.columns, form)
        selection = with_metadata(selection, names)
    reading = reading_of(inputs, selection, shapes=shapes)
    fields = reading.fields
    errors: list[DataError] = []
    truth, predicted = None, {}
    try:
        truth = read_objects(
            inputs.ground_truth, "ground_truth", reading, inputs.format_of("ground_truth")
        )
    except DataError as error:
        errors.append(error)
    known = None if truth is None else KnownImages.of(images_of(truth), truth.image_names)
    class_names = None if truth is None else truth.class_names
    reading = replace(reading, metadata=(), known=known, class_names=class_names)
    for model, path in inputs.models.items():
        try:
            found = read_objects(path, "predictions", reading, inputs.format_of("predictions"))
            predicted[model] = found
            if truth is not None:
                check_named(found, truth)
        except DataError as error:
            # Names may be those of the ground truth that cannot be read.
            if truth is not None or not isinstance(error, UnnamedClassesError):
                errors.append(error)
    errors += _without_keypoints([truth, *predicted.values()], fields)
    if truth is None or errors:
        raise error_of_inputs(errors)
    return truth, predicted


def reading_of(inputs: DetectionInputs, selection: Selection, *, shapes: bool) -> Reading:
    """How to read the ground truth; `shapes` as for `read_inputs`."""
    fields = selection.needs & {"keypoints", "federated"}
    return inputs.reading(shapes=shapes, metadata=filtered_columns(selection), fields=fields)


def objects_of(file: ObjectFile) -> str:
    """The place of a file's objects, for messages: "gt.json: annotations", or the file."""
    name, bracket, _ = file.objects.place.partition("[")
    return f"{file.path}: {name}" if name and bracket else file.path


def _without_keypoints(
    files: Sequence[ObjectFile | None], fields: frozenset[str]
) -> list[DataError]:
    """The files without the keypoints that a metric needs."""
    return [
        DataError(
            Problem(objects_of(file), "no keypoints"),
            hint="give files with keypoints, or leave coco_keypoints out",
        )
        for file in files
        if file is not None
        and "keypoints" in fields
        and len(file.objects)
        and "keypoints" not in file.objects.columns
    ]
