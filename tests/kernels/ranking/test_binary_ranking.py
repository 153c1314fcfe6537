"""Areas and curves of one ranking: by hand, against all pairs, against scikit-learn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both, kernel, needs_kernel
from valor_cli.kernels.ranking.binary_ranking import (
    Listed,
    RankedRows,
    Ranking,
    area_under_roc,
    average_precision,
    rank,
    rank_counted,
    roc_corners,
    running_sums,
)
from valor_cli.kernels.ranking.resamples import LANES

Row = tuple[bool, float, int]
"""Whether it is a positive, its score, how often it counts."""

# Few scores, so that most are tied; below 0 too, and 0 itself, which no row lists.
ROWS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.2, 0.7, 1.0]), st.just(1)),
    min_size=1,
    max_size=30,
)
WEIGHED_ROWS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-0.5, 0.0, 0.2, 0.7, 1.0]), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


def columns(rows: list[Row], right: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scores other than 0 of one side, ascending, and how often each row counts."""
    listed = sorted((score, weight) for truth, score, weight in rows if truth == right and score)
    return (
        np.array([score for score, _ in listed], np.float64),
        np.array([weight for _, weight in listed], np.int64),
    )


def listed(ascending: np.ndarray) -> Listed:
    """Rows counted by their score."""
    score, counts = np.unique(ascending, return_counts=True)
    return Listed(score, np.concatenate([[0], np.cumsum(counts)]))


def weighed(once: Ranking, ups: np.ndarray, downs: np.ndarray) -> Ranking:
    """The ranking in which positives and negatives weigh so much, in the last of all replicas."""
    weights = np.zeros((len(ups) + len(downs), LANES), np.int32)
    weights[:, -1] = np.concatenate([ups, downs])
    rows = np.arange(len(weights), dtype=np.int32)
    found = RankedRows.of(once, rows[: len(ups)], rows[len(ups) :]).weighed(weights)
    return Ranking(*(one if isinstance(one, int) else one[-1:] for one in found))


def ranked(rows: list[Row]) -> tuple[Ranking, np.ndarray, np.ndarray]:
    """The ranking of rows as they weigh, and what positives and negatives weigh together."""
    (positive, ups), (negative, downs) = columns(rows, True), columns(rows, False)
    once = rank(positive, np.sort(np.concatenate([positive, negative])))
    positives, negatives = (
        sum(weight for truth, _, weight in rows if truth == side) for side in (True, False)
    )
    return weighed(once, ups, downs), np.array([positives]), np.array([negatives])


def areas(ranking: Ranking, positives: int, negatives: int) -> tuple[float, float]:
    """ROC AUC and average precision of one replica."""
    counts = np.array([positives]), np.array([negatives])
    return area_under_roc(ranking, *counts).item(), average_precision(ranking, *counts).item()


def pairs_that_stand_right(rows: list[Row]) -> Fraction:
    """The part of all pairs of a positive and a negative; a tie is half right."""
    right = whole = Fraction(0)
    for truth, score, weight in rows:
        for other_truth, other, other_weight in rows:
            if truth and not other_truth:
                whole += weight * other_weight
                right += weight * other_weight * Fraction((score > other) + (score >= other), 2)
    return right / whole


def mean_precision(rows: list[Row]) -> Fraction:
    """Over positives, of the precision among all rows that score no less."""
    total = Fraction(0)
    for truth, score, weight in rows:
        if truth and weight:
            above = [(other, count) for other, at, count in rows if at >= score]
            hits = sum(count for other, count in above if other)
            total += weight * Fraction(hits, sum(count for _, count in above))
    return total / sum(weight for truth, _, weight in rows if truth)


def test_by_hand() -> None:
    # Positives .9 .5 and one not listed; negatives .5 .1 and two not listed.
    # .9 beats 4; .5 ties .5 and beats .1 and both 0: 3.5; 0 ties both 0: 1. 8.5 of 12 pairs.
    # Precision at .9: 1/1; at .5: 2/3; at 0: 3/7. Their mean: (1 + 2/3 + 3/7) / 3 = 44/63.
    ranking = rank(np.array([0.5, 0.9]), np.array([0.1, 0.5, 0.5, 0.9]))
    assert areas(ranking, 3, 4) == (8.5 / 12, pytest.approx(44 / 63, rel=1e-15))


def test_without_positives_or_negatives_there_is_no_area() -> None:
    assert np.isnan(areas(rank(np.zeros(0), np.array([0.5])), 0, 1)).all()
    roc, precision = areas(rank(np.array([0.5]), np.array([0.5])), 1, 0)
    assert (np.isnan(roc), precision) == (True, 1.0)


@given(
    weights=st.lists(
        st.lists(st.integers(0, 5), min_size=LANES, max_size=LANES), min_size=1, max_size=9
    ),
    data=st.data(),
)
@settings(deadline=None)
def test_running_sums(weights: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(weights) - 1), max_size=20))
    stops = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=9)))
    columns = np.array(rows, np.int32), np.array(stops, np.int64), np.int32(weights)
    expected = [
        [sum(weights[row][lane] for row in rows[:stop]) for stop in stops] for lane in range(LANES)
    ]
    for found in by_both(lambda: running_sums(*columns)):
        assert found.tolist() == expected


