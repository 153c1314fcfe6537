"""Load classification datasets: map labels, join predictions, apply the selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain, compress

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.dataset import ClassificationDataset, no_image
from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.evaluators.classification.evidence.probabilities import PROBABILITIES
from valor_cli.evaluators.classification.load.distributions import (
    Distributions,
    checked_selection,
    wants_distributions,
)
from valor_cli.evaluators.classification.load.images import SamplePictures
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.classification.load.joining import join_predictions, reordered
from valor_cli.evaluators.classification.load.labels import (
    LabelUse,
    Naming,
    label_use,
    list_label_warnings,
    name_labels,
    names_by_key,
    similar_label_warnings,
    truth_of,
)
from valor_cli.evaluators.classification.load.left_out_files import (
    check_predictions_present,
    samples_with_predictions,
)
from valor_cli.evaluators.classification.load.reading import read_inputs
from valor_cli.evaluators.classification.load.rows import (
    Frame,
    Rows,
    kept_samples,
    make_frame,
    metadata_of,
    rows_of,
)
from valor_cli.evaluators.classification.load.shared_samples import join_samples
from valor_cli.evaluators.classification.load.warnings import (
    EVERY_INSIDE,
    DataWarnings,
    OutOfRange,
    ScoreRemarks,
    Tally,
    score_remarks,
    shown_ids,
)
from valor_cli.evaluators.id_mismatch import LITTLE, SHOWN
from valor_cli.evaluators.input_files import invalid_row_warnings
from valor_cli.kernels.columns.texts import order_of
from valor_cli.kernels.ranking.scores import Scores
from valor_cli.metric import METADATA, Loaded, NoOptions, OneSided, Selection
from valor_cli.results import InputFile, Scalar

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Sides(Struct, frozen=True):
    """The inputs of a run, complete or in pieces.

    Attributes:
        truth: What the ground truth is called.
        files: By model, what its predictions are called; the ground truth too where it is apart.
        records: By model, the files; under "" those of a ground truth that is apart.
        warnings: What the readers say, in the order of the files.
    """

    truth: str
    files: Mapping[str, str]
    records: Mapping[str, Sequence[InputFile]]
    warnings: Sequence[str]

    @classmethod
    def of(cls, read: Mapping[str, ScoreFile], warnings: Sequence[str]) -> Sides:
        """The inputs, from what was read of them.

        Args:
            read: By model, its file; under "" a ground truth that is apart.
            warnings: What the readers say.
        """
        return cls(
            read.get("", next(iter(read.values()))).path,
            {model: file.path for model, file in read.items() if model},
            {name: file.files for name, file in read.items()},
            warnings,
        )


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
    unfit: Mapping[str, str] = {}
    if wants_distributions(selection):
        rows = {model: Distributions.of(file.scores) for model, file in files.items()}
        selection, unfit = checked_selection(selection, rows)
    # The scores of a file that holds both sides are its model's, and go when those are in order.
    truth = replace(truth, scores=None)
    read = files if inputs.ground_truth is None else {"": truth, **files}
    sides = Sides.of(read, [warning for file in read.values() for warning in file.warnings])
    naming, told = name_labels(
        classes, [*files.values(), truth], selection.label_map, several=bool(inputs.multi_label)
    )
    loaded = load_rows(inputs, selection, naming, truth, files, shown=shown)
    finished = replace(finish(loaded, naming, sides, selection, told), unfit=unfit)
    if shown is None:
        return finished
    (dataset, *_) = loaded.datasets.values()
    more = shown.warnings(dataset.sample_ids)
    return replace(finished, warnings=[*finished.warnings, *more])


def load_rows(
    inputs: ClassificationInputs,
    selection: Selection,
    naming: Naming,
    truth: ScoreFile,
    files: dict[str, ScoreFile],
    *,
    used: Flags | None = None,
    shown: SamplePictures | None = None,
) -> Loaded[ClassificationDataset]:
    """Load the datasets of all samples or of a range, with remarks.

    Args:
        inputs: What was read.
        selection: What of it is wanted.
        naming: The labels of the run.
        truth: The ground truth.
        files: By model, its predictions; each goes when it has been joined.
        used: (keys, labels) which labels rows of a key use, where these are not all rows.
        shown: The pictures of samples, if they have some.

    Raises:
        DataError: As `load_classification`, but for what a file alone says.
    """
    frame = make_frame(truth)
    rows, joined, metadata, absent, differing = _selected(frame, files, inputs, naming, selection)
    parts: dict[str, _Part] = {}
    probabilities = PROBABILITIES in selection.needs
    for model, at in joined.items():
        file = files.pop(model)
        parts[model] = _part(file, at, rows, naming, probabilities=probabilities)
    loaded = _loaded(rows, naming, parts, used, shown)
    remarks = _remarks(loaded, rows, parts, selection)
    by_model = dict.fromkeys(loaded.datasets, metadata)
    facts = replace(remarks, absent=absent, differing=differing)
    return replace(loaded, metadata=by_model, facts=facts)


def finish(
    loaded: Loaded[ClassificationDataset],
    naming: Naming,
    sides: Sides,
    selection: Selection,
    label_warnings: Sequence[str],
) -> Loaded[ClassificationDataset]:
    """Complete the loaded data with all warnings.

    Args:
        loaded: All samples; its facts are `DataWarnings`.
        naming: The labels of the run.
        sides: The inputs.
        selection: What of them was wanted.
        label_warnings: What naming the labels warned of.
    """
    remarks: DataWarnings = loaded.facts
    of_models = remarks.models.items()
    keys = loaded.facts.keys
    probabilities = PROBABILITIES in selection.needs
    warnings = list(sides.warnings)
    warnings += invalid_row_warnings(chain.from_iterable(sides.records.values()))
    warnings += label_warnings
    for name, tally in remarks.differing.items():
        if tally.count:
            warnings.append(
                f"{METADATA}{name}: samples whose rows have several values, of which the one of "
                f"the first label key counts: {tally.count:,} (the first: {tally.first[0]})"
            )
    if remarks.absent.count:
        whole = f" of {remarks.absent.whole:,} samples of {sides.truth}"
        warnings.append("left out, for not every file has them: " + remarks.absent.text(whole))
    for model, odd in of_models:
        warnings += odd.of_rows(model)
        if odd.unknown.count:
            warnings.append(
                f"{sides.files[model]}: left out, for {sides.truth} does not have their sample: "
                + odd.unknown.text(f" of {odd.unknown.whole:,} rows")
                + _spelled(loaded, odd.unknown)
            )
    warnings += [line for model in remarks.models for line in remarks.foreign(model, naming.labels)]
    warnings += similar_label_warnings(loaded.labels) + list_label_warnings(loaded.labels)
    for model, odd in of_models:
        warnings += odd.of_scores(model, probabilities=probabilities)
    return replace(
        loaded,
        files=_records(sides, remarks),
        warnings=warnings,
        one_sided=_one_sided(remarks, naming.labels, keys),
        facts=None,
    )


def _spelled(loaded: Loaded[ClassificationDataset], unknown: Tally) -> str:
    """What the ids of the ground truth look like, where most rows have others."""
    if unknown.count <= LITTLE * unknown.whole:
        return ""
    known = next(iter(loaded.datasets.values())).sample_ids[:SHOWN]
    shown = ", ".join(shown_ids(known, range(len(known))))
    return f"; sample ids of the ground truth look like {shown}"


def _records(sides: Sides, remarks: DataWarnings) -> list[InputFile]:
    """The files, rows without ground truth among what each left out."""
    records = []
    for model, files in sides.records.items():
        unknown = remarks.models[model].unknown_of if model in remarks.models else {}
        records += [
            structs.replace(one, skipped=one.skipped + unknown.get(one.path, 0)) for one in files
        ]
    return records


def _selected(
    frame: Frame,
    files: Mapping[str, ScoreFile],
    inputs: ClassificationInputs,
    naming: Naming,
    selection: Selection,
) -> tuple[Rows, dict[str, Ints], dict[str, list[Scalar]], Tally, dict[str, Tally]]:
    """The rows under evaluation, the row of the frame that each row of each file belongs to, the
    metadata of the samples, samples that not all files have, and those with several metadata.
    """
    columns, differing = metadata_of(frame)
    truth = truth_of(frame.file, naming, frame.order)
    there = np.ones(len(frame.sample_ids), bool)
    skip = inputs.on_invalid == "skip"
    unsure: Sequence[str] = ()
    if inputs.samples is None:
        joined = join_predictions(files, frame, skip=skip)
        there, unsure = samples_with_predictions(files, frame, joined)
    else:
        joined, there = join_samples(files, frame, truth, naming, skip=skip)
    absent = Tally.of(~there, frame.sample_ids)
    kept = kept_samples(frame, truth, naming.labels, columns, selection, there)
    metadata = {name: list(compress(values, kept.tolist())) for name, values in columns.items()}
    rows = rows_of(frame, truth, kept)
    for model in unsure:
        check_predictions_present(files[model], joined[model], rows)
    return rows, joined, metadata, absent, differing


class _Part(Struct, frozen=True):
    """What one model adds.

    Attributes:
        scores: (n,) rows over all labels of the run.
        out_of_range: Probabilities that its file has just outside of 0..1, clipped in `scores`.
        missing: (n,) the rows that its file does not have.
        unknown: The rows of its file that have no ground truth.
        unknown_of: How many of those each file has.
    """

    scores: Scores
    out_of_range: OutOfRange
    missing: Flags
    unknown: Tally
    unknown_of: Mapping[str, int]


def _part(file: ScoreFile, at: Ints, rows: Rows, naming: Naming, *, probabilities: bool) -> _Part:
    """A model's scores in the order of the rows."""
    if file.scores is None:
        raise ValueError(f"{file.path}: read as predictions, yet without scores")
    target = np.append(rows.number, -1)[at]
    missing = np.ones(len(rows), bool)
    missing[target[target >= 0]] = False
    scores = reordered(file.scores, target, len(rows))
    outside = OutOfRange.of(scores.score) if probabilities else EVERY_INSIDE
    if outside.below or outside.above:
        scores = dataclasses.replace(scores, score=np.clip(scores.score, 0.0, 1.0))
    unknown = at < 0
    tally = Tally(0, len(at))
    by_file: dict[str, int] = {}
    if unknown.any():
        order = order_of(file.samples["sample_id"])
        tally = Tally.of(unknown[order], file.samples["sample_id"][order])
        by_file = _by_file(file, unknown)
    # Each label of a set has a score of its own: two that become one are no more probable.
    scores = scores.relabelled(naming.codes(file.labels), highest=rows.truths is not None)
    return _Part(scores, outside, missing, tally, by_file)


