"""Evaluate detection metrics on all resamples at once.

The results equal those of `Matches.resamples` one by one, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import Interpolation
from valor_cli.evaluators.memo import Memo
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.kernels.ranking.hit_lanes import Buffers, interpolate_lanes
from valor_cli.kernels.ranking.hit_layout import HitLayout, lay_out
from valor_cli.kernels.ranking.lanes import Lanes
from valor_cli.kernels.ranking.precision_recall import ELEVEN_RECALLS, RECALLS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 2**31 - 1
"""Counts and places in tables are 32 bits wide; beyond, resamples come one by one."""


class Tally(NamedTuple):
    """Detections to count: their groups, ascending, and their images."""

    group: Ints
    image: Ints


class Replicas(Struct, frozen=True):
    """Several resamples of matches.

    Attributes:
        matches: The matches, in the area range that is read.
        weights: (resamples, images) how often each image stands in each.
        lanes: The same, to add all at once.
        expanded, apart_lanes: Matches and lanes in which copies of images rank as such.
        buffers: Room to work in, used again for the next resamples.
    """

    matches: Matches
    weights: Ints
    lanes: Lanes
    expanded: Matches
    apart_lanes: Lanes
    buffers: Buffers
    _known: Memo = field(default_factory=Memo)

    @classmethod
    def of(cls, matches: Matches, weights: Ints) -> Replicas:
        """Replicas of matches, shared by all metrics that use the same weights."""
        return matches.latest("replicas", weights, lambda: cls._of(matches, weights))

    @classmethod
    def _of(cls, matches: Matches, weights: Ints) -> Replicas:
        lanes = Lanes.of(weights)
        apart, more = matches.with_copies(weights)
        apart_lanes = lanes if apart is matches else Lanes.of(more)
        buffers = matches.once("buffers", Buffers)
        return cls(matches, weights, lanes, apart, apart_lanes, buffers)

    def within(self, area: str) -> Replicas:
        """The same resamples, read for the objects of one area range."""
        matches, apart = self.matches.within(area), self.expanded.within(area)
        return replace(self, matches=matches, expanded=apart, _known=Memo())

    @property
    def ground_truth_count(self) -> Ints:
        """(resamples, labels) ground truths that count in the area range."""
        tally = self.matches.once("tally of ground truths", self._truths)
        return self._known.once("ground truths", lambda: self._tallied(tally))

    def precision(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = 100,
        interpolation: Interpolation = "101_point",
    ) -> Floats:
        """(resamples, ious, points, labels) as `Matches.precision`."""
        if interpolation == "every_point" or not self._fits(iou_thresholds):
            return self._one_by_one(
                lambda one: one.precision(iou_thresholds, max_detections, interpolation)
            )
        recalls = RECALLS if interpolation == "101_point" else ELEVEN_RECALLS
        limit = self.matches.limit(max_detections)
        curves = self._known.once(("curves", limit, interpolation), Curves)
        return curves.at(
            tuple(iou_thresholds), lambda: self._interpolated(iou_thresholds, limit, recalls)
        )

    def recalls(
        self,
        iou_thresholds: Sequence[float],
        max_detections: int | None = None,
        score_threshold: float = -np.inf,
    ) -> Floats:
        """(resamples, ious, labels) as `Matches.recalls`."""
        ious, labels = len(iou_thresholds), len(self.matches.labels)
        limit = self.matches.limit(max_detections)
        asked = (tuple(iou_thresholds), limit, score_threshold)
        tally = self.matches.once(("tally of recalls", asked), lambda: self._found(*asked))
        found = self._known.once(("found", asked), lambda: self._tallied(tally, ious))
        truths = self.ground_truth_count[:, None]
        return quotient(found.reshape(-1, ious, labels), truths, np.nan)

    def counts(
        self,
        iou_threshold: float,
        score_threshold: float | tuple[float, ...],
        max_detections: int | None = None,
    ) -> tuple[Ints, Ints, Ints]:
        """(resamples, labels) true positives, false positives and false negatives."""
        asked = (iou_threshold, score_threshold, self.matches.limit(max_detections))
        tallies = self.matches.once(("tallies of counts", asked), lambda: self._positive(*asked))
        tp, counted, added, removed = self._known.once(
            ("counts", asked), lambda: tuple(self._tallied(one) for one in tallies)
        )
        return tp, counted + added - removed - tp, self.ground_truth_count - tp

    def _fits(self, iou_thresholds: Sequence[float]) -> bool:
        matches = self.expanded
        seen = max(len(matches.label), len(matches.gt_label)) * self.lanes.most
        cells = len(iou_thresholds) * len(RECALLS) * len(matches.labels) * self.lanes.width
        return max(seen, cells) <= LARGEST

    def _one_by_one(self, read: Callable[[Matches], Floats]) -> Floats:
        return np.array([read(one) for one in self.matches.resamples(self.weights)])

    def _tallied(self, tally: Tally, thresholds: int = 1) -> Ints:
        """(resamples, thresholds * labels) how many there are of each group."""
        length = thresholds * len(self.matches.labels)
        return self.lanes.tallies(tally.group, tally.image, length)[: len(self.weights)]

    def _truths(self) -> Tally:
        matches = self.matches
        counted = np.flatnonzero(~matches.gt_ignored[matches.plan.areas.index(matches.area)])
        counted = counted[np.argsort(matches.gt_label[counted], kind="stable")]
        return Tally(matches.gt_label[counted], matches.gt_image[counted])

    def _found(self, ious: Sequence[float], limit: int | None, score: float) -> Tally:
        order = self.matches.order(ious, None)
        kept = self.matches.score[order.rows] >= score
        if limit is not None:
            kept &= self.matches.rank[order.rows] < limit
        return Tally(order.segment[kept], self.matches.image[order.rows[kept]])

    def _positive(
        self, iou: float, score: float | tuple[float, ...], limit: int | None
    ) -> tuple[Tally, ...]:
        """True positives, counted detections, and those that count, or do not, against the rule."""
        matches = self.matches
        least = np.array(score)[matches.label] if isinstance(score, tuple) else score
        reached = matches.score >= least
        order = matches.order([iou], limit)
        corrected = [order.corrected[order.sign == sign] for sign in (1, -1)]
        return tuple(
            Tally(matches.label[passing], matches.image[passing])
            for rows in (order.rows, np.flatnonzero(order.counted), *corrected)
            for passing in [rows[reached[rows]]]
        )

    def _interpolated(
        self, iou_thresholds: Sequence[float], limit: int | None, recalls: Floats
    ) -> Floats:
        layout = self.expanded.once(
            ("layout", tuple(iou_thresholds), limit), lambda: self._laid_out(iou_thresholds, limit)
        )
        truths = self.ground_truth_count
        lanes = np.zeros((self.lanes.width, truths.shape[1]), np.int64)
        lanes[: len(truths)] = truths
        precision = interpolate_lanes(layout, self.apart_lanes, lanes, recalls, self.buffers)
        resample, label = np.nonzero(truths == 0)
        precision[resample, :, :, label] = np.nan
        return precision

    def _laid_out(self, iou_thresholds: Sequence[float], limit: int | None) -> HitLayout:
        matches = self.expanded
        order = matches.order(iou_thresholds, limit)
        return lay_out(order, matches.label, matches.image, len(matches.labels), matches.unit_count)


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
