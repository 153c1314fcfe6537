"""Running sums and maxima of runs, against a loop over each."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking.runs import WIDTH, Runs

LENGTHS = st.lists(st.sampled_from([1, 2, 7, 8, 9, 15, 16, 63, 64, 65, 200, 600]), max_size=6)


def laid_out(runs: Runs, numbers: np.ndarray) -> np.ndarray:
    """(8, columns, lanes) of (n, lanes)."""
    return np.asarray(numbers[runs.element])


def test_slots_by_hand() -> None:
    # A run of ten fills a column and two slots of the next; a run of one stands in the third.
    runs = Runs.of(np.array([10, 1]))
    assert runs.element[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert runs.element[:, 1].tolist() == [8, 9, 9, 9, 9, 9, 9, 9]
    assert runs.element[:, 2].tolist() == [10] * WIDTH
    assert runs.padding.sum() == 6 + 7
    assert runs.run.tolist() == [0, 0, 1]
    assert runs.first.tolist() == [0, 2]
    assert runs.slots().tolist() == [0, 3, 6, 9, 12, 15, 18, 21, 1, 4, 2]


@given(lengths=LENGTHS, seed=st.integers(0, 100))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_sums_and_maxima_equal_those_of_each_run(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = Runs.of(np.array(lengths, np.int64))
    whole = rng.integers(0, 5, (sum(lengths), 3))
    sums = np.where(runs.padding[..., None], 0, laid_out(runs, whole))
    runs.add_up(sums)
    real = rng.random((sum(lengths), 3))
    best = laid_out(runs, real)
    runs.best_from(best)
    slots, begin = runs.slots(), 0
    for length in lengths:
        mine = slice(begin, begin + length)
        at = slots[mine]
        assert np.array_equal(sums.reshape(-1, 3)[at], whole[mine].cumsum(axis=0))
        last_first = np.maximum.accumulate(real[mine][::-1])
        assert np.array_equal(best.reshape(-1, 3)[at], last_first[::-1])
        begin += length
