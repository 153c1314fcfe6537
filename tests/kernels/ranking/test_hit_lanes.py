"""Precision of many resamples at once, bit for bit that of each alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking import hit_layout
from valor_cli.kernels.ranking.hit_lanes import Buffers, interpolate_lanes
from valor_cli.kernels.ranking.hit_layout import lay_out
from valor_cli.kernels.ranking.lanes import Lanes
from valor_cli.kernels.ranking.matching import IGNORED, MATCHED, UNMATCHED
from valor_cli.kernels.ranking.precision_recall import ELEVEN_RECALLS, RECALLS, interpolate
from valor_cli.kernels.ranking.ranking import HitOrder, order_hits, running_hits


def problem(seed: int, rows: int, labels: int, right: float) -> tuple[HitOrder, np.ndarray]:
    """Hits at four thresholds among ranked rows, with corrections; and the label of each row."""
    rng = np.random.default_rng(seed)
    label = np.sort(rng.integers(0, labels, rows))
    candidate = np.flatnonzero(rng.random(rows) < 0.8)
    shares = [(1 - right) * 0.7, right, (1 - right) * 0.3]
    codes = rng.choice([UNMATCHED, MATCHED, IGNORED], (4, len(candidate)), p=shares)
    outside = rng.random(rows) < 0.2
    kept = rng.random(rows) < 0.95
    codes = codes.astype(np.uint8)
    return order_hits(label, candidate, codes, outside, kept, labels), label


def alone(
    order: HitOrder, weights: np.ndarray, unit: np.ndarray, truths: np.ndarray, recalls: np.ndarray
) -> np.ndarray:
    """(resamples, thresholds, r, labels), one resample after the other."""
    found = []
    for row, own in zip(weights, truths, strict=True):
        hits = running_hits(order, row[None], unit)
        precision = interpolate(hits, np.tile(own, 4), recalls).precision
        found.append(precision.reshape(len(recalls), 4, -1).swapaxes(0, 1))
    return np.nan_to_num(np.array(found))


@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([0, 1, 5, 40, 400, 3000]),
    labels=st.integers(1, 4),
    right=st.sampled_from([0.0, 0.05, 0.4, 0.9, 1.0]),
    most=st.sampled_from([1, 3, 20, 300]),
    count=st.integers(1, 9),
    recalls=st.sampled_from([RECALLS, ELEVEN_RECALLS]),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_equals_each_resample_alone(
    seed: int,
    rows: int,
    labels: int,
    right: float,
    most: int,
    count: int,
    recalls: np.ndarray,
) -> None:
    order, label = problem(seed, rows, labels, right)
    rng = np.random.default_rng(seed + 1)
    unit = rng.integers(0, 30, rows)
    weights = rng.integers(0, most + 1, (count, 30))
    # As many ground truths as the threshold that finds most of them finds, or some more, or none.
    found = np.zeros((count, 4 * labels), np.int64)
    for row, own in zip(found, weights, strict=True):
        np.add.at(row, order.segment, own[unit[order.rows]])
    truths = found.reshape(count, 4, labels).max(axis=1) + rng.integers(0, 40, (count, labels))
    lanes = Lanes.of(weights)
    padded = np.zeros((lanes.width, labels), np.int64)
    padded[:count] = truths
    layout = lay_out(order, label, unit, labels, 30)
    mine = interpolate_lanes(layout, lanes, padded, recalls, Buffers())
    assert mine.tobytes() == alone(order, weights, unit, truths, recalls).tobytes()


def test_thresholds_in_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    order, label = problem(0, 600, 3, 0.4)
    unit = np.arange(600) % 30
    weights = np.random.default_rng(0).integers(0, 4, (3, 30))
    lanes = Lanes.of(weights)
    truths = np.full((lanes.width, 3), 2000)
    buffers = Buffers()
    whole = interpolate_lanes(lay_out(order, label, unit, 3, 30), lanes, truths, RECALLS, buffers)
    monkeypatch.setattr(hit_layout, "BLOCKS_AT_ONCE", 50)
    layout = lay_out(order, label, unit, 3, 30)
    assert len(layout.parts) == 4
    assert interpolate_lanes(layout, lanes, truths, RECALLS, buffers).tobytes() == whole.tobytes()


def test_true_positives_side_by_side_are_one_block() -> None:
    # Hit, hit, miss, hit: two blocks, of two hits and of one.
    label = np.zeros(4, np.int64)
    codes = np.array([[MATCHED, MATCHED, UNMATCHED, MATCHED]], np.uint8)
    order = order_hits(label, np.arange(4), codes, np.zeros(4, bool), None, 1)
    (part,) = lay_out(order, label, np.arange(4), 1, 4).parts
    assert part.runs.slots().tolist() == [0, 1]
    assert part.hits.unit[:3].tolist() == [0, 1, 3]
    assert part.hits.starts[:2].tolist() == [0, 2]
