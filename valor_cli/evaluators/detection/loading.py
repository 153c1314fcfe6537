"""COCO files to detection datasets: labels mapped, rows joined by image, the selection kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.detection import DetectionDataset, Detections, GroundTruths
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.evaluators.detection.inputs import DetectionInputs
from valor_cli.kernels.columns import positions_of
from valor_cli.metric import Loaded, Selection
from valor_cli.readers.coco import CocoGroundTruth, CocoResults, read_ground_truth, read_results
from valor_cli.readers.table import SKIP_HINT, Table
from valor_cli.results import InputFile, Scalar

METADATA = "metadata."


@dataclass(frozen=True, slots=True)
class _Frame:
    """The images and labels under evaluation, and how ids of the files become their numbers.

    Attributes:
        image_ids: (images,) ascending, as in the file.
        image_number: (images,) number among the images kept; -1 for those left out.
        category_ids: (categories,) ascending, as in the file.
        label_number: (categories,) position in `labels`; -1 for labels left out.
        labels: Names, in the order of the category ids.
        metadata: A value per kept image.
    """

    image_ids: NDArray[np.generic]
    image_number: NDArray[np.int64]
    category_ids: NDArray[np.generic]
    label_number: NDArray[np.int64]
    labels: tuple[str, ...]
    metadata: Mapping[str, Sequence[Scalar]]


def load_detections(inputs: DetectionInputs, selection: Selection) -> Loaded[DetectionDataset]:
    """Read ground truth and every model's detections.

    Raises:
        DataError: A file cannot be used, a detection names an image or category that the ground
            truth does not have, or the selection leaves no image.
    """
    filtered = [key.removeprefix(METADATA) for key in selection.keep if key.startswith(METADATA)]
    names = list(dict.fromkeys([*selection.metadata, *filtered]))
    truth, predicted = _read(inputs, names)
    if not len(truth.annotations):
        problem = Problem(f"{truth.file.path}: annotations", "there are none to evaluate against")
        raise DataError(problem, hint="give a ground truth with at least one annotation")
    names, warnings = _label_names(truth, selection.label_map)
    frame = _frame(truth, names, selection)
    ground_truths = _ground_truths(truth.annotations, frame)
    warnings += _zero_areas(ground_truths.box, "ground truths")
    files, found = [truth.file], {}
    for model, results in predicted.items():
        found[model], skipped = _detections(results, truth, frame, inputs.on_invalid)
        files.append(replace(results.file, skipped=results.file.skipped + skipped))
        warnings += _zero_areas(found[model].box, f"detections of {model}")
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


def _label_names(
    truth: CocoGroundTruth, label_map: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The label of each category, in the order of the ids, and what to warn of."""
    ids, names = _ids(truth.categories), truth.categories["name"].tolist()
    warnings = [
        f"label_map: the ground truth has no label '{name}'{did_you_mean(name, names)}"
        for name in label_map
        if name not in names
    ]
    labels: list[str] = []
    seen: set[str] = set()
    for at in np.argsort(ids).tolist():
        name = names[at]
        if name in seen and name not in label_map:
            # The reference keeps two categories of one name apart, so do we.
            distinct = f"{name} #{ids[at]}"
            warnings.append(f"two categories are named '{name}'; one is shown as '{distinct}'")
            labels.append(distinct)
        else:
            labels.append(label_map.get(name, name))
        seen.add(name)
    return labels, warnings


