"""Counts of matched and unmatched objects of each label for own metrics."""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.evaluators.detection.evidence.label_thresholds import levels_of
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import IouThreshold, MaxDetections
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.metric import EvidenceCounts


def counted(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
) -> Iterator[EvidenceCounts]:
    """Counts of objects in each replica, as `counts` has them."""
    levels = levels_of(matches.labels, score_threshold)
    found = matches.counts(iou_threshold, levels, max_detections)
    for tp, fp, fn in zip(*found, strict=True):
        yield EvidenceCounts(tuple(matches.labels), tp, fp, fn)
