"""Match one shard of images, and merge the evidence of shards.

Merging any shards, in any order, gives the same numbers, bit for bit, as one pass over all images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.overlap_pairs import (
    find_overlap_pairs,
    merge_overlap_pairs,
)
from valor_cli.evaluators.detection.evidence.parameters import AREAS, MatchingPlan
from valor_cli.kernels.columns.grouping import positions_of, ranked, spread, tie_broken_ranks
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.kernels.geometry.overlaps import overlapping
from valor_cli.kernels.ranking.matching import Cells, best_pairs, match, shared_cells
from valor_cli.kernels.threads import at_once

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)

LEAST_OVERLAP = 1e-9
"""The least IoU that is an overlap, as valor-lite has it."""

_WORTH = 1 << 20
"""More detections than these are merged in several threads."""


def match_detections(dataset: DetectionDataset, plan: MatchingPlan) -> Matches:
    """Match one shard of images."""
    truths, found = dataset.ground_truths, dataset.detections
    # The tools of VOC, whose boxes have inclusive pixels, rank equal scores by image instead.
    by_iou = dataset.matching == "valor" and not dataset.inclusive_pixels
    near = nearest(dataset) if by_iou else None
    order = ranked(found.label, tie_broken_ranks(found.score, near), found.image)
    image, label, score = found.image[order], found.label[order], found.score[order]
    limits = np.array([AREAS[name] for name in plan.areas])
    low, high = limits[:, :1], limits[:, 1:]
    area = areas(found.shapes)[order]
    ignored = truths.uncounted | (truths.area < low) | (truths.area > high)
    met = shared_cells(label, image, truths.label, truths.image, dataset.unit_count)
    gt = met.truths
    close = plan.overlap_pairs
    pairs = overlapping(
        found.shapes,
        truths.shapes.take(gt),
        truths.crowd[gt],
        met.first,
        met.size,
        min([*plan.ious, 1 - 1e-10]),
        rows=order[met.rows],
    )
    rank, turn = met.rank, None
    if dataset.matching == "valor":
        pairs = best_pairs(pairs)
        iou = np.zeros(len(score))
        iou[met.rows[pairs.detection]] = pairs.iou
        rank = Cells.of(label * dataset.unit_count + image).rank(by=(-iou, -score))
        turn = rank[met.rows]
    matched = match(
        pairs,
        ~ignored[:, gt],
        truths.uncounted[gt],
        np.array(plan.ious),
        remember=[plan.ious.index(iou) for iou in close.remembered] if close else (),
        turn=turn,
    )
    candidate = met.rows[matched.candidate]
    ascending = np.argsort(candidate)
    return Matches(
        plan=plan,
        image_ids=dataset.image_ids,
        labels=dataset.labels,
        gt_image=truths.image,
        gt_label=truths.label,
        gt_number=truths.number,
        gt_ignored=ignored,
        image=image,
        label=label,
        score=score,
        number=found.number[order],
        rank=rank,
        out_of_range=(area < low) | (area > high),
        candidate=candidate[ascending],
        codes=matched.code[:, :, ascending],
        matched_gt=np.append(gt, -1)[matched.taken[:, :, ascending]],
        overlap_pairs=None
        if close is None
        else find_overlap_pairs(
            found.shapes, order, image, np.flatnonzero(score >= close.score), truths, close.iou
        ),
        nearest=None if near is None else near[order],
    )


def nearest(dataset: DetectionDataset) -> Floats:
    """(n,) highest IoU of each detection with a ground truth of its image; 0 for none.

    Of its own label, where it overlaps one of those at all, else of any: valor-lite ranks by it.
    """
    truths, found = dataset.ground_truths, dataset.detections
    anyhow, any_truth = np.zeros_like(found.label), np.zeros_like(truths.label)
    met = shared_cells(anyhow, found.image, any_truth, truths.image, dataset.unit_count)
    pairs = overlapping(
        found.shapes,
        truths.shapes.take(met.truths),
        truths.crowd[met.truths],
        met.first,
        met.size,
        LEAST_OVERLAP,
        rows=met.rows,
    )
    detection = met.rows[pairs.detection]
    mine = found.label[detection] == truths.label[met.truths[pairs.ground_truth]]
    own, other = np.zeros(len(found.label)), np.zeros(len(found.label))
    np.maximum.at(own, detection[mine], pairs.iou[mine])
    np.maximum.at(other, detection[~mine], pairs.iou[~mine])
    return np.where(own > 0, own, other)


def _by_images(parts: Sequence[Matches]) -> list[Matches]:
    """The shards that have images, by their first one."""
    some = [part for part in parts if part.unit_count]
    return sorted(some, key=lambda part: part.image_ids[0]) or [*parts[:1]]


def _are_apart(parts: Sequence[Matches]) -> bool:
    """Whether all images of each shard come before those of the next."""
    return all(one.image_ids[-1] < other.image_ids[0] for one, other in pairwise(parts))


def _places(parts: Sequence[Matches], images: Sequence[NDArray[np.int64]]) -> list[Ints]:
    """Positions of each shard's detections in the merged order.

    Args:
        parts: The shards, by their first image.
        images: Of each, the positions of its images among those of all.
    """
    labels = [part.label for part in parts]
    near = [part.nearest for part in parts if part.nearest is not None]
    score = np.concatenate([part.score for part in parts])
    scores = _apart(tie_broken_ranks(score, np.concatenate(near) if near else None), parts=labels)
    if _are_apart(parts):
        return _apart(places_of_runs(labels, scores, len(parts[0].labels)), parts=labels)
    image = np.concatenate([new[part.image] for new, part in zip(images, parts, strict=True)])
    number = np.concatenate([part.number for part in parts])
    order = ranked(np.concatenate(labels), np.concatenate(scores), image, within=number)
    return _apart(_inverse(order), parts=labels)


def _standing(numbers: Sequence[Ints]) -> list[Ints]:
    """Positions of each part's numbers in the merged ascending order, all distinct."""
    return _apart(_inverse(np.argsort(np.concatenate(numbers))), parts=numbers)


