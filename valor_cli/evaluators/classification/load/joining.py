"""Join predictions to the rows of the ground truth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.evaluators.classification.load.rows import Frame, key_numbers, some_ids
from valor_cli.evaluators.id_mismatch import SHOWN, spellings
from valor_cli.kernels.columns.grouping import positions_of
from valor_cli.kernels.columns.texts import positions
from valor_cli.kernels.ranking.scores import Scores

Ints = NDArray[np.int64]

_KEY_HINT = (
    "Say of each row which label key it is of: in a label_key column (`columns:` maps another "
    "name to it), or in JSONL with an object of a value per key. Both sides have the same keys."
)


def join_predictions(
    files: Mapping[str, ScoreFile], frame: Frame, *, skip: bool
) -> dict[str, Ints]:
    """For each model, (m,) the frame row of every prediction; -1 for none.

    Args:
        files: The predictions.
        frame: The rows of the ground truth.
        skip: Whether predictions may be for no row.

    Raises:
        DataError: Predictions are for no row, or label keys differ.
    """
    joined = {}
    for model, file in files.items():
        check_keys(file, frame)
        joined[model] = at = join(file, frame)
        if (at < 0).any() and not (skip and (at >= 0).any()):
            raise _unknown_rows(file, at, frame)
    return joined


def check_keys(file: ScoreFile, frame: Frame) -> None:
    """Check that both sides have the same label keys.

    Raises:
        DataError: One side has keys that the other has not.
    """
    truth = frame.file
    ours, theirs = set(file.keys), set(truth.keys)
    if ours == theirs or not len(file.samples):
        return
    if None in ours:
        some = ", ".join(map(repr, frame.keys[:LISTED]))
        problems = [Problem(file.path, f"no label keys, and {truth.path} has {some}")]
    elif None in theirs:
        some = ", ".join(map(repr, file.keys[:LISTED]))
        problems = [Problem(file.path, f"label keys {some}, and {truth.path} has none")]
    else:
        problems = [_no_key(str(key), file, truth) for key in frame.keys if key not in ours]
        problems += [_no_key(str(key), truth, file) for key in file.keys if key not in theirs]
    raise DataError(problems, hint=_KEY_HINT)


def _no_key(key: str, file: ScoreFile, other: ScoreFile) -> Problem:
    near = did_you_mean(key, [str(one) for one in file.keys])
    return Problem(file.path, f"no label key {key!r}, which {other.path} has{near}")


def join(file: ScoreFile, frame: Frame) -> Ints:
    """(m,) the frame row of each row of a file; -1 for none."""
    ids, truth = file.samples["sample_id"], frame.file.samples
    key = key_numbers(file, frame.keys)
    # Most files list the samples of the ground truth in its order: nothing is to be found.
    if (
        len(ids) == len(frame)
        and bool((ids == truth["sample_id"]).all())
        and bool((key == key_numbers(frame.file, frame.keys)).all())
    ):
        at = np.empty(len(frame), np.int64)
        at[frame.order] = np.arange(len(frame))
        return at
    unit = positions(ids, frame.sample_ids)
    if len(frame.keys) == 1:
        return unit
    found = positions_of(unit * len(frame.keys) + key, frame.code)
    return np.where(unit >= 0, found, -1)


def reordered(scores: Scores, at: Ints, count: int) -> Scores:
    """Scores in the order of the frame's rows.

    Args:
        scores: (m,) rows.
        at: (m,) where each belongs, distinct; -1 to leave it out.
        count: How many rows there are; those that none belongs to list nothing, or zeros.
    """
    # What is left out (-1) goes to the one place behind the last row.
    source = np.full(count + 1, -1)
    source[at] = np.arange(len(at))
    source = source[:count]
    filled = source >= 0
    rows = source[filled]
    if len(rows) != len(scores) or not np.array_equal(rows, np.arange(len(rows))):
        scores = scores.take(rows)
    return scores if len(rows) == count else scores.spread(np.flatnonzero(filled), count)


def _unknown_rows(file: ScoreFile, at: Ints, frame: Frame) -> DataError:
    """The error for predictions of samples that the ground truth does not have."""
    unknown = np.flatnonzero(at < 0)
    ids = file.samples["sample_id"]
    known = positions(ids[unknown[:LISTED]], frame.sample_ids) >= 0
    problems = []
    for row, sample in zip(unknown[:LISTED].tolist(), known.tolist(), strict=True):
        name = some_ids(ids, [row])
        if sample:
            key = frame.keys[int(key_numbers(file, frame.keys)[row])]
            message = f"no ground truth for {key!r} of sample {name} in {frame.file.path}"
        else:
            message = f"no sample {name} in {frame.file.path}"
        problems.append(Problem(file.samples.place_of(row, "sample_id"), message))
    theirs = some_ids(frame.sample_ids, range(min(SHOWN, len(frame.sample_ids))))
    if len(at) > SHOWN and (at < 0).all() and not known.any():
        own = [one.decode() for one in ids[: SHOWN + 1].tolist()]
        shown = [one.decode() for one in frame.sample_ids[: SHOWN + 1].tolist()]
        message = f"none of its {len(ids):,} rows is of a sample of {frame.file.path}"
        return DataError(
            Problem(file.path, f"{message} (sample ids: {spellings(own, shown)})"),
            hint="Write the ids alike on both sides, or name the column that holds them under "
            "`data:` as `columns: {sample_id: …}`.",
        )
    return DataError(
        problems,
        total=len(unknown),
        hint=f"Sample ids of the ground truth look like {theirs}. "
        f"Check that both files belong together. {SKIP_HINT}",
    )