def _frame(truth: CocoGroundTruth, names: list[str], selection: Selection) -> _Frame:
    """Number the images and labels that the selection keeps."""
    image_ids = _ids(truth.images)
    order = np.argsort(image_ids)
    columns = {name: [values[at] for at in order] for name, values in truth.metadata.items()}
    image_ids = image_ids[order]
    kept = _kept_images(image_ids, columns, selection)
    if not kept.any():
        raise DataError(
            Problem("filter", f"leaves no image of {truth.file.path}"), hint=_values_hint(columns)
        )
    labels = list(dict.fromkeys(names))
    wanted = selection.keep.get("label", labels)
    unknown = [str(label) for label in wanted if label not in labels]
    if unknown:
        raise DataError(
            [
                Problem("filter.label", f"no label '{name}'{did_you_mean(name, labels)}")
                for name in unknown
            ],
            hint=f"labels: {', '.join(labels[:LISTED])}{' …' if len(labels) > LISTED else ''}",
        )
    labels = [label for label in labels if label in wanted]
    number = {label: at for at, label in enumerate(labels)}
    return _Frame(
        image_ids=image_ids,
        image_number=np.where(kept, np.cumsum(kept) - 1, -1),
        category_ids=np.sort(_ids(truth.categories)),
        label_number=np.array([number.get(name, -1) for name in names], np.int64),
        labels=tuple(labels),
        metadata={
            name: [value for value, keep in zip(values, kept, strict=True) if keep]
            for name, values in columns.items()
        },
    )


def _kept_images(
    image_ids: NDArray[np.generic], columns: Mapping[str, Sequence[Scalar]], selection: Selection
) -> NDArray[np.bool_]:
    kept = np.ones(len(image_ids), bool)
    for key, allowed in selection.keep.items():
        if key in ("image_id", "sample_id"):
            kept &= np.isin(image_ids, _known_ids(image_ids, allowed, key))
        elif key.startswith(METADATA):
            values = columns[key.removeprefix(METADATA)]
            kept &= np.array([value in allowed for value in values], bool)
    if selection.limit is not None:
        kept &= np.cumsum(kept) <= selection.limit
    return kept


def _known_ids(
    image_ids: NDArray[np.generic], allowed: Sequence[Scalar], key: str
) -> NDArray[np.generic]:
    """The ids that a filter lists, all of which must be there."""
    there = set(image_ids.tolist())
    problems = [
        Problem(f"filter.{key}", f"no image {id_!r}") for id_ in allowed if id_ not in there
    ]
    if problems:
        some = ", ".join(repr(known) for known in image_ids[:3].tolist())
        raise DataError(problems, hint=f"image ids look like {some}")
    return np.array(allowed)


def _values_hint(columns: Mapping[str, Sequence[Scalar]]) -> str:
    """The values that the filtered columns do hold."""
    lines = []
    for name, values in columns.items():
        seen = sorted({str(value) for value in values})
        more = f" … ({len(seen)} values)" if len(seen) > LISTED else ""
        lines.append(f"{METADATA}{name} has: {', '.join(seen[:LISTED])}{more}")
    return "\n".join(lines)


def _ids(table: Table) -> NDArray[np.generic]:
    """The ids as numbers, or as text that numpy can sort."""
    column = table["id"]
    return column if column.dtype.kind == "i" else column.astype(str)


def _ground_truths(annotations: Table, frame: _Frame) -> GroundTruths:
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
    results: CocoResults, truth: CocoGroundTruth, frame: _Frame, invalid: Literal["error", "skip"]
) -> tuple[Detections, int]:
    """A model's detections, and how many were left out because their ids are unknown."""
    _check_categories(results, truth)
    table = results.detections
    image = _found(table["image_id"], frame.image_ids)
    category = _found(table["category_id"], frame.category_ids)
    known = (image >= 0) & (category >= 0)
    if invalid == "error" and not known.all():
        raise _unknown_ids(table, image, category, truth.file.path)
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


def _unknown_ids(
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
    return [f"{empty:,} {what} have a box without area and match nothing"] if empty else []


def _loaded(
    frame: _Frame,
    ground_truths: GroundTruths,
    found: Mapping[str, Detections],
    files: Sequence[InputFile],
    warnings: Sequence[str],
) -> Loaded[DetectionDataset]:
    """The datasets, over the labels that any file uses."""
    count = len(frame.labels)
    true = np.bincount(ground_truths.label, minlength=count) > 0
    predicted = {
        model: np.bincount(part.label, minlength=count) > 0 for model, part in found.items()
    }
    seen = np.logical_or.reduce([true, *predicted.values()])
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
        sizes={"images": len(ids), "ground_truths": len(truths.label), "labels": len(labels)},
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
