"""Evidence of detection: which detections match which ground truths, at every threshold.

A shard of images becomes `Matches`; merging those of any shards, in any order, gives the same
bits as one pass over all images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Interval, MinLen
from numpy.typing import NDArray
from pydantic import AfterValidator

from valor_cli.dataset.detection import DetectionDataset
from valor_cli.kernels.boxes import overlapping_boxes
from valor_cli.kernels.columns import grouped, positions_of, quotient, ranked, spread
from valor_cli.kernels.matching import MATCHED, UNMATCHED, match
from valor_cli.kernels.precision_recall import RECALLS, PrecisionRecall, Ranking, interpolate
from valor_cli.metric import Call


def _distinct(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    """Thresholds may be written in any order and repeat; they are a set."""
    return tuple(sorted(set(thresholds)))


IouThreshold = Annotated[float, Interval(gt=0, le=1)]
IouThresholds = Annotated[tuple[IouThreshold, ...], MinLen(1), AfterValidator(_distinct)]
MaxDetections = Annotated[int, Ge(1)] | None

COCO_IOUS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""pycocotools' thresholds; 0.05 steps as linspace rounds them."""

AREAS: Mapping[str, tuple[float, float]] = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""COCO's area ranges in square pixels, both ends included."""


@dataclass(frozen=True, slots=True)
class MatchingPlan:
    """What the metrics of a run will ask of the evidence."""

    ious: tuple[float, ...] = COCO_IOUS
    areas: tuple[str, ...] = tuple(AREAS)


def plan_matching(calls: Sequence[Call], slices: Sequence[str]) -> MatchingPlan:
    """Every IoU threshold and area range that a parameter names or a slice cuts by."""
    ious: set[float] = set()
    areas = {"all"} | (set(AREAS) if "area" in slices else set())
    for call in calls:
        for name, value in call.parameters.items():
            if name.endswith("iou_threshold"):
                ious.add(float(value))
            elif name.endswith("iou_thresholds"):
                ious.update(map(float, value))
            elif name == "areas":
                areas.update(value)
    return MatchingPlan(tuple(sorted(ious)), tuple(area for area in AREAS if area in areas))


