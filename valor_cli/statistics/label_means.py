"""Means over labels at a resample, over the labels that all data have.

Labels that few units hold are missing from many resamples. Were they left out there, the value
would be the mean of other labels than the one it belongs to: where the rare labels are the worst,
or the best, resamples would lie to one side of it. So a label without ground truth in a resample
takes no part in how far the resample is from the value: it stands there with what it has in all
data.
"""

from __future__ import annotations

import numpy as np

from valor_cli.results import LabelMean


def held_mean(value: float | None, labels: LabelMean | None, whole: LabelMean | None) -> float:
    """The value of a resample, over the labels of all data; NaN where it has no label.

    Args:
        value: What the metric finds in the resample alone.
        labels: What that is the mean of.
        whole: Likewise of all data; None: the value is no mean over labels.
    """
    if whole is None or value is None or labels is None:
        return np.nan if value is None else value
    wanted = ~np.isnan(whole.values)
    if labels.present[wanted].all():
        return value
    if not labels.present.any():
        return np.nan
    return float(np.where(labels.present, labels.values, whole.values)[wanted].mean())
