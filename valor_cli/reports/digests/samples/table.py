"""Outputs of metrics in words."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.reports.digests.formatting import words

_SPOKEN = {
    "f1": "F1",
    "iou": "IoU",
    "mean_iou": "mean IoU",
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "tn": "true negatives",
}


def output_words(output: str) -> str:
    """An output's name in words."""
    return _SPOKEN.get(output, words(output))


def whole(column: Sequence[float | None]) -> bool:
    """Whether a column is a count."""
    return all(isinstance(value, int) for value in column)
