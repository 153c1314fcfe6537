"""Join files that hold both ground truth and predictions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.evaluators.classification.load.joining import check_keys, join
from valor_cli.evaluators.classification.load.labels import Naming, truth_of
from valor_cli.evaluators.classification.load.rows import Frame, some_ids
from valor_cli.kernels.ranking.scores import set_numbers
from valor_cli.kernels.ranking.sparse_scores import SparseScores, joined_sparse

Ints = NDArray[np.int64]

_HINT = (
    "All models are compared on the same samples with the same true labels. Give files that "
    "agree, or `ground_truth` and `predictions` apart; `on_invalid: skip` under `data:` leaves out "
    "samples that not every file has."
)


def join_samples(
    files: Mapping[str, ScoreFile],
    frame: Frame,
    truth: Ints | SparseScores,
    naming: Naming,
    *,
    skip: bool,
) -> tuple[dict[str, Ints], NDArray[np.bool_]]:
    """For each model's file, (m,) the frame row of every row; and the samples that all have.

    Args:
        files: Each holds both sides; the first is that of the frame.
        frame: The rows of the first file.
        truth: (n,) the true label of each, or rows of all of them.
        naming: The labels of the run.
        skip: Whether files may differ in some of their samples.

    Raises:
        DataError: True labels, label keys or samples differ, or no sample is in all files.
    """
    joined: dict[str, Ints] = {}
    there = np.ones(len(frame.sample_ids), bool)
    for model, file in files.items():
        check_keys(file, frame)
        joined[model] = at = join(file, frame)
        absent = np.ones(len(frame), bool)
        absent[at[at >= 0]] = False
        there[frame.unit[absent]] = False
        theirs = truth_of(file, naming)
        differing = np.flatnonzero((at >= 0) & _differ(truth, theirs, at))
        unknown = np.flatnonzero(at < 0)
        problems = _mislabelled(file, differing, at, frame, (truth, theirs), naming)
        total = len(differing)
        if not (skip and there.any()):
            problems += _unknown(file, unknown, frame) + _absent(file, absent, frame)
            total += len(unknown) + int(absent.sum())
        if total:
            raise DataError(problems[:LISTED], total=total, hint=_HINT)
    return joined, there


def _differ(truth: Ints | SparseScores, theirs: Ints | SparseScores, at: Ints) -> NDArray[np.bool_]:
    """(m,) whether rows have another truth than the rows of the frame that they are of."""
    if isinstance(truth, SparseScores) and isinstance(theirs, SparseScores):
        number = set_numbers(joined_sparse([truth, theirs]))
        return np.asarray(number[len(truth) :] != number[at])
    return np.asarray(theirs != truth[at])  # type: ignore[index]


def _label(truth: Ints | SparseScores, row: int, naming: Naming) -> str | list[str]:
    """The true label of a row, or all of them."""
    if isinstance(truth, SparseScores):
        return [naming.labels[code] for code in truth.between(row, row + 1).label.tolist()]
    return naming.labels[int(truth[row])]


def _mislabelled(
    file: ScoreFile,
    rows: Ints,
    at: Ints,
    frame: Frame,
    truths: tuple[Ints | SparseScores, Ints | SparseScores],
    naming: Naming,
) -> list[Problem]:
    """Rows whose true label is another than in the first file; the labels of both are `truths`."""
    problems = []
    for row in rows[:LISTED].tolist():
        first, second = (
            printable(repr(_label(truth, int(one), naming)))
            for truth, one in zip(truths, (at[row], row), strict=True)
        )
        name = some_ids(file.samples["sample_id"], [row])
        source = frame.file.samples.place_of(int(frame.order[at[row]]))
        message = f"the true label of sample {name} is {second} here and {first} in {source}"
        problems.append(Problem(file.samples.place_of(row, "label"), message))
    return problems


def _unknown(file: ScoreFile, rows: Ints, frame: Frame) -> list[Problem]:
    """Rows of samples that the first file does not have."""
    ids = file.samples["sample_id"]
    return [
        Problem(
            file.samples.place_of(row, "sample_id"),
            f"no sample {some_ids(ids, [row])} in {frame.file.path}",
        )
        for row in rows[:LISTED].tolist()
    ]


def _absent(file: ScoreFile, absent: NDArray[np.bool_], frame: Frame) -> list[Problem]:
    """Rows of the first file that are not in this one."""
    samples = frame.file.samples
    return [
        Problem(
            samples.place_of(row, "sample_id"),
            f"no sample {some_ids(samples['sample_id'], [row])} in {file.path}",
        )
        for row in frame.order[np.flatnonzero(absent)[:LISTED]].tolist()
    ]
