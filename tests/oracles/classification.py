"""Classification metrics the slow and obvious way: plain loops over rows and labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores

NONE = -1


class Row(NamedTuple):
    """A sample: its true label, and the labels listed for it with their scores, in order."""

    truth: int
    listed: Sequence[tuple[int, float]]
    weight: int = 1


def top(row: Row) -> int:
    """The label of the highest score, of equal ones the first; NONE if that is 0."""
    best, highest = NONE, -math.inf
    for label, score in row.listed:
        if score > highest:
            best, highest = label, score
    return NONE if highest == 0 else best


def top_score(row: Row) -> float:
    """The highest score; 0 without a prediction."""
    return 0.0 if top(row) == NONE else dict(row.listed)[top(row)]


def place(row: Row) -> int | None:
    """How many labels stand before the true one; None if it is not listed."""
    if row.truth not in dict(row.listed):
        return None
    # Sorting is stable: equal scores keep the order listed.
    ordered = sorted(row.listed, key=lambda pair: -pair[1])
    return [label for label, _ in ordered].index(row.truth)


def positives(row: Row, thresholds: Mapping[int, float], *, hardmax: bool) -> list[int]:
    """The labels that are positive; labels without a threshold have 0."""
    found = []
    for label, score in row.listed:
        passes = score != 0 and score >= thresholds.get(label, 0.0)
        if passes and (not hardmax or label == top(row)):
            found.append(label)
    return found


class Outcomes(NamedTuple):
    """Counts of one label."""

    tp: int
    fp: int
    fn: int
    tn: int


def counts(
    rows: Sequence[Row], labels: int, thresholds: Mapping[int, float], *, hardmax: bool
) -> list[Outcomes]:
    """Outcomes of each label as a question of its own."""
    found = []
    for label in range(labels):
        cells = {(has, says): 0 for has in (True, False) for says in (True, False)}
        for row in rows:
            said = positives(row, thresholds, hardmax=hardmax)
            cells[row.truth == label, label in said] += row.weight
        found.append(
            Outcomes(cells[True, True], cells[False, True], cells[True, False], cells[False, False])
        )
    return found


def confusion(
    rows: Sequence[Row], labels: int, thresholds: Mapping[int, float], *, hardmax: bool
) -> tuple[list[list[int]], list[int]]:
    """The matrix, ground truth in rows, and the ground truths in whose row nothing is positive."""
    matrix = [[0] * labels for _ in range(labels)]
    unmatched = [0] * labels
    for row in rows:
        said = positives(row, thresholds, hardmax=hardmax)
        for label in said:
            matrix[row.truth][label] += row.weight
        if not said:
            unmatched[row.truth] += row.weight
    return matrix, unmatched


def probabilities(row: Row, *, normalize: bool) -> dict[int, float]:
    """Its scores, divided by their sum where that is 1 but for rounding, or if asked for."""
    # Not sum(), which from Python 3.12 on makes up for rounding: this decides the last bit.
    total = 0.0
    for _, score in row.listed:
        total += score
    divided = total > 0 and (normalize or abs(total - 1) <= 0.001)
    return {label: score / total if divided else score for label, score in row.listed}


def log_loss(rows: Sequence[Row], *, normalize: bool) -> float:
    """Mean of minus the logarithm of the true label's probability, kept off 0 and 1."""
    eps = 2.0**-52
    losses = []
    for row in rows:
        probability = probabilities(row, normalize=normalize).get(row.truth, 0.0)
        losses += [-math.log(min(max(probability, eps), 1 - eps))] * row.weight
    return math.fsum(losses) / len(losses)


def brier(rows: Sequence[Row], labels: int, *, normalize: bool) -> float:
    """Mean of the squared errors over all labels."""
    errors = []
    for row in rows:
        said = probabilities(row, normalize=normalize)
        error = sum(((label == row.truth) - said.get(label, 0.0)) ** 2 for label in range(labels))
        errors += [error] * row.weight
    return math.fsum(errors) / len(errors)


def calibration(rows: Sequence[Row], bins: int, *, normalize: bool) -> tuple[float, float]:
    """Expected and maximum calibration error of the top label; bins are (low, high]."""
    members: dict[int, list[tuple[float, bool]]] = {}
    edges = np.linspace(0, 1, bins + 1).tolist()
    for row in rows:
        said = probabilities(row, normalize=normalize)
        confidence = max(said.values(), default=0.0)
        place = next((at for at in range(bins) if confidence <= edges[at + 1]), bins - 1)
        members.setdefault(place, []).extend([(confidence, top(row) == row.truth)] * row.weight)
    gaps = {
        place: abs(sum(c for c, _ in some) / len(some) - sum(r for _, r in some) / len(some))
        for place, some in members.items()
    }
    n = sum(len(some) for some in members.values())
    return sum(gaps[place] * len(some) / n for place, some in members.items()), max(gaps.values())


def dataset_of(rows: Sequence[Row], labels: Sequence[str]) -> ClassificationDataset:
    """The rows as samples "s000", "s001" …; dense if all list the same labels in one order."""
    n = len(rows)
    listed = [[label for label, _ in row.listed] for row in rows]
    score = [[score for _, score in row.listed] for row in rows]
    scores: DenseScores | SparseScores
    if n and all(one == listed[0] for one in listed):
        scores = DenseScores(np.array(listed[0], np.int64), np.array(score, np.float64))
    else:
        scores = SparseScores(
            np.cumsum([0, *map(len, listed)]),
            np.array([label for one in listed for label in one], np.int32),
            np.array([one for some in score for one in some], np.float64),
        )
    return ClassificationDataset(
        sample_ids=np.array([f"s{at:03}" for at in range(n)], np.bytes_),
        labels=tuple(labels),
        keys=(None,),
        labels_of=(tuple(range(len(labels))),),
        unit=np.arange(n),
        key=np.zeros(n, np.int64),
        truth=np.array([row.truth for row in rows], np.int64),
        scores=scores,
        number=np.arange(n),
    )


def random_rows(seed: int, *, n: int = 40, labels: int = 5, partial: bool = False) -> list[Row]:
    """Rows with ties, zeros, and, if partial, with some labels or none; weights 0 to 3.

    The last label is no sample's true one, the first is never predicted.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        order = rng.permutation(labels) if partial else np.arange(labels)
        length = int(rng.integers(0, labels + 1)) if partial else labels
        share = rng.integers(0, 5, labels) * (order != 0)
        share = share / max(share.sum(), 1)
        listed = [(int(order[at]), float(share[at])) for at in range(length)]
        rows.append(Row(int(rng.integers(0, labels - 1)), listed, int(rng.integers(0, 4))))
    return rows
