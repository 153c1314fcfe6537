"""Count the boundary pixels of each label in two label maps, and their overlap.

The boundary of a mask is what erosion by a square of 2d + 1 pixels removes (Cheng et al., Boundary
IoU, CVPR 2021): the pixels whose square contains anything else or extends beyond the image.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import summed
from valor_cli.kernels.geometry.label_maps import RawPair, value_meetings

Codes = NDArray[np.unsignedinteger[Any]]


class BoundaryCounts(NamedTuple):
    """(labels,) boundary pixel counts.

    Attributes:
        truth, prediction: On one side.
        both: On both sides.
    """

    truth: NDArray[np.int64]
    prediction: NDArray[np.int64]
    both: NDArray[np.int64]


def count_boundaries(pair: RawPair, label_count: int, dilation_ratio: float) -> BoundaryCounts:
    """Count the boundary pixels of all labels in an image.

    Ignored pixels are like what lies beyond the image: on no side, and labels end there.

    Args:
        pair: Label maps without values that are no label.
        label_count: How many labels there are.
        dilation_ratio: How far boundaries reach, as a part of the image's diagonal; 1 pixel at
            least.
    """
    height, width = pair.truth.shape
    reach = max(1, round(dilation_ratio * math.sqrt(height * height + width * width)))
    truth = _recoded(pair.truth, pair.truth_codes, label_count)
    prediction = _recoded(pair.prediction, pair.prediction_codes, label_count)
    prediction *= truth != 0
    met = value_meetings(_without_interior(truth, reach), _without_interior(prediction, reach))
    shared = np.where(met.truth == met.prediction, met.pixels, 0)
    sides = ((met.truth, met.pixels), (met.prediction, met.pixels), (met.truth, shared))
    return BoundaryCounts(
        *(summed(label, pixels, label_count + 2)[1:-1] for label, pixels in sides)
    )


def _recoded(
    values: NDArray[np.unsignedinteger], codes: NDArray[np.int32], label_count: int
) -> Codes:
    """0 for ignored pixels, else the code of a label or of none + 1; in as few bytes as hold it."""
    # What a prediction leaves open is no label, as the background is.
    table = np.clip(codes + 1, 0, label_count + 1).astype(np.min_scalar_type(label_count + 1))
    return np.asarray(table.take(values))


def _without_interior(labels: Codes, reach: int) -> Codes:
    """The same, with 0 for pixels whose square is of one label.

    A square is of one label where its least and its greatest label are the same: one pass
    for all labels.
    """
    size = 2 * reach + 1
    rest = labels.copy()
    if min(labels.shape) >= size:
        low, high = _over_squares(labels, size, np.minimum), _over_squares(labels, size, np.maximum)
        rest[reach:-reach, reach:-reach] *= low != high
    return rest


def _over_squares(labels: Codes, size: int, extreme: np.ufunc) -> Codes:
    """(height - size + 1, width - size + 1) the extreme of each square inside the image."""
    return _over_spans(_over_spans(labels, size, extreme).T, size, extreme).T


def _over_spans(labels: Codes, size: int, extreme: np.ufunc) -> Codes:
    """The extreme of each `size` rows that follow one another, by spans of doubled length."""
    span = 1
    while 2 * span <= size:
        labels = extreme(labels[:-span], labels[span:])
        span *= 2
    rest = size - span
    return labels if not rest else np.asarray(extreme(labels[:-rest], labels[rest:]))
