"""Panoptic quality as Kirillov et al. define it, pixel by pixel, with dictionaries.

Written from the paper (CVPR 2019, section 4) and the rules that panopticapi's evaluation adds; 0 is
void on both sides. Lists and plain numbers only, but for the columns of `dataset_of`.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.kernels.geometry.masks import from_bitmap
from valor_cli.kernels.geometry.shapes import Shapes, joined_masks

LABELS = ("cat", "dog", "grass", "sky")

Map = Sequence[Sequence[int]]
"""The segment of each pixel, by row and column."""


@dataclass
class Info:
    label: int
    crowd: bool = False


@dataclass
class Scene:
    """One image: a map and its segments on either side."""

    truth: Map
    truths: Mapping[int, Info]
    found: Map
    predictions: Mapping[int, Info]


@dataclass
class Stat:
    tp: int = 0
    fp: int = 0
    fn: int = 0
    ious: list[float] = field(default_factory=list)

    @property
    def quality(self) -> tuple[float, float, float]:
        """pq, sq and rq."""
        whole = self.tp + 0.5 * self.fp + 0.5 * self.fn
        total = 0.0
        for iou in self.ious:
            total += iou
        return total / whole, total / self.tp if self.tp else 0.0, self.tp / whole


def panoptic_stats(scenes: Iterable[Scene]) -> dict[int, Stat]:
    """What each label has, over images in the order given and ground truths in theirs."""
    stats: dict[int, Stat] = defaultdict(Stat)
    for scene in scenes:
        both = Counter(
            (t, p)
            for truth, found in zip(scene.truth, scene.found, strict=True)
            for t, p in zip(truth, found, strict=True)
        )
        truth_area: Counter[int] = Counter()
        found_area: Counter[int] = Counter()
        for (t, p), pixels in both.items():
            truth_area[t] += pixels
            found_area[p] += pixels
        matched = set()
        for t, truth in scene.truths.items():
            if truth.crowd:
                continue
            hit = None
            for p, prediction in scene.predictions.items():
                shared = both[t, p]
                if not shared or prediction.label != truth.label:
                    continue
                union = found_area[p] + truth_area[t] - shared - both[0, p]
                if shared / union > 0.5:
                    hit = p, shared / union
            if hit is None:
                stats[truth.label].fn += 1
            else:
                matched.add(hit[0])
                stats[truth.label].tp += 1
                stats[truth.label].ious.append(hit[1])
        for p, prediction in scene.predictions.items():
            if p in matched:
                continue
            excused = both[0, p]
            for t, truth in scene.truths.items():
                if truth.crowd and truth.label == prediction.label:
                    excused += both[t, p]
            if excused / found_area[p] <= 0.5:
                stats[prediction.label].fp += 1
    return dict(stats)


def random_scene(seed: int, labels: int = 4, height: int = 18, width: int = 23) -> Scene:
    """Stripes and blocks with void, crowds and predictions that are nearly right."""
    rng = random.Random(seed)
    truth = [[0] * width for _ in range(height)]
    numbers = rng.sample(range(1, 256**3), 12)
    for number in numbers[:8]:
        _block(truth, number, rng)
    truths = {
        number: Info(rng.randrange(labels), rng.random() < 0.2)
        for number in numbers
        if any(number in row for row in truth)
    }
    # A format rule: an image has at most one crowd region of a label.
    seen = set()
    for info in truths.values():
        info.crowd = info.crowd and info.label not in seen
        seen |= {info.label} if info.crowd else set()
    names = {number: rng.randrange(1, 256**3) for number in truths}
    found = [
        [names.get(number, 0) if rng.random() < 0.97 else 0 for number in row] for row in truth
    ]
    for number in numbers[8 : 8 + rng.randrange(4)]:
        _block(found, number, rng)
    predictions = {}
    for number in sorted({number for row in found for number in row} - {0}):
        source = next((t for t, name in names.items() if name == number), None)
        label = truths[source].label if source and rng.random() < 0.8 else rng.randrange(labels)
        predictions[number] = Info(label)
    return Scene(truth, truths, found, predictions)


def _block(pixels: list[list[int]], number: int, rng: random.Random) -> None:
    height, width = len(pixels), len(pixels[0])
    top, left = rng.randrange(height), rng.randrange(width)
    bottom, right = rng.randrange(top, height), rng.randrange(left, width)
    for row in pixels[top : bottom + 1]:
        row[left : right + 1] = [number] * (right + 1 - left)


def dataset_of(scenes: Sequence[Scene], labels: tuple[str, ...] = LABELS) -> DetectionDataset:
    """Scenes as a dataset; segments in the order of their infos."""
    truths = [
        (at, one, info) for at, scene in enumerate(scenes) for one, info in scene.truths.items()
    ]
    found = [
        (at, one, info)
        for at, scene in enumerate(scenes)
        for one, info in scene.predictions.items()
    ]
    truth_maps = [np.array(scene.truth) for scene in scenes]
    found_maps = [np.array(scene.found) for scene in scenes]
    return DetectionDataset(
        image_ids=np.arange(len(scenes)) + 100,
        labels=labels,
        ground_truths=GroundTruths(
            image=np.array([at for at, _, _ in truths], np.int64),
            label=np.array([info.label for _, _, info in truths], np.int64),
            shapes=masks_of([truth_maps[at] == one for at, one, _ in truths]),
            area=np.zeros(len(truths)),
            crowd=np.array([info.crowd for _, _, info in truths], bool),
            number=np.arange(len(truths)),
        ),
        detections=Detections(
            image=np.array([at for at, _, _ in found], np.int64),
            label=np.array([info.label for _, _, info in found], np.int64),
            shapes=masks_of([found_maps[at] == one for at, one, _ in found]),
            score=np.ones(len(found)),
            number=np.arange(len(found)),
        ),
    )


def masks_of(bitmaps: Sequence[np.ndarray]) -> Shapes:
    return Shapes.masks(joined_masks([from_bitmap(one) for one in bitmaps]))
