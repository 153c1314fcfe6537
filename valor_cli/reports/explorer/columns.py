"""Columns of the explorer, by model: values of samples, objects with their outlines, slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import spread
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import PASS, Names, output_name
from valor_cli.reports.digests.passing import pass_rule
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import LONGEST, Ints, Samples, Side
from valor_cli.results import STATUSES, SamplesResult, SlicesResult
from valor_cli.results.identity import Kind, frozen
from valor_cli.results.objects import OUTCOMES, OUTLINED, TENTHS, ObjectsResult

Key = tuple[str, Kind]


class MetricOfSamples(Struct, frozen=True):
    """A metric with the values of each model, None where a model has none."""

    metric: str
    parameters: Kind
    detail: str
    models: Sequence[SamplesResult | None]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs listed; of a metric that passes or fails that one says it all."""
        names = dict.fromkeys(name for one in self.models if one for name in one.columns)
        return (PASS,) if PASS in names else tuple(names)


def metrics_of(sides: Sequence[Side]) -> list[MetricOfSamples]:
    """The metrics of all models, in the order of the runs."""
    found: dict[Key, dict[int, SamplesResult]] = {}
    for index, side in enumerate(sides):
        for one in side.own("samples"):
            if one.sample_ids:
                key = one.metric, frozen(one.parameters)
                found.setdefault(key, {}).setdefault(index, one)
    names = Names(
        (metric, next(iter(own.values())).parameters) for (metric, _), own in found.items()
    )
    return [
        MetricOfSamples(
            metric,
            kind,
            names.detail(metric, next(iter(own.values())).parameters),
            [own.get(index) for index in range(len(sides))],
        )
        for (metric, kind), own in found.items()
    ]


def metric_columns(
    metrics: Sequence[MetricOfSamples], sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any]]:
    """A column by metric, output and model, with what says whether a value is good."""
    listed = []
    for number, one in enumerate(metrics):
        for position, output in enumerate(one.outputs):
            name = output_name(one.metric, output if output != PASS else "")
            unit, direction = _declared(one, output, sides)
            rules = [
                pass_rule(side.result, own, output) if own and output in own.columns else None
                for own, side in zip(one.models, sides, strict=True)
            ]
            listed.append(
                {
                    "name": clean(f"{name} ({one.detail})" if one.detail else name, 80),
                    "metric": one.metric[:LONGEST],
                    "of": number,
                    "primary": position == 0,
                    "passes": output == PASS,
                    "given": any(rule.given for rule in rules if rule is not None),
                    "unit": unit,
                    "better": direction,
                    "models": [
                        None
                        if own is None
                        else {
                            "values": _values(own, output, samples, blobs),
                            "status": _statuses(own, samples, blobs) if position == 0 else None,
                            "limit": None if rule is None else rule.limit,
                        }
                        for own, rule in zip(one.models, rules, strict=True)
                    ],
                }
            )
    return listed


def _declared(one: MetricOfSamples, output: str, sides: Sequence[Side]) -> tuple[str, str | None]:
    for side in sides:
        for row in side.result.metrics:
            if (row.metric, row.output) == (one.metric, output):
                return row.unit, row.direction
    columns = [own.columns[output] for own in one.models if own and output in own.columns]
    counted = all(isinstance(value, int | None) for column in columns for value in column)
    return "count" if counted else "fraction", None


def _values(own: SamplesResult, output: str, samples: Samples, blobs: Blobs) -> int | None:
    if output not in own.columns:
        return None
    column = np.full(len(samples), np.nan)
    column[samples.positions(own.sample_ids)] = np.array(own.columns[output], np.float64)
    return blobs.numbers(column)


def _statuses(own: SamplesResult, samples: Samples, blobs: Blobs) -> int | None:
    if own.statuses is None:
        return None
    places = {status: number for number, status in enumerate(STATUSES)}
    column = np.full(len(samples), -1, np.int64)
    column[samples.positions(own.sample_ids)] = [places[one] for one in own.statuses]
    return blobs.codes(column)


