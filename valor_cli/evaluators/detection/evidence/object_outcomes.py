"""The outcome of every object at one IoU threshold, in the order of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.partition.ranges import NUMBERED
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.data.shapes.objects.gallery import Gallery
from valor_cli.evaluators.detection.evidence.error_types import REASONS, reasons
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.object_outlines import outlines_of_objects
from valor_cli.evaluators.detection.evidence.outcomes import highest, judged
from valor_cli.evaluators.detection.evidence.overlap_pairs import OverlapPairs
from valor_cli.evaluators.detection.evidence.parameters import MATCHED_AT
from valor_cli.kernels.columns.grouping import order_by_group, ranked
from valor_cli.kernels.geometry.boxes import Pairs
from valor_cli.kernels.geometry.conversion import bounds
from valor_cli.kernels.geometry.overlaps import overlapping
from valor_cli.kernels.ranking.matching import best_pairs, match
from valor_cli.kernels.threads import at_once
from valor_cli.metric import Call
from valor_cli.results import ObjectsResult
from valor_cli.results.objects import OUTCOMES

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Kinds: TypeAlias = Mapping[str, tuple[type[np.generic], int]]

TRUE_POSITIVE: Final = OUTCOMES.index("true_positive")
IGNORED: Final = OUTCOMES.index("ignored")
_OF_REASONS: Final = np.array([*(OUTCOMES.index(one) for one in REASONS), IGNORED], np.uint8)
"""Outcomes by reason; the last one is that of none."""

_AT_ONCE: Final = 1 << 15
"""Detections that are looked at together, about: what is made of them fits in the cache."""

MOST: Final = 8_000_000
"""Detections of a model beyond which none of its objects are kept."""

_COCO_LIMIT: Final = 100
_COCO_IOU: Final = 0.5
_TIDE_BACKGROUND: Final = 0.1


class Setting(Struct, frozen=True):
    """How objects are matched: as the first metric that names an IoU threshold has it.

    Attributes:
        metric: That metric; None if no metric names one.
        iou_threshold: From which overlap on a pair matches.
        background_iou: Up to which overlap a detection is background.
        max_detections: The best so many per image and label count; None for all.
    """

    metric: str | None
    iou_threshold: float
    background_iou: float
    max_detections: int | None

    @classmethod
    def of(cls, calls: Sequence[Call], ious: Sequence[float]) -> Setting:
        """The setting of a run's metrics.

        Args:
            calls: The metrics, in the order of the config.
            ious: The thresholds that their evidence has.
        """
        for call in calls:
            own = call.parameters
            for value in call.marked(MATCHED_AT):
                if isinstance(value, float | int):
                    background = own.get("background_iou", _TIDE_BACKGROUND)
                    limit = own.get("max_detections")
                    return cls(call.metric.name, float(value), background, limit)
        iou = _COCO_IOU if _COCO_IOU in ious else ious[0]
        limit = calls[0].parameters.get("max_detections", _COCO_LIMIT)
        return cls(None, iou, _TIDE_BACKGROUND, limit)


def outcomes_of_objects(
    model: str, parts: Sequence[DetectionDataset], matches: Matches, calls: Sequence[Call]
) -> ObjectsResult | None:
    """Every object of a model with its outcome; None if there are too many.

    Args:
        model: Whose detections they are.
        parts: The dataset, or that of each range of images.
        matches: The evidence of all of them.
        calls: The metrics that it was made for.
    """
    if sum(len(part.detections) for part in parts) > MOST:
        return None
    setting = Setting.of(calls, matches.plan.ious)
    found = _Columns(parts, _judged_rows(matches, setting, parts), _counted_rows(matches, parts))
    images = truths = detections = 0
    for part in parts:
        found.fill(part, setting, images, truths, detections)
        images += part.unit_count
        truths += len(part.ground_truths)
        detections += len(part.detections)
    return found.result(model, setting, parts)


def _starts(counts: Sequence[int] | Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])


def _positions(number: Ints, counts: Sequence[int]) -> Ints:
    """Positions of objects among those of all parts, in which they are numbered."""
    if len(counts) == 1:
        return number
    return np.asarray(_starts(counts)[number // NUMBERED] + number % NUMBERED)


_NEITHER, _WRONG, _RIGHT = range(3)
"""A detection that is right counts, too: its flags add up."""


def _judged_rows(
    matches: Matches, setting: Setting, parts: Sequence[DetectionDataset]
) -> NDArray[np.uint8]:
    """(n,) whether each detection of all parts is right, wrong, or neither."""
    _, counted, right = judged(
        matches, setting.iou_threshold, max_detections=setting.max_detections
    )
    counts = [len(part.detections) for part in parts]
    state = np.full(sum(counts), _NEITHER, np.uint8)
    state[_positions(matches.number, counts)] = counted.view(np.uint8) + right
    return state


def _counted_rows(matches: Matches, parts: Sequence[DetectionDataset]) -> Flags:
    """(m,) whether each ground truth of all parts counts."""
    counts = [len(part.ground_truths) for part in parts]
    counted = np.zeros(sum(counts), bool)
    area = matches.plan.areas.index(matches.area)
    counted[_positions(matches.gt_number, counts)] = ~matches.gt_ignored[area]
    return counted


_OF_TRUTHS: Final[Kinds] = {
    "gt_boxes": (np.float32, 4),
    **dict.fromkeys(("gt_images", "gt_labels"), (np.int32, 1)),
    "gt_ignored": (np.bool_, 1),
}
_OF_DETECTIONS: Final[Kinds] = {
    "scores": (np.float64, 1),
    "boxes": (np.float32, 4),
    **dict.fromkeys(("images", "detected", "matched", "nearest"), (np.int32, 1)),
    "ious": (np.float32, 1),
    "outcomes": (np.uint8, 1),
}
"""Type and width of the columns, the widest types first: so each is aligned behind the last."""


def _allocated(count: int, kinds: Kinds) -> dict[str, NDArray[Any]]:
    """Columns in one piece of memory, which large pages hold: a third of the time to fill them."""
    sizes = [count * width * np.dtype(kind).itemsize for kind, width in kinds.values()]
    memory = np.empty(sum(sizes), np.uint8)
    found = {}
    for (name, (kind, width)), end, size in zip(
        kinds.items(), np.cumsum(sizes).tolist(), sizes, strict=True
    ):
        column = memory[end - size : end].view(kind)
        found[name] = column if width == 1 else column.reshape(count, width)
    return found


class _Columns:
    """The columns of `ObjectsResult`, filled part by part.

    Args:
        parts: All parts.
        judged: From `_judged_rows`.
        counted: From `_counted_rows`.
    """

    def __init__(
        self, parts: Sequence[DetectionDataset], judged: NDArray[np.uint8], counted: Flags
    ) -> None:
        self.judged = judged
        self.counted = counted
        self.truths = _allocated(len(counted), _OF_TRUTHS)
        self.found = _allocated(len(judged), _OF_DETECTIONS)
        self.gt_ids: list[Any] = []

    def fill(
        self, part: DetectionDataset, setting: Setting, images: int, truths: int, detections: int
    ) -> None:
        """Fill in a part, before which come so many images, ground truths and detections."""
        regular = self._fill_truths(part, images, truths)
        found, columns = part.detections, self.found
        by_image = order_by_group(found.image)
        box = bounds(found.shapes)
        judged = self.judged[detections : detections + len(by_image)]

        def fill_rows(rows: slice) -> None:
            own, to = by_image[rows], slice(detections + rows.start, detections + rows.stop)
            image = found.image[own]
            own, score = _best_first(own, image, found.score[own])
            label = found.label[own]
            columns["images"][to] = image + images
            columns["detected"][to] = label
            columns["scores"][to] = score
            columns["boxes"][to] = box.take(own, axis=0)
            met = _of_rows(part, own, image, label, judged[own], regular, setting)
            for name, column in zip(("outcomes", "matched", "nearest", "ious"), met, strict=True):
                columns[name][to] = column

        spans = _spans(_starts(np.bincount(found.image, minlength=part.unit_count)))
        at_once(fill_rows, spans, worth=len(spans) > 1)

    def _fill_truths(self, part: DetectionDataset, images: int, first: int) -> _Regular:
        """Fill in the ground truths of a part; those that count are returned."""
        truths = part.ground_truths
        order = order_by_group(truths.image)
        to = slice(first, first + len(order))
        counted = self.counted[to][order]
        self.truths["gt_images"][to] = truths.image[order] + images
        self.truths["gt_labels"][to] = truths.label[order]
        self.truths["gt_boxes"][to] = bounds(truths.shapes)[order]
        self.truths["gt_ignored"][to] = ~counted
        ids = (part.gallery or Gallery()).truth_ids
        self.gt_ids += (order if ids is None else ids[order]).tolist()
        number = np.flatnonzero(counted)
        rows = order[number]
        size = np.bincount(truths.image[rows], minlength=part.unit_count)
        return _Regular(number + first, rows, np.cumsum(size) - size, size)

    def result(
        self, model: str, setting: Setting, parts: Sequence[DetectionDataset]
    ) -> ObjectsResult:
        """The result."""
        shown = [_pictures(part) for part in parts]
        return ObjectsResult(
            model=model,
            parameters={name: getattr(setting, name) for name in setting.__struct_fields__},
            labels=parts[0].labels,
            image_ids=[one for part in parts for one in part.image_ids.tolist()],
            files=[file for files, _ in shown for file in files],
            sizes=np.concatenate([sizes for _, sizes in shown]),
            gt_ids=_column(self.gt_ids),
            **self.truths,
            **self.found,
            outlines=outlines_of_objects(parts),
        )


def _column(ids: list[Any]) -> NDArray[Any]:
    """Ids as an array of integers, or of what they are."""
    whole = set(map(type, ids)) <= {int}
    return np.array(ids, np.int64) if whole else np.array([*ids, None], object)[:-1]


class _Regular(Struct, frozen=True):
    """The ground truths of a part that count, image by image.

    Attributes:
        number: (k,) number of each among all ground truths, image by image.
        rows: (k,) row of each in the dataset.
        first, size: (images,) where those of each image begin, and how many there are.
    """

    number: Ints
    rows: Ints
    first: Ints
    size: Ints


def _spans(starts: Ints) -> list[slice]:
    """Ranges of rows, each of whole images.

    Args:
        starts: Where each image begins in the rows; at the end, how many rows there are.
    """
    n = int(starts[-1])
    at = np.searchsorted(starts, np.arange(_AT_ONCE, n, _AT_ONCE))
    edges = sorted({0, *starts[at].tolist(), n})
    return [slice(low, high) for low, high in pairwise(edges)]


def _best_first(rows: Ints, image: Ints, score: Floats) -> tuple[Ints, Floats]:
    """Rows by image, then descending score, with their scores; rows of an image are together."""
    if ((score[1:] <= score[:-1]) | (image[1:] != image[:-1])).all():
        # As most files have them.
        return rows, score
    order = ranked(image, score, np.zeros_like(rows))
    return rows[order], score[order]


def _of_rows(
    part: DetectionDataset,
    rows: Ints,
    image: Ints,
    label: Ints,
    judged: NDArray[np.uint8],
    regular: _Regular,
    setting: Setting,
) -> tuple[NDArray[np.uint8], Ints, Ints, Floats]:
    """Outcome, numbers of the matched and of the nearest ground truth, and IoU of detections.

    Args:
        part: The part they are of.
        rows: (n,) which of its detections: all of some neighbouring images, best score first.
        image, label: (n,) their images, ascending, and their labels.
        judged: (n,) as in `_judged_rows`.
        regular: The ground truths of the part that count.
        setting: How objects are matched.
    """
    low = regular.first[image[0]]
    high = regular.first[image[-1]] + regular.size[image[-1]]
    truths = regular.rows[low:high]
    floor = min(setting.iou_threshold, 1 - 1e-10)
    pairs = overlapping(
        part.detections.shapes,
        part.ground_truths.shapes.take(truths),
        np.zeros(len(truths), bool),
        regular.first[image] - low,
        regular.size[image],
        min(setting.background_iou, floor),
        rows=rows,
    )
    same = label[pairs.detection] == part.ground_truths.label[truths][pairs.ground_truth]
    met = OverlapPairs(*pairs)
    own, own_truth = highest(met, same, len(rows))
    other, other_truth = highest(met, ~same, len(rows))
    right = judged == _RIGHT
    reason = reasons(judged == _WRONG, own, other, setting.iou_threshold, setting.background_iou)
    outcome = np.where(right, np.uint8(TRUE_POSITIVE), _OF_REASONS[reason])
    kept = np.flatnonzero(same & right[pairs.detection] & (pairs.iou >= floor))
    chosen = Pairs(pairs.detection[kept], pairs.ground_truth[kept], pairs.iou[kept])
    matched = _matched(chosen, len(truths), floor, len(rows), best=part.matching == "valor")
    iou = np.maximum(own, other)
    first = (own > other) | ((own == other) & (own_truth < other_truth))
    nearest = np.where(first, own_truth, other_truth)
    of_match = chosen.ground_truth == matched[chosen.detection]
    iou[chosen.detection[of_match]] = chosen.iou[of_match]
    # The last one stands for none.
    number = np.append(regular.number[low:high], -1)
    return outcome, number[matched], number[nearest], iou


def _matched(pairs: Pairs, truths: int, floor: float, rows: int, *, best: bool) -> Ints:
    """(rows,) the ground truth that each detection is matched with; -1 for none.

    What is right is known, so that these alone are matched again: the others take nothing.

    Args:
        pairs: Of detections that are right, best score first, with ground truths of their label.
        truths: How many ground truths there are.
        floor: The least IoU that matches.
        rows: How many detections there are.
        best: Whether a detection has no choice but its best pair, as valor-lite matches.
    """
    found = match(
        best_pairs(pairs) if best else pairs,
        np.ones((1, truths), bool),
        np.zeros(truths, bool),
        np.array([floor]),
        remember=[0],
    )
    matched = np.full(rows, -1)
    matched[found.candidate] = found.taken[0, 0]
    return matched


def _pictures(part: DetectionDataset) -> tuple[list[str | None], NDArray[np.int32]]:
    """The file of each image, and its width and height; 0 if unknown."""
    gallery = part.gallery or Gallery()
    sizes = np.zeros((part.unit_count, 2), np.int32)
    files: list[str | None] = [None] * part.unit_count
    if gallery.image_ids is None:
        return files, sizes
    at = np.searchsorted(gallery.image_ids, part.image_ids)
    if gallery.files is not None:
        files = [None if file is None else str(file) for file in gallery.files[at].tolist()]
    for column, side in enumerate((gallery.width, gallery.height)):
        if side is not None:
            sizes[:, column] = [value or 0 for value in side[at].tolist()]
    return files, sizes