def _inverse(order: Ints) -> Ints:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _apart(whole: NDArray[Number], parts: Sequence[NDArray[Any]]) -> list[NDArray[Number]]:
    """A column, cut where the next of these parts begins."""
    return np.split(whole, np.cumsum([len(part) for part in parts[:-1]]))


def _put(columns: Sequence[NDArray[Any]], places: Sequence[Ints]) -> NDArray[Any]:
    """(..., n) the columns of several shards, each of which says where its values go."""
    shape = (*columns[0].shape[:-1], sum(len(place) for place in places))
    found = np.empty(shape, np.result_type(*columns))
    rows = math.prod(shape[:-1])
    for column, place in zip(columns, places, strict=True):
        # Row by row: half the time that all of them take at once.
        whole, own = found.reshape(rows, shape[-1]), column.reshape(rows, len(place))
        for row, values in zip(whole, own, strict=True):
            row[place] = values
    return found


def merge_matches(parts: Sequence[Matches]) -> Matches:
    """Merge the evidence of several shards of images, in any order.

    Raises:
        ValueError: The shards were matched under different plans or labels, or are views.
    """
    first = parts[0]
    for part in parts:
        if (part.plan, part.labels) != (first.plan, first.labels):
            raise ValueError("shards of one evidence share their plan and their labels")
        if part.area != "all" or part.weights is not None:
            raise ValueError("only whole evidence is merged, no area and no resample of it")
    if len(parts) == 1:
        return first
    parts = _by_images(parts)
    image_ids = np.unique(np.concatenate([part.image_ids for part in parts]))
    images = [positions_of(part.image_ids, image_ids) for part in parts]
    gt_image = np.concatenate([new[part.gt_image] for new, part in zip(images, parts, strict=True)])
    places = _places(parts, images)
    offsets = np.cumsum([0, *(len(part.gt_label) for part in parts[:-1])]).tolist()
    met = [
        (part.overlap_pairs, place, np.arange(offset, offset + len(part.gt_label)))
        for part, place, offset in zip(parts, places, offsets, strict=True)
        if part.overlap_pairs is not None
    ]
    merged = _detections(parts, images, places, offsets)
    return Matches(
        plan=first.plan,
        image_ids=image_ids,
        labels=first.labels,
        gt_image=gt_image,
        gt_label=np.concatenate([part.gt_label for part in parts]),
        gt_number=np.concatenate([part.gt_number for part in parts]),
        gt_ignored=np.concatenate([part.gt_ignored for part in parts], axis=1),
        overlap_pairs=merge_overlap_pairs(met) if met else None,
        **merged,
    )


