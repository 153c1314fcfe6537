"""Merging runs gives what sorting all rows gives."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.evaluators.detection.evidence.shards import places_of_runs
from valor_cli.kernels.columns.grouping import ranked


def test_worked_by_hand() -> None:
    # Part 0: label 0 scores .9 .5, label 2 score .1; part 1: label 0 scores .9 .7, label 2 .1.
    labels = [np.array([0, 0, 2]), np.array([0, 0, 2])]
    scores = [np.array([0.9, 0.5, 0.1]), np.array([0.9, 0.7, 0.1])]
    # The tie at .9 and that at .1 go to the first part: .9 .9 .7 .5, then .1 .1.
    assert places_of_runs(labels, scores, 3).tolist() == [0, 3, 4, 1, 2, 5]


def test_nothing() -> None:
    none = np.zeros(0, np.int64)
    assert places_of_runs([none, none], [np.zeros(0), np.zeros(0)], 2).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_as_sorting_all_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    labels, scores, images = [], [], []
    for part in range(int(rng.integers(1, 8))):
        n = int(rng.integers(0, 40))
        label = rng.integers(0, count, n)
        score = rng.integers(-3, 4, n) / 4.0
        # Images of a part lie behind those of the parts before it.
        image = part * 10 + rng.integers(0, 10, n)
        order = ranked(label, score, image)
        labels.append(label[order])
        scores.append(score[order])
        images.append(image[order])
    found = places_of_runs(labels, scores, count)
    whole = ranked(np.concatenate(labels), np.concatenate(scores), np.concatenate(images))
    assert found[whole].tolist() == list(range(len(whole)))
