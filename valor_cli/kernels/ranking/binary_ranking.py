"""ROC AUC, average precision and the ROC curve of binary problems.

A binary problem has rows that list a score and rows that do not; the latter have score 0 and are
tied. Only nonzero scores are stored in arrays; zeros are a count. Rows may count several times, in
several replicas of the problem (`RankedRows`); areas are quotients of integers, so that ties and
copies are exact.

Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import exact_quotient, offsets, quotient
from valor_cli.kernels.ranking.resamples import LANES, Lanes

Rows = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

THINNED: Final = 1000
"""Scores of positives, and of all, that are looked at to draw a curve."""


class Ranking(NamedTuple):
    """Ranks of the listed positives of a problem, by ascending score; ties are merged.

    All but `below_zero` are rows, or what they weigh in each replica.

    Attributes:
        first: (replicas, t + 1) listed positives with a lower score; last, all that are listed.
        below: (replicas, t) listed negatives with a lower score.
        upto: (replicas, t) listed negatives with no higher score.
        negatives: (replicas,) all listed negatives.
        below_zero: How many of the scores are below 0, which is the score of what is not listed.
        negatives_below_zero: (replicas,) listed negatives with such a score.
    """

    first: Ints
    below: Ints
    upto: Ints
    negatives: Ints
    below_zero: int
    negatives_below_zero: Ints


class RankedRows(NamedTuple):
    """A problem whose rows may count more than once.

    Attributes:
        once: The ranking in which each counts once.
        positive, negative: (p,) and (m,) the listed rows, by score ascending; ties in any order.
        stops: (s,) numbers of negatives, ascending, that `once` has.
        place: (2 t + 2,) which of them are its `below`, `upto`, `negatives_below_zero` and
            `negatives`.
    """

    once: Ranking
    positive: Rows
    negative: Rows
    stops: Ints
    place: Ints

    @classmethod
    def of(cls, once: Ranking, positive: Rows, negative: Rows) -> RankedRows:
        """Prepare the rows of a ranking."""
        counts = (once.below[0], once.upto[0], once.negatives_below_zero, once.negatives)
        stops, place = np.unique(np.concatenate(counts), return_inverse=True)
        return cls(once, positive, negative, stops, place)

    def weighed(self, weights: Lanes) -> Ranking:
        """The ranking of `LANES` replicas.

        Args:
            weights: Of all rows.
        """
        up = running_sums(self.positive, self.once.first[0], weights)
        down = running_sums(self.negative, self.stops, weights)[:, self.place]
        scores = self.once.below.shape[1]
        return Ranking(
            up,
            down[:, :scores],
            down[:, scores:-2],
            down[:, -1],
            self.once.below_zero,
            down[:, -2],
        )


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
    return _of_once(
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
    first, below = offsets(positive[own]), offsets(every)
    below_zero = int(score[own].searchsorted(0.0))
    ranking = _of_once(
        first,
        below[own] - first[:-1],
        below[own + 1] - first[1:],
        int(below[-1] - first[-1]),
        below_zero,
        int(below[score.searchsorted(0.0)] - first[below_zero]),
    )
    return ranking, Listed(score[own], first), Listed(score, below)


def _of_once(
    first: Ints, below: Ints, upto: Ints, negatives: int, below_zero: int, negatives_below_zero: int
) -> Ranking:
    """The ranking of one replica, in which rows count once."""
    return Ranking(
        first[None],
        below[None],
        upto[None],
        np.array([negatives], np.int64),
        below_zero,
        np.array([negatives_below_zero], np.int64),
    )


def running_sums(rows: Rows, stops: Ints, weights: Lanes) -> Ints:
    """What the rows before each stop weigh.

    Args:
        rows: (k,) in their order.
        stops: (s,) ascending, 0 … k.
        weights: Of all rows.

    Returns:
        (LANES, s).
    """
    if engine.compiled is not None and weights.dtype == np.int32:
        found = np.empty((LANES, len(stops)), np.int64)
        engine.compiled.running_sums(
            np.ascontiguousarray(rows), np.ascontiguousarray(stops), weights, found
        )
        return found
    total = np.zeros((len(rows) + 1, LANES), np.int64)
    np.cumsum(weights[rows], axis=0, out=total[1:])
    return np.ascontiguousarray(total[stops].T)


def area_under_roc(ranking: Ranking, positives: Ints, negatives: Ints) -> Floats:
    """The share of positive-negative pairs that are ranked correctly; ties count half.

    That is the trapezoidal area under the curve whose ties are merged.

    Args:
        ranking: Of those listed.
        positives, negatives: (replicas,) how many there are, listed or not.

    Returns:
        (replicas,); NaN without positives or without negatives.
    """
    first = ranking.first
    listed, unlisted = first[:, -1], negatives - ranking.negatives
    # Whole numbers throughout: twice the pairs, so that a tie counts 1.
    twice = (np.diff(first) * (ranking.below + ranking.upto)).sum(axis=1)
    twice += 2 * (listed - first[:, ranking.below_zero]) * unlisted
    twice += (positives - listed) * (2 * ranking.negatives_below_zero + unlisted)
    return exact_quotient(twice, 2 * positives * negatives)


def average_precision(ranking: Ranking, positives: Ints, negatives: Ints) -> Floats:
    """Mean over positives of the precision among the rows that score no less.

    That is the area under the steps of precision over recall, not interpolated, with rows of one
    score together.

    Args:
        ranking: Of those listed.
        positives, negatives: (replicas,) how many there are, listed or not.

    Returns:
        (replicas,); NaN without positives.
    """
    first, below_zero = ranking.first, ranking.below_zero
    unlisted = positives - first[:, -1]
    right = first[:, -1:] - first[:, :-1]
    wrong = ranking.negatives[:, None] - ranking.below
    right[:, :below_zero] += unlisted[:, None]
    wrong[:, :below_zero] += (negatives - ranking.negatives)[:, None]
    # Where all rows count nothing, 0/0 is multiplied by nothing.
    area = (np.diff(first) * quotient(right, right + wrong, 0.0)).sum(axis=1)
    found = positives - first[:, below_zero]
    rest = exact_quotient(unlisted * found, found + negatives - ranking.negatives_below_zero)
    return quotient(np.where(unlisted > 0, area + rest, area), positives, np.nan)


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
