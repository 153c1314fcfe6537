"""Files to classification datasets: labels mapped, predictions joined to samples, some kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.classification import ClassificationDataset, no_picture
from valor_cli.evaluators.classification.frame import (
    Frame,
    Rows,
    kept_samples,
    make_frame,
    metadata_of,
    rows_of,
)
from valor_cli.evaluators.classification.inputs import ClassificationInputs
from valor_cli.evaluators.classification.joining import join_predictions, placed
from valor_cli.evaluators.classification.labels import (
    Naming,
    Said,
    alike,
    name_labels,
    names_by_key,
    said_labels,
)
from valor_cli.evaluators.classification.pictures import SamplePictures
from valor_cli.evaluators.classification.reading import read_inputs
from valor_cli.evaluators.classification.remarks import (
    counted,
    missing_rows,
    remarks,
    sum_warnings,
)
from valor_cli.evaluators.classification.shared_samples import join_samples
from valor_cli.kernels.scores import Scores
from valor_cli.metric import Loaded, NoOptions, Selection
from valor_cli.readers.score_files import ScoreFile
from valor_cli.results import InputFile, Scalar

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def load_classification(
    inputs: ClassificationInputs, options: NoOptions, selection: Selection
) -> Loaded[ClassificationDataset]:
    """Read ground truth and every model's predictions, and join them by sample and label key.

    Raises:
        DataError: A file cannot be used, a prediction is of a sample that the ground truth does not
            have, files that hold both sides disagree, or the selection leaves no sample.
    """
    shown = None if inputs.images is None else SamplePictures(inputs.images)
    truth, files, classes = read_inputs(inputs, selection)
    # The scores of a file that holds both sides are its model's, and go when those are in order.
    truth = replace(truth, scores=None)
    records = [] if inputs.ground_truth is None else list(truth.files)
    warnings = [] if inputs.ground_truth is None else _read_warnings(truth)
    for file in files.values():
        warnings += _read_warnings(file)
    naming, told = name_labels(classes, [*files.values(), truth], selection.label_map)
    warnings += told
    frame = make_frame(truth)
    rows, joined, metadata, told = _selected(frame, files, inputs, naming, selection)
    warnings += told
    parts: dict[str, _Part] = {}
    for model, at in joined.items():
        file = files.pop(model)
        parts[model], told = _part(model, file, at, rows, naming)
        warnings += told
        if (at < 0).any():
            warnings.append(
                f"{file.path}: left out, for {truth.path} does not have their sample: "
                + counted(at < 0, file.samples["sample_id"], f" of {len(at):,} rows")
            )
        records += _records(file, at < 0)
    loaded = _loaded(rows, naming, parts, shown)
    warnings += alike(loaded.labels)
    warnings += _remarks(loaded, rows, parts, selection)
    if shown is not None:
        warnings += shown.warnings(rows.sample_ids)
    by_model = dict.fromkeys(loaded.datasets, metadata)
    return replace(loaded, metadata=by_model, files=records, warnings=warnings)


def _selected(
    frame: Frame,
    files: Mapping[str, ScoreFile],
    inputs: ClassificationInputs,
    naming: Naming,
    selection: Selection,
) -> tuple[Rows, dict[str, Ints], dict[str, list[Scalar]], list[str]]:
    """The rows under evaluation, the row of the frame that each row of each file belongs to, the
    metadata of the samples, and what to warn of.
    """
    columns, warnings = metadata_of(frame)
    truth = naming.codes(frame.file.labels)[frame.file.samples["truth"][frame.order]]
    there = np.ones(len(frame.sample_ids), bool)
    skip = inputs.on_invalid == "skip"
    if inputs.samples is None:
        joined = join_predictions(files, frame, skip=skip)
    else:
        joined, there = join_samples(files, frame, truth, naming, skip=skip)
    if not there.all():
        whole = f" of {len(there):,} samples of {frame.file.path}"
        warnings.append(
            "left out, for not every file has them: " + counted(~there, frame.sample_ids, whole)
        )
    kept = kept_samples(frame, truth, naming.labels, columns, selection, there)
    metadata = {name: list(compress(values, kept.tolist())) for name, values in columns.items()}
    return rows_of(frame, truth, kept), joined, metadata, warnings


@dataclass(frozen=True, slots=True)
class _Part:
    """What one model adds.

    Attributes:
        scores: (n,) rows over all labels of the run.
        missing: (n,) the rows that its file does not have.
    """

    scores: Scores
    missing: Flags


def _part(
    model: str, file: ScoreFile, at: Ints, rows: Rows, naming: Naming
) -> tuple[_Part, list[str]]:
    """A model's scores in the order of the rows, and what to warn of."""
    if file.scores is None:
        raise ValueError(f"{file.path}: read as predictions, yet without scores")
    target = np.append(rows.number, -1)[at]
    missing = np.ones(len(rows), bool)
    missing[target[target >= 0]] = False
    scores = placed(file.scores, target, len(rows))
    warnings = missing_rows(model, missing, rows.ids)
    return _Part(scores.relabelled(naming.codes(file.labels)), missing), warnings


