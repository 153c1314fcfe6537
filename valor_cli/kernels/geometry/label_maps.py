"""Count how often pairs of labels meet in two label maps, and the boundary pixels of each.

The boundary of a mask is what erosion by a square of 2d + 1 pixels removes (Cheng et al., Boundary
IoU, CVPR 2021): the pixels whose square contains anything else or extends beyond the image.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import grouped, summed

Ints = NDArray[np.int64]

IGNORED: Final = -1
"""Code of pixel values that leave both sides, of ground truth alone."""

UNKNOWN: Final = -2
"""Code of pixel values that are no label: an error where a pixel has one."""

_BYTES: Final = 256
"""Values of a byte."""


class RawPair(NamedTuple):
    """The stored label maps of one image, and the meaning of their values.

    Codes are 0 … labels - 1 for labels; `labels` for an excluded background; `labels + 1` for a
    value that a prediction leaves open; `IGNORED`; `UNKNOWN`.

    Attributes:
        truth, prediction: (height, width) uint8, uint16 or uint32 values.
        truth_codes, prediction_codes: (values,) code of each value; 256 for uint8, 65,536 for
            uint16, for uint32 as many as needed.
    """

    truth: NDArray[np.unsignedinteger]
    prediction: NDArray[np.unsignedinteger]
    truth_codes: NDArray[np.int32]
    prediction_codes: NDArray[np.int32]


class LabelPairCounts(NamedTuple):
    """(m,) columns: true code, predicted code, and number of pixels.

    Attributes:
        truth, prediction: Values or codes of the two sides.
        pixels: How many pixels have both.
    """

    truth: NDArray[Any]
    prediction: NDArray[Any]
    pixels: Ints


def count_pixels(pair: RawPair) -> LabelPairCounts:
    """Number of pixels by pair of codes, sorted, without ignored pixels.

    The code of a value that is no label stays: `unexpected_values` tells which values these are.
    """
    found = _code_meetings(pair)
    judged = found.truth != IGNORED
    return LabelPairCounts(*(column[judged] for column in found))


def _code_meetings(pair: RawPair) -> LabelPairCounts:
    """How many pixels have each pair of codes; distinct pairs, ascending."""
    bytewise = pair.truth.dtype == pair.prediction.dtype == np.uint8
    codes = pair.truth_codes[:_BYTES], pair.prediction_codes[:_BYTES]
    # Where not all values are possible, not all may have codes.
    complete = all(len(side) == _BYTES for side in codes)
    if engine.compiled is not None and bytewise and complete:
        maps = pair.truth.ravel(), pair.prediction.ravel()
        return _columns(engine.compiled.meetings(*maps, *codes))
    met = value_meetings(pair.truth, pair.prediction)
    return _summed(pair.truth_codes[met.truth], pair.prediction_codes[met.prediction], met.pixels)


def _columns(found: bytes) -> LabelPairCounts:
    return LabelPairCounts(*np.frombuffer(found, np.int64).reshape(3, -1))


def value_meetings(
    truth: NDArray[np.unsignedinteger], prediction: NDArray[np.unsignedinteger]
) -> LabelPairCounts:
    """Number of pixels with each pair of values; a pair may have several rows.

    Label maps are flat: neighbours mostly have the same pair, and runs of them are counted.
    """
    truth, prediction = truth.ravel(), prediction.ravel()
    bytewise = truth.dtype == prediction.dtype == np.uint8
    if engine.compiled is not None and bytewise:
        none = np.zeros(0, np.int32)
        return _columns(engine.compiled.meetings(truth, prediction, none, none))
    last = np.ones(len(truth), np.bool_)
    last[:-1] = (truth[1:] != truth[:-1]) | (prediction[1:] != prediction[:-1])
    end = np.flatnonzero(last)
    return LabelPairCounts(truth[end], prediction[end], np.diff(end, prepend=-1))


class UnexpectedValue(NamedTuple):
    """A pixel value that is not a label, its side, and its pixel count."""

    in_truth: bool
    value: int
    pixels: int


def unexpected_values(pair: RawPair) -> list[UnexpectedValue]:
    """Pixel values that are not labels: ground truth first, ascending.

    What a prediction has where the ground truth is ignored may be anything.
    """
    met = value_meetings(pair.truth, pair.prediction)
    truth, prediction = pair.truth_codes[met.truth], pair.prediction_codes[met.prediction]
    sides = (
        (True, met.truth, truth == UNKNOWN),
        (False, met.prediction, (prediction == UNKNOWN) & (truth != IGNORED)),
    )
    found: list[UnexpectedValue] = []
    for in_truth, value, unexpected in sides:
        first, pixels = _totals(value[unexpected].astype(np.int64), met.pixels[unexpected])
        values = value[unexpected][first]
        rows = zip(values.tolist(), pixels.tolist(), strict=True)
        found += [UnexpectedValue(in_truth, *row) for row in rows]
    return found


def _summed(
    truth: NDArray[np.int32], prediction: NDArray[np.int32], pixels: Ints
) -> LabelPairCounts:
    """The same meetings, each pair of codes once, ascending."""
    width = int(prediction.max(initial=UNKNOWN)) - UNKNOWN + 1
    cell = (truth.astype(np.int64) - UNKNOWN) * width + (prediction - UNKNOWN)
    first, total = _totals(cell, pixels)
    rows, columns = np.divmod(cell[first], width)
    return LabelPairCounts(rows + UNKNOWN, columns + UNKNOWN, total)


def _totals(group: Ints, pixels: Ints) -> tuple[Ints, Ints]:
    """Of each group, ascending: a row of it, and all its pixels."""
    order, starts = grouped(group)
    return order[starts[:-1]], np.add.reduceat(np.append(pixels[order], 0), starts)[:-1]


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
