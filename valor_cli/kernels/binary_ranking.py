"""Positives and negatives by score: area under the ROC curve, average precision, the curve itself.

A binary problem has rows that list a score and rows that do not; the latter have score 0 and are
tied there. Only scores other than 0 are arrays here; zeros are a count. A row may stand for several
(`Mass`); areas are quotients of whole numbers, so that ties and copies are exact.

Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns import quotient

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

THINNED: Final = 1000
"""Scores of each side that are looked at to draw a curve."""


class Ranking(NamedTuple):
    """Where the listed positives of a problem stand, score ascending.

    Attributes:
        first: (p,) how many listed positives have a lower score.
        below: (p,) how many listed negatives have a lower score.
        upto: (p,) how many listed negatives have no higher score.
        negatives: How many listed negatives there are.
        positives_below_zero, negatives_below_zero: How many listed ones score less than what is
            not listed.
    """

    first: Ints
    below: Ints
    upto: Ints
    negatives: int
    positives_below_zero: int
    negatives_below_zero: int


class Mass(NamedTuple):
    """How much the rows of a problem count.

    Attributes:
        positive: (p + 1,) of the first i listed positives, score ascending, together.
        negative: (m + 1,) likewise of listed negatives.
        positives, negatives: Of all, listed or not.
    """

    positive: Ints
    negative: Ints
    positives: int
    negatives: int


class Corners(NamedTuple):
    """Points of a ROC curve, from no row to all rows.

    Attributes:
        score: (k,) what reaches the point: descending, infinite at first.
        false_positive_rate, true_positive_rate: (k,) ascending from 0 to 1.
    """

    score: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def rank(positive: Floats, negative: Floats) -> Ranking:
    """Where positives stand among themselves and among negatives.

    Args:
        positive: (p,) their scores other than 0, ascending.
        negative: (m,) likewise of negatives.
    """
    count = len(positive)
    begins = np.where(positive[1:] != positive[:-1], np.arange(1, max(count, 1)), 0)
    return Ranking(
        np.maximum.accumulate(np.append(0, begins))[:count],
        negative.searchsorted(positive),
        negative.searchsorted(positive, side="right"),
        len(negative),
        int(positive.searchsorted(0.0)),
        int(negative.searchsorted(0.0)),
    )


def once_each(ranking: Ranking, positives: int, negatives: int) -> Mass:
    """The mass of rows that count once each; how many of both there are, listed or not."""
    listed_positives, listed_negatives = len(ranking.first), ranking.negatives
    return Mass(
        np.arange(listed_positives + 1), np.arange(listed_negatives + 1), positives, negatives
    )


def weighed(positive: Ints, negative: Ints, positives: int, negatives: int) -> Mass:
    """The mass of rows that count as often as their weights say.

    Args:
        positive, negative: Weights of the listed ones, by score ascending; ties in any order.
        positives, negatives: Weights of all together, listed or not.
    """
    return Mass(_running(positive), _running(negative), positives, negatives)


def area_under_roc(ranking: Ranking, mass: Mass) -> float:
    """The part of all pairs of a positive and a negative that stand right; ties are half right.

    That is the trapezoidal area under the curve whose ties are merged. There must be both.
    """
    positive, negative = mass.positive, mass.negative
    unlisted_positives = mass.positives - int(positive[-1])
    unlisted_negatives = mass.negatives - int(negative[-1])
    above_zero = int(positive[-1] - positive[ranking.positives_below_zero])
    below_zero = int(negative[ranking.negatives_below_zero])
    # Whole numbers throughout: twice the pairs, so that a tie counts 1.
    twice = int((np.diff(positive) * (negative[ranking.below] + negative[ranking.upto])).sum())
    twice += 2 * above_zero * unlisted_negatives
    twice += unlisted_positives * (2 * below_zero + unlisted_negatives)
    return twice / (2 * mass.positives * mass.negatives)


def average_precision(ranking: Ranking, mass: Mass) -> float:
    """Mean over positives of the precision among the rows that score no less.

    That is the area under the steps of precision over recall, not interpolated, with rows of one
    score together. There must be a positive.
    """
    positive, negative = mass.positive, mass.negative
    right = positive[-1] - positive[ranking.first]
    wrong = negative[-1] - negative[ranking.below]
    below_zero = ranking.positives_below_zero
    unlisted = mass.positives - int(positive[-1])
    right[:below_zero] += unlisted
    wrong[:below_zero] += mass.negatives - int(negative[-1])
    # Where all rows count nothing, 0/0 is multiplied by nothing.
    area = float((np.diff(positive) * quotient(right, right + wrong, 0.0)).sum())
    if unlisted:
        found = mass.positives - int(positive[below_zero])
        area += (
            unlisted
            * found
            / (found + mass.negatives - int(negative[ranking.negatives_below_zero]))
        )
    return area / mass.positives


def roc_corners(
    positive: Floats, negative: Floats, positives: int, negatives: int, most: int
) -> Corners:
    """At most so many points of the ROC curve, spread evenly over its length, both ends included.

    All lie on the curve. Of many rows, evenly spaced ones are looked at.

    Args:
        positive, negative: As for `rank`.
        positives, negatives: How many there are, listed or not; at least one.
        most: Points, at least 2.
    """
    unlisted = [positives - len(positive), negatives - len(negative)]
    zero = np.zeros(min(sum(unlisted), 1))
    score = np.unique(np.concatenate([_thinned(positive), _thinned(negative), zero]))[::-1]
    right, wrong = (
        (len(listed) - listed.searchsorted(score) + missing * (score <= 0)) / count
        for listed, missing, count in zip(
            (positive, negative), unlisted, (positives, negatives), strict=True
        )
    )
    score = np.concatenate([[np.inf], score])
    right, wrong = np.concatenate([[0.0], right]), np.concatenate([[0.0], wrong])
    if len(score) > most:
        chosen = _nearest(right + wrong, np.linspace(0, 2, most))
        score, right, wrong = score[chosen], right[chosen], wrong[chosen]
    return Corners(score, wrong, right)


def _thinned(scores: Floats) -> Floats:
    """Evenly spaced ones with both ends; all if they are few."""
    if len(scores) <= THINNED:
        return scores
    return np.asarray(scores[np.linspace(0, len(scores) - 1, THINNED).astype(np.int64)])


def _nearest(places: Floats, targets: Floats) -> Ints:
    """The places, ascending, that are nearest to some target, of two equally near ones the left."""
    right = np.minimum(places.searchsorted(targets), len(places) - 1)
    left = np.maximum(right - 1, 0)
    return np.unique(np.where(targets - places[left] <= places[right] - targets, left, right))


def _running(weights: Ints) -> Ints:
    total = np.zeros(len(weights) + 1, np.int64)
    np.cumsum(weights, out=total[1:])
    return total