def _detections(
    parts: Sequence[Matches],
    images: Sequence[Ints],
    places: Sequence[Ints],
    offsets: Sequence[int],
) -> dict[str, Any]:
    """The merged columns of detections and of candidates.

    Args:
        parts: The shards.
        images, places: Of each, the positions of its images and of its detections in the whole.
        offsets: How many ground truths come before its own.
    """
    moved = [place[part.candidate] for place, part in zip(places, parts, strict=True)]
    candidates = _standing(moved)
    near = [part.nearest for part in parts if part.nearest is not None]
    of_detections: dict[str, list[NDArray[Any]]] = {
        "image": [new[part.image] for new, part in zip(images, parts, strict=True)],
        "label": [part.label for part in parts],
        "score": [part.score for part in parts],
        "number": [part.number for part in parts],
        "rank": [part.rank for part in parts],
        "out_of_range": [part.out_of_range for part in parts],
        **({"nearest": near} if near else {}),
    }
    of_candidates: dict[str, list[NDArray[Any]]] = {
        "candidate": moved,
        "codes": [part.codes for part in parts],
        "matched_gt": [
            np.where(part.matched_gt >= 0, part.matched_gt + offset, -1)
            for part, offset in zip(parts, offsets, strict=True)
        ],
    }
    merged = at_once(
        lambda one: _put(*one),
        [
            *((columns, places) for columns in of_detections.values()),
            *((columns, candidates) for columns in of_candidates.values()),
        ],
        worth=sum(map(len, places)) > _WORTH,
    )
    return dict(zip([*of_detections, *of_candidates], merged, strict=True))


def places_of_runs(labels: Sequence[Ints], scores: Sequence[Floats], count: int) -> Ints:
    """Positions of the rows of all parts ordered by label, descending score, part, position.

    Sorting what is sorted in runs already only merges the runs: a tenth of the time that sorting
    all rows anew takes.

    Args:
        labels, scores: Of each part, the columns of its rows, ranked by label, then score
            descending; labels count from 0.
        count: How many labels there are.

    Returns:
        (n,) positions in the merged order of the concatenated parts' rows.
    """
    # (parts, labels + 1) where each label begins in each part.
    bounds = np.array([np.searchsorted(one, np.arange(count + 1)) for one in labels], np.int64)
    bounds = bounds.reshape(len(labels), count + 1)
    before = np.cumsum([0, *(len(one) for one in labels)])
    edges = bounds.sum(axis=0)
    places = np.empty(before[-1], np.int64)

    def place(label: int) -> None:
        cuts = [slice(*cut) for cut in bounds[:, label : label + 2].tolist()]
        lowered = -np.concatenate([score[cut] for score, cut in zip(scores, cuts, strict=True)])
        rows = spread(before[:-1] + bounds[:, label], np.diff(bounds[:, label : label + 2])[:, 0])
        order = np.argsort(lowered, kind="stable")
        places[rows[order]] = np.arange(edges[label], edges[label + 1])

    at_once(place, np.flatnonzero(np.diff(edges)).tolist(), worth=len(places) > _WORTH)
    return places
