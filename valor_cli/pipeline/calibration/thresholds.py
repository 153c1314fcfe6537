"""The threshold of a judge's value that agrees best with human labels."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.statistics.agreement import LEVEL, RESAMPLES, SEED, cohen_kappa, confusion
from valor_cli.statistics.bootstrap import percentile_intervals, resample_weights

Floats = NDArray[np.float64]

_SAME = 1e-12
"""Kappas that differ by less are equal."""


class Best(Struct, frozen=True):
    """A threshold, its interval, or why there is none."""

    threshold: float | None
    interval: tuple[float, float] | None
    undefined: str | None


def best_threshold(values: Floats, above: NDArray[np.bool_], usual: float | None) -> Best:
    """The threshold with the largest Cohen's kappa.

    Thresholds between two values that follow each other are alike: the middle stands for them, or
    the usual one where it lies there. Of those with the same kappa the nearest to the usual one
    is taken, else the lowest.

    Args:
        values: (n,) what the judge found.
        above: (n,) whether people say that it should be at the threshold or above.
        usual: The threshold that is in use.
    """
    levels, group = np.unique(values, return_inverse=True)
    if len(levels) < 2:
        return Best(None, None, "the judge gives all samples one value" if len(levels) else _NO)
    if above.all() or not above.any():
        return Best(None, None, "the human labels are all on one side")
    low, high = levels[:-1], levels[1:]
    cuts = (low + high) / 2
    if usual is not None:
        cuts = np.where((low < usual) & (usual <= high), usual, cuts)
    order = np.argsort(np.abs(cuts - (cuts[0] if usual is None else usual)), kind="stable")
    found = np.full((RESAMPLES, 1), np.nan)
    for number in range(RESAMPLES):
        weights = resample_weights(len(values), SEED, number)
        found[number] = _best(cuts, order, group, above, weights)
    best = _best(cuts, order, group, above, np.ones(len(values), np.int64))
    return Best(float(best), percentile_intervals(found, LEVEL)[0], None)


_NO = "no sample has a human label and a judge's value"


def _best(
    cuts: Floats,
    order: NDArray[np.intp],
    group: NDArray[np.intp],
    above: NDArray[np.bool_],
    weights: NDArray[np.int64],
) -> float:
    """The first cut in an order that has the largest kappa; NaN if no kappa is defined."""
    size = len(cuts) + 1
    yes = np.bincount(group, weights * above, size)
    no = np.bincount(group, weights * ~above, size)
    # At a cut and above it: what people say is above, and what is not.
    hit, extra = (np.cumsum(one[::-1])[::-1][1:] for one in (yes, no))
    missed, rest = yes.sum() - hit, no.sum() - extra
    chance = (hit + extra) * (extra + rest) + (hit + missed) * (missed + rest)
    kappas = np.full(len(cuts), np.nan)
    np.divide(2 * (hit * rest - missed * extra), chance, out=kappas, where=chance > 0)
    if np.isnan(kappas).all() or not yes.sum() or not no.sum():
        return float("nan")
    ordered = kappas[order]
    first = int(np.argmax(ordered >= np.nanmax(kappas) - _SAME))
    return float(cuts[order[first]])


def at_threshold(
    values: Floats, above: NDArray[np.bool_], threshold: float | None
) -> tuple[float | None, float | None]:
    """Kappa and share of agreement at a threshold; None without one."""
    if threshold is None or not len(values):
        return None, None
    passed = values >= threshold
    matrix = confusion(above.astype(np.int64), passed.astype(np.int64), 2)
    return cohen_kappa(matrix), float((passed == above).mean())
