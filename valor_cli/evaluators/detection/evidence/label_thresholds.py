"""Score thresholds per label or for all labels, and the counts at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import UNNAMED
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.results import Scalar


def levels_of(labels: Sequence[str], threshold: ScoreThreshold) -> float | tuple[float, ...]:
    """The threshold of all labels, or one per label in order."""
    if isinstance(threshold, Mapping):
        return tuple(float(threshold.get(label, UNNAMED)) for label in labels)
    return threshold


def each_detection(matches: Matches, threshold: ScoreThreshold) -> float | NDArray[np.float64]:
    """The score threshold of each detection: one number, or (n,)."""
    levels = levels_of(matches.labels, threshold)
    return np.array(levels)[matches.label] if isinstance(levels, tuple) else levels


def own_threshold(threshold: ScoreThreshold, label: str) -> Mapping[str, Scalar]:
    """The threshold of a label, for its own row, where thresholds are set per label."""
    if isinstance(threshold, Mapping):
        return {"score_threshold": float(threshold.get(label, UNNAMED))}
    return {}
