"""TIDE's reasons and costs, one error at a time (Bolya et al., ECCV 2020).

As the paper and its tool tidecv have them, over the labels that have ground truth. Crowds and
other ignored objects take no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.oracles.confusion import Found, Scene, Truth, Verdict, least, overlap
from tests.oracles.detection import interpolated_precision

LEVELS = np.linspace(0, 1, 101).tolist()


@dataclass(frozen=True)
class Error:
    """A wrong detection, its reason, and the ground truth it stands for, if any."""

    found: Found
    reason: str
    aim: Truth | None = None


def closest(found: Found, truths: Sequence[Truth]) -> tuple[float, Truth | None]:
    """The ground truth that is overlapped most, of equals the first."""
    best, chosen = 0.0, None
    for truth in truths:
        if overlap(found, truth) > best:
            best, chosen = overlap(found, truth), truth
    return best, chosen


def errors(verdict: Verdict, threshold: float, background: float) -> list[Error]:
    """The reason of every wrong detection: the first that fits."""
    told = []
    for found in verdict.wrong:
        here = [truth for truth in verdict.real if truth.image == found.image]
        own, own_truth = closest(found, [one for one in here if one.label == found.label])
        other, other_truth = closest(found, [one for one in here if one.label != found.label])
        # A perfect overlap is not placed badly, whatever the threshold.
        if background <= own <= threshold and own < least(1.0):
            told.append(Error(found, "localisation", own_truth))
        elif other >= least(threshold):
            told.append(Error(found, "classification", other_truth))
        elif own >= least(threshold):
            told.append(Error(found, "duplicate"))
        elif max(own, other) <= background:
            told.append(Error(found, "background"))
        else:
            told.append(Error(found, "both"))
    return told


def missed(verdict: Verdict, told: Sequence[Error]) -> list[Truth]:
    """Ground truths that nothing found and no error stands for."""
    aims = [error.aim for error in told]
    return [truth for truth in verdict.missed if truth not in aims]


def costs(
    scene: Scene, verdict: Verdict, told: Sequence[Error], near: Mapping[int, float] | None = None
) -> dict[str, float]:
    """How much average precision each reason costs, and all wrong and all missed ones.

    `near` ranks detections of equal score, by their rows, the highest first.
    """
    truths = [sum(one.label == label for one in verdict.real) for label in range(scene.labels)]
    right = [(found, True) for found, _ in verdict.right]
    wrong = [(error.found, False) for error in told]
    before = mean(scene, [*right, *wrong], truths, truths, near)
    lost = missed(verdict, told)
    champions = {}
    for truth in verdict.missed:
        rivals = [error for error in told if error.aim == truth]
        if rivals:
            best = min(rivals, key=lambda error: (-error.found.score, error.found.row))
            champions[best.found.row] = truth
    after = {}
    for reason in ("classification", "localisation", "both", "duplicate", "background"):
        ranking = list(right)
        for error in told:
            if error.reason != reason:
                ranking.append((error.found, False))
            elif error.found.row in champions:
                label = champions[error.found.row].label
                ranking.append((replace(error.found, label=label), True))
        after[reason] = mean(scene, ranking, truths, truths, near)
    fewer = [n - sum(one.label == at for one in lost) for at, n in enumerate(truths)]
    after["missed"] = mean(scene, [*right, *wrong], fewer, truths, near)
    first = [(replace(found, score=float(hit)), hit) for found, hit in [*right, *wrong]]
    after["false_positive"] = mean(scene, first, truths, truths, near)
    fewest = [n - sum(one.label == at for one in verdict.missed) for at, n in enumerate(truths)]
    after["false_negative"] = mean(scene, [*right, *wrong], fewest, truths, near)
    return {name: max(value - before, 0.0) for name, value in after.items()}


def mean(
    scene: Scene,
    ranking: Sequence[tuple[Found, bool]],
    truths: Sequence[int],
    had: Sequence[int],
    near: Mapping[int, float] | None,
) -> float:
    """Mean average precision over labels that had ground truth and have anything left."""
    found = []
    for label in range(scene.labels):
        own = [(one, hit) for one, hit in ranking if one.label == label]
        if not had[label] or not (truths[label] or own):
            continue
        own.sort(
            key=lambda pair: (
                -pair[0].score,
                -(near or {}).get(pair[0].row, 0.0),
                pair[0].image,
                pair[0].row,
            )
        )
        outcomes = [(hit, one.score) for one, hit in own]
        precisions = [0.0]
        if truths[label]:
            precisions, _ = interpolated_precision(outcomes, truths[label], LEVELS)
        found.append(sum(precisions) / len(precisions))
    return sum(found) / len(found) if found else 1.0
