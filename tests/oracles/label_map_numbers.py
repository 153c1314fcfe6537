"""Every number of semantic segmentation from what its pixels are called, one pixel at a time.

Nothing here is the package's: pictures are lists of rows of names in, a dictionary of numbers out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

VOID: Final = "(void)"
"""A pixel of the ground truth that nobody is judged by."""

Name = str | None
"""The label of a pixel; None for no label."""

Picture = Sequence[Sequence[Name]]
Key = tuple[str, str | None, str | None, str]
"""Metric, label, average and output of a value."""

AVERAGES: Final = ("macro", "micro", "weighted")


class Image(NamedTuple):
    """What the pixels of an image are, and what they are predicted as."""

    truth: Picture
    prediction: Picture


def named(values: Iterable[Iterable[int]], name_of: Callable[[int], Name]) -> Picture:
    """The names of pixel values."""
    return [[name_of(int(value)) for value in row] for row in values]


def counted(images: Iterable[Image]) -> Counter[tuple[Name, Name]]:
    """How many pixels that are judged have each pair of names."""
    cells: Counter[tuple[Name, Name]] = Counter()
    for image in images:
        for truths, founds in zip(image.truth, image.prediction, strict=True):
            for truth, found in zip(truths, founds, strict=True):
                if truth != VOID:
                    cells[truth, found] += 1
    return cells


class Count(NamedTuple):
    """Pixels of a label: in the ground truth, predicted, and both."""

    truth: int
    found: int
    both: int

    @classmethod
    def of(cls, cells: Counter[tuple[Name, Name]], label: str) -> Count:
        """The pixels of this label."""
        return cls(
            sum(n for (truth, _), n in cells.items() if truth == label),
            sum(n for (_, found), n in cells.items() if found == label),
            cells[label, label],
        )


def all_numbers(
    images: Sequence[Image], labels: Sequence[str], *, ratio: float = 0.02, zero: float = 0.0
) -> dict[Key, float | None]:
    """The values of all metrics, None where there is none.

    Args:
        images: What pixels are called.
        labels: That have rows of their own.
        ratio: Of the diagonal, how far boundaries reach.
        zero: What stands for 0/0 in precision and F1.
    """
    cells = counted(images)
    counts = {label: Count.of(cells, label) for label in labels}
    values: dict[Key, float | None] = {}

    def tell(metric: str, value: float | None, label: str | None = None, how: str = "-") -> None:
        values[metric, label, None if how == "-" else how, "value"] = value

    parts = {
        "iou": {
            label: (one.both, one.truth + one.found - one.both) for label, one in counts.items()
        },
        "precision": {label: (one.both, one.found) for label, one in counts.items()},
        "recall": {label: (one.both, one.truth) for label, one in counts.items()},
        "f1": {label: (2 * one.both, one.truth + one.found) for label, one in counts.items()},
        "boundary_iou": _boundaries(images, labels, ratio),
    }
    ratios: dict[str, dict[str, float | None]] = {}
    for metric, by_label in parts.items():
        ratios[metric] = {}
        for label, (part, whole) in by_label.items():
            truth, found, _ = counts[label]
            value: float | None = part / whole if whole else zero
            if metric in ("precision", "f1") and not found:
                value = zero
            if not truth and (metric != "precision" or not found):
                value = None
            ratios[metric][label] = value
    seen = [label for label in labels if counts[label].truth]
    pixels = sum(counts[label].truth for label in seen)
    for metric, found_values in ratios.items():
        averaged = metric in ("precision", "recall", "f1")
        for how in AVERAGES if averaged else ("-",):
            for label, value in found_values.items():
                tell(metric, value, label, how)
        if averaged:
            for how in AVERAGES:
                part = sum(parts[metric][label][0] for label in seen)
                whole = sum(parts[metric][label][1] for label in seen)
                tell(
                    metric,
                    _average(found_values, counts, seen, how, (part, whole), zero),
                    None,
                    how,
                )
    plain = {label: float(ratios["iou"][label] or 0) for label in seen}
    recalls = [float(ratios["recall"][label] or 0) for label in seen]
    edges = [float(ratios["boundary_iou"][label] or 0) for label in seen]
    tell("mean_iou", _mean(list(plain.values())))
    tell("mean_accuracy", _mean(recalls))
    tell("boundary_iou", _mean(edges))
    weighted = [value * counts[label].truth / pixels for label, value in plain.items()]
    tell("frequency_weighted_iou", sum(weighted) if seen else None)
    tell("pixel_accuracy", accuracy(cells))
    lone = [image_scores(image, labels) for image in images]
    for output in ("mean_iou", "pixel_accuracy"):
        own = [one[output] for one in lone if one[output] is not None]
        values["image_scores", None, None, output] = _mean([float(one or 0) for one in own])
    return values


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _average(
    values: Mapping[str, float | None],
    counts: Mapping[str, Count],
    seen: Sequence[str],
    how: str,
    whole: tuple[int, int],
    zero: float,
) -> float | None:
    if not seen:
        return None
    if how == "micro":
        return whole[0] / whole[1] if whole[1] else zero
    if how == "macro":
        return _mean([float(values[label] or 0) for label in seen])
    pixels = sum(counts[label].truth for label in seen)
    return sum(float(values[label] or 0) * counts[label].truth for label in seen) / pixels


def accuracy(cells: Counter[tuple[Name, Name]]) -> float | None:
    """Right pixels of all; no label predicted as no label is right."""
    whole = sum(cells.values())
    return (
        sum(n for (truth, found), n in cells.items() if truth == found) / whole if whole else None
    )


def image_scores(image: Image, labels: Sequence[str]) -> dict[str, float | None]:
    """What `image_scores` says of one image."""
    cells = counted([image])
    counts = [Count.of(cells, label) for label in labels]
    ious = [one.both / (one.truth + one.found - one.both) for one in counts if one.truth]
    return {"mean_iou": _mean(ious), "pixel_accuracy": accuracy(cells)}


def outline(mask: np.ndarray, ratio: float) -> np.ndarray:
    """The boundary of a mask as its authors have it.

    Cheng et al., Boundary IoU, CVPR 2021, `mask_to_boundary`: a frame of one zero around the mask,
    as many erosions by a square of 3 as the boundary is wide (in which what lies beyond the frame
    erodes nothing, OpenCV's default), and what they took away.
    """
    height, width = mask.shape
    times = max(1, round(ratio * math.sqrt(height**2 + width**2)))
    left = [[False] * (width + 2) for _ in range(height + 2)]
    for y, x in np.argwhere(mask).tolist():
        left[y + 1][x + 1] = True
    for _ in range(times):
        left = [
            [
                all(
                    left[v][u]
                    for v in range(max(0, y - 1), min(height + 2, y + 2))
                    for u in range(max(0, x - 1), min(width + 2, x + 2))
                )
                for x in range(width + 2)
            ]
            for y in range(height + 2)
        ]
    return mask & ~np.array(left)[1:-1, 1:-1]


def _boundaries(
    images: Sequence[Image], labels: Sequence[str], ratio: float
) -> dict[str, tuple[int, int]]:
    """By label, pixels of both boundaries, and of either; void pixels are in no mask."""
    sums = {}
    for label in labels:
        both = either = 0
        for truth, prediction in images:
            judged = np.array([[name != VOID for name in row] for row in truth])
            sides = [
                outline(judged & np.array([[name == label for name in row] for row in side]), ratio)
                for side in (truth, prediction)
            ]
            both += int((sides[0] & sides[1]).sum())
            either += int((sides[0] | sides[1]).sum())
        sums[label] = both, either
    return sums
