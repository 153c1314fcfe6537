"""What evidence counts for each label, as own metrics read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """Counts of each label: of samples, objects or pixels.

    Attributes:
        labels: Their names.
        tp, fp, fn: (labels,) true positives, false positives, false negatives; tp + fn is the
            ground truth.
        matrix: (labels, labels) counts by ground truth (rows) and prediction; None where objects
            are matched, or samples have several labels.
    """

    labels: tuple[str, ...]
    tp: Ints
    fp: Ints
    fn: Ints
    matrix: Ints | None = None
