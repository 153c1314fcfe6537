"""Count how often each pair of labels meets in two label maps."""

from __future__ import annotations

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

SHORTEST_RUNS: Final = 8
"""Pixels that runs have on average at least, to be cheaper than single pixels."""

_BYTES: Final = 256
"""Values of a byte."""

DENSE_TALLY: Final = 1 << 16
"""Cells that a table of pairs may have, however few pairs there are, before sorting is cheaper."""


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

    Label maps are flat: neighbours mostly have the same pair. Counting runs of equal neighbours
    takes a third of the time of counting all pixels; in noise every pixel counts alone.
    """
    truth, prediction = truth.ravel(), prediction.ravel()
    bytewise = truth.dtype == prediction.dtype == np.uint8
    if engine.compiled is not None and bytewise:
        none = np.zeros(0, np.int32)
        return _columns(engine.compiled.meetings(truth, prediction, none, none))
    last = np.ones(len(truth), np.bool_)
    np.not_equal(truth[1:], truth[:-1], out=last[:-1])
    last[:-1] |= prediction[1:] != prediction[:-1]
    pixels = None
    if np.count_nonzero(last) * SHORTEST_RUNS <= len(truth):
        end = np.flatnonzero(last)
        truth, prediction, pixels = truth[end], prediction[end], np.diff(end, prepend=-1)
    return LabelPairCounts(
        truth, prediction, np.ones(len(truth), np.int64) if pixels is None else pixels
    )


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
        order, starts = grouped(value[unexpected].astype(np.int64))
        pixels = np.add.reduceat(np.append(met.pixels[unexpected][order], 0), starts)[:-1]
        values = value[unexpected][order[starts[:-1]]]
        rows = zip(values.tolist(), pixels.tolist(), strict=True)
        found += [UnexpectedValue(in_truth, *row) for row in rows]
    return found


def _summed(
    truth: NDArray[np.int32], prediction: NDArray[np.int32], pixels: Ints
) -> LabelPairCounts:
    """The same meetings, each pair of codes once, ascending."""
    rows, row = _present(truth)
    columns, column = _present(prediction)
    cell = row * len(columns) + column
    cells = len(rows) * len(columns)
    if cells <= max(DENSE_TALLY, len(cell)):
        total = summed(cell, pixels, cells)
        seen = np.flatnonzero(total > 0)
        total = total[seen]
    else:
        order, starts = grouped(cell)
        seen = cell[order[starts[:-1]]]
        total = np.add.reduceat(pixels[order], starts[:-1])
    return LabelPairCounts(rows[seen // len(columns)], columns[seen % len(columns)], total)


def _present(codes: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The codes that occur, ascending, and the place of each code among them."""
    shifted = codes.astype(np.int64) - UNKNOWN
    seen = np.bincount(shifted) > 0
    return np.flatnonzero(seen) + UNKNOWN, (np.cumsum(seen) - 1)[shifted]
