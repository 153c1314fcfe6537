"""Differences at resamples in; the p-value that sacrebleu gives them out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sacrebleu_p(differences: NDArray[np.float64], observed: float) -> float | None:
    """The p-value of `sacrebleu.significance.PairedTest` with `bs`.

    It takes absolute differences first, and then moves their mean to 0: a clear difference has the
    p-value of a one-sided test, half that of a two-sided one. At p < 0.05 it tells one pair of
    equal models in ten apart, not one in twenty, and a model from itself.

    Args:
        differences: (resamples,) of the same draws for both systems; NaN where one has none.
        observed: That of all texts.
    """
    known = np.abs(differences[~np.isnan(differences)])
    if not len(known):
        return None
    further = int((known - known.mean() > abs(observed)).sum())
    return (further + 1) / (len(known) + 1)
