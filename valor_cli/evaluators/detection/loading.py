"""COCO files to detection datasets: labels mapped, rows joined by image, the selection kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.detection import DetectionDataset, Detections, GroundTruths
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.detection.frame import Frame, label_names, make_frame
from valor_cli.evaluators.detection.inputs import DetectionInputs
from valor_cli.evaluators.detection.plan import AREAS
from valor_cli.kernels.columns import positions_of
from valor_cli.metric import METADATA, Loaded, Selection
from valor_cli.readers.coco import CocoGroundTruth, CocoResults, read_ground_truth, read_results
from valor_cli.readers.table import SKIP_HINT, Table
from valor_cli.results import InputFile


def load_detections(inputs: DetectionInputs, selection: Selection) -> Loaded[DetectionDataset]:
    """Read ground truth and every model's detections.

    Raises:
        DataError: A file cannot be used, a detection names an image or category that the ground
            truth does not have, or the selection leaves no image.
    """
    filtered = [key.removeprefix(METADATA) for key in selection.keep if key.startswith(METADATA)]
    metadata = list(dict.fromkeys([*selection.metadata, *filtered]))
    truth, predicted = _read(inputs, metadata)
    if not len(truth.annotations):
        problem = Problem(f"{truth.file.path}: annotations", "there are none to evaluate against")
        raise DataError(problem, hint="give a ground truth with at least one annotation")
    names, warnings = label_names(truth, selection.label_map)
    frame = make_frame(truth, names, selection)
    ground_truths = _ground_truths(truth.annotations, frame)
    warnings += _zero_areas(ground_truths.box, "ground truths")
    if huge := int((ground_truths.area > AREAS["all"][1]).sum()):
        warnings.append(f"ground truths above 1e10 square pixels, which count nowhere: {huge:,}")
    files, found = [truth.file], {}
    for model, results in predicted.items():
        found[model], skipped = _detections(results, truth, frame, inputs.on_invalid)
        files.append(replace(results.file, skipped=results.file.skipped + skipped))
        warnings += _zero_areas(found[model].box, f"detections of {model}")
        if below := int((found[model].score < 0).sum()):
            warnings.append(
                f"detections of {model} with a score below 0: {below:,}; average_recall leaves "
                "them out, unless recall_score_threshold is lower"
            )
    warnings += [
        f"{file.path}: left out as invalid: {file.skipped:,} of {file.rows:,} rows"
        for file in files
        if file.skipped
    ]
    return _loaded(frame, ground_truths, found, files, warnings)


def _read(
    inputs: DetectionInputs, metadata: Sequence[str]
) -> tuple[CocoGroundTruth, dict[str, CocoResults]]:
    """Read every file, and report the problems of all that cannot be used together."""
    errors: list[DataError] = []
    truth, predicted = None, {}
    try:
        truth = read_ground_truth(inputs.ground_truth, metadata=metadata, invalid=inputs.on_invalid)
    except DataError as error:
        errors.append(error)
    for model, path in inputs.models.items():
        try:
            predicted[model] = read_results(path, invalid=inputs.on_invalid)
        except DataError as error:
            errors.append(error)
    if truth is None or errors:
        raise DataError(
            [problem for error in errors for problem in error.problems],
            total=sum(error.total for error in errors),
            hint="\n".join(dict.fromkeys(error.hint for error in errors if error.hint)),
        )
    return truth, predicted


def _ground_truths(annotations: Table, frame: Frame) -> GroundTruths:
    image = frame.image_number[_found(annotations["image_id"], frame.image_ids)]
    label = frame.label_number[_found(annotations["category_id"], frame.category_ids)]
    kept = (image >= 0) & (label >= 0)
    return GroundTruths(
        image[kept],
        label[kept],
        annotations["box"][kept],
        annotations["area"][kept],
        annotations["crowd"][kept],
    )


def _detections(
    results: CocoResults, truth: CocoGroundTruth, frame: Frame, invalid: Literal["error", "skip"]
) -> tuple[Detections, int]:
    """A model's detections, and how many were left out because their ids are unknown."""
    _check_categories(results, truth)
    table = results.detections
    image = _found(table["image_id"], frame.image_ids)
    category = _found(table["category_id"], frame.category_ids)
    known = (image >= 0) & (category >= 0)
    if invalid == "error" and not known.all():
        raise _unknownids_of(table, image, category, truth.file.path)
    image = np.where(known, frame.image_number[image], -1)
    label = np.where(known, frame.label_number[category], -1)
    kept = (image >= 0) & (label >= 0)
    if kept.all():
        return Detections(image, label, table["box"], table["score"]), 0
    found = Detections(image[kept], label[kept], table["box"][kept], table["score"][kept])
    return found, int((~known).sum())


