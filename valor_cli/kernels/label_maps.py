"""Pixels of two label maps in; how often each label met each other out."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

IGNORED: Final = -1
"""Code of pixel values that leave both sides, of ground truth alone."""

UNKNOWN: Final = -2
"""Code of pixel values that are no label: an error where a pixel has one."""


class RawPair(NamedTuple):
    """The label maps of one image, as stored, and what their values mean.

    Codes are 0 … labels - 1 for labels; `labels` for no label (an excluded background, a value
    that a prediction leaves open); `IGNORED`; `UNKNOWN`.

    Attributes:
        truth, prediction: (height, width) uint8, uint16 or uint32 values.
        truth_codes, prediction_codes: (values,) code of each value; 256 for uint8, 65,536 for
            uint16, for uint32 as many as needed.
    """

    truth: NDArray[np.unsignedinteger]
    prediction: NDArray[np.unsignedinteger]
    truth_codes: NDArray[np.int32]
    prediction_codes: NDArray[np.int32]