def _by_file(file: ScoreFile, rows: Flags) -> dict[str, int]:
    parts = file.samples.parts
    if parts is None:
        return {file.path: int(rows.sum())}
    counts = np.bincount(parts.of_row[rows], minlength=len(parts.files)).tolist()
    by_file: dict[str, int] = {}
    for (path, _), count in zip(parts.files, counts, strict=True):
        by_file[path] = by_file.get(path, 0) + count
    return by_file


def _loaded(
    rows: Rows,
    naming: Naming,
    parts: Mapping[str, _Part],
    used: Flags | None,
    shown: SamplePictures | None,
) -> Loaded[ClassificationDataset]:
    """The datasets, over the labels that any row uses."""
    keys, count = len(rows.keys), len(naming.labels)
    true = np.zeros((keys, count), bool)
    if rows.truths is None:
        true[rows.key, rows.truth] = True
    else:
        true[rows.key[rows.truths.row], rows.truths.label] = True
    said = {model: label_use(part.scores, rows.key, keys, count) for model, part in parts.items()}
    for one in said.values():
        one.listed[:, naming.always(keys)] = True
    facts = _facts(true, said, rows)
    used = facts.used if used is None else used
    seen = np.asarray(used.any(axis=0))
    number = np.where(seen, np.cumsum(seen) - 1, -1)
    labels = tuple(compress(naming.labels, seen.tolist()))
    truth, truths = rows.truth, rows.truths
    if truths is not None:
        truths = truths.relabelled(number)
    elif not seen.all():
        truth = number[truth]
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
                truths=truths,
                scores=part.scores if seen.all() else part.scores.relabelled(number),
                number=np.arange(len(rows)),
                picture=no_image if shown is None else shown.picture,
            )
            for model, part in parts.items()
        },
        labels=labels,
        sizes=sizes_of(len(rows.sample_ids), labels, rows.keys),
        known_labels=naming.labels,
        facts=facts,
    )


