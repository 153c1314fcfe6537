"""Who met whom, and who is taken for whom, told one object at a time.

Written from the rules in prose: plain objects, loops and floats, no arrays. The rule by which the
detections of one image and label meet its ground truths is a parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.oracles.detection import Box, iou
from valor_cli.data.shapes.objects.dataset import DetectionDataset

EVERYTHING = (0.0, 1e10)


@dataclass(frozen=True)
class Truth:
    row: int
    image: int
    label: int
    box: Box
    area: float
    crowd: bool


@dataclass(frozen=True)
class Found:
    row: int
    image: int
    label: int
    box: Box
    score: float

    @property
    def area(self) -> float:
        return self.box[2] * self.box[3]


@dataclass(frozen=True)
class Scene:
    """All objects, in file order."""

    truths: Sequence[Truth]
    founds: Sequence[Found]
    labels: int

    @classmethod
    def of(cls, dataset: DetectionDataset) -> Scene:
        truths, founds = dataset.ground_truths, dataset.detections
        real = (truths.number, truths.image, truths.label, truths.area, truths.crowd)
        said = (founds.number, founds.image, founds.label, founds.score)
        return cls(
            [
                Truth(row, image, label, tuple(box), area, crowd)
                for box, row, image, label, area, crowd in zip(
                    truths.shapes.box.tolist(), *(one.tolist() for one in real), strict=True
                )
            ],
            [
                Found(row, image, label, tuple(box), score)
                for box, row, image, label, score in zip(
                    founds.shapes.box.tolist(), *(one.tolist() for one in said), strict=True
                )
            ],
            len(dataset.labels),
        )


Rule = Callable[
    [Sequence[Found], Sequence[Truth], Callable[[Truth], bool], float], list[Truth | None]
]
"""Detections, best first, and ground truths of one cell, which of these count, a threshold: the
ground truth that each detection meets."""


def least(threshold: float) -> float:
    return min(threshold, 1 - 1e-10)


def overlap(found: Found, truth: Truth) -> float:
    return iou(found.box, truth.box, truth.crowd)


def coco(
    founds: Sequence[Found],
    truths: Sequence[Truth],
    counts: Callable[[Truth], bool],
    threshold: float,
) -> list[Truth | None]:
    """Each takes the free ground truth it overlaps most, of equals the later; crowds stay free.

    Ground truths that do not count are taken by those that find no other.
    """
    taken: set[int] = set()
    met: list[Truth | None] = []
    for found in founds:
        chosen = None
        for wanted in (True, False):
            best = least(threshold)
            for truth in truths:
                if counts(truth) is wanted and (truth.crowd or truth.row not in taken):
                    here = overlap(found, truth)
                    if here >= best:
                        best, chosen = here, truth
            if chosen is not None:
                break
        if chosen is not None:
            taken.add(chosen.row)
        met.append(chosen)
    return met


@dataclass(frozen=True)
class Verdict:
    """What became of everything, among the objects that count.

    Attributes:
        right: The detections that met a ground truth, with it.
        wrong: Detections that met none.
        real: Ground truths to find.
        missed: Those not found.
    """

    right: Sequence[tuple[Found, Truth]]
    wrong: Sequence[Found]
    real: Sequence[Truth]
    missed: Sequence[Truth]


def in_turn(founds: Sequence[Found], truths: Sequence[Truth], rule: Rule) -> list[Found]:
    """The detections of one image and label, best score first; of equals, in the rule's order."""
    if rule is coco:
        return sorted(founds, key=lambda found: -found.score)
    # Score, then IoU with the favourite.
    favourite = {
        found.row: max([overlap(found, truth) for truth in truths], default=0.0) for found in founds
    }
    return sorted(founds, key=lambda found: (-found.score, -favourite[found.row]))


def settle(
    scene: Scene,
    threshold: float,
    score: float = -math.inf,
    *,
    most: int | None = None,
    limits: tuple[float, float] = EVERYTHING,
    rule: Rule = coco,
) -> Verdict:
    """Match the detections that score enough, as if there were no others."""

    def inside(thing: Truth | Found) -> bool:
        return limits[0] <= thing.area <= limits[1]

    def counts(truth: Truth) -> bool:
        return inside(truth) and not truth.crowd

    right, wrong = [], []
    cells = sorted({(found.image, found.label) for found in scene.founds})
    for cell in cells:
        founds = [f for f in scene.founds if (f.image, f.label) == cell and f.score >= score]
        truths = [truth for truth in scene.truths if (truth.image, truth.label) == cell]
        founds = in_turn(founds, truths, rule)[:most]
        for found, truth in zip(founds, rule(founds, truths, counts, threshold), strict=True):
            if truth is not None and counts(truth):
                right.append((found, truth))
            elif truth is None and inside(found):
                wrong.append(found)
    real = [truth for truth in scene.truths if counts(truth)]
    found_rows = {truth.row for _, truth in right}
    return Verdict(right, wrong, real, [truth for truth in real if truth.row not in found_rows])