def _read_warnings(file: ScoreFile) -> list[str]:
    """What the reader has to say of a file, and how many rows it left out."""
    return [*file.warnings] + [
        f"{one.path}: left out as invalid: {one.skipped:,} of {one.rows:,} rows"
        for one in file.files
        if one.skipped
    ]


def _records(file: ScoreFile, unknown: Flags) -> list[InputFile]:
    """The files of an input, rows without ground truth among what each left out."""
    parts = file.samples.parts
    of_row = np.zeros(len(unknown), np.int64) if parts is None else parts.of_row
    left_out = np.bincount(of_row[unknown], minlength=len(file.files)).tolist()
    return [
        replace(one, skipped=one.skipped + more)
        for one, more in zip(file.files, left_out, strict=True)
    ]


def _loaded(
    rows: Rows, naming: Naming, parts: Mapping[str, _Part], shown: SamplePictures | None
) -> Loaded[ClassificationDataset]:
    """The datasets, over the labels that any row uses."""
    keys, count = len(rows.keys), len(naming.labels)
    used = np.zeros((keys, count), bool)
    used[rows.key, rows.truth] = True
    true = used.copy()
    said = {model: said_labels(part.scores, rows.key, keys, count) for model, part in parts.items()}
    for one in said.values():
        used |= one.listed
    seen = np.asarray(used.any(axis=0))
    number = np.where(seen, np.cumsum(seen) - 1, -1)
    labels = tuple(compress(naming.labels, seen.tolist()))
    truth = rows.truth if seen.all() else number[rows.truth]
    missing, ignored = _one_sided(true, said, naming.labels, rows.keys)
    sizes = {"samples": len(rows.sample_ids), "labels": len(labels)}
    return Loaded(
        datasets={
            model: ClassificationDataset(
                sample_ids=rows.sample_ids,
                labels=labels,
                keys=rows.keys,
                labels_of=tuple(tuple(number[own].tolist()) for own in used),
                unit=rows.unit,
                key=rows.key,
                truth=truth,
                scores=part.scores if seen.all() else part.scores.relabelled(number),
                number=np.arange(len(rows)),
                picture=no_picture if shown is None else shown.picture,
            )
            for model, part in parts.items()
        },
        metadata={},
        labels=labels,
        sizes=sizes if keys == 1 else {**sizes, "label keys": keys},
        files=(),
        warnings=(),
        missing_prediction_labels=missing,
        ignored_prediction_labels=ignored,
        known_labels=naming.labels,
    )


def _one_sided(
    true: Flags, said: Mapping[str, Said], labels: Sequence[str], keys: Sequence[str | None]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """By model, the labels that it never predicts, and those that only it has."""
    return (
        {model: names_by_key(true & ~one.positive, labels, keys) for model, one in said.items()},
        {model: names_by_key(one.positive & ~true, labels, keys) for model, one in said.items()},
    )


def _remarks(
    loaded: Loaded[ClassificationDataset],
    rows: Rows,
    parts: Mapping[str, _Part],
    selection: Selection,
) -> list[str]:
    """What is odd about the scores of each model."""
    probabilities = "probabilities" in selection.needs
    warnings = []
    for model, dataset in loaded.datasets.items():
        scores, choices, missing = dataset.scores, dataset.choices, parts[model].missing
        warnings += remarks(model, scores, choices, missing, probabilities=probabilities)
        if probabilities:
            warnings += sum_warnings(model, scores, choices, rows.ids)
    return warnings
