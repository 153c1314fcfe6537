"""Evidence of detection: the matches at every threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.overlap_pairs import OverlapPairs
from valor_cli.evaluators.detection.evidence.parameters import (
    Closeness,
    Interpolation,
    MatchingPlan,
)
from valor_cli.evaluators.memo import Memo
from valor_cli.kernels.columns.grouping import quotient, reaching, tallies
from valor_cli.kernels.ranking.precision_recall import (
    ELEVEN_RECALLS,
    RECALLS,
    Hits,
    Interpolated,
    area_under,
    interpolate,
)
from valor_cli.kernels.ranking.ranking import HitOrder, order_hits, running_hits
from valor_cli.kernels.ranking.tie_breaking import break_ties, tied_groups

T = TypeVar("T")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS_AT_ONCE = 1 << 17
"""Detections, or points of curves, of as many resamples as are computed together."""


class Counts(NamedTuple):
    """(thresholds, labels) true positives, false positives and false negatives."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


class Ranking(NamedTuple):
    """(r,) distinct scores of each label, with cumulative true and false positives."""

    label: NDArray[np.int64]
    score: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]


class Matches(Struct, frozen=True):
    """Detections ranked by label and score, with their matches.

    Attributes:
        plan: The thresholds and areas decided.
        image_ids: (units,) ascending.
        labels: Names of the labels.
        gt_image, gt_label: (m,) image and label of each ground truth.
        gt_number: (m,) its row in the whole dataset.
        gt_ignored: (areas, m) whether it is left out: a crowd, or outside the area range.
        image, label, score: (n,) columns of the detections, ranked.
        number: (n,) its row in the whole dataset.
        rank: (n,) place of the detection among those of its image and label, from 0.
        out_of_range: (areas, n) whether its own area lies outside the range.
        candidate: (c,) rows of the detections that overlap a ground truth of their label.
        codes: (areas, ious, c) UNMATCHED, MATCHED or IGNORED.
        matched_gt: (areas, remembered, c) row of the ground truth that each candidate matched at
            the IoU thresholds that the plan remembers; -1 for none.
        overlap_pairs: Overlaps with ground truths of any label, if the plan has them.
        nearest: (n,) what ranks detections of equal score, the highest first: the IoU with the
            favourite (`shards.nearest`); None where the matching does not rank by it.
        area: The area range that metrics read.
        weights: (replicas, units) how often each image counts; None for once each.
        replica: The row of `weights` that metrics read.
    """

    plan: MatchingPlan
    image_ids: NDArray[np.generic]
    labels: tuple[str, ...]
    gt_image: NDArray[np.int64]
    gt_label: NDArray[np.int64]
    gt_number: NDArray[np.int64]
    gt_ignored: NDArray[np.bool_]
    image: NDArray[np.int64]
    label: NDArray[np.int64]
    score: NDArray[np.float64]
    number: NDArray[np.int64]
    rank: NDArray[np.int64]
    out_of_range: NDArray[np.bool_]
    candidate: NDArray[np.int64]
    codes: NDArray[np.uint8]
    matched_gt: NDArray[np.int64]
    overlap_pairs: OverlapPairs | None = None
    nearest: NDArray[np.float64] | None = None
    area: str = "all"
    weights: NDArray[np.int64] | None = None
    replica: int = 0
    # What was computed already: of the matches, and of the matches with these weights.
    _shared: Memo = field(default_factory=Memo)
    _known: Memo = field(default_factory=Memo)

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return len(self.image_ids)

    def within(self, area: str) -> Matches:
        """The evidence restricted to the objects of one area range."""
        return replace(self, area=area)

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[Matches]:
        """For each b, the evidence in which image i counts weights[b, i] times.

        Several are computed together, as many as fit the processor's cache.
        """
        points = len(self.plan.ious) * len(self.labels) * len(RECALLS)
        at_once = max(POINTS_AT_ONCE // max(len(self.label), points, 1), 1)
        for first in range(0, len(weights), at_once):
            batch = weights[first : first + at_once]
            known = Memo()
            for replica in range(len(batch)):
                yield replace(self, weights=batch, replica=replica, _known=known)

    def select(self, units: NDArray[np.bool_]) -> Matches:
        """Select images."""
        number = np.cumsum(units) - 1
        truths, rows = units[self.gt_image], units[self.image]
        kept = rows[self.candidate]
        return replace(
            self,
            image_ids=self.image_ids[units],
            gt_image=number[self.gt_image[truths]],
            gt_label=self.gt_label[truths],
            gt_number=self.gt_number[truths],
            gt_ignored=self.gt_ignored[:, truths],
            image=number[self.image[rows]],
            label=self.label[rows],
            score=self.score[rows],
            number=self.number[rows],
            rank=self.rank[rows],
            out_of_range=self.out_of_range[:, rows],
            candidate=(np.cumsum(rows) - 1)[self.candidate[kept]],
            codes=self.codes[:, :, kept],
            matched_gt=np.append(np.cumsum(truths) - 1, -1)[self.matched_gt[:, :, kept]],
            overlap_pairs=self.overlap_pairs and self.overlap_pairs.where(rows, truths),
            nearest=None if self.nearest is None else self.nearest[rows],
            _shared=Memo(),
            _known=Memo(),
        )

    @property
    def ground_truth_count(self) -> NDArray[np.int64]:
        """(labels,) ground truth counts in the area range."""
        return np.asarray(self.replica_truths[self.replica])

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
        # Not np.unique, whose plain form imports all of numpy.ma: 4 ms.
        levels = np.array(sorted(set(score_thresholds)), np.float64)
        both = self._known.once(
            (self.area, "counts", iou_threshold, levels.tobytes(), max_detections),
            lambda: _positives(self, iou_threshold, levels, max_detections),
        )
        tp, fp = (part[self.replica] for part in both)
        chosen = np.searchsorted(levels, score_thresholds)
        return Counts(tp[chosen], fp[chosen], self.ground_truth_count - tp[chosen])

    def precision(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = 100,
        interpolation: Interpolation = "101_point",
    ) -> NDArray[np.float64]:
        """(ious, points, labels) interpolated precision; its mean over points is average precision.

        Interpolated precision at 101 or 11 recalls, or a single point: the area under all of the
        curve. NaN without ground truth.
        """
        precision = self._known.once(
            (self.area, "precision", tuple(iou_thresholds), max_detections, interpolation),
            lambda: _precisions(self, iou_thresholds, max_detections, interpolation),
        )
        return np.asarray(precision[self.replica])

    def scores(
        self, iou_thresholds: Sequence[float], max_detections: int | None = 100
    ) -> NDArray[np.float64]:
        """(ious, 101, labels) the score at which each recall is reached.

        0 where it never is, as the reference has it; NaN for labels without ground truth. Of the
        evidence as it is, without weights.

        Raises:
            ValueError: The evidence is a resample.
        """
        if self.weights is not None:
            raise ValueError("scores are those of the evidence itself, not of a resample")
        order = self.order(iou_thresholds, max_detections)
        at = _interpolated(self, iou_thresholds, max_detections, RECALLS).at
        reached = np.append(self.score[order.rows], 0.0)[at]
        shape = (len(iou_thresholds), len(self.labels), len(RECALLS))
        scores = reached.reshape(shape).swapaxes(1, 2).copy()
        # Recall 0 is reached by the first detection, right or wrong.
        named, first = np.unique(self.label, return_index=True)
        scores[:, 0, named] = self.score[first]
        scores[:, :, self.ground_truth_count == 0] = np.nan
        return np.asarray(scores)

    def recalls(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = None,
        score_threshold: float = -np.inf,
    ) -> NDArray[np.float64]:
        """(ious, labels) recall; NaN without ground truth."""
        recalls = self._known.once(
            (self.area, "recalls", tuple(iou_thresholds), max_detections, score_threshold),
            lambda: _recalls(self, iou_thresholds, max_detections, score_threshold),
        )
        return np.asarray(recalls[self.replica])

    def ranking(self, iou_threshold: float, max_detections: int | None = None) -> Ranking:
        """Cumulative true and false positives at each score of a label."""
        order = self.order([iou_threshold], max_detections)
        weight = self.unit_weights[self.image]
        change = np.where(order.counted, weight, 0)
        np.add.at(change, order.corrected, order.sign * weight[order.corrected])
        right = np.zeros(len(self.label), np.int64)
        right[order.rows] = weight[order.rows]
        # Equal scores pass a threshold together, so only the last of them says what it gives.
        last = np.ones(len(self.label), bool)
        last[:-1] = (self.label[1:] != self.label[:-1]) | (self.score[1:] != self.score[:-1])
        before = np.searchsorted(self.label, self.label[last])
        tp, seen = (
            total[1:][last] - total[before]
            for total in (np.append(0, np.cumsum(column)) for column in (right, change))
        )
        return Ranking(self.label[last], self.score[last], tp, seen - tp)

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute a value that does not depend on image weights, once for all resamples.

        Args:
            key: Names it among all that is made of this evidence in this area range.
            make: Makes it.
        """
        return self._shared.once((self.area, key), make)

    def latest(self, key: object, of: object, make: Callable[[], T]) -> T:
        """Compute a value for these matches and another object (`Memo.latest`).

        Args:
            key: As in `once`.
            of: What else it is made of.
            make: Makes it.
        """
        return self._shared.latest((self.area, key), of, make)

    def order(self, iou_thresholds: Sequence[float], max_detections: int | None) -> HitOrder:
        """True positives in ranked order at each threshold; `max_detections` as in `precision`."""
        max_detections = self.limit(max_detections)
        return self.once(
            (tuple(iou_thresholds), max_detections),
            lambda: self._ordered(iou_thresholds, max_detections),
        )

    def with_copies(self, weights: NDArray[np.int64]) -> tuple[Matches, NDArray[np.int64]]:
        """The same detections, and weights, to rank those of copies of an image as copies are.

        Detections of an image that have one label and score, and `nearest`, are tied: each copy of
        the image has rows of its own for them, and stands behind all images as one that counts
        once or not at all (`copies`).
        """
        groups = self._shared.once("tied groups", lambda: _tied_of(self))
        if groups is None:
            return self, weights
        # Of a few sizes only, for most resamples to share what is made of them.
        most = max(8, 1 << (int(weights.max(initial=1)) - 1).bit_length())
        images = np.unique(self.image[groups >= 0])
        apart = self._shared.once(("apart", most), lambda: _stood_apart(self, groups, images, most))
        copies = weights[:, images, None] > np.arange(most)
        return apart.within(self.area), np.hstack([weights, copies.reshape(len(weights), -1)])

    def limit(self, max_detections: int | None) -> int | None:
        """The detection limit; None if no image and label exceeds it."""
        most = self.once("most of a label", lambda: int(self.rank.max(initial=-1)) + 1)
        return None if max_detections is None or most <= max_detections else max_detections

    @property
    def unit_weights(self) -> NDArray[np.int64]:
        """(units,) weight of each image."""
        if self.weights is None:
            return np.ones(self.unit_count, np.int64)
        return np.asarray(self.weights[self.replica])

    @property
    def replica_count(self) -> int:
        """Number of rows of `weights`; 1 if there are none."""
        return 1 if self.weights is None else len(self.weights)

    @property
    def replica_truths(self) -> NDArray[np.int64]:
        """(replicas, labels) ground truth counts in the area range."""
        return self._known.once((self.area, "ground truths"), lambda: _ground_truths(self))

    def _ordered(self, iou_thresholds: Sequence[float], max_detections: int | None) -> HitOrder:
        area = self.plan.areas.index(self.area)
        ious = [self.plan.ious.index(float(iou)) for iou in iou_thresholds]
        return order_hits(
            self.label,
            self.candidate,
            self.codes[area, ious],
            self.out_of_range[area],
            None if max_detections is None else self.rank < max_detections,
            len(self.labels),
        )


def _ground_truths(matches: Matches) -> Ints:
    """(replicas, labels) ground truths that count in the area range."""
    counted = ~matches.gt_ignored[matches.plan.areas.index(matches.area)]
    weights = None if matches.weights is None else matches.weights[:, matches.gt_image[counted]]
    return tallies(matches.gt_label[counted], len(matches.labels), weights)


def _positives(
    matches: Matches, iou_threshold: float, levels: Floats, max_detections: int | None
) -> tuple[Ints, Ints]:
    """(replicas, levels, labels) true positives, and false ones, at ascending scores."""
    order = matches.order([iou_threshold], max_detections)
    # Counted ones are right or wrong; corrections say who is counted against the rule.
    tp = _at_least(matches, levels, order.rows)
    counted = _at_least(matches, levels, np.flatnonzero(order.counted))
    for sign in (1, -1):
        counted += sign * _at_least(matches, levels, order.corrected[order.sign == sign])
    return tp, counted - tp


def _precisions(
    matches: Matches,
    iou_thresholds: Sequence[float],
    max_detections: int | None,
    interpolation: Interpolation,
) -> Floats:
    """(replicas, ious, points, labels) as in `Matches.precision`."""
    if interpolation == "every_point":
        found = area_under(*_hits(matches, iou_thresholds, max_detections))[None]
    else:
        levels = RECALLS if interpolation == "101_point" else ELEVEN_RECALLS
        found = _interpolated(matches, iou_thresholds, max_detections, levels).precision
    shape = (len(found), matches.replica_count, len(iou_thresholds), len(matches.labels))
    # In the reference's order of axes, for sums to be added in the same order.
    return np.ascontiguousarray(np.moveaxis(found.reshape(shape), 0, 2))


def _recalls(
    matches: Matches,
    iou_thresholds: Sequence[float],
    max_detections: int | None,
    score_threshold: float,
) -> Floats:
    """(replicas, ious, labels) as in `Matches.recalls`."""
    order = matches.order(iou_thresholds, None)
    kept = matches.score[order.rows] >= score_threshold
    if max_detections is not None:
        kept &= matches.rank[order.rows] < max_detections
    found = tallies(
        order.segment[kept],
        len(iou_thresholds) * len(matches.labels),
        _weights_of(matches, order.rows[kept]),
    ).reshape(matches.replica_count, len(iou_thresholds), len(matches.labels))
    return quotient(found, matches.replica_truths[:, None], np.nan)


def _interpolated(
    matches: Matches, iou_thresholds: Sequence[float], max_detections: int | None, levels: Floats
) -> Interpolated:
    """Curves of all replicas, IoU thresholds and labels, in this order of segments."""
    return interpolate(*_hits(matches, iou_thresholds, max_detections), levels)


def _hits(
    matches: Matches, iou_thresholds: Sequence[float], max_detections: int | None
) -> tuple[Hits, Ints]:
    """True positives and ground truths of all replicas, IoU thresholds and labels."""
    truths = np.repeat(matches.replica_truths[:, None], len(iou_thresholds), axis=1)
    apart, weights = matches, matches.weights
    if weights is not None:
        apart, weights = matches.with_copies(weights)
    order = apart.order(iou_thresholds, max_detections)
    return running_hits(order, weights, apart.image), truths.ravel()


def _at_least(matches: Matches, levels: Floats, rows: Ints) -> Ints:
    """(replicas, levels, labels) how many of `rows` score at least each ascending level."""
    return reaching(
        matches.score[rows],
        matches.label[rows],
        levels,
        len(matches.labels),
        _weights_of(matches, rows),
    )


def _weights_of(matches: Matches, rows: Ints) -> Ints | None:
    return None if matches.weights is None else matches.weights[:, matches.image[rows]]


def _tied_of(matches: Matches) -> NDArray[np.int64] | None:
    """(n,) numbers of the groups of tied detections that may be right; None without any."""
    columns = [matches.label, matches.score, matches.image]
    if matches.nearest is not None:
        columns.append(matches.nearest)
    groups = tied_groups(columns, matches.candidate)
    return groups if (groups >= 0).any() else None


def _stood_apart(
    matches: Matches, groups: NDArray[np.int64], images: NDArray[np.int64], most: int
) -> Matches:
    """The matches with room for copies of images, which stand behind all images.

    Args:
        matches: Without weights.
        groups: (n,) from `_tied_of`.
        images: Those that have tied detections, ascending.
        most: Copies of each that there is room for.
    """
    row, copy = break_ties(groups, most)
    stands = matches.unit_count + np.searchsorted(images, matches.image[row]) * most + copy
    place = np.full(len(matches.label), -1)
    place[matches.candidate] = np.arange(len(matches.candidate))
    candidate = np.flatnonzero(place[row] >= 0)
    chosen = place[row[candidate]]
    return replace(
        matches,
        image_ids=np.arange(matches.unit_count + len(images) * most),
        image=np.where(copy < 0, matches.image[row], stands),
        label=matches.label[row],
        score=matches.score[row],
        number=matches.number[row],
        rank=matches.rank[row],
        out_of_range=matches.out_of_range[:, row],
        candidate=candidate,
        codes=matches.codes[:, :, chosen],
        matched_gt=matches.matched_gt[:, :, chosen],
        overlap_pairs=None,
        nearest=None if matches.nearest is None else matches.nearest[row],
        weights=None,
        replica=0,
        _shared=Memo(),
        _known=Memo(),
    )


STORED = (Matches, MatchingPlan, Closeness, OverlapPairs)
"""What `Matches` consist of, as `Wing.stored` has it."""