@dataclass(frozen=True)
class Confusion:
    """A confusion matrix with the pairs and leftovers behind it."""

    matrix: list[list[int]]
    unmatched_ground_truths: list[int]
    unmatched_predictions: list[int]
    confused: Sequence[tuple[Found, Truth]]
    alone: Sequence[Found]
    lost: Sequence[Truth]


def confusion(verdict: Verdict, threshold: float, labels: int) -> Confusion:
    """First those of one label, then the leftovers across labels, best score first.

    Of equal scores the lower label, then the earlier in the file, comes first.
    """
    free = list(verdict.missed)
    confused, alone = [], []
    for found in sorted(verdict.wrong, key=lambda one: (-one.score, one.label, one.row)):
        best, chosen = least(threshold), None
        for truth in free:
            if truth.image == found.image and truth.label != found.label:
                here = overlap(found, truth)
                if here >= best:
                    best, chosen = here, truth
        if chosen is None:
            alone.append(found)
        else:
            free.remove(chosen)
            confused.append((found, chosen))
    matrix = [[0] * labels for _ in range(labels)]
    for found, truth in [*verdict.right, *confused]:
        matrix[truth.label][found.label] += 1
    return Confusion(
        matrix,
        [sum(truth.label == label for truth in free) for label in range(labels)],
        [sum(found.label == label for found in alone) for label in range(labels)],
        confused,
        alone,
        free,
    )


@dataclass(frozen=True)
class Details:
    """True positives and the errors by their reason, as lists of objects."""

    tp: Sequence[Found]
    fp_misclassifications: Sequence[Found]
    fp_hallucinations: Sequence[Found]
    fn_misclassifications: Sequence[Truth]
    fn_no_predictions: Sequence[Truth]


def details(verdict: Verdict, threshold: float) -> Details:
    """Errors at one score threshold: does something of another label stand there?"""
    passing = [found for found, _ in verdict.right] + list(verdict.wrong)

    def crossed(found: Found, truth: Truth) -> bool:
        return (
            found.image == truth.image
            and found.label != truth.label
            and overlap(found, truth) >= least(threshold)
        )

    mistaken = [f for f in verdict.wrong if any(crossed(f, truth) for truth in verdict.real)]
    hidden = [truth for truth in verdict.missed if any(crossed(f, truth) for f in passing)]
    return Details(
        [found for found, _ in verdict.right],
        mistaken,
        [found for found in verdict.wrong if found not in mistaken],
        hidden,
        [truth for truth in verdict.missed if truth not in hidden],
    )


# ---- the matching of Striveworks Valor, one pair at a time


def taking_part(scene: Scene) -> Scene:
    """The scene without crowds and without detections that are never positive."""
    return Scene(
        [truth for truth in scene.truths if not truth.crowd],
        [found for found in scene.founds if found.score > 0],
        scene.labels,
    )


def nearest(scene: Scene) -> dict[int, float]:
    """The overlap by which each detection is ranked among those of equal score.

    The highest with a ground truth of its label; where it overlaps none of these, of any label.
    """
    near = {}
    for found in scene.founds:
        here = [truth for truth in scene.truths if truth.image == found.image]
        own = [overlap(found, truth) for truth in here if truth.label == found.label]
        near[found.row] = max(own, default=0.0) or max(
            [overlap(found, truth) for truth in here], default=0.0
        )
    return near


def valor(
    founds: Sequence[Found],
    truths: Sequence[Truth],
    counts: Callable[[Truth], bool],
    threshold: float,
) -> list[Truth | None]:
    """The rule of Striveworks Valor: the ground truth that each detection meets.

    Pairs come by score, then IoU. A detection keeps only the ground truth it overlaps most, of
    equals the earlier: once that is taken, it has no second choice. Detections of score 0 and
    crowd regions take no part at all.
    """
    pairs = []
    for at, found in enumerate(founds):
        best, favourite = 0.0, None
        for truth in truths:
            if overlap(found, truth) > best:
                best, favourite = overlap(found, truth), truth
        if favourite is not None and best >= least(threshold):
            pairs.append((-found.score, -best, at, favourite))
    met: list[Truth | None] = [None] * len(founds)
    taken: set[int] = set()
    for _, _, at, favourite in sorted(pairs, key=lambda pair: pair[:3]):
        if favourite.row not in taken:
            taken.add(favourite.row)
            met[at] = favourite
    return met
