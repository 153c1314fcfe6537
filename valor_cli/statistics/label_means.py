"""Means over labels at resamples that do not hold all labels.

Labels that few units hold are missing from many resamples, whose value then is the mean of other
labels than that of all data: where the rare labels are the worst, or the best, resamples lie to one
side of it. What that shifts resamples by on average is taken off them. How far they lie apart stays
as it is: to fill in the missing labels would let a label of one image pass for one without doubt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import LabelMean


def held_mean(value: float | None, labels: LabelMean | None, whole: LabelMean | None) -> complex:
    """The value of a resample; as its imaginary part, what missing labels shift it by.

    A missing label takes no part in the shift but for being missing: it is the difference to the
    mean in which it has what all data have.

    Args:
        value: What the metric finds in the resample; None: nothing.
        labels: What that is the mean of.
        whole: Likewise of all data; None: the value is no mean over labels.
    """
    if value is None or (labels is not None and not labels.present.any()):
        return complex(np.nan)
    if whole is None or labels is None:
        return complex(value)
    wanted = ~np.isnan(whole.values)
    if labels.present[wanted].all():
        return complex(value)
    held = np.where(labels.present, labels.values, whole.values)[wanted].mean()
    return complex(value, value - float(held))


def centred(resampled: NDArray[Any], bounds: tuple[float, float | None]) -> NDArray[np.float64]:
    """(resamples,) values less what missing labels shift them by on average, within their bounds.

    Args:
        resampled: (resamples,) from `held_mean`; NaN for no value.
        bounds: The lowest and the highest value; None: there is no highest.
    """
    values = np.ascontiguousarray(resampled.real, np.float64)
    shifts = np.imag(resampled)[~np.isnan(values)]
    if not shifts.any():
        return values
    return np.asarray(np.clip(values - shifts.mean(), *bounds))
