"""Stream classification inputs: read them in pieces, load samples range by range.

Rows of all pieces are collected by ranges of sample ids, so that ground truth and predictions of a
sample, and duplicate rows, come together whichever piece they are in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.partition.pieces import Piece, UnsplittableError, cut, seamless
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
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.data.shapes.scores.joined import ScoreFacts, file_warnings, joined_score_files
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.errors import DataError
from valor_cli.evaluators.classification.load.dataset import Sides, finish, load_rows, sizes_of
from valor_cli.evaluators.classification.load.distributions import (
    Distributions,
    checked_selection,
    wants_distributions,
)
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.classification.load.labels import Naming, label_use, name_labels
from valor_cli.evaluators.classification.load.reading import listed_classes, reading_of
from valor_cli.evaluators.classification.load.rows import key_numbers
from valor_cli.evaluators.classification.load.warnings import DataWarnings
from valor_cli.kernels.columns.texts import is_ascending, order_of
from valor_cli.metric import Loaded, NoOptions, Selection, Stream, Survey
from valor_cli.results import Illustration, MetricExample

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

RANGE_ROWS: Final = 1 << 17
"""Rows of all sides that a range has, about: they and what is made of them fit in a cache."""


class ScorePiece(Struct, frozen=True):
    """A piece of an input.

    Attributes:
        model: Whose predictions it holds; "" for a ground truth that is apart.
        path: The input, as the user wrote it.
        side: What it holds.
        format: Of the file.
        checked: Whether to count rows that are distributions.
    """

    model: str
    path: str
    side: Side
    format: str
    reading: ScoreReading
    piece: Piece
    checked: bool = False


class PieceSummary(Struct, frozen=True):
    """Summary of a piece, before its rows are read.

    Attributes:
        facts: What its file must know of it.
        head: The piece without its rows.
        used: (keys, labels) which labels its rows use, by the codes of the piece.
        ids: Some of its sample ids.
        rows: Its rows that are distributions, where these are counted.
    """

    facts: ScoreFacts
    head: ScoreFile
    used: Flags
    ids: SampledIds
    rows: Distributions = Distributions()


class RangeContext(Struct, frozen=True):
    """What all ranges share.

    Attributes:
        of_files: What the files warn of.
        of_names: What naming the labels warned of.
        heads: By model, all its pieces without their rows; under "" those of a ground truth.
        pieces: Of each piece, whose it is.
        above: Of each piece, how many lines of its file stand above it.
        used: (keys, labels of the run) which labels rows use on either side of any model.
        long: Whether a row of some file is one label of a sample.
    """

    inputs: ClassificationInputs
    selection: Selection
    naming: Naming
    of_files: Sequence[str]
    of_names: Sequence[str]
    heads: Mapping[str, ScoreFile]
    pieces: Sequence[str]
    above: Sequence[int]
    used: Flags
    long: bool


def cut_inputs(
    inputs: ClassificationInputs, options: NoOptions, selection: Selection, size: int
) -> list[ScorePiece]:
    """The pieces of all inputs.

    Raises:
        DataError: An input is not there, or its format cannot be told.
        UnsplittableError: No input has several, or all samples are needed at once.
    """
    if (
        inputs.extract
        or inputs.images
        or selection.keep
        or selection.every_metadata
        or selection.limit is not None
    ):
        raise UnsplittableError
    sides: list[tuple[str, str, Side]] = []
    if inputs.ground_truth is not None:
        sides.append(("", inputs.ground_truth, "ground_truth"))
    own: Side = "samples" if inputs.samples is not None else "predictions"
    sides += [(model, path, own) for model, path in inputs.models.items()]
    reading = reading_of(inputs, selection)
    checked = wants_distributions(selection)
    pieces: list[ScorePiece] = []
    for at, (model, path, side) in enumerate(sides):
        how = replace(reading, metadata=reading.metadata if at == 0 else ())
        for file in expanded_tables(path):
            found = inputs.format_of(side) or format_of(file)
            pieces += [
                ScorePiece(model, path, side, found, how, one, checked) for one in cut(file, size)
            ]
    if len(pieces) == len(sides):
        raise UnsplittableError
    return pieces


def read_piece(task: ScorePiece) -> tuple[PieceSummary, ScoreFile]:
    """A piece with its rows by sample id.

    Raises:
        DataError: What it holds is wrong.
        UnsplittableError: The file must be read whole.
    """
    part = read_score_piece(task.piece, task.side, task.reading, task.format)
    file = part.file
    if task.side == "ground_truth":
        file = replace(file, scores=None)
    rows = Distributions.of(file.scores) if task.checked else Distributions()
    ids = file.samples["sample_id"]
    if not is_ascending(ids):
        file = file.pick(order_of(ids))
    some = sampled(file.samples["sample_id"])
    return PieceSummary(part.facts, file.between(0, 0), _used(file), some, rows), file


def survey(
    inputs: ClassificationInputs,
    options: NoOptions,
    selection: Selection,
    pieces: Sequence[ScorePiece],
    summaries: Sequence[PieceSummary],
) -> Survey:
    """The labels of the run and ranges of samples.

    Raises:
        DataError: A file has no samples; pieces differ in their label keys or classes.
        UnsplittableError: The files must be read whole.
    """
    warnings = _of_files(pieces, summaries)
    heads: dict[str, ScoreFile] = {}
    for model, path in dict.fromkeys((piece.model, piece.path) for piece in pieces):
        own = [one for piece, one in zip(pieces, summaries, strict=True) if piece.model == model]
        known = [one.head for one in own if one.ids.rows]
        if not known or _has_odd_classes(inputs, own):
            raise UnsplittableError
        heads[model] = joined_score_files(path, known)
    unfit: Mapping[str, str] = {}
    if wants_distributions(selection):
        selection, unfit = checked_selection(selection, _distributions(pieces, summaries))
    models = [head for model, head in heads.items() if model]
    truth = heads.get("", models[0])
    classes = listed_classes(inputs)
    naming, of_names = name_labels(
        classes, [*models, truth], selection.label_map, several=bool(inputs.multi_label)
    )
    keys = sorted(truth.keys, key=str)
    place = {key: at for at, key in enumerate(keys)}
    used = np.zeros((len(keys), len(naming.labels)), bool)
    for one in summaries:
        codes = naming.codes(one.head.labels)
        for key, flags in zip(one.head.keys, one.used, strict=True):
            if key in place:
                used[place[key], codes[flags]] = True
    used[:, naming.always(len(keys))] = True
    apart = "" in heads
    count = max(-(-sum(one.ids.rows for one in summaries) // RANGE_ROWS), 1)
    pairs = zip(pieces, summaries, strict=True)
    edges = edges_of([one.ids for piece, one in pairs if not (apart and piece.model)], count)
    ranges = [
        (span, [at for at, one in enumerate(summaries) if span.meets(one.ids)])
        for span in ranges_between(edges)
    ]
    names = [piece.model for piece in pieces]
    files = [piece.piece.path for piece in pieces]
    above = before_each([one.facts.lines for one in summaries], files)
    long = any(one.facts.long for one in summaries)
    ground = RangeContext(
        inputs, selection, naming, warnings, of_names, heads, names, above, used, long=long
    )
    return Survey(ground, ranges, unfit)


def load_range(
    ground: RangeContext, span: IdRange, parts: Sequence[tuple[int, ScoreFile]]
) -> Loaded[ClassificationDataset]:
    """The datasets of the samples in a range.

    Args:
        ground: What all ranges know.
        span: The range.
        parts: Of each piece that has some of them, its position among all pieces, and its rows.

    Raises:
        DataError: As `load_classification`, of these samples.
        UnsplittableError: Rows of a sample may stand apart: only whole files can tell what is
            wrong.
    """
    found: dict[str, list[ScoreFile]] = {model: [head] for model, head in ground.heads.items()}
    for at, file in parts:
        part = file.between(*span.within(file.samples["sample_id"]))
        rows = part.samples.rows
        if rows is not None:
            part = replace(part, samples=replace(part.samples, rows=rows + ground.above[at]))
        found[ground.pieces[at]].append(part)
    try:
        files = {model: _joined(own) for model, own in found.items()}
        truth = files.pop("", None) or next(iter(files.values()))
        truth = replace(truth, scores=None)
        loaded = load_rows(
            ground.inputs, ground.selection, ground.naming, truth, files, used=ground.used
        )
    except DataError:
        if ground.long:
            raise UnsplittableError from None
        raise
    first = span.number * NUMBERED
    numbered = {
        model: replace(dataset, number=dataset.number + first)
        for model, dataset in loaded.datasets.items()
    }
    return replace(loaded, datasets=numbered)


def _joined(parts: Sequence[ScoreFile]) -> ScoreFile:
    """The rows of all parts, the first of which has none and all labels and label keys."""
    head, *others = parts
    if len(others) == 1 and (others[0].labels, others[0].keys) == (head.labels, head.keys):
        return replace(others[0], path=head.path, classes=head.classes)
    return joined_score_files(head.path, parts)


def join_ranges(
    ground: RangeContext, parts: Sequence[Loaded[ClassificationDataset]]
) -> Loaded[ClassificationDataset]:
    """Join all ranges.

    Raises:
        UnsplittableError: Dropped rows have labels of their own.
    """
    remarks = DataWarnings.joined([part.facts for part in parts])
    if not np.array_equal(remarks.used, ground.used):
        raise UnsplittableError
    first = parts[0]
    samples = sum(part.sizes["samples"] for part in parts)
    metadata = {
        model: {
            name: list(chain.from_iterable(part.metadata[model][name] for part in parts))
            for name in columns
        }
        for model, columns in first.metadata.items()
    }
    loaded = replace(
        first,
        metadata=metadata,
        sizes=sizes_of(samples, first.labels, remarks.keys),
        facts=remarks,
    )
    heads = {
        model: replace(head, files=whole_files(head.files)) for model, head in ground.heads.items()
    }
    sides = Sides.of(heads, ground.of_files)
    return finish(loaded, ground.naming, sides, ground.selection, ground.of_names)


def illustrate(
    parts: Sequence[ClassificationDataset], examples: Sequence[MetricExample]
) -> Sequence[Illustration]:
    """The examples need no further illustration."""
    return parts[0].illustrate(examples)


def _of_files(pieces: Sequence[ScorePiece], summaries: Sequence[PieceSummary]) -> list[str]:
    """What the files warn of.

    Raises:
        DataError: A file has no samples, or no metadata of a name.
        UnsplittableError: One must be read whole.
    """
    files: dict[tuple[str, str], list[tuple[ScorePiece, PieceSummary]]] = {}
    for piece, one in zip(pieces, summaries, strict=True):
        files.setdefault((piece.model, piece.piece.path), []).append((piece, one))
    warnings: dict[str, None] = {}
    for (_, path), own in files.items():
        spans = [one.facts.span for _, one in own if one.facts.span is not None]
        if spans and not seamless(spans, own[-1][0].piece.end or 0):
            raise UnsplittableError
        found = file_warnings(path, own[0][0].side, [one.facts for _, one in own])
        warnings |= dict.fromkeys(
            [*(warning for _, one in own for warning in one.head.warnings), *found]
        )
    return list(warnings)


def _distributions(
    pieces: Sequence[ScorePiece], summaries: Sequence[PieceSummary]
) -> dict[str, Distributions]:
    """By model, the rows of all its pieces."""
    rows: dict[str, list[Distributions]] = {}
    for piece, one in zip(pieces, summaries, strict=True):
        if piece.model:
            rows.setdefault(piece.model, []).append(one.rows)
    return {model: Distributions.joined(own) for model, own in rows.items()}


def _has_odd_classes(inputs: ClassificationInputs, summaries: Sequence[PieceSummary]) -> bool:
    """Whether assumed class columns are labels of no sample."""
    if inputs.samples is None or inputs.classes is not None:
        return False
    true = frozenset(chain.from_iterable(one.facts.true_classes for one in summaries))
    return any(not true.issuperset(one.facts.classes) for one in summaries)


def _used(file: ScoreFile) -> Flags:
    """(keys, labels) which labels rows of each key use."""
    key = key_numbers(file, file.keys)
    used = np.zeros((len(file.keys), len(file.labels)), bool)
    if file.scores is not None:
        used |= label_use(file.scores, key, len(file.keys), len(file.labels)).listed
    if file.truths is not None:
        key = key[file.truths.row]
    if len(file.true_labels):
        used[key, file.true_labels] = True
    return used


STREAM: Final = Stream(
    cut=cut_inputs,
    read=read_piece,
    survey=survey,
    load=load_range,
    join=join_ranges,
    illustrate=illustrate,
)