@needs_kernel
@pytest.mark.parametrize(
    ("rows", "stops"), [([1], [1]), ([-1], [1]), ([0], [2]), ([0, 0], [2, 1]), ([0], [-1])]
)
def test_the_compiled_kernel_leaves_no_column(rows: list[int], stops: list[int]) -> None:
    weights, found = np.ones((1, LANES), np.int32), np.zeros((LANES, len(stops)), np.int64)
    with pytest.raises(ValueError, match="rows without a weight"):
        kernel().running_sums(np.int32(rows), np.int64(stops), weights, found)


@given(ROWS | WEIGHED_ROWS)
@settings(max_examples=100, deadline=None)
def test_equals_all_pairs(rows: list[Row]) -> None:
    ranking, positives, negatives = ranked(rows)
    if positives:
        (found,) = average_precision(ranking, positives, negatives)
        assert found == pytest.approx(float(mean_precision(rows)), rel=1e-14)
        if negatives:
            # Whole numbers and one division: not a bit is lost.
            (found,) = area_under_roc(ranking, positives, negatives)
            assert found == float(pairs_that_stand_right(rows))


@given(ROWS)
@settings(deadline=None)
def test_counts_of_scores_rank_as_the_rows_do(rows: list[Row]) -> None:
    (positive, _), (negative, _) = columns(rows, True), columns(rows, False)
    every = np.sort(np.concatenate([positive, negative]))
    score, counts = np.unique(every, return_counts=True)
    hits = np.array([np.count_nonzero(positive == one) for one in score], np.uint8)
    ranking, right, reached = rank_counted(score, counts.astype(np.uint8), hits)
    for one, other in zip(ranking, rank(positive, every), strict=True):
        np.testing.assert_array_equal(one, other)
    for found, rows_of in ((right, positive), (reached, every)):
        for one, other in zip(found, listed(rows_of), strict=True):
            np.testing.assert_array_equal(one, other)


def test_of_many_rows_evenly_spaced_ones_are_looked_at() -> None:
    # 900 rows at 0.1, 600 at 0.2, one at 0.3: of 1501, the rows 0, 1.5, 3 … 1500.
    rows = Listed(np.array([0.1, 0.2, 0.3]), np.array([0, 900, 1500, 1501]))
    ascending = np.repeat([0.1, 0.2, 0.3], [900, 600, 1])
    expected = ascending[np.linspace(0, 1500, 1000).astype(int)]
    np.testing.assert_array_equal(rows.thinned(), expected)
    lower = rows.lower(np.array([0.0, 0.1, 0.15, 0.2, 0.3, 1.0]))
    assert lower.tolist() == [0, 0, 900, 900, 1500, 1501]
    assert len(Listed(np.array([0.1, 0.2]), np.array([0, 900, 1000])).thinned()) == 2


@pytest.mark.parametrize("digits", [1, 3, 17])
@pytest.mark.parametrize("seed", range(2))
def test_equals_scikit_learn(seed: int, digits: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    truth = rng.random(500) < 0.2
    score = (rng.normal(0, 1, 500) + truth).round(digits)
    score[rng.random(500) < 0.3] = 0
    weight = rng.poisson(1, 500)
    rows = list(zip(truth.tolist(), score.tolist(), weight.tolist(), strict=True))
    for some, weights in (([(*row[:2], 1) for row in rows], None), (rows, weight)):
        found = ranked(some)
        expected = metrics.roc_auc_score(truth, score, sample_weight=weights)
        assert area_under_roc(*found) == pytest.approx(expected, abs=1e-12)
        expected = metrics.average_precision_score(truth, score, sample_weight=weights)
        assert average_precision(*found) == pytest.approx(expected, abs=1e-12)


def points_of(rows: list[Row]) -> list[tuple[float, float, float]]:
    """Every point of the curve: a score, and what is no lower of both sides."""
    sides = [[score for truth, score, _ in rows if truth == right] for right in (False, True)]
    return [(np.inf, 0.0, 0.0)] + [
        (level, *(sum(one >= level for one in side) / len(side) for side in sides))
        for level in sorted({score for _, score, _ in rows}, reverse=True)
    ]


@given(ROWS, st.integers(2, 12))
@settings(deadline=None)
def test_corners_lie_on_the_curve(rows: list[Row], most: int) -> None:
    (positive, _), (negative, _) = columns(rows, True), columns(rows, False)
    positives = sum(truth for truth, *_ in rows)
    if not 0 < positives < len(rows):
        return
    every = np.sort(np.concatenate([positive, negative]))
    right, all_rows = listed(positive), listed(every)
    drawn = roc_corners(right, all_rows, positives, len(rows) - positives, most)
    found = list(zip(*(column.tolist() for column in drawn), strict=True))
    exact = points_of(rows)
    assert len(found) <= most
    assert [point for point in exact if point in found] == found
    assert found[0] == exact[0]
    assert found[-1][1:] == (1.0, 1.0)
    if len(exact) <= most:
        assert found == exact


def test_corners_keep_the_shape_of_a_long_curve() -> None:
    rng = np.random.default_rng(3)
    positive, negative = np.sort(rng.beta(4, 2, 5_000)), np.sort(rng.beta(2, 4, 50_000))
    every = np.sort(np.concatenate([positive, negative]))
    drawn = roc_corners(listed(positive), listed(every), 6_000, 60_000, 101)
    area = float(np.trapezoid(drawn.true_positive_rate, drawn.false_positive_rate))
    # A sixth of the way is the one step of what is not listed; no point is spent on it.
    assert 80 < len(drawn.score) <= 101
    expected, _ = areas(rank(positive, every), 6_000, 60_000)
    assert area == pytest.approx(expected, abs=2e-4)
