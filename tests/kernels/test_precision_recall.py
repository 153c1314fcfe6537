"""Interpolation at recalls, against the obvious loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.detection import interpolated_precision
from valor_cli.kernels.precision_recall import RECALLS, Ranking, interpolate


def ranking(outcomes: list[list[tuple[bool, float]]]) -> Ranking:
    """Every detection of every label as a candidate, at one threshold."""
    label = np.repeat(np.arange(len(outcomes)), [len(part) for part in outcomes])
    hits = [np.array([right for right, _ in part], bool) for part in outcomes]
    return Ranking(
        label=label,
        score=np.array([score for part in outcomes for _, score in part]),
        tp=np.concatenate([np.cumsum(hit) for hit in hits])[None],
        fp=np.concatenate([np.cumsum(~hit) for hit in hits])[None],
        hit=np.concatenate(hits)[None],
        top=np.array([part[0][1] if part else np.nan for part in outcomes]),
    )


def test_by_hand() -> None:
    # Two objects; right, wrong, right: recall 1/2 at precision 1, recall 1 at precision 2/3.
    found = interpolate(
        ranking([[(True, 0.9), (False, 0.8), (True, 0.7)]]), np.array([2]), np.array([0, 0.5, 1])
    )
    # The reference's denominator, tp + fp + np.spacing(1), keeps 1 from being quite 1.
    assert found.precision[0, :, 0].tolist() == pytest.approx([1, 1, 2 / 3], rel=1e-15)
    assert found.score[0, :, 0].tolist() == [0.9, 0.9, 0.7]


def test_recall_never_reached_has_precision_and_score_zero() -> None:
    found = interpolate(ranking([[(True, 0.9)]]), np.array([2]), np.array([0.5, 0.51]))
    assert found.precision[0, :, 0].tolist() == pytest.approx([1, 0], rel=1e-15)
    assert found.score[0, :, 0].tolist() == [0.9, 0]


def test_label_without_ground_truth_is_nan_and_without_detections_is_zero() -> None:
    found = interpolate(ranking([[(False, 0.9)], []]), np.array([0, 3]), np.array([0.0, 1.0]))
    assert np.isnan(found.precision[0, :, 0]).all()
    assert found.precision[0, :, 1].tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_obvious_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truths, outcomes = [], []
    for _ in range(5):
        n = int(rng.integers(0, 30))
        hit = rng.random(n) < 0.6
        truths.append(int(hit.sum() + rng.integers(0, 12)))
        scores = -np.sort(-rng.random(n).round(1))
        outcomes.append(list(zip(hit.tolist(), scores.tolist(), strict=True)))
    found = interpolate(ranking(outcomes), np.array(truths), RECALLS)
    for at, (part, count) in enumerate(zip(outcomes, truths, strict=True)):
        if count:
            precision, score = interpolated_precision(part, count, RECALLS.tolist())
            # The reference adds np.spacing(1) to the denominator, the loop does not.
            np.testing.assert_allclose(found.precision[0, :, at], precision, rtol=1e-15)
            assert found.score[0, :, at].tolist() == score
