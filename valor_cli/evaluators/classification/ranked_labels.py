"""Evidence in; how well each label's binary problem is ranked out: areas under both curves.

In a label's problem its samples are the positives and all others the negatives; a sample that does
not list the label scores 0 there and is tied with all others of that score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import truth_counts
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.kernels.binary_ranking import (
    Corners,
    Mass,
    Ranking,
    area_under_roc,
    average_precision,
    once_each,
    rank,
    roc_corners,
    weighed,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.int32]

DRAWN_LABELS: Final = 100
"""With more labels than these no curve is drawn."""

DRAWN_POINTS: Final = 101
"""Points of a curve at most."""


class LabelAreas(NamedTuple):
    """What ranking says of each label.

    Attributes:
        samples: How many samples there are.
        positives: (labels,) samples of each.
        roc: (labels,) area under the ROC curve; NaN without positives, without negatives or
            without a score.
        precision: (labels,) average precision; NaN without positives.
    """

    samples: int
    positives: Ints
    roc: Floats
    precision: Floats


def label_areas(scored: Scored) -> LabelAreas:
    """Areas of each label; of the resample, where the evidence is one."""
    return scored.known("label areas", lambda: _areas(scored))


def roc_curves(scored: Scored) -> Sequence[Corners | None]:
    """The curve of each label; None without positives, without negatives or without a score.

    Of all rows, once each. With more than `DRAWN_LABELS` labels there are none.
    """
    if len(scored.labels) > DRAWN_LABELS:
        return [None] * len(scored.labels)
    return [one.curve for one in _ranked(scored)]


def every_label(scored: Scored) -> Iterator[tuple[int, Ints, Floats]]:
    """Every label, ascending: the rows, ascending, with a score other than 0 for it, and these."""
    waiting = 0
    for label, rows, score in scored.scores.by_label(len(scored.labels)):
        yield from _nothing(waiting, label)
        yield label, rows, score
        waiting = label + 1
    yield from _nothing(waiting, len(scored.labels))


def _nothing(first: int, end: int) -> Iterator[tuple[int, Ints, Floats]]:
    for label in range(first, end):
        yield label, np.zeros(0, np.int64), np.zeros(0)


class _Ranked(NamedTuple):
    """A label's problem, whatever its rows weigh; the curve where it is drawn."""

    ranking: Ranking
    curve: Corners | None


def _ranked(scored: Scored) -> list[_Ranked]:
    return scored.once("ranked labels", lambda: list(_sorted(scored)))


def _sorted(scored: Scored) -> Iterator[_Ranked]:
    rows_of = np.bincount(scored.truth, minlength=len(scored.labels)).tolist()
    for label, rows, score in every_label(scored):
        right = np.flatnonzero(scored.truth[rows] == label)
        positive = np.sort(score[right])
        # Moving the positives behind all others costs less than taking the others out.
        negative = score.copy()
        negative[right] = np.inf
        negative.sort()
        negative = negative[: len(rows) - len(right)]
        positives, negatives = rows_of[label], len(scored.truth) - rows_of[label]
        drawn = positives and negatives and len(rows) and len(rows_of) <= DRAWN_LABELS
        yield _Ranked(
            rank(positive, negative),
            roc_corners(positive, negative, positives, negatives, DRAWN_POINTS) if drawn else None,
        )


def _areas(scored: Scored) -> LabelAreas:
    rankings = [one.ranking for one in _ranked(scored)]
    roc, precision = np.full((2, len(rankings)), np.nan)
    for label, (ranking, mass) in enumerate(zip(rankings, _masses(scored, rankings), strict=True)):
        if mass.positives:
            precision[label] = average_precision(ranking, mass)
            if mass.negatives and mass.positive[-1] + mass.negative[-1]:
                roc[label] = area_under_roc(ranking, mass)
    positives = truth_counts(scored)
    return LabelAreas(int(positives.sum()), positives, roc, precision)


def _masses(scored: Scored, rankings: Sequence[Ranking]) -> Iterator[Mass]:
    """How much the rows of each label's problem count."""
    weights = scored.row_weights
    samples = truth_counts(scored).tolist()
    total = sum(samples)
    if weights is None:
        for ranking, positives in zip(rankings, samples, strict=True):
            yield once_each(ranking, positives, total - positives)
        return
    orders = scored.once("orders by score", lambda: list(_orders(scored)))
    for (positive, negative), positives in zip(orders, samples, strict=True):
        yield weighed(weights[positive], weights[negative], positives, total - positives)


def _orders(scored: Scored) -> Iterator[tuple[Rows, Rows]]:
    """Of each label the rows of its listed positives and negatives, by score ascending."""
    for label, rows, score in every_label(scored):
        ordered = rows[np.argsort(score)].astype(np.int32)
        right = scored.truth[ordered] == label
        yield ordered[right], ordered[~right]
