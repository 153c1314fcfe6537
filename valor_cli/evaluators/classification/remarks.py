"""Rows that are evaluated in; what is legal about them and yet worth a warning out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.frame import SHOWN, some_ids
from valor_cli.evaluators.classification.probabilities import sums_to_one
from valor_cli.kernels.scores import DenseScores, Scores

Ints = NDArray[np.int64]


def missing_rows(model: str, missing: NDArray[np.bool_], ids: NDArray[Any]) -> list[str]:
    """What to say of rows that a model's file does not have.

    Args:
        model: Its name.
        missing: (n,) which rows these are.
        ids: (n,) sample ids.
    """
    if not missing.any():
        return []
    count = counted(missing, ids)
    return [f"samples without a prediction of {model}, which counts as a wrong one: {count}"]


def counted(rows: NDArray[np.bool_], ids: NDArray[Any], whole: str = "") -> str:
    """How many rows these are, and the first of them: "4 of 9 rows ('a', 'b', 'c' …)".

    Args:
        rows: (n,) which ones, at least one.
        ids: (n,) sample ids.
        whole: Of what they are a part: " of 9 rows".
    """
    first = np.flatnonzero(rows)[: SHOWN + 1]
    more = " …" if len(first) > SHOWN else ""
    return f"{np.count_nonzero(rows):,}{whole} ({some_ids(ids, first[:SHOWN])}{more})"


def remarks(
    model: str,
    scores: Scores,
    choices: Ints,
    missing: NDArray[np.bool_],
    *,
    probabilities: bool,
) -> list[str]:
    """Ties, rows that say nothing, and scores that count for less than one may think.

    Args:
        model: Its name.
        scores: (n,) rows.
        choices: (n,) how many labels there are for a row to list.
        missing: (n,) the rows that the file does not have.
        probabilities: Whether scores were held to be in 0..1 already.
    """
    best = scores.best(choices)
    warnings = []
    if tied := int(best.tied.sum()):
        warnings.append(
            f"rows of {model} whose highest score several labels share, of which the first listed "
            f"counts: {tied:,}"
        )
    if empty := int(((best.label < 0) & ~missing).sum()):
        warnings.append(
            f"rows of {model} that predict nothing (no label, or a highest score of 0, which "
            f"labels not listed have), which counts as a wrong prediction: {empty:,}"
        )
    if not probabilities:
        warnings += _outside(model, scores)
    return warnings


def _outside(model: str, scores: Scores) -> list[str]:
    low, high = float(scores.score.min(initial=0.0)), float(scores.score.max(initial=0.0))
    if low >= 0 and high <= 1:
        return []
    below, above = int((scores.score < 0).sum()), int((scores.score > 1).sum())
    warning = f"scores of {model} outside 0..1: {below + above:,} (from {low:g} to {high:g})"
    if below:
        warning += f"; those below 0, {below:,}, are never positive at score_threshold 0"
    return [warning]


def sum_warnings(model: str, scores: Scores, choices: Ints, ids: NDArray[Any]) -> list[str]:
    """What to say of rows whose scores are no probabilities: they do not sum to 1.

    A row that lists some labels alone may sum to less: the rest lies on the others.

    Args:
        model: Its name.
        scores: (n,) rows.
        choices: (n,) how many labels there are for a row to list.
        ids: (n,) sample ids.
    """
    total = scores.total()
    length = len(scores.label) if isinstance(scores, DenseScores) else np.diff(scores.start)
    off = (total != 0) & ~sums_to_one(total)
    rows = np.flatnonzero(off & ((total > 1) | (length >= choices)))
    if not len(rows):
        return []
    warning = (
        f"rows of {model} whose scores do not sum to 1 as probabilities do: {len(rows):,} (the "
        f"first: {some_ids(ids, rows[:1])}, which sums to {total[rows[0]]:g}); log_loss, "
        "brier_score and expected_calibration_error take them as they are unless `normalize: true` "
        "divides each row by its sum"
    )
    return [warning]
