"""Precision, recall and F1 from the sizes of two sets and of their overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import quotient

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class OverlapRates(NamedTuple):
    """Rates of text pairs: (p,) each, from 0 to 1."""

    f1: Floats
    precision: Floats
    recall: Floats


def overlap_rates(hits: Ints, hypothesis: Ints, reference: Ints) -> OverlapRates:
    """Precision, recall and F1; 0 where a side is empty, as in rouge-score.

    Args:
        hits: (p,) what both sides have.
        hypothesis, reference: (p,) what each side has.
    """
    precision, recall = quotient(hits, hypothesis, 0), quotient(hits, reference, 0)
    return OverlapRates(quotient(2 * precision * recall, precision + recall, 0), precision, recall)
