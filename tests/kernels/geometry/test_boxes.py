"""Overlaps of boxes, against the obvious loop and pycocotools."""

from __future__ import annotations

import numpy as np
import pytest
from pycocotools import mask

from tests.oracles.detection import iou
from valor_cli.kernels.geometry import boxes
from valor_cli.kernels.geometry.boxes import overlapping_boxes


def all_pairs(detections: list, truths: list, crowd: list, least: float) -> list:
    n, m = len(detections), len(truths)
    pairs = overlapping_boxes(
        np.array(detections, float).reshape(-1, 4),
        np.array(truths, float).reshape(-1, 4),
        np.array(crowd, bool),
        np.zeros(n, int),
        np.full(n, m),
        least,
    )
    return list(zip(*(column.tolist() for column in pairs), strict=True))


def test_by_hand() -> None:
    # 4x4 boxes shifted by 2: 8 shared of 24, so 1/3. Against a crowd: 8 of the detection's 16.
    assert all_pairs([[0, 0, 4, 4]], [[2, 0, 4, 4]], [False], 0.1) == [(0, 0, 8 / 24)]
    assert all_pairs([[0, 0, 4, 4]], [[2, 0, 4, 4]], [True], 0.1) == [(0, 0, 0.5)]


def test_touching_and_empty_boxes_do_not_overlap() -> None:
    assert all_pairs([[0, 0, 4, 4]], [[4, 0, 4, 4]], [False], 1e-9) == []
    assert all_pairs([[1, 1, 0, 0], [1, 1, 0, 3]], [[0, 0, 4, 4]], [True], 1e-9) == []
    assert all_pairs([[1, 1, 0, 0]], [[1, 1, 0, 0]], [False], 1e-9) == []


def test_nothing_to_compare() -> None:
    assert all_pairs([], [[0, 0, 1, 1]], [False], 0.5) == []
    assert all_pairs([[0, 0, 1, 1]], [], [], 0.5) == []


@pytest.mark.parametrize("seed", range(5))
def test_bits_equal_the_reference_in_blocks_of_any_size(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    found = np.hstack([rng.uniform(0, 50, (40, 2)), rng.uniform(0, 60, (40, 2))])
    truths = np.hstack([rng.uniform(0, 50, (30, 2)), rng.uniform(0, 60, (30, 2))])
    crowd = rng.random(30) < 0.2
    reference = mask.iou(found, truths, crowd.astype(np.uint8).tolist())
    expected = [
        (d, g, reference[d, g]) for d in range(40) for g in range(30) if reference[d, g] >= 0.05
    ]
    for block in (1, 7, 1 << 17):
        monkeypatch.setattr(boxes, "PAIRS_AT_ONCE", block)
        assert all_pairs(found.tolist(), truths.tolist(), crowd.tolist(), 0.05) == expected
    for d, g, value in expected:
        assert iou(tuple(found[d]), tuple(truths[g]), bool(crowd[g])) == value
