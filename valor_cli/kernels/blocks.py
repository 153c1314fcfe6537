"""Work per row in, ranges of rows that are worked on together out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def blocks(work: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Consecutive ranges of rows, each of at most so much work, or of a single row with more.

    Args:
        work: (n,) how much each row is.
        most: What a range may hold, so that its columns stay in the processor's cache.
    """
    ends = np.cumsum(work)
    begin = 0
    while begin < len(work):
        done = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, done + most, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end
