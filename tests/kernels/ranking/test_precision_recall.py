"""Interpolation at recalls, against the obvious loop."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from tests.oracles.detection import interpolated_precision
from valor_cli.kernels.ranking.precision_recall import RECALLS, Hits, Interpolated, interpolate

Outcomes = list[tuple[bool, float]]


def interpolated(rankings: list[Outcomes], truths: list[int], recalls: list[float]) -> Interpolated:
    """Precision at recalls of rankings of (right or wrong, score), a segment each."""
    seen = [[at + 1 for at, (hit, _) in enumerate(part) if hit] for part in rankings]
    starts = np.cumsum([0, *map(len, seen)])
    hits = Hits(starts, None, np.array([*chain(*seen)], int))
    return interpolate(hits, np.array(truths), np.array(recalls))


def test_by_hand() -> None:
    # Two objects; right, wrong, right: recall 1/2 at precision 1, recall 1 at precision 2/3.
    ranking = [(True, 0.9), (False, 0.8), (True, 0.7)]
    found = interpolated([ranking], [2], [0, 0.5, 0.6, 1])
    # The reference's denominator, tp + fp + np.spacing(1), keeps 1 from being quite 1.
    assert found.precision[:, 0].tolist() == pytest.approx([1, 1, 2 / 3, 2 / 3], rel=1e-15)
    assert found.at.tolist() == [[0, 0, 1, 1]]


def test_without_ground_truth_is_nan_and_without_detections_is_zero() -> None:
    found = interpolated([[(False, 0.9)], []], [0, 3], [0.0, 1.0])
    assert np.isnan(found.precision[:, 0]).all()
    assert found.precision[:, 1].tolist() == [0, 0]


@pytest.mark.parametrize("levels", [RECALLS.tolist(), [0.3, 0.31, 0.9], [1.0]])
@pytest.mark.parametrize("seed", range(15))
def test_equals_the_obvious_loop(seed: int, levels: list[float]) -> None:
    rng = np.random.default_rng(seed)
    truths, rankings = [], []
    for _ in range(5):
        n = int(rng.integers(0, 30))
        hit = rng.random(n) < 0.6
        truths.append(int(hit.sum() + rng.integers(0, 12)))
        scores = -np.sort(-rng.random(n).round(1))
        rankings.append(list(zip(hit.tolist(), scores.tolist(), strict=True)))
    found = interpolated(rankings, truths, levels)
    scores = [score for part in rankings for right, score in part if right]
    for at, (part, count) in enumerate(zip(rankings, truths, strict=True)):
        if count:
            precision, score = interpolated_precision(part, count, levels)
            # The reference adds np.spacing(1) to the denominator, the loop does not.
            np.testing.assert_allclose(found.precision[:, at], precision, rtol=1e-15)
            reached = [0.0 if hit < 0 else scores[hit] for hit in found.at[at]]
            # Recall 0 is reached by any detection, which is for the caller to say.
            first = int(levels[0] == 0)
            assert reached[first:] == score[first:]
