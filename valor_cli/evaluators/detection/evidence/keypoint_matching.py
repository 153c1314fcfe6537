"""Match detections to ground truth by keypoint similarity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import AREAS, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections, merge_matches
from valor_cli.kernels.columns.grouping import grouped, positions_of
from valor_cli.kernels.geometry.boxes import Pairs
from valor_cli.kernels.geometry.conversion import bounds
from valor_cli.kernels.geometry.oks import Poses, similar_poses
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.kernels.ranking.matching import match
from valor_cli.metric import Call

Sigmas = tuple[float, ...]


class KeypointPlan(Struct, frozen=True):
    """Plan of keypoint evidence: sets of sigmas, similarity thresholds and area ranges."""

    sigmas: tuple[Sigmas, ...]
    matching: MatchingPlan


def plan_keypoints(calls: Sequence[Call], slices: Sequence[str]) -> KeypointPlan:
    """The sigmas, thresholds and area ranges of all metrics."""
    sigmas = dict.fromkeys(tuple(call.parameters["sigmas"]) for call in calls)
    thresholds = {oks for call in calls for oks in call.parameters["oks_thresholds"]}
    named = {"all"}.union(*(call.parameters["areas"] for call in calls))
    areas = tuple(area for area in AREAS if area in named)
    return KeypointPlan(tuple(sigmas), MatchingPlan(tuple(sorted(thresholds)), areas))


class KeypointMatches(Struct, frozen=True):
    """Matches by keypoint similarity, for each set of sigmas."""

    by_sigmas: Mapping[Sigmas, Matches]

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return next(iter(self.by_sigmas.values())).unit_count

    def select(self, units: NDArray[np.bool_]) -> KeypointMatches:
        """Select images."""
        return KeypointMatches(
            {sigmas: matches.select(units) for sigmas, matches in self.by_sigmas.items()}
        )

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[KeypointMatches]:
        """As `Matches.resamples`."""
        each = [matches.resamples(weights) for matches in self.by_sigmas.values()]
        for again in zip(*each, strict=True):
            yield KeypointMatches(dict(zip(self.by_sigmas, again, strict=True)))


def match_keypoints(dataset: DetectionDataset, plan: KeypointPlan) -> KeypointMatches:
    """Match one shard of images by keypoint similarity.

    Raises:
        DataError: A side has no keypoints, or another number than there are sigmas; or detections
            are not to be matched by COCO's rule.
    """
    _check(dataset, plan.sigmas)
    return KeypointMatches(
        {sigmas: _matches(dataset, plan.matching, sigmas) for sigmas in plan.sigmas}
    )


def merge_keypoints(parts: Sequence[KeypointMatches]) -> KeypointMatches:
    """Merge the evidence of several shards of images, in any order.

    Raises:
        ValueError: The shards were matched under different plans or labels, or are views.
    """
    return KeypointMatches(
        {
            sigmas: merge_matches([part.by_sigmas[sigmas] for part in parts])
            for sigmas in parts[0].by_sigmas
        }
    )


def _check(dataset: DetectionDataset, wanted: Sequence[Sigmas]) -> None:
    if dataset.matching != "coco":
        raise DataError(
            Problem("matching", f"coco_keypoints follows COCO's rule, not {dataset.matching}'s"),
            hint="set `matching: coco`, or leave the metric coco_keypoints out",
        )
    problems = [
        *_misfits("ground truth", dataset.ground_truths, wanted),
        *_misfits("predictions", dataset.detections, wanted),
    ]
    if problems:
        raise DataError(
            problems, hint="give files with keypoints, and a sigma for each keypoint in its order"
        )


def _misfits(name: str, side: GroundTruths | Detections, wanted: Sequence[Sigmas]) -> list[Problem]:
    """What keeps one side from being compared under some sigmas."""
    if side.keypoints is None:
        missing = Problem(name, "no object has keypoints, which coco_keypoints needs")
        return [missing] if len(side) else []
    count = side.keypoints.shape[1]
    return [
        Problem(
            "coco_keypoints: sigmas",
            f"expected {count}, one for each keypoint of the {name}, found {len(sigmas)}",
        )
        for sigmas in wanted
        if len(sigmas) != count
    ]


def _matches(dataset: DetectionDataset, plan: MatchingPlan, sigmas: Sigmas) -> Matches:
    """Detections ranked and sized as boxes are; who matches whom is decided by keypoints."""
    truths, found = dataset.ground_truths, dataset.detections
    # The size of a detection is that of its box, which is the extent of its keypoints where the
    # file gives none: pycocotools' loadRes.
    ranked = match_detections(
        replace(
            dataset,
            ground_truths=replace(truths, shapes=_boxes(truths)),
            detections=replace(found, shapes=_boxes(found), number=np.arange(len(found))),
        ),
        replace(plan, ious=()),
    )
    row = ranked.number
    poses = Poses(_keypoints(truths, len(sigmas)), bounds(truths.shapes), truths.area)
    ignored = ranked.gt_ignored | ~poses.visible.any(axis=1)
    cell = ranked.label * dataset.unit_count + ranked.image
    gt_cell = truths.label * dataset.unit_count + truths.image
    thresholds = np.array(plan.ious)
    matched = match(
        _pairs(
            _keypoints(found, len(sigmas))[row],
            cell,
            poses,
            gt_cell,
            np.array(sigmas),
            min(*plan.ious, 1 - 1e-10),
        ),
        ~ignored,
        truths.crowd,
        thresholds,
        turn=np.arange(len(row)),
    )
    return replace(
        ranked,
        plan=plan,
        number=found.number[row],
        gt_ignored=ignored,
        candidate=matched.candidate,
        codes=matched.code,
        matched_gt=matched.taken,
    )


def _boxes(side: GroundTruths | Detections) -> Shapes:
    return Shapes.boxes(bounds(side.shapes))


def _keypoints(side: GroundTruths | Detections, count: int) -> NDArray[np.float64]:
    """(n, count, 3) keypoints; a side without objects may have none."""
    return np.zeros((0, count, 3)) if side.keypoints is None else side.keypoints


def _pairs(
    points: NDArray[np.float64],
    cell: NDArray[np.int64],
    poses: Poses,
    gt_cell: NDArray[np.int64],
    sigmas: NDArray[np.float64],
    least: float,
) -> Pairs:
    """Similar pairs inside each cell (label and image), by the rows that are given."""
    rows, starts = grouped(gt_cell)
    at = positions_of(cell, gt_cell[rows[starts[:-1]]])
    # A cell without ground truth is at -1: the end of the rows, and none of them.
    sizes = np.append(np.diff(starts), 0)
    pairs = similar_poses(points, poses.take(rows), sigmas, starts[at], sizes[at], least)
    return pairs._replace(ground_truth=rows[pairs.ground_truth])
