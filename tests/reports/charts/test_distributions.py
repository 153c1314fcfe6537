"""Histograms: bins worked by hand, edges, against numpy, the threshold."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from valor_cli.reports.charts.distributions import BINS, Values, binned, histogram


def test_bins_worked_by_hand() -> None:
    found = binned([Values(0, (0.0, 0.05, 0.049, 0.5, 1.0))], fraction=True)
    assert len(found.edges) == BINS + 1
    # 0.05 begins the second bin, and 1 belongs to the last
    assert [(at, n) for at, n in enumerate(found.counts[0]) if n] == [
        (0, 2),
        (1, 1),
        (10, 1),
        (19, 1),
    ]


def test_edges_belong_to_the_bin_they_begin() -> None:
    values = [i / 20 for i in range(20)]  # 0.15 / 0.05 is 2.9999999999999996
    assert binned([Values(0, values)], fraction=True).counts[0] == (1,) * 20


@pytest.mark.parametrize("seed", range(5))
def test_against_numpy(seed: int) -> None:
    dice = random.Random(seed)
    values = [dice.random() for _ in range(500)]
    counts = np.histogram(values, bins=BINS, range=(0, 1))[0]
    assert binned([Values(0, values)], fraction=True).counts[0] == tuple(counts)


def test_other_values_have_round_bins_that_hold_all() -> None:
    found = binned([Values(0, (-3, 5, 17)), Values(1, (40,))], fraction=False)
    # 43 in 20 parts: steps of 5, from -5 to 40
    assert found.edges == tuple(range(-5, 41, 5))
    assert [sum(row) for row in found.counts] == [3, 1]
    alone = binned([Values(0, (7, 7))], fraction=False)
    assert sum(alone.counts[0]) == 2
    assert alone.edges[0] <= 7 <= alone.edges[-1]


def test_the_threshold_is_marked_and_told() -> None:
    shown = [Values(0, (0.1, 0.2, 0.9))]
    drawn = histogram(shown, ("m",), name="f1", threshold=0.5)
    (x,) = re.findall(r'<path class="limit" d="M([\d.]+) ', drawn.svg)
    assert float(x) == 34 + 338 / 2
    assert drawn.told == "m: n 3, median 0.200, 2 below 0.5"
    assert 'class="limit"' not in histogram(shown, ("m",), name="f1", threshold=3).svg


def test_one_sample_among_thousands_is_seen() -> None:
    drawn = histogram([Values(0, [0.1] * 10_000 + [0.9])], ("m",), name="f1")
    heights = [float(h) for h in re.findall(r'<rect class="m0".*?height="([\d.]+)"', drawn.svg)]
    assert heights == [48.0, 0.8]


def test_no_values_are_said() -> None:
    drawn = histogram([Values(0, ())], ("m",), name="f1")
    assert drawn.told == "m: no values"
    assert "<rect" not in drawn.svg
