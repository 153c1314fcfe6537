"""A value of each image in; their mean out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import MetricValue


def mean_over_images(
    output: str, column: NDArray[np.float64], weights: NDArray[np.int64]
) -> MetricValue:
    """Over images where it is defined, as often as each counts.

    Args:
        output: The output that it is.
        column: (units,) the values; NaN where an image has none.
        weights: (units,) how often each image counts.
    """
    defined = ~np.isnan(column)
    counted = weights[defined]
    if not counted.sum():
        return MetricValue(None, "no image has one", output, n=0)
    mean = float(np.average(column[defined], weights=counted))
    return MetricValue(mean, output=output, n=int(counted.sum()))
