"""Read all input files of a classification run, and report the problems of all."""

from __future__ import annotations

from msgspec.structs import replace

from valor_cli.data.formats.class_names import read_names
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.extract import with_extracted_labels
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.classification.evidence.probabilities import PROBABILITIES
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.input_files import error_of_inputs
from valor_cli.evaluators.selection import filtered_columns
from valor_cli.metric import Selection, written


def read_inputs(
    inputs: ClassificationInputs, selection: Selection
) -> tuple[ScoreFile, dict[str, ScoreFile], tuple[str, ...]]:
    """Read the ground truth, each model's predictions, and the listed classes.

    Where one file holds both sides, that of the first model is the ground truth.

    Raises:
        DataError: The problems of all files that cannot be used. Without the classes none is read,
            for what is wrong in it may follow from that.
    """
    errors: list[DataError] = []
    reading = reading_of(inputs, selection)
    if selection.every_metadata:
        reading = replace(reading, metadata=_every_name(inputs, reading))
    truth = None
    if inputs.ground_truth is not None:
        truth = _read(inputs, inputs.ground_truth, "ground_truth", reading, errors)
        reading = replace(reading, metadata=())
    side: Side = "samples" if inputs.samples is not None else "predictions"
    predicted: dict[str, ScoreFile] = {}
    for model, path in inputs.models.items():
        found = _read(inputs, path, side, reading, errors)
        if found is not None:
            predicted[model] = found
        if side == "samples":
            # What the others say beside labels is about the same samples.
            reading, truth = replace(reading, metadata=()), truth or found
    if truth is None or errors:
        raise error_of_inputs(errors)
    if not len(truth.samples):
        problem = Problem(truth.path, "there are no samples to evaluate")
        raise DataError(problem, hint="give a file with at least one sample and its true label")
    return truth, predicted, tuple(reading.classes)


def reading_of(inputs: ClassificationInputs, selection: Selection) -> ScoreReading:
    """How to read the main input: metadata of the ground truth, and the classes.

    Raises:
        DataError: The file that names the classes cannot be used.
    """
    return ScoreReading(
        metadata=filtered_columns(selection),
        classes=listed_classes(inputs),
        columns=inputs.columns,
        invalid=inputs.on_invalid,
        # Where only defaults want them, other scores are no fault.
        probabilities=PROBABILITIES in selection.needs - selection.wanted,
        several=bool(inputs.multi_label),
        separator=inputs.separator,
    )


def _every_name(inputs: ClassificationInputs, reading: ScoreReading) -> tuple[str, ...]:
    """The requested metadata, with all that the ground truth has."""
    # Few runs look for slices: the others need none of its parsers.
    from valor_cli.data.inputs.score_metadata import score_metadata

    if inputs.ground_truth is not None:
        form = inputs.format_of("ground_truth")
        names = score_metadata(inputs.ground_truth, "ground_truth", reading, form)
    else:
        path = next(iter(inputs.models.values()))
        names = score_metadata(path, "samples", reading, inputs.format_of("samples"))
    return tuple(dict.fromkeys([*reading.metadata, *names]))


def listed_classes(inputs: ClassificationInputs) -> tuple[str, ...]:
    """The classes listed in the config or in a file; empty if neither.

    Raises:
        DataError: The file cannot be used.
    """
    if inputs.classes is None:
        return ()
    if isinstance(inputs.classes, str):
        return tuple(read_names(inputs.classes).values())
    return tuple(map(written, inputs.classes))


def _read(
    inputs: ClassificationInputs,
    path: str,
    side: Side,
    reading: ScoreReading,
    errors: list[DataError],
) -> ScoreFile | None:
    """A file; None and an error more if it cannot be used."""
    extract = None if side == "ground_truth" else inputs.extraction(reading.classes)
    if extract is not None:
        # A text names one of the classes; they are no columns.
        reading = replace(reading, classes=())
    try:
        found = read_scores(path, side, reading, inputs.format_of(side))
        return found if extract is None else with_extracted_labels(found, extract)
    except DataError as error:
        errors.append(error)
    return None