def _found(values: NDArray[np.generic], keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Positions of ids among the known ones; numbers are never found among text."""
    if (values.dtype.kind == "i") != (keys.dtype.kind == "i"):
        return np.full(len(values), -1)
    return positions_of(values if values.dtype.kind == "i" else values.astype(str), keys)


def _unknownids_of(
    table: Table, image: NDArray[np.int64], category: NDArray[np.int64], truth: str
) -> DataError:
    problems = []
    for column, at in (("image_id", image), ("category_id", category)):
        for row in np.flatnonzero(at < 0)[:LISTED].tolist():
            what = column.removesuffix("_id")
            value = table[column][row]
            shown = repr(value) if isinstance(value, str) else value
            problems.append(
                (row, Problem(f"{table.place_of(row)}.{column}", f"no {what} {shown} in {truth}"))
            )
    problems.sort(key=lambda entry: entry[0])
    return DataError(
        [problem for _, problem in problems[:LISTED]],
        total=int((image < 0).sum() + (category < 0).sum()),
        hint=f"Check that both files belong together. {SKIP_HINT}",
    )


def _check_categories(results: CocoResults, truth: CocoGroundTruth) -> None:
    """A COCO dictionary names its categories; one id with two names is a mix-up."""
    if results.categories is None:
        return
    expected = dict(
        zip(truth.categories["id"].tolist(), truth.categories["name"].tolist(), strict=True)
    )
    problems = [
        Problem(
            f"{results.file.path}: categories",
            f"id {number} is '{name}' here and '{expected[number]}' in {truth.file.path}",
        )
        for number, name in results.categories.items()
        if number in expected and expected[number] != name
    ]
    if problems:
        raise DataError(problems, hint="give both files the same categories")


def _zero_areas(boxes: NDArray[np.float64], what: str) -> list[str]:
    empty = int((boxes[:, 2:] == 0).any(axis=1).sum())
    return [f"{what} whose box has no area, which match nothing: {empty:,}"] if empty else []


def _loaded(
    frame: Frame,
    ground_truths: GroundTruths,
    found: Mapping[str, Detections],
    files: Sequence[InputFile],
    warnings: Sequence[str],
) -> Loaded[DetectionDataset]:
    """The datasets, over the labels that any file uses."""
    count = len(frame.labels)
    objects = ground_truths.label[~ground_truths.crowd]
    true = np.bincount(objects, minlength=count) > 0
    crowds = np.bincount(ground_truths.label, minlength=count) > 0
    predicted = {
        model: np.bincount(part.label, minlength=count) > 0 for model, part in found.items()
    }
    seen = np.logical_or.reduce([crowds, *predicted.values()])
    number = np.cumsum(seen) - 1
    labels = _names_where(frame.labels, seen)
    ids = frame.image_ids[frame.image_number >= 0]
    truths = replace(ground_truths, label=number[ground_truths.label])
    return Loaded(
        datasets={
            model: DetectionDataset(ids, labels, truths, replace(part, label=number[part.label]))
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
    )


def _names_where(names: Sequence[str], flags: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, flag in zip(names, flags.tolist(), strict=True) if flag)
