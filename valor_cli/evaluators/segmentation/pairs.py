"""Files of both sides in; the label maps of one sample, as they are needed, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.kernels.label_maps import RawPair
from valor_cli.readers.label_maps import LabelMap


@dataclass(frozen=True, slots=True)
class PairReader:
    """Reads the label maps of a sample.

    Attributes:
        truths, predictions: By name of the sample.
        truth_codes, prediction_codes: As `RawPair` has them, for the largest values that a file
            may have.
    """

    truths: Mapping[str, LabelMap]
    predictions: Mapping[str, LabelMap]
    truth_codes: NDArray[np.int32]
    prediction_codes: NDArray[np.int32]

    def __call__(self, sample: str) -> RawPair:
        """The pair of that name.

        Raises:
            DataError: A file cannot be read or decoded, or the two differ in size.
        """
        truth, prediction = self.truths[sample], self.predictions[sample]
        true, found = truth.values(), prediction.values()
        if true.shape != found.shape:
            raise DataError(unlike_sizes(truth, true.shape, prediction, found.shape))
        return RawPair(
            true, found, _fitting(self.truth_codes, true), _fitting(self.prediction_codes, found)
        )


def _fitting(codes: NDArray[np.int32], values: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
    return codes[:256] if values.dtype == np.uint8 else codes


def unlike_sizes(
    truth: LabelMap, size: Sequence[int], prediction: LabelMap, other: Sequence[int]
) -> Problem:
    """That the label maps of a sample differ in size; sizes are (height, width)."""
    message = f"is {other[1]} wide and {other[0]} high"
    expected = f"its ground truth {truth.path} is {size[1]} wide and {size[0]} high"
    return Problem(prediction.path, f"{message}; {expected}")
