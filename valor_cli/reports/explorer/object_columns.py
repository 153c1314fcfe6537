"""Objects of detection runs as columns, in the order of the explorer's samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import LONGEST, Ints, Samples, Side
from valor_cli.results.objects import OUTCOMES, ObjectsResult

TENTHS: Final = 10
"""Parts of a pixel kept of boxes."""

FEW: Final = 20_000
"""Objects whose boxes are kept exactly."""


def object_columns(sides: Sequence[Side], samples: Samples, blobs: Blobs) -> dict[str, Any] | None:
    """Columns of every ground truth and detection by model; None without any."""
    found = [_of_side(side) for side in sides]
    labels = list(dict.fromkeys(label for one in found if one for label in one.labels))
    if not any(found):
        return None
    models = [None if one is None else _columns(one, labels, samples, blobs) for one in found]
    blobs.finish()
    # Boxes, half of all, are not needed to count.
    for one, columns in zip(found, models, strict=True):
        if one is not None and columns is not None:
            order = _by_sample(samples.positions(one.image_ids)[np.asarray(one.images)])
            columns["boxes"] = _boxes(np.asarray(one.boxes)[order], blobs)
    blobs.finish()
    return {
        "outcomes": OUTCOMES,
        "labels": [clean(label, 80) for label in labels],
        "names": [label[:LONGEST] for label in labels],
        "models": models,
    }


def _of_side(side: Side) -> ObjectsResult | None:
    return next((one for one in side.result.objects if one.model == side.model), None)


def _columns(
    one: ObjectsResult, labels: Sequence[str], samples: Samples, blobs: Blobs
) -> dict[str, Any]:
    """Columns ordered by sample; a reference to a ground truth is its number in its sample."""
    places = samples.positions(one.image_ids)
    number = {label: at for at, label in enumerate(labels)}
    global_label = np.array([number[label] for label in one.labels] or [0], np.int64)
    gt_sample, sample = places[np.asarray(one.gt_images)], places[np.asarray(one.images)]
    gt_order, order = _by_sample(gt_sample), _by_sample(sample)
    gt_counts = np.bincount(gt_sample, minlength=len(samples))
    rank = _rank_in_sample(gt_order, gt_counts)
    return {
        "parameters": {name: _shown(value) for name, value in one.parameters.items()},
        "gt_counts": blobs.codes(gt_counts),
        "gt_labels": blobs.codes(global_label[np.asarray(one.gt_labels)][gt_order]),
        "gt_boxes": _boxes(np.asarray(one.gt_boxes)[gt_order], blobs),
        "gt_ignored": blobs.codes(np.asarray(one.gt_ignored, np.int64)[gt_order]),
        "gt_ids": _ids(one.gt_ids, gt_order, blobs),
        "counts": blobs.codes(np.bincount(sample, minlength=len(samples))),
        "labels": blobs.codes(global_label[np.asarray(one.detected)][order]),
        "scores": blobs.numbers(np.asarray(one.scores)[order]),
        "outcomes": blobs.codes(np.asarray(one.outcomes)[order]),
        "matched": blobs.codes(_local(np.asarray(one.matched)[order], rank)),
        "nearest": blobs.codes(_local(np.asarray(one.nearest)[order], rank)),
        "ious": blobs.rounded(np.asarray(one.ious)[order], 1000),
    }


def _by_sample(sample: Ints) -> Ints | slice:
    """The order by sample; all of them where they are in it already."""
    if not len(sample) or bool((np.diff(sample) >= 0).all()):
        return slice(None)
    order: Ints = np.argsort(sample, kind="stable")
    return order


def _rank_in_sample(order: Ints | slice, counts: Ints) -> Ints:
    """(ground truths,) the place of each among those of its sample."""
    total = int(counts.sum())
    first = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.empty(total, np.int64)
    rank[order] = np.arange(total) - first
    return rank


def _local(references: NDArray[Any], rank: Ints) -> Ints:
    if not len(rank):
        return np.full(len(references), -1, np.int64)
    return np.where(references < 0, -1, rank[references])


def _boxes(boxes: NDArray[Any], blobs: Blobs) -> int:
    if len(boxes) <= FEW:
        return blobs.numbers(np.round(np.asarray(boxes, np.float64), 4))
    return blobs.rounded(boxes, TENTHS)


def _ids(ids: Any, order: Ints | slice, blobs: Blobs) -> int | None:
    """Ids of ground truths, where they are numbers."""
    column = np.asarray(ids)
    return blobs.numbers(column[order]) if column.dtype.kind in "iu" else None


def sizes(sides: Sequence[Side], samples: Samples) -> tuple[list[str | None], Ints]:
    """(samples,) the file name, and (samples, 2) the width and height, 0 where unknown."""
    files: list[str | None] = [None] * len(samples)
    size = np.zeros((len(samples), 2), np.int64)
    for side in reversed(sides):
        one = _of_side(side)
        if one is not None:
            places = samples.positions(one.image_ids)
            size[places] = np.asarray(one.sizes)
            for place, file in zip(places.tolist(), one.files, strict=True):
                files[place] = file
        for example in side.result.examples:
            if example.model == side.model and example.picture is not None:
                place = samples.position(example.sample_id)
                picture = example.picture
                files[place] = files[place] or picture.file
                if picture.width and picture.height and not size[place].any():
                    size[place] = picture.width, picture.height
    return files, size


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
