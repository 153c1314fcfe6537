"""ROC AUC, average precision and the ROC curve of binary problems.

A binary problem has rows that list a score and rows that do not; the latter have score 0 and are
tied. Only nonzero scores are stored in arrays; zeros are a count. A row may count several times
(`weighed`); areas are quotients of integers, so that ties and copies are exact.

Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import quotient

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

THINNED: Final = 1000
"""Scores of positives, and of all, that are looked at to draw a curve."""


class Ranking(NamedTuple):
    """Ranks of the listed positives of a problem, by ascending score; ties are merged.

    All but `below_zero` are rows, or what they weigh.

    Attributes:
        first: (t + 1,) listed positives with a lower score; last, all that are listed.
        below: (t,) listed negatives with a lower score.
        upto: (t,) listed negatives with no higher score.
        negatives: All listed negatives.
        below_zero: How many of the scores are below 0, which is the score of what is not listed.
        negatives_below_zero: Listed negatives with such a score.
    """

    first: Ints
    below: Ints
    upto: Ints
    negatives: int
    below_zero: int
    negatives_below_zero: int


class Listed(NamedTuple):
    """Rows by their score.

    Attributes:
        score: (k,) distinct, other than 0, ascending.
        below: (k + 1,) rows with a lower score; last, all of them.
    """

    score: Floats
    below: Ints

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.below[-1])

    def lower(self, score: Floats) -> Ints:
        """(s,) number of rows with a score below each value."""
        return self.below[self.score.searchsorted(score)]

    def thinned(self) -> Floats:
        """The scores of evenly spaced rows, including both ends; all if they are few."""
        if self.rows <= THINNED:
            return self.score
        row = np.linspace(0, self.rows - 1, THINNED).astype(np.int64)
        return self.score[self.below.searchsorted(row, side="right") - 1]


class Corners(NamedTuple):
    """Points of a ROC curve, from no row to all rows.

    Attributes:
        score: (k,) what reaches the point: descending, infinite at first.
        false_positive_rate, true_positive_rate: (k,) ascending from 0 to 1.
    """

    score: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def rank(positive: Floats, every: Floats) -> Ranking:
    """Rank positives among themselves and among negatives.

    Args:
        positive: (p,) their scores other than 0, ascending.
        every: (p + m,) likewise of positives and negatives together.
    """
    count = len(positive)
    new = np.flatnonzero(positive[1:] != positive[:-1]) + 1
    first = np.concatenate([[0], new, [count]]) if count else np.zeros(1, np.int64)
    tied = positive[first[:-1]]
    begin = every.searchsorted(tied)
    # Where no negative is tied with positives, these are all that have the score.
    end = begin + np.diff(first)
    more = np.flatnonzero(every[np.minimum(end, len(every) - 1)] == tied)
    end[more] = every.searchsorted(tied[more], side="right")
    below_zero = int(tied.searchsorted(0.0))
    return Ranking(
        first,
        begin - first[:-1],
        end - first[1:],
        len(every) - count,
        below_zero,
        int(every.searchsorted(0.0)) - int(first[below_zero]),
    )


def rank_counted(
    score: Floats, every: NDArray[np.integer[Any]], positive: NDArray[np.integer[Any]]
) -> tuple[Ranking, Listed, Listed]:
    """The ranking from counts by score; listed positives and all rows.

    Args:
        score: (d,) distinct, other than 0, ascending.
        every: (d,) how many rows have it.
        positive: (d,) how many positives.
    """
    own = np.flatnonzero(positive)
    first, below = _running(positive[own]), _running(every)
    below_zero = int(score[own].searchsorted(0.0))
    ranking = Ranking(
        first,
        below[own] - first[:-1],
        below[own + 1] - first[1:],
        int(below[-1] - first[-1]),
        below_zero,
        int(below[score.searchsorted(0.0)] - first[below_zero]),
    )
    return ranking, Listed(score[own], first), Listed(score, below)


def weighed(ranking: Ranking, positive: Ints, negative: Ints) -> Ranking:
    """The same ranking with weighted rows.

    Args:
        ranking: Of rows that count once each.
        positive, negative: Weights of the listed ones, by score ascending; ties in any order.
    """
    up, down = _running(positive), _running(negative)
    return Ranking(
        up[ranking.first],
        down[ranking.below],
        down[ranking.upto],
        int(down[-1]),
        ranking.below_zero,
        int(down[ranking.negatives_below_zero]),
    )


def area_under_roc(ranking: Ranking, positives: int, negatives: int) -> float:
    """The share of positive-negative pairs that are ranked correctly; ties count half.

    That is the trapezoidal area under the curve whose ties are merged.

    Args:
        ranking: Of those listed.
        positives, negatives: How many there are, listed or not; of both some.
    """
    first = ranking.first
    listed = int(first[-1])
    # Whole numbers throughout: twice the pairs, so that a tie counts 1.
    twice = int((np.diff(first) * (ranking.below + ranking.upto)).sum())
    twice += 2 * (listed - int(first[ranking.below_zero])) * (negatives - ranking.negatives)
    twice += (positives - listed) * (
        2 * ranking.negatives_below_zero + negatives - ranking.negatives
    )
    return twice / (2 * positives * negatives)


def average_precision(ranking: Ranking, positives: int, negatives: int) -> float:
    """Mean over positives of the precision among the rows that score no less.

    That is the area under the steps of precision over recall, not interpolated, with rows of one
    score together.

    Args:
        ranking: Of those listed.
        positives, negatives: How many there are, listed or not; of positives some.
    """
    first, below_zero = ranking.first, ranking.below_zero
    unlisted = positives - int(first[-1])
    right = first[-1] - first[:-1]
    wrong = ranking.negatives - ranking.below
    right[:below_zero] += unlisted
    wrong[:below_zero] += negatives - ranking.negatives
    # Where all rows count nothing, 0/0 is multiplied by nothing.
    area = float((np.diff(first) * quotient(right, right + wrong, 0.0)).sum())
    if unlisted:
        found = positives - int(first[below_zero])
        area += unlisted * found / (found + negatives - ranking.negatives_below_zero)
    return area / positives


def roc_corners(
    positive: Listed, every: Listed, positives: int, negatives: int, most: int
) -> Corners:
    """Points of the ROC curve, at most so many, evenly spaced along its length.

    All lie on the curve. Of many rows, evenly spaced ones are looked at.

    Args:
        positive, every: The listed positives; positives and negatives together.
        positives, negatives: How many there are, listed or not; at least one.
        most: Points, at least 2.
    """
    unlisted = positives + negatives - every.rows
    zero = np.zeros(min(unlisted, 1))
    score = np.unique(np.concatenate([positive.thinned(), every.thinned(), zero]))[::-1]
    right, reached = (
        listed.rows - listed.lower(score) + missing * (score <= 0)
        for listed, missing in ((positive, positives - positive.rows), (every, unlisted))
    )
    score = np.concatenate([[np.inf], score])
    up = np.concatenate([[0.0], right / positives])
    across = np.concatenate([[0.0], (reached - right) / negatives])
    if len(score) > most:
        chosen = _nearest(up + across, np.linspace(0, 2, most))
        score, up, across = score[chosen], up[chosen], across[chosen]
    return Corners(score, across, up)


def _nearest(places: Floats, targets: Floats) -> Ints:
    """The places, ascending, that are nearest to some target, of two equally near ones the left."""
    right = np.minimum(places.searchsorted(targets), len(places) - 1)
    left = np.maximum(right - 1, 0)
    return np.unique(np.where(targets - places[left] <= places[right] - targets, left, right))


def _running(weights: NDArray[np.integer[Any]]) -> Ints:
    total = np.zeros(len(weights) + 1, np.int64)
    np.cumsum(weights, out=total[1:])
    return total