class Counts(NamedTuple):
    """(thresholds, labels) true positives, false positives and false negatives."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """Detections ranked by label, then score, with what each matched.

    Attributes:
        plan: The thresholds and areas decided.
        image_ids: (units,) ascending.
        labels: Names of the labels.
        gt_image, gt_label: (m,) image and label of each ground truth.
        gt_ignored: (areas, m) whether it is left out: a crowd, or outside the area range.
        image, label, score: (n,) columns of the detections, ranked.
        rank: (n,) place of the detection among those of its image and label, from 0.
        outside: (areas, n) whether its own area lies outside the range.
        candidate: (c,) rows of the detections that overlap a ground truth of their label.
        codes: (areas, ious, c) UNMATCHED, MATCHED or IGNORED.
        area: The area range that metrics read.
        weights: (units,) how often each image counts; None for once each.
    """

    plan: MatchingPlan
    image_ids: NDArray[np.generic]
    labels: tuple[str, ...]
    gt_image: NDArray[np.int64]
    gt_label: NDArray[np.int64]
    gt_ignored: NDArray[np.bool_]
    image: NDArray[np.int64]
    label: NDArray[np.int64]
    score: NDArray[np.float64]
    rank: NDArray[np.int64]
    outside: NDArray[np.bool_]
    candidate: NDArray[np.int64]
    codes: NDArray[np.uint8]
    area: str = "all"
    weights: NDArray[np.int64] | None = None
    _curves: dict[object, PrecisionRecall] = field(default_factory=dict, repr=False)

    @property
    def unit_count(self) -> int:
        """How many images there are."""
        return len(self.image_ids)

    def within(self, area: str) -> Matches:
        """The same evidence, read for the objects of one area range."""
        return replace(self, area=area, _curves={})

    def resample(self, weights: NDArray[np.int64]) -> Matches:
        """The evidence in which image i stands weights[i] times."""
        return replace(self, weights=weights, _curves={})

    def select(self, units: NDArray[np.bool_]) -> Matches:
        """The evidence of some images alone."""
        number = np.cumsum(units) - 1
        truths, rows = units[self.gt_image], units[self.image]
        kept = rows[self.candidate]
        return replace(
            self,
            image_ids=self.image_ids[units],
            gt_image=number[self.gt_image[truths]],
            gt_label=self.gt_label[truths],
            gt_ignored=self.gt_ignored[:, truths],
            image=number[self.image[rows]],
            label=self.label[rows],
            score=self.score[rows],
            rank=self.rank[rows],
            outside=self.outside[:, rows],
            candidate=(np.cumsum(rows) - 1)[self.candidate[kept]],
            codes=self.codes[:, :, kept],
            _curves={},
        )

    @property
    def ground_truth_count(self) -> NDArray[np.int64]:
        """(labels,) ground truths that count in the area range."""
        counted = ~self.gt_ignored[self._area]
        weights = None if self.weights is None else self.weights[self.gt_image[counted]]
        return _tally(self.gt_label[counted], len(self.labels), weights)

    @property
    def detection_count(self) -> NDArray[np.int64]:
        """(labels,) all detections, also those that are ignored."""
        return self._per_label(np.arange(len(self.label)))

    def counts(
        self,
        iou_threshold: float,
        score_thresholds: Sequence[float],
        max_detections: int | None = None,
    ) -> Counts:
        """True and false positives and false negatives at each score threshold, per label.

        Args:
            iou_threshold: One of the plan's.
            score_thresholds: In any order; a detection is positive when its score is >= one.
            max_detections: The best so many per image and label; None for all.
        """
        levels = np.unique(np.asarray(score_thresholds, np.float64))
        hit, miss = self._outcomes([iou_threshold])
        wrong = self._never_right()
        wrong[self.candidate[miss[0]]] = True
        right = np.zeros(len(self.label), bool)
        right[self.candidate[hit[0]]] = True
        tp, fp = (
            self._at_least(levels, rows & self._kept(max_detections)) for rows in (right, wrong)
        )
        chosen = np.searchsorted(levels, score_thresholds)
        return Counts(tp[chosen], fp[chosen], self.ground_truth_count - tp[chosen])

    def curves(
        self, iou_thresholds: Sequence[float], max_detections: int | None = 100
    ) -> PrecisionRecall:
        """Precision and score at 101 recalls, at each IoU threshold and label."""
        key = (tuple(iou_thresholds), max_detections)
        if key not in self._curves:
            ranking = self._ranking(iou_thresholds, max_detections)
            self._curves[key] = interpolate(ranking, self.ground_truth_count, RECALLS)
        return self._curves[key]

    def recalls(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = None,
        score_threshold: float = -np.inf,
    ) -> NDArray[np.float64]:
        """(ious, labels) ground truths found / ground truths; NaN without ground truth."""
        hit, _ = self._outcomes(iou_thresholds)
        use = self._kept(max_detections)[self.candidate]
        use &= self.score[self.candidate] >= score_threshold
        truths = self.ground_truth_count
        found = np.array([self._per_label(self.candidate[row & use]) for row in hit])
        return quotient(found, truths, np.nan)

    def _per_label(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        weights = None if self.weights is None else self.weights[self.image[rows]]
        return _tally(self.label[rows], len(self.labels), weights)

    @property
    def _area(self) -> int:
        return self.plan.areas.index(self.area)

    def _outcomes(
        self, iou_thresholds: Sequence[float]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(ious, c) whether each candidate is a true positive, and whether a false one."""
        area = self._area
        codes = self.codes[area, [self.plan.ious.index(float(iou)) for iou in iou_thresholds]]
        miss = (codes == UNMATCHED) & ~self.outside[area, self.candidate]
        return np.asarray(codes == MATCHED), miss

    def _never_right(self) -> NDArray[np.bool_]:
        """(n,) false positives at every threshold: no overlap, and inside the area range."""
        wrong = ~self.outside[self._area]
        wrong[self.candidate] = False
        return wrong

    def _kept(self, max_detections: int | None) -> NDArray[np.bool_]:
        if max_detections is None:
            return np.ones(len(self.rank), bool)
        return np.asarray(self.rank < max_detections)

    def _at_least(self, levels: NDArray[np.float64], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(levels, labels) how many of `rows` score at least each ascending level."""
        some = np.flatnonzero(rows)
        # bin i holds scores that reach i levels; the scores that reach level i or more follow.
        reached = np.searchsorted(levels, self.score[some], side="right")
        width = len(levels) + 1
        weights = None if self.weights is None else self.weights[self.image[some]]
        bins = _tally(self.label[some] * width + reached, len(self.labels) * width, weights)
        below = bins.reshape(len(self.labels), width)[:, 1:]
        return np.ascontiguousarray(below[:, ::-1].cumsum(axis=1)[:, ::-1].T)

    def _ranking(self, iou_thresholds: Sequence[float], max_detections: int | None) -> Ranking:
        """Running counts of each label at its candidates."""
        hit, miss = self._outcomes(iou_thresholds)
        kept = self._kept(max_detections)
        weight = 1 if self.weights is None else self.weights[self.image]
        always = (self._never_right() & kept) * weight
        before = np.concatenate([[0], np.cumsum(always)])
        use = (kept * weight)[self.candidate]
        starts = np.searchsorted(self.label, np.arange(len(self.labels)))
        label = self.label[self.candidate]
        first = np.searchsorted(label, np.arange(len(self.labels)))
        tp = _running(hit * use, first, label)
        fp = _running(miss * use, first, label)
        fp += before[self.candidate] - before[starts][label]
        top = np.full(len(self.labels), np.nan)
        shown = np.flatnonzero(kept if self.weights is None else kept & (weight > 0))
        named, at = np.unique(self.label[shown], return_index=True)
        top[named] = self.score[shown[at]]
        return Ranking(label, self.score[self.candidate], tp, fp, hit & (use > 0), top)


def _tally(
    values: NDArray[np.int64], length: int, weights: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """How often each of 0 … length - 1 stands in `values`, or the sum of its weights."""
    # bincount adds weights as floats: exact for whole numbers below 2**53.
    return np.bincount(values, weights, minlength=length).astype(np.int64)


def _running(
    amounts: NDArray[np.int64], first: NDArray[np.int64], label: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(t, c) running sums that start anew at each label."""
    total = np.cumsum(amounts, axis=1)
    padded = np.concatenate([np.zeros((len(total), 1), np.int64), total], axis=1)
    return np.asarray(total - padded[:, first][:, label])


def match_detections(dataset: DetectionDataset, plan: MatchingPlan) -> Matches:
    """Evidence of one shard of images."""
    truths, found = dataset.ground_truths, dataset.detections
    units = dataset.unit_count
    order = ranked(found.label, found.score, found.image)
    image, label = found.image[order], found.label[order]
    limits = np.array([AREAS[name] for name in plan.areas])
    low, high = limits[:, :1], limits[:, 1:]
    area = (found.box[:, 2] * found.box[:, 3])[order]
    gt_ignored = truths.crowd | (truths.area < low) | (truths.area > high)

    gt_order, gt_starts = grouped(truths.label * units + truths.image)
    gt_cells = (truths.label * units + truths.image)[gt_order[gt_starts[:-1]]]
    by_cell, starts = grouped(label * units + image)
    sizes = np.diff(starts)
    rank = np.empty(len(order), np.int64)
    rank[by_cell] = np.arange(len(order)) - np.repeat(starts[:-1], sizes)
    cells = (label * units + image)[by_cell[starts[:-1]]]
    at = positions_of(cells, gt_cells)
    shared = at >= 0
    rows = by_cell[spread(starts[:-1][shared], sizes[shared])]
    gt_cell = np.repeat(at[shared], sizes[shared])
    pairs = overlapping_boxes(
        found.box[order[rows]],
        truths.box[gt_order],
        truths.crowd[gt_order],
        gt_starts[:-1][gt_cell],
        np.diff(gt_starts)[gt_cell],
        min(min(plan.ious, default=1.0), 1 - 1e-10),
    )
    matched, codes = match(
        pairs, gt_cell, ~gt_ignored[:, gt_order], truths.crowd[gt_order], np.array(plan.ious)
    )
    candidate = rows[matched]
    ascending = np.argsort(candidate)
    return Matches(
        plan=plan,
        image_ids=dataset.image_ids,
        labels=dataset.labels,
        gt_image=truths.image,
        gt_label=truths.label,
        gt_ignored=gt_ignored,
        image=image,
        label=label,
        score=found.score[order],
        rank=rank,
        outside=(area < low) | (area > high),
        candidate=candidate[ascending],
        codes=codes[:, :, ascending],
    )


def merge_matches(parts: Sequence[Matches]) -> Matches:
    """The evidence of several shards of images together, in any order."""
    if len(parts) == 1:
        return parts[0]
    image_ids = np.unique(np.concatenate([part.image_ids for part in parts]))
    images = [positions_of(part.image_ids, image_ids) for part in parts]
    label = np.concatenate([part.label for part in parts])
    score = np.concatenate([part.score for part in parts])
    rank = np.concatenate([part.rank for part in parts])
    image = np.concatenate([new[part.image] for new, part in zip(images, parts, strict=True)])
    gt_image = np.concatenate([new[part.gt_image] for new, part in zip(images, parts, strict=True)])
    offsets = np.cumsum([0, *(len(part.label) for part in parts[:-1])])
    candidate = np.concatenate(
        [part.candidate + offset for part, offset in zip(parts, offsets, strict=True)]
    )
    order = ranked(label, score, image, within=rank)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    moved = place[candidate]
    ascending = np.argsort(moved)
    return Matches(
        plan=parts[0].plan,
        image_ids=image_ids,
        labels=parts[0].labels,
        gt_image=gt_image,
        gt_label=np.concatenate([part.gt_label for part in parts]),
        gt_ignored=np.concatenate([part.gt_ignored for part in parts], axis=1),
        image=image[order],
        label=label[order],
        score=score[order],
        rank=rank[order],
        outside=np.concatenate([part.outside for part in parts], axis=1)[:, order],
        candidate=moved[ascending],
        codes=np.concatenate([part.codes for part in parts], axis=2)[:, :, ascending],
    )
