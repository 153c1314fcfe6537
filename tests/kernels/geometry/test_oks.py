"""Object keypoint similarity: by hand, and one pair at a time as the reference writes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.geometry import oks
from valor_cli.kernels.geometry.oks import Poses, similar_poses, similarities


def one_pair(
    points: np.ndarray, truth: np.ndarray, box: np.ndarray, area: float, sigmas: np.ndarray
) -> float:
    """The similarity of one pair, as COCOeval.computeOks has it."""
    visible = truth[:, 2] > 0
    if visible.any():
        dx, dy = points[:, 0] - truth[:, 0], points[:, 1] - truth[:, 1]
    else:
        zero = np.zeros(len(points))
        x0, x1 = box[0] - box[2], box[0] + box[2] * 2
        y0, y1 = box[1] - box[3], box[1] + box[3] * 2
        x, y = points[:, 0], points[:, 1]
        dx = np.max((zero, x0 - x), axis=0) + np.max((zero, x - x1), axis=0)
        dy = np.max((zero, y0 - y), axis=0) + np.max((zero, y - y1), axis=0)
    e = (dx**2 + dy**2) / (sigmas * 2) ** 2 / (area + np.spacing(1)) / 2
    if visible.any():
        e = e[visible]
    return float(np.sum(np.exp(-e)) / e.shape[0])


def random_poses(seed: int, count: int, keypoints: int) -> Poses:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 100, (count, keypoints, 3))
    # From objects that show nothing to those that show all.
    points[:, :, 2] = rng.random((count, keypoints)) < rng.random((count, 1)) * 1.4 - 0.2
    box = rng.uniform(1, 60, (count, 4))
    return Poses(points, box, box[:, 2] * box[:, 3] * (rng.random(count) > 0.1))


@given(seed=st.integers(0, 10_000), keypoints=st.integers(1, 40))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_every_pair_has_the_bits_of_the_reference(seed: int, keypoints: int) -> None:
    truths = random_poses(seed, 30, keypoints)
    rng = np.random.default_rng(seed)
    points = truths.points[:, :, :2] + rng.normal(0, 8, (30, keypoints, 2)) * rng.random((30, 1, 1))
    sigmas = rng.uniform(0.01, 0.5, keypoints)
    expected = [
        one_pair(points[at], truths.points[at], truths.box[at], truths.area[at], sigmas)
        for at in range(30)
    ]
    assert similarities(points, truths, sigmas).tolist() == expected


def test_pairs_are_those_of_the_ranges_from_the_least_on(monkeypatch: pytest.MonkeyPatch) -> None:
    truths = random_poses(1, 12, 3)
    points = np.repeat(truths.points[:3, :, :2], 2, axis=0) + 1
    sigmas = np.full(3, 0.3)
    first, count = np.array([0, 0, 4, 11, 12, 2]), np.array([4, 0, 5, 1, 0, 10])
    expected = []
    for d in range(6):
        for g in range(first[d], first[d] + count[d]):
            alike = one_pair(points[d], truths.points[g], truths.box[g], truths.area[g], sigmas)
            if alike >= 0.2:
                expected.append((d, g, alike))
    assert 0 < len(expected) < count.sum()
    for most in (oks.PAIRS_AT_ONCE, 3):
        monkeypatch.setattr(oks, "PAIRS_AT_ONCE", most)
        found = similar_poses(points, truths, sigmas, first, count, 0.2)
        columns = [found.detection.tolist(), found.ground_truth.tolist(), found.iou.tolist()]
        assert list(zip(*columns, strict=True)) == expected


def test_by_hand() -> None:
    # sigma 0.5, so (2 sigma)² = 1; area 8. The first keypoint is off by 4: exp(-16 / 8 / 2) = 1/e.
    # The second is exact: 1. The third is not visible.
    truth = np.array([[[0.0, 0, 2], [9, 9, 1], [0, 0, 0]]])
    points = np.array([[[4.0, 0], [9, 9], [500, 500]]])
    poses = Poses(truth, np.array([[0.0, 0, 10, 10]]), np.array([8.0]))
    found = similarities(points, poses, np.full(3, 0.5))
    assert found[0] == pytest.approx((np.exp(-1) + 1) / 2, abs=1e-15)
    # Nothing visible: the box doubled to each side is -10 to 20. Beyond it by 4 in y, and by 480
    # in both; inside, all is well.
    poses = poses._replace(points=np.zeros((1, 3, 3)))
    points = np.array([[[-10.0, 24], [20, 20], [500, 500]]])
    found = similarities(points, poses, np.full(3, 0.5))
    assert found[0] == pytest.approx((np.exp(-1) + 1 + 0) / 3, abs=1e-15)


def test_what_is_too_far_for_numbers_is_not_similar() -> None:
    poses = Poses(np.ones((1, 1, 3)), np.ones((1, 4)), np.zeros(1))
    assert similarities(np.array([[[1e300, 1e300]]]), poses, np.ones(1)).tolist() == [0.0]
