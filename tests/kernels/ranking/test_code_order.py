"""Order of codes against a plain sort, on both sides of every width."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.kernels.columns.grouping import order_of_codes


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 100_000])
def test_equal_codes_keep_their_order(count: int) -> None:
    code = np.random.default_rng(count).integers(0, count, 500)
    code[:2] = count - 1, 0
    expected = sorted(range(500), key=lambda at: (code[at], at))
    assert order_of_codes(code, count).tolist() == expected


def test_no_codes() -> None:
    assert order_of_codes(np.zeros(0, np.int64), 0).tolist() == []
