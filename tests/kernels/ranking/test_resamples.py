"""Sums and average precision of many resamples: the bits of each alone, by both engines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both, computing, kernel, needs_kernel
from valor_cli.kernels import threads as sharing
from valor_cli.kernels.ranking import resamples
from valor_cli.kernels.ranking.matching import IGNORED, MATCHED, UNMATCHED
from valor_cli.kernels.ranking.precision_recall import (
    ELEVEN_RECALLS,
    RECALLS,
    HitOrder,
    interpolate,
    order_hits,
    running_hits,
)
from valor_cli.kernels.ranking.resamples import (
    LANES,
    HitImages,
    average_precisions,
    batches,
    tally_resamples,
)


def problem(seed: int, rows: int, labels: int, right: float) -> HitOrder:
    """Hits at four thresholds among ranked rows, with corrections."""
    rng = np.random.default_rng(seed)
    label = np.sort(rng.integers(0, labels, rows))
    candidate = np.flatnonzero(rng.random(rows) < 0.8)
    shares = [(1 - right) * 0.7, right, (1 - right) * 0.3]
    codes = rng.choice([UNMATCHED, MATCHED, IGNORED], (4, len(candidate)), p=shares)
    outside = rng.random(rows) < 0.2
    kept = rng.random(rows) < 0.95
    return order_hits(label, candidate, codes.astype(np.uint8), outside, kept, labels)


def alone(
    order: HitOrder, weights: np.ndarray, image: np.ndarray, truths: np.ndarray, recalls: np.ndarray
) -> np.ndarray:
    """(resamples, thresholds, labels), one resample after the other."""
    found = []
    for row, own in zip(weights, truths, strict=True):
        hits = running_hits(order, row[None], image)
        precision = interpolate(hits, np.tile(own, 4), recalls).precision
        total = sum(precision, start=np.zeros(precision.shape[1]))
        found.append((total / len(recalls)).reshape(4, -1))
    return np.array(found)


@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([0, 1, 5, 40, 400, 3000]),
    labels=st.integers(1, 4),
    right=st.sampled_from([0.0, 0.05, 0.4, 0.9, 1.0]),
    most=st.sampled_from([1, 3, 20, 300]),
    count=st.integers(1, 20),
    recalls=st.sampled_from([RECALLS, ELEVEN_RECALLS]),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_average_precision_equals_that_of_each_resample_alone(
    seed: int, rows: int, labels: int, right: float, most: int, count: int, recalls: np.ndarray
) -> None:
    order = problem(seed, rows, labels, right)
    rng = np.random.default_rng(seed + 1)
    image = rng.integers(0, 30, rows)
    weights = rng.integers(0, most + 1, (count, 30))
    # As many ground truths as the threshold that finds most of them finds, or some more, or none.
    found = np.zeros((count, 4 * labels), np.int64)
    for row, own in zip(found, weights, strict=True):
        np.add.at(row, order.segment, own[image[order.rows]])
    truths = found.reshape(count, 4, labels).max(axis=1) + rng.integers(0, 40, (count, labels))
    expected = alone(order, weights, image, truths, recalls)
    hits = HitImages.of(order, image)
    for mine in by_both(lambda: average_precisions(hits, weights, truths, recalls)):
        assert mine.tobytes() == expected.tobytes()


def test_one_by_hand() -> None:
    # Right, wrong, right, of images 0, 1 and 2, with 2 objects. Image 1 left out: precision is 1
    # at both; drawn twice: 1 and then 2 / 4.
    codes = np.array([[MATCHED, UNMATCHED, MATCHED]], np.uint8)
    order = order_hits(np.zeros(3, np.int64), np.arange(3), codes, np.zeros(3, bool), None, 1)
    weights = np.array([[1, 0, 1], [1, 2, 1], [0, 1, 0]])
    truths = np.array([[2], [2], [0]])
    hits = HitImages.of(order, np.arange(3))
    for found in by_both(lambda: average_precisions(hits, weights, truths, np.array([0.5, 1.0]))):
        assert found[:2].ravel() == pytest.approx([1.0, 0.75], rel=1e-15)
        assert np.isnan(found[2]).all()


@given(seed=st.integers(0, 1000), count=st.integers(0, 20), rows=st.integers(0, 200))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_tallies_equal_adding_one_by_one(seed: int, count: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    group, image = rng.integers(0, 5, rows), rng.integers(0, 9, rows)
    weights = rng.integers(0, 4, (count, 9))
    expected = np.zeros((count, 5), np.int64)
    for at, of in zip(group, image, strict=True):
        expected[:, at] += weights[:, of]
    for found in by_both(lambda: tally_resamples(group, image, weights, 5)):
        assert found.tolist() == expected.tolist()


@needs_kernel
def test_sums_wider_than_32_bits_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    group, image = np.zeros(3, np.int64), np.arange(3)
    weights = np.array([[2**31, 1, 2**31]])
    assert tally_resamples(group, image, weights, 1).tolist() == [[2**32 + 1]]
    monkeypatch.setattr(resamples, "_LARGEST", 0)
    order = problem(1, 50, 2, 0.5)
    hits, truths = HitImages.of(order, np.arange(50) % 7), np.full((3, 2), 9)
    weights = np.random.default_rng(1).integers(0, 3, (3, 7))
    found = average_precisions(hits, weights, truths, RECALLS)
    with computing(True):
        assert found.tobytes() == alone(order, weights, hits.image, truths, RECALLS).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_shares_of_several_threads(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(sharing, "usable_threads", lambda: threads)
    monkeypatch.setattr(resamples, "_WORTH", 1)
    order = problem(2, 400, 3, 0.4)
    rng = np.random.default_rng(2)
    image, weights = rng.integers(0, 30, 400), rng.integers(0, 4, (45, 30))
    hits, truths = HitImages.of(order, image), rng.integers(0, 400, (45, 3))
    found = average_precisions(hits, weights, truths, RECALLS)
    assert found.tobytes() == alone(order, weights, image, truths, RECALLS).tobytes()
    tallied = tally_resamples(image % 3, image, weights, 3)
    assert np.array_equal(tallied, [np.bincount(image % 3, row[image], 3) for row in weights])


@needs_kernel
def test_weights_and_recalls_that_cannot_be_stay_inside() -> None:
    order = problem(3, 100, 1, 0.9)
    hits, truths = HitImages.of(order, np.arange(100) % 5), np.full((1, 1), 3)
    for weight in (-1, 2**20):
        average_precisions(hits, np.full((1, 5), weight), truths, np.array([0.0, 7.5]))


def test_batches() -> None:
    numbers = resamples.AT_ONCE // 20
    assert list(batches(45, numbers)) == [slice(0, 20), slice(20, 40), slice(40, 45)]
    assert list(batches(20, numbers, 8)) == [slice(0, 16), slice(16, 20)]
    assert list(batches(9, 1 << 40, 8)) == [slice(0, 8), slice(8, 9)]
    assert list(batches(0, 1)) == []


@needs_kernel
def test_places_outside_are_refused() -> None:
    compiled = kernel()
    one = np.zeros(1, int)
    lanes, found = np.ones((1, LANES), np.int32), np.zeros((1, LANES), np.int64)
    compiled.tally_resamples(one, one, lanes, found)
    assert found.tolist() == [[1] * LANES]
    for group, unit in ((one + 1, one), (one - 1, one), (one, one + 1), (one, one - 1)):
        for narrow in (np.int32, np.int64):
            with pytest.raises(ValueError, match="outside"):
                compiled.tally_resamples(group.astype(narrow), unit.astype(narrow), lanes, found)
    for other in (lanes.astype(np.int64), lanes[:, 1:].copy(), lanes[:0]):
        with pytest.raises(ValueError, match="other lengths"):
            compiled.tally_resamples(one, one, other, found)
    with pytest.raises(ValueError, match="other lengths"):
        compiled.tally_resamples(one, np.zeros(2, int), lanes, found)
    assert found.tolist() == [[1] * LANES]
    good = {
        "starts": np.array([0, 1]),
        "counted_before": one,
        "counted_through": one + 1,
        "corrected_before": one,
        "corrected_through": one,
        "hit_image": one,
        "counted_image": one,
        "corrected_image": one[:0],
        "sign": one[:0],
        "weights": one[None] + 1,
        "ground_truths": one[None] + 1,
        "recalls": np.array([0.5]),
    }
    average = np.zeros((1, 1, 1))
    compiled.average_precisions(*good.values(), average)
    assert average.item() == pytest.approx(1.0, rel=1e-15)
    wrong = {
        "starts": np.array([1, 2]),
        "counted_before": one + 2,
        "counted_through": one + 2,
        "corrected_before": one - 1,
        "corrected_through": one + 1,
        "hit_image": one - 1,
        "counted_image": one + 1,
        "ground_truths": one[None] - 1,
        "recalls": np.zeros(0),
        "weights": one[:0],
    }
    for name, column in wrong.items():
        with pytest.raises(ValueError, match="order"):
            compiled.average_precisions(*{**good, name: column}.values(), average)