def sizes_of(samples: int, labels: Sequence[str], keys: Sequence[str | None]) -> dict[str, int]:
    """Counts of samples, rows and labels."""
    sizes = {"samples": samples, "labels": len(labels)}
    return sizes if len(keys) == 1 else {**sizes, "label keys": len(keys)}


def _facts(true: Flags, said: Mapping[str, LabelUse], rows: Rows) -> DataWarnings:
    """Remarks on what the rows use, without warnings."""
    return DataWarnings(
        keys=rows.keys,
        true=true,
        listed={model: one.listed for model, one in said.items()},
        positive={model: one.positive for model, one in said.items()},
    )


def _one_sided(
    remarks: DataWarnings, labels: Sequence[str], keys: Sequence[str | None]
) -> dict[str, OneSided]:
    """By model, the labels that it never predicts, and those that only it has."""
    true = remarks.true
    return {
        model: OneSided(
            names_by_key(true & ~positive, labels, keys),
            names_by_key(positive & ~true, labels, keys),
        )
        for model, positive in remarks.positive.items()
    }


def _remarks(
    loaded: Loaded[ClassificationDataset],
    rows: Rows,
    parts: Mapping[str, _Part],
    selection: Selection,
) -> DataWarnings:
    """Remarks on the scores of each model."""
    probabilities = "probabilities" in selection.needs
    models: dict[str, ScoreRemarks] = {}
    for model, dataset in loaded.datasets.items():
        part = parts[model]
        odd = score_remarks(
            dataset.scores,
            dataset.choices,
            part.missing,
            rows.ids,
            probabilities=probabilities,
            several=rows.truths is not None,
        )
        if probabilities:
            odd = odd._replace(out_of_range=part.out_of_range)
        models[model] = odd._replace(unknown=part.unknown, unknown_of=part.unknown_of)
    remarks: DataWarnings = loaded.facts
    return replace(remarks, models=models)
