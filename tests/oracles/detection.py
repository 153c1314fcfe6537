"""The obvious, slow way to match boxes and to sum up: what the kernels must equal.

Written from the rules in prose, one detection at a time. Lists and plain floats only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]


@dataclass
class Truth:
    box: Box
    crowd: bool
    ignored: bool


def iou(detection: Box, truth: Box, crowd: bool) -> float:
    """Intersection over union; over the detection's own area where the truth is a crowd."""
    left = max(detection[0], truth[0])
    right = min(detection[2] + detection[0], truth[2] + truth[0])
    top = max(detection[1], truth[1])
    bottom = min(detection[3] + detection[1], truth[3] + truth[1])
    if right <= left or bottom <= top:
        return 0.0
    shared = (right - left) * (bottom - top)
    own = detection[2] * detection[3]
    union = own if crowd else own + truth[2] * truth[3] - shared
    return shared / union if union else 0.0


def match_cell(boxes: Sequence[Box], truths: Sequence[Truth], threshold: float) -> list[str]:
    """What becomes of each detection of one image and label: "hit", "ignored" or "miss".

    Detections come best first. Each takes the free regular truth it overlaps most, the later one
    of equals; failing that the free ignored truth it overlaps most. Crowds stay free.
    """
    least = min(threshold, 1 - 1e-10)
    taken = [False] * len(truths)
    outcome = []
    for box in boxes:
        chosen = None
        for wanted in (False, True):
            best = least
            for at, truth in enumerate(truths):
                if truth.ignored is not wanted or (taken[at] and not truth.crowd):
                    continue
                overlap = iou(box, truth.box, truth.crowd)
                if overlap >= best:
                    best, chosen = overlap, at
            if chosen is not None:
                break
        if chosen is None:
            outcome.append("miss")
        else:
            taken[chosen] = True
            outcome.append("ignored" if truths[chosen].ignored else "hit")
    return outcome


def interpolated_precision(
    outcomes: Sequence[tuple[bool, float]], truths: int, recalls: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Precision and score at each recall, of (right or wrong, score) ranked best first."""
    tp = fp = 0
    points = []
    for right, score in outcomes:
        tp, fp = tp + right, fp + (not right)
        points.append((tp / truths, tp / (fp + tp), score))
    precisions, scores = [], []
    for level in recalls:
        later = [at for at, (recall, _, _) in enumerate(points) if recall >= level]
        precisions.append(max((points[at][1] for at in later), default=0.0))
        scores.append(points[later[0]][2] if later else 0.0)
    return precisions, scores
