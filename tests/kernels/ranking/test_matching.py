"""Matching many thresholds at once, against the obvious matcher."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import by_both
from tests.oracles.detection import Truth, match_cell
from valor_cli.kernels.geometry.boxes import overlapping_boxes
from valor_cli.kernels.ranking.matching import match

NAMES = {0: "miss", 1: "hit", 2: "ignored"}
THRESHOLDS = [0.3, 0.5, 0.75, 0.9, 1.0]


def outcomes(boxes: np.ndarray, truths: np.ndarray, crowd: np.ndarray, ignored: np.ndarray) -> list:
    """(areas, thresholds, detections) of one cell."""
    n, m = len(boxes), len(truths)
    pairs = overlapping_boxes(boxes, truths, crowd, np.zeros(n, int), np.full(n, m), 0.3)
    (rows, codes, _), (_, other, _) = by_both(
        lambda: match(pairs, ~ignored, crowd, np.array(THRESHOLDS))
    )
    assert codes.tolist() == other.tolist()
    full = np.zeros((len(ignored), len(THRESHOLDS), n), int)
    full[:, :, rows] = codes
    return [[[NAMES[code] for code in row] for row in area] for area in full.tolist()]


def one(boxes: list, truths: list, threshold: float, crowd: list | None = None) -> list:
    flags = np.array(crowd or [False] * len(truths))
    found = outcomes(np.array(boxes, float), np.array(truths, float), flags, flags[None])
    return found[0][THRESHOLDS.index(threshold)]


def test_the_better_detection_takes_the_truth() -> None:
    # Both overlap the only truth fully; the second finds it taken.
    assert one([[0, 0, 4, 4], [0, 0, 4, 4]], [[0, 0, 4, 4]], 0.5) == ["hit", "miss"]


def test_among_equal_overlaps_the_later_truth_is_taken() -> None:
    # The detection overlaps both by 1/3 each; the second detection fits the earlier one only.
    truths = [[0, 0, 4, 4], [4, 0, 4, 4]]
    assert one([[2, 0, 4, 4], [0, 0, 4, 4]], truths, 0.3) == ["hit", "hit"]
    assert one([[2, 0, 4, 4], [4, 0, 4, 4]], truths, 0.3) == ["hit", "miss"]


def test_a_crowd_takes_any_number() -> None:
    boxes = [[0, 0, 4, 4], [1, 1, 4, 4], [50, 50, 4, 4]]
    assert one(boxes, [[0, 0, 20, 20]], 0.5, [True]) == ["ignored", "ignored", "miss"]


def test_a_regular_truth_goes_before_a_better_crowd() -> None:
    # IoU 0.5 with the object, 1 with the crowd: the object is taken.
    assert one([[0, 0, 4, 4]], [[0, 0, 4, 8], [0, 0, 9, 9]], 0.5, [False, True]) == ["hit"]


def test_threshold_one_allows_for_rounding() -> None:
    # 0.1 + 0.2 != 0.3: the two boxes differ in the last bit and still match at IoU 1.
    assert one([[0.1, 0, 0.2, 1]], [[0.1, 0, 0.30000000000000004 - 0.1, 1]], 1.0) == ["hit"]


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_obvious_matcher(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 25)), int(rng.integers(1, 9))
    truths = np.hstack([rng.integers(0, 6, (m, 2)), rng.integers(2, 9, (m, 2))]).astype(float)
    boxes = truths[rng.integers(0, m, n)] + rng.integers(-1, 2, (n, 4))
    crowd = rng.random(m) < 0.2
    ignored = crowd | (rng.random((3, m)) < 0.3)
    found = outcomes(boxes, truths, crowd, ignored)
    for area in range(3):
        given = [
            Truth(tuple(box), bool(c), bool(i))
            for box, c, i in zip(truths.tolist(), crowd, ignored[area], strict=True)
        ]
        for at, threshold in enumerate(THRESHOLDS):
            expected = match_cell([tuple(box) for box in boxes.tolist()], given, threshold)
            assert found[area][at] == expected
