"""List the objects of a detection run by outcome."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.reports.lists.listing import Listing, Query, check_known, in_slice, models_of
from valor_cli.reports.writer import OBJECTS
from valor_cli.results import ObjectsResult, RunResult, Scalar
from valor_cli.results.objects import OUTCOMES

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FALSE_NEGATIVE: Final = "false_negative"

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "tp": ("true_positive",),
    "fp": OUTCOMES[1:-1],
    "fn": (FALSE_NEGATIVE,),
    **{name: (name,) for name in OUTCOMES},
}
"""What is asked for, to outcomes."""

_NO_OBJECTS: Final = (
    "evaluate again with json among the formats; it is written where boxes or shapes are matched"
)

_OF_BOTH: Final = ("image_id", "file", "model", "label")
_PLACE: Final = ("x", "y", "width", "height", "size")
DETECTION_COLUMNS: Final = (
    *(*_OF_BOTH, "score", *_PLACE),
    *("iou", "ground_truth_id", "ground_truth_label", "outcome"),
)
"""Columns of detections; the ground truth is the one matched, else the nearest one."""

GROUND_TRUTH_COLUMNS: Final = (
    *(*_OF_BOTH, "ground_truth_id", *_PLACE),
    *("nearest_label", "nearest_score", "nearest_iou", "nearest_outcome"),
)
"""Columns of false negatives; the nearest is the detection that comes closest, of any score."""


def object_list(result: RunResult, query: Query) -> Listing:
    """The objects of an outcome, model by model: detections best score first, others by image.

    At a threshold the true positives are the matched detections from that score on, and the false
    negatives the ground truths without one.

    Raises:
        UnknownNameError: The run has no such label, model, slice or image.
        ConfigError: An option is not for these objects.
        DataError: The run has no objects, or no slices.
    """
    models = models_of(result, query)
    if not result.objects:
        message = f"the run has no {OBJECTS} beside its results.json"
        raise DataError(Problem("--list", message), hint=_NO_OBJECTS)
    chosen = [one for one in result.objects if one.model in models]
    if query.label is not None:
        labels = [name for one in chosen for name in one.labels]
        check_known("--label", "label", query.label, labels)
    if query.sample is not None:
        names = [name for one in chosen for at in _names(one) for name in at]
        check_known("--image", "image", query.sample, names)
    threshold = _threshold(result) if query.threshold is None else query.threshold
    if query.kind == "fn":
        _check_scores(query)
        columns, pick, tell = GROUND_TRUTH_COLUMNS, _false_negatives, _ground_truths
    else:
        columns, pick, tell = DETECTION_COLUMNS, _detections, _rows
    rows: list[Sequence[Scalar]] = []
    total = 0
    for one in chosen:
        found = pick(one, query, threshold)
        among = in_slice(result, query, one.model)
        if among is not None:
            there = np.array([(type(name), name) in among for name in one.image_ids], bool)
            images = one.gt_images if query.kind == "fn" else one.images
            found = found[there[images[found]]]
        total += len(found)
        left = None if query.limit is None else query.limit - len(rows)
        rows += tell(one, found[:left])
    iou: Any = result.objects[0].parameters["iou_threshold"]
    return Listing(
        query.kind,
        {"slice": query.slice, "iou_threshold": iou, "score_threshold": threshold},
        columns,
        rows,
        total,
    )


def _threshold(result: RunResult) -> float | None:
    """The first score threshold that a metric of the run has; None: all scores count."""
    asked = result.objects[0].parameters.get("metric")
    rows = sorted(result.metrics, key=lambda row: row.metric != asked)
    found = (row.parameters.get("score_threshold") for row in rows)
    return next((float(one) for one in found if isinstance(one, float | int)), None)


def _check_scores(query: Query) -> None:
    """Refuse bounds of scores where ground truths are listed.

    Raises:
        ConfigError: There are some.
    """
    for option, bound in (("--min-score", query.min_score), ("--max-score", query.max_score)):
        if bound is not None:
            message = "a false negative has no score"
            hint = "--threshold T says from which score on a detection finds an object"
            raise ConfigError(Problem(option, message), hint=hint)


def _names(one: ObjectsResult) -> list[tuple[str, ...]]:
    """What each image may be called: its id, its file, the file without its folder."""
    return [
        (str(name), *(() if file is None else (file, posixpath.basename(file))))
        for name, file in zip(one.image_ids, one.files, strict=True)
    ]


def _counting(one: ObjectsResult, threshold: float | None) -> Flags:
    """(n,) the detections from the threshold on."""
    return np.ones(len(one.scores), bool) if threshold is None else one.scores >= threshold


def _sizes(boxes: NDArray[np.float32]) -> Floats:
    """(n,) square roots of the areas of boxes."""
    sides = boxes[:, 2:].astype(np.float64)
    return np.sqrt(sides[:, 0] * sides[:, 1])


def _wanted(
    one: ObjectsResult, query: Query, image: Ints, label: Ints, boxes: NDArray[np.float32]
) -> Flags:
    """(n,) the objects of the wanted label, image and size."""
    kept = np.ones(len(image), bool)
    if query.label is not None:
        kept &= label == (list(one.labels).index(query.label) if query.label in one.labels else -1)
    if query.sample is not None:
        called = np.array([query.sample in names for names in _names(one)], bool)
        kept &= called[image]
    sizes = _sizes(boxes)
    if query.min_size is not None:
        kept &= sizes >= query.min_size
    if query.max_size is not None:
        kept &= sizes <= query.max_size
    return kept


def _detections(one: ObjectsResult, query: Query, threshold: float | None) -> Ints:
    """Detections of a model, best score first."""
    codes = [OUTCOMES.index(name) for name in KINDS[query.kind]]
    kept = _counting(one, threshold) & np.isin(one.outcomes, codes)
    kept &= _wanted(one, query, one.images, one.detected, one.boxes)
    if query.min_score is not None:
        kept &= one.scores >= query.min_score
    if query.max_score is not None:
        kept &= one.scores <= query.max_score
    rows = np.flatnonzero(kept)
    return rows[np.argsort(-one.scores[rows], kind="stable")]


def _false_negatives(one: ObjectsResult, query: Query, threshold: float | None) -> Ints:
    """Ground truths of a model that no detection from the threshold on matches."""
    missed = ~np.asarray(one.gt_ignored)
    missed[one.matched[_counting(one, threshold) & (one.matched >= 0)]] = False
    missed &= _wanted(one, query, one.gt_images, one.gt_labels, one.gt_boxes)
    return np.flatnonzero(missed)


def _rows(one: ObjectsResult, rows: Ints) -> list[tuple[Scalar, ...]]:
    """What is listed of detections."""
    truth = np.where(one.matched[rows] >= 0, one.matched[rows], one.nearest[rows])
    columns = (
        *_place(one, one.images[rows], one.detected[rows]),
        one.scores[rows].tolist(),
        *_box(one.boxes[rows]),
        _rounded(one.ious[rows], 4),
        _at(one.gt_ids, truth),
        _named(one.labels, _at(one.gt_labels, truth)),
        _named(OUTCOMES, one.outcomes[rows].tolist()),
    )
    return list(zip(*columns, strict=True))


def _ground_truths(one: ObjectsResult, rows: Ints) -> list[tuple[Scalar, ...]]:
    """What is listed of false negatives."""
    nearest = _nearest_detections(one)[rows]
    columns = (
        *_place(one, one.gt_images[rows], one.gt_labels[rows]),
        one.gt_ids[rows].tolist(),
        *_box(one.gt_boxes[rows]),
        _named(one.labels, _at(one.detected, nearest)),
        _at(one.scores, nearest),
        _at(one.ious.astype(np.float64).round(4), nearest),
        _named(OUTCOMES, _at(one.outcomes, nearest)),
    )
    return list(zip(*columns, strict=True))


def _nearest_detections(one: ObjectsResult) -> Ints:
    """(ground truths,) the detection that is matched, else that overlaps most; -1 for none."""
    truth = np.where(one.matched >= 0, one.matched, one.nearest)
    order = np.lexsort((-np.arange(len(truth)), one.ious, one.matched >= 0))
    order = order[truth[order] >= 0]
    found = np.full(len(one.gt_labels), -1)
    # The last one of each stays.
    found[truth[order]] = order
    return found


def _place(one: ObjectsResult, image: Ints, label: Ints) -> Iterator[list[Scalar]]:
    """Image, file, model and label of objects."""
    images = image.tolist()
    yield [one.image_ids[at] for at in images]
    yield [one.files[at] for at in images]
    yield [one.model] * len(images)
    yield _named(one.labels, label.tolist())


def _box(boxes: NDArray[np.float32]) -> Iterator[list[float]]:
    """The sides and the size of boxes."""
    yield from (_rounded(column, 2) for column in boxes.T)
    yield _rounded(_sizes(boxes), 2)


def _at(column: NDArray[Any], rows: Ints) -> list[Any]:
    """The values of some rows; None for -1."""
    values = iter(column[rows[rows >= 0]].tolist())
    return [next(values) if row >= 0 else None for row in rows.tolist()]


def _named(names: Sequence[str], numbers: Sequence[int | None]) -> list[Scalar]:
    return [None if number is None else names[number] for number in numbers]


def _rounded(column: NDArray[Any], digits: int) -> list[float]:
    return [round(value, digits) for value in column.tolist()]
