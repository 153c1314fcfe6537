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
    HitOrder,
    Hits,
    area_under,
    interpolate,
    order_hits,
    running_hits,
)
from valor_cli.kernels.ranking.resamples import (
    LANES,
    HitImages,
    average_precisions,
    batches,
    tally_resamples,
)

T = TypeVar("T")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """(…, labels) true positives, false positives and false negatives."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


class Tally(NamedTuple):
    """Objects to count: their groups and their images."""

    group: Ints
    image: Ints


class Matches(Struct, frozen=True):
    """Detections ranked by label and score, with their matches.

    The evidence of all data is one replica, in which each image counts once; resamples of it are
    several. What metrics read has the replicas first.

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
        """The evidence whose replica b has image i weights[b, i] times, a few replicas at a time.

        In the ranking, copies of a detection follow it directly, even where other scores are tied.

        Raises:
            ValueError: This is a resample already.
        """
        if self.weights is not None:
            raise ValueError("resamples are drawn from all data, not from a resample")
        for some in batches(len(weights), len(self.plan.ious) * self.count, LANES):
            yield replace(self, weights=weights[some], _known=Memo())

    def select(self, units: NDArray[np.bool_]) -> Matches:
        """Select images."""
        number = np.cumsum(units) - 1
        truths, rows = units[self.gt_image], units[self.image]
        taken = self.take(np.flatnonzero(rows))
        return replace(
            taken,
            image_ids=self.image_ids[units],
            gt_image=number[self.gt_image[truths]],
            gt_label=self.gt_label[truths],
            gt_number=self.gt_number[truths],
            gt_ignored=self.gt_ignored[:, truths],
            image=number[taken.image],
            matched_gt=np.append(np.cumsum(truths) - 1, -1)[taken.matched_gt],
            overlap_pairs=self.overlap_pairs and self.overlap_pairs.where(rows, truths),
        )

    def take(self, rows: NDArray[np.int64]) -> Matches:
        """Detections of some rows, in that order, without overlaps; all images and ground truth."""
        place = np.full(len(self.label), -1)
        place[self.candidate] = np.arange(len(self.candidate))
        candidate = np.flatnonzero(place[rows] >= 0)
        chosen = place[rows[candidate]]
        return replace(
            self,
            image=self.image[rows],
            label=self.label[rows],
            score=self.score[rows],
            number=self.number[rows],
            rank=self.rank[rows],
            out_of_range=self.out_of_range[:, rows],
            candidate=candidate,
            codes=self.codes[:, :, chosen],
            matched_gt=self.matched_gt[:, :, chosen],
            overlap_pairs=None,
            nearest=None if self.nearest is None else self.nearest[rows],
            _shared=Memo(),
            _known=Memo(),
        )

    @property
    def ground_truth_count(self) -> NDArray[np.int64]:
        """(replicas, labels) ground truth counts in the area range."""
        return self._known.once(
            (self.area, "ground truths"), lambda: self._tallied(self._ground_truths, 1)
        )

    @property
    def known_labels(self) -> NDArray[np.bool_]:
        """(labels,) which labels have ground truth in the area range in all data."""
        return self.once(
            "known labels", lambda: tallies(self._ground_truths.group, self.count)[0] > 0
        )

    def counts(
        self,
        iou_threshold: float,
        score_threshold: float | tuple[float, ...],
        max_detections: int | None = None,
    ) -> Counts:
        """(replicas, labels) counts at one pair of thresholds.

        Args:
            iou_threshold: One of the plan's.
            score_threshold: Of all labels, or of each; a detection is positive when its score is
                >= it.
            max_detections: The best so many per image and label; None for all.
        """
        asked = (iou_threshold, score_threshold, self.limit(max_detections))
        of_all = self.once(("tallies of counts", asked), lambda: self._positive(*asked))
        tp, counted, added, removed = self._known.once(
            (self.area, "counts", asked), lambda: [self._tallied(one, 1) for one in of_all]
        )
        return Counts(tp, counted + added - removed - tp, self.ground_truth_count - tp)

    def counts_by_score(
        self,
        iou_threshold: float,
        score_thresholds: Sequence[float],
        max_detections: int | None = None,
    ) -> Counts:
        """(thresholds, labels) counts of all data at each of several score thresholds.

        Args:
            iou_threshold, max_detections: As in `counts`.
            score_thresholds: In any order.

        Raises:
            ValueError: The evidence is a resample.
        """
        self._of_all_data()
        # Not np.unique, whose plain form imports all of numpy.ma: 4 ms.
        levels = np.array(sorted(set(score_thresholds)), np.float64)
        order = self.order([iou_threshold], max_detections)
        # Counted ones are right or wrong; corrections say who is counted against the rule.
        tp, counted, added, removed = (
            reaching(self.score[rows], self.label[rows], levels, self.count)
            for rows in (order.rows, np.flatnonzero(order.counted), *order.corrections)
        )
        tp, fp = (
            part[np.searchsorted(levels, score_thresholds)]
            for part in (tp, counted + added - removed - tp)
        )
        return Counts(tp, fp, self.ground_truth_count[0] - tp)

    def precision(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = 100,
        interpolation: Interpolation = "101_point",
    ) -> NDArray[np.float64]:
        """(replicas, ious, points, labels) interpolated precision.

        Its mean over points is average precision. Points are 101 or 11 recalls, or a single one:
        the area under all of the curve, or in resamples that mean itself. NaN without ground
        truth.
        """
        limit = self.limit(max_detections)
        curves = self._known.once((self.area, "curves", limit, interpolation), Curves)
        return curves.at(
            tuple(iou_thresholds), lambda: self._precision(iou_thresholds, limit, interpolation)
        )

    def scores(
        self, iou_thresholds: Sequence[float], max_detections: int | None = 100
    ) -> NDArray[np.float64]:
        """(ious, 101, labels) the score at which each recall is reached.

        0 where it never is, as the reference has it; NaN for labels without ground truth. Of the
        evidence as it is, without weights.

        Raises:
            ValueError: The evidence is a resample.
        """
        self._of_all_data()
        order = self.order(iou_thresholds, max_detections)
        hits = self._hits(iou_thresholds, self.limit(max_detections))
        at = interpolate(*hits, RECALLS).at
        reached = np.append(self.score[order.rows], 0.0)[at]
        shape = (len(iou_thresholds), self.count, len(RECALLS))
        scores = reached.reshape(shape).swapaxes(1, 2).copy()
        # Recall 0 is reached by the first detection, right or wrong.
        named, first = np.unique(self.label, return_index=True)
        scores[:, 0, named] = self.score[first]
        scores[:, :, self.ground_truth_count[0] == 0] = np.nan
        return np.asarray(scores)

    def recalls(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = None,
        score_threshold: float = -np.inf,
    ) -> NDArray[np.float64]:
        """(replicas, ious, labels) recall; NaN without ground truth."""
        asked = (tuple(iou_thresholds), self.limit(max_detections), score_threshold)
        tally = self.once(("tally of recalls", asked), lambda: self._found(*asked))
        found = self._known.once(
            (self.area, "found", asked), lambda: self._tallied(tally, len(iou_thresholds))
        )
        found = found.reshape(len(found), len(iou_thresholds), self.count)
        return quotient(found, self.ground_truth_count[:, None], np.nan)

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute a value that does not depend on image weights, once for all resamples.

        Args:
            key: Names it among all that is made of this evidence in this area range.
            make: Makes it.
        """
        return self._shared.once((self.area, key), make)

    def order(self, iou_thresholds: Sequence[float], max_detections: int | None) -> HitOrder:
        """True positives in ranked order at each threshold; `max_detections` as in `precision`."""
        max_detections = self.limit(max_detections)
        return self.once(
            (tuple(iou_thresholds), max_detections),
            lambda: self._ordered(iou_thresholds, max_detections),
        )

    def limit(self, max_detections: int | None) -> int | None:
        """The detection limit; None if no image and label exceeds it."""
        most = self.once("most of a label", lambda: int(self.rank.max(initial=-1)) + 1)
        return None if max_detections is None or most <= max_detections else max_detections

    @property
    def count(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def unit_weights(self) -> NDArray[np.int64]:
        """(replicas, units) weight of each image."""
        if self.weights is None:
            return np.ones((1, self.unit_count), np.int64)
        return self.weights

    @property
    def _ground_truths(self) -> Tally:
        """The ground truths that count in the area range."""
        return self.once("tally of ground truths", self._counted_truths)

    def _of_all_data(self) -> None:
        if self.weights is not None:
            raise ValueError("this is said of all data, not of resamples")

    def _tallied(self, tally: Tally, thresholds: int) -> Ints:
        """(replicas, thresholds * labels) how many there are of each group."""
        length = thresholds * self.count
        if self.weights is None:
            return tallies(tally.group, length)
        return tally_resamples(tally.group, tally.image, self.weights, length)

    def _counted_truths(self) -> Tally:
        counted = np.flatnonzero(~self.gt_ignored[self.plan.areas.index(self.area)])
        counted = counted[np.argsort(self.gt_label[counted], kind="stable")]
        return Tally(self.gt_label[counted], self.gt_image[counted])

    def _found(self, ious: Sequence[float], limit: int | None, score: float) -> Tally:
        order = self.order(ious, None)
        rows, segment = order.rows, order.segment
        if score > -np.inf:
            kept = self.score[rows] >= score
            rows, segment = rows[kept], segment[kept]
        if limit is not None:
            kept = (self.rank < limit)[rows]
            rows, segment = rows[kept], segment[kept]
        return Tally(segment, self.image[rows])

    def _positive(
        self, iou: float, score: float | tuple[float, ...], limit: int | None
    ) -> list[Tally]:
        """True positives, counted detections, and the corrections of both signs."""
        least = np.array(score)[self.label] if isinstance(score, tuple) else score
        reached = self.score >= least
        order = self.order([iou], limit)
        return [
            Tally(self.label[passing], self.image[passing])
            for rows in (order.rows, np.flatnonzero(order.counted), *order.corrections)
            for passing in [rows[reached[rows]]]
        ]

    def _precision(
        self, iou_thresholds: Sequence[float], limit: int | None, interpolation: Interpolation
    ) -> Floats:
        """(replicas, ious, points, labels) as in `precision`."""
        if interpolation == "every_point":
            shape = (len(self.unit_weights), len(iou_thresholds), 1, self.count)
            parts = batches(len(self.unit_weights), len(self.label))
            areas = [area_under(*self._hits(iou_thresholds, limit, some)) for some in parts]
            return np.concatenate(areas).reshape(shape)
        recalls = ELEVEN_RECALLS if interpolation == "11_point" else RECALLS
        if self.weights is not None:
            hits = self.once(
                ("images of hits", tuple(iou_thresholds), limit),
                lambda: HitImages.of(self.order(iou_thresholds, limit), self.image),
            )
            found = average_precisions(hits, self.weights, self.ground_truth_count, recalls)
            return found[:, :, None]
        precision = interpolate(*self._hits(iou_thresholds, limit), recalls).precision
        points = precision.reshape(len(recalls), 1, len(iou_thresholds), self.count)
        # In the reference's order of axes, for sums to be added in the same order.
        return np.ascontiguousarray(np.moveaxis(points, 0, 2))

    def _hits(
        self, iou_thresholds: Sequence[float], limit: int | None, some: slice = slice(None)
    ) -> tuple[Hits, Ints]:
        """True positives and ground truths of some replicas, all IoU thresholds and labels."""
        truths = np.repeat(self.ground_truth_count[some, None], len(iou_thresholds), axis=1)
        weights = None if self.weights is None else self.weights[some]
        return running_hits(self.order(iou_thresholds, limit), weights, self.image), truths.ravel()

    def _ordered(self, iou_thresholds: Sequence[float], max_detections: int | None) -> HitOrder:
        area = self.plan.areas.index(self.area)
        ious = [self.plan.ious.index(float(iou)) for iou in iou_thresholds]
        return order_hits(
            self.label,
            self.candidate,
            self.codes[area, ious],
            self.out_of_range[area],
            None if max_detections is None else self.rank < max_detections,
            self.count,
        )


class Curves:
    """Precision at several IoU thresholds, computed once for all metrics."""

    def __init__(self) -> None:
        self._known: list[tuple[tuple[float, ...], Floats]] = []

    def at(self, thresholds: tuple[float, ...], make: Callable[[], Floats]) -> Floats:
        """(resamples, thresholds, …) cached values, computed with `make` if missing."""
        for known, values in self._known:
            if known == thresholds:
                return values
            if set(thresholds) <= set(known):
                return values[:, [known.index(one) for one in thresholds]]
        self._known.append((thresholds, make()))
        return self._known[-1][1]


STORED = (Matches, MatchingPlan, Closeness, OverlapPairs)
"""What `Matches` consist of, as `Wing.stored` has it."""
