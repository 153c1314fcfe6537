"""The nearest vectors, against a loop over all pairs, whole and in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.evaluators.embedding import sentence_pairs as nearest
from valor_cli.evaluators.embedding.sentence_pairs import nearest_of_each
from valor_cli.kernels.vectors.cosines import units


@pytest.mark.parametrize("at_once", [4_000_000, 20, 1])
def test_against_loops(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "AT_ONCE", at_once)
    rng = np.random.default_rng(at_once)
    ones, others = units(rng.normal(size=(7, 5))), units(rng.normal(size=(9, 5)))
    starts = np.array([0, 1, 5, 6])
    found = nearest_of_each(ones, others, starts)
    parts = [others[0:1], others[1:5], others[5:6], others[6:]]
    expected = [[max(float(one @ other) for other in part) for part in parts] for one in ones]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_by_hand() -> None:
    # (1, 0) with (0.6, 0.8) is 0.6, with (0, 1) is 0, with (-1, 0) is -1; zeros are like nothing.
    ones = np.array([[1.0, 0.0], [0.0, 0.0]])
    others = np.array([[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
    found = nearest_of_each(ones, others, np.array([0, 2]))
    assert found.tolist() == [[0.6, -1.0], [0.0, 0.0]]
