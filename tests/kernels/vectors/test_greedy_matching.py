"""Greedy matching by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from valor_cli.kernels.vectors.cosines import units
from valor_cli.kernels.vectors.greedy_matching import (
    DocumentFrequencies,
    best_matches,
    harmonic_mean,
    weighted_mean,
)


def test_best_matches() -> None:
    ones = np.array([[1.0, 0.0], [0.0, 1.0]])
    others = np.array([[0.6, 0.8], [-1.0, 0.0], [0.8, 0.6]])
    of_ones, of_others = best_matches(ones, others)
    assert of_ones == pytest.approx([0.8, 0.8])
    assert of_others == pytest.approx([0.8, 0.0, 0.8])


@pytest.mark.parametrize(("m", "n"), [(1, 1), (40, 40), (41, 700), (3, 2000), (300, 300)])
def test_in_parts(m: int, n: int) -> None:
    rng = np.random.default_rng(m)
    ones, others = (units(rng.normal(size=(count, 384))) for count in (m, n))
    of_ones, of_others = best_matches(ones, others)
    alike = ones @ others.T
    assert of_ones == pytest.approx(alike.max(axis=1), abs=1e-12)
    assert of_others == pytest.approx(alike.max(axis=0), abs=1e-12)


def test_a_text_without_tokens() -> None:
    of_ones, of_others = best_matches(np.empty((0, 2)), np.array([[1.0, 0.0]]))
    assert (of_ones.tolist(), of_others.tolist()) == ([], [-1.0])
    assert weighted_mean(of_ones, np.empty(0)) is None


def test_weighted_mean() -> None:
    assert weighted_mean(np.array([1.0, 0.5, 0.9]), np.array([1.0, 3.0, 0.0])) == 0.625
    assert weighted_mean(np.array([1.0, 0.5]), np.zeros(2)) is None


@pytest.mark.parametrize(
    ("one", "other", "mean"),
    [(0.5, 1.0, 2 / 3), (0.0, 1.0, 0.0), (-0.1, 0.2, 0.0), (-0.5, -1.0, -2 / 3), (0, 0, 0.0)],
)
def test_harmonic_mean(one: float, other: float, mean: float) -> None:
    assert harmonic_mean(one, other) == pytest.approx(mean, abs=1e-15)


def test_document_frequencies() -> None:
    # Token 5 stands in two of three texts, however often; 7 in one, 9 in none, 1 in all.
    texts = [np.array(ids) for ids in ([1, 5, 5], [1, 5, 7], [1])]
    found = DocumentFrequencies(texts).inverse(np.array([5, 7, 9, 1, 5]))
    expected = [log(4 / 3), log(4 / 2), log(4 / 1), 0.0, log(4 / 3)]
    assert found == pytest.approx(expected, abs=1e-12)