FEW: Final = 20_000
"""Objects whose boxes are kept exactly."""


def object_columns(sides: Sequence[Side], samples: Samples, blobs: Blobs) -> dict[str, Any] | None:
    """Columns of every ground truth and detection by model; None without any."""
    found: list[ObjectsResult | None] = [side.first("objects") for side in sides]
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
        one: ObjectsResult | None = side.first("objects")
        if one is not None:
            places = samples.positions(one.image_ids)
            size[places] = np.asarray(one.sizes)
            for place, file in zip(places.tolist(), one.files, strict=True):
                files[place] = file
        for example in side.own("examples"):
            if example.picture is not None:
                place = samples.position(example.sample_id)
                picture = example.picture
                files[place] = files[place] or picture.file
                if picture.width and picture.height and not size[place].any():
                    size[place] = picture.width, picture.height
    return files, size


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)


def outline_columns(
    sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any] | None] | None:
    """Of each model, the rings of its ground truths and detections; None where all are boxes."""
    found: list[dict[str, Any] | None] = []
    for side in sides:
        one: ObjectsResult | None = side.first("objects")
        if one is None or one.outlines is None:
            found.append(None)
            continue
        places = samples.positions(one.image_ids)
        truths = len(one.gt_images)
        columns = structs.astuple(one.outlines)
        found.append(
            {
                "gt": _rings(columns, _order(places[np.asarray(one.gt_images)]), blobs),
                "found": _rings(columns, truths + _order(places[np.asarray(one.images)]), blobs),
            }
        )
    blobs.finish()
    return found if any(found) else None


def boxes_drawn(sides: Sequence[Side]) -> list[str]:
    """That some objects are drawn as boxes though they are none."""
    shown = [one for side in sides for one in side.result.objects if one.outlines is not None]
    if all(max(len(one.gt_images), len(one.images)) <= OUTLINED for one in shown):
        return []
    told = f"the first {OUTLINED:,} ground truths and the {OUTLINED:,} best detections of a model"
    return [f"Outlines are drawn of {told}, boxes of the others."]


def _order(sample: Ints) -> Ints:
    return np.argsort(sample, kind="stable")


def _rings(columns: Sequence[Any], objects: Ints, blobs: Blobs) -> dict[str, int]:
    """Counts of rings by object and of points by ring, and the points, of some objects."""
    rings, points, xy = columns
    first = np.cumsum(rings) - rings
    chosen = spread(first[objects], rings[objects])
    first = np.cumsum(points) - points
    shown = xy[spread(first[chosen], points[chosen])]
    return {
        "rings": blobs.codes(rings[objects]),
        "points": blobs.codes(points[chosen]),
        "xy": blobs.rounded(np.maximum(shown, 0) / TENTHS, TENTHS),
    }


def slice_columns(
    sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any]] | None:
    """A column of flags by slice and model; None where no run says who is in which.

    Slices of one key exclude each other; those of several conditions are their own key.
    """
    own: list[SlicesResult | None] = [side.first("slices") for side in sides]
    names = dict.fromkeys(name for one in own if one is not None for name in one.names)
    places: dict[int, Ints] = {}
    for one in own:
        if one is not None and id(one.sample_ids) not in places:
            at = [samples.position(name) for name in one.sample_ids]
            places[id(one.sample_ids)] = np.array(at, np.int64)
    return [
        {
            "name": name,
            "shown": clean(name, 120),
            "key": name if " & " in name else name.partition("=")[0],
            "models": [
                None
                if one is None or name not in one.names
                else blobs.bits(_flags(one, name, places[id(one.sample_ids)], len(samples)))
                for one in own
            ],
        }
        for name in names
    ] or None


def _flags(one: SlicesResult, name: str, places: Ints, count: int) -> Any:
    """(samples,) whether each sample of the explorer is in the slice."""
    flags = np.zeros(count, bool)
    members = places[one.members[list(one.names).index(name)]]
    flags[members[members >= 0]] = True
    return flags
