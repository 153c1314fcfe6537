"""Correct means over labels in resamples that miss some labels.

A label with few units is missing from many resamples. Their mean is then over other labels than
that of all data, and is shifted: up where the missing labels are the worst, down where they are
the best. The average of these shifts over all resamples is subtracted from each of them. Their
spread is kept: filling in the missing labels would make the value of a label with one image look
certain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import LabelMean, Resampled

Floats = NDArray[np.float64]


def unshifted(values: NDArray[np.float64] | NDArray[np.int64]) -> Resampled:
    """(resamples, values) without correction: not means over labels, or no labels missing."""
    return Resampled(np.asarray(values, np.float64), np.zeros(values.shape))


def joined(blocks: Sequence[Resampled], axis: int) -> Resampled:
    """Concatenate resamples (axis 0) or values (axis 1)."""
    return Resampled(*(np.concatenate(both, axis) for both in zip(*blocks, strict=True)))


def value_and_shift(
    value: float | None, labels: LabelMean | None, whole: LabelMean | None
) -> tuple[float, float]:
    """The value of a resample, NaN if undefined, and the shift due to missing labels.

    That is the difference to the mean in which a missing label has the value it has in all data.

    Args:
        value: What the metric finds in the resample; None: nothing.
        labels: What that is the mean of.
        whole: Likewise of all data; None: the value is no mean over labels.
    """
    if value is None or (labels is not None and not labels.present.any()):
        return np.nan, 0.0
    if whole is None or labels is None:
        return value, 0.0
    wanted = ~np.isnan(whole.values)
    if labels.present[wanted].all():
        return value, 0.0
    filled = np.where(labels.present, labels.values, whole.values)[wanted].mean()
    return value, value - float(filled)


def centred(found: Resampled, bounds: Sequence[tuple[float, float | None]]) -> Floats:
    """(values, resamples) minus the average shift of each value, clipped to its bounds.

    Args:
        found: Of all resamples.
        bounds: Of each value the lowest and the highest; None: there is no highest.
    """
    columns = np.ascontiguousarray(found.values.T)
    for column, shifts, limits in zip(columns, found.shifts.T, bounds, strict=True):
        known = shifts[~np.isnan(column)]
        if known.any():
            column[:] = np.clip(column - known.mean(), *limits)
    return columns
