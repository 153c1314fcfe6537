"""Write and read objects.bin: every object of a detection run with its outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from msgspec import structs

from valor_cli.errors import DataError, Problem
from valor_cli.reports.files.packed_arrays import Array, ArrayReader, ArrayWriter, read_records
from valor_cli.reports.files.sample_lines import NEXT
from valor_cli.results import ObjectsResult, RunResult
from valor_cli.results.objects import OUTCOMES, Outlines

_NAME = b"valor objects 1\n"

_LISTS: Final = ("labels", "image_ids", "files")
_PLAIN: Final = (
    *("sizes", "gt_labels", "gt_boxes", "gt_ignored"),
    *("detected", "scores", "boxes", "outcomes", "ious"),
)
"""Arrays that are kept as they are."""

_OF_IMAGES: Final = ("gt_images", "images")
"""Numbers of images, which ascend: how many there are of each is kept."""

_OF_TRUTHS: Final = ("matched", "nearest")
"""Numbers of ground truths, which are kept as counted from the first one of the image."""

_COLUMNS: Final = {
    **dict.fromkeys(("gt_images", "gt_labels", "images", "detected", *_OF_TRUTHS), "int32"),
    **dict.fromkeys(("gt_boxes", "boxes", "ious"), "float32"),
    "sizes": "int32",
    "scores": "float64",
    "outcomes": "uint8",
    "gt_ignored": "bool",
}
"""The type of each array."""


def to_blocks(result: RunResult) -> Iterator[bytes | memoryview]:
    """The file content, array by array."""
    arrays = ArrayWriter()
    document = [_told(one, arrays) for one in result.objects]
    yield from arrays.blocks(_NAME, {"run": _run(result), "objects": document})


def _run(result: RunResult) -> list[str | None]:
    """What tells a run from others: its config and its inputs."""
    return [result.run.config_sha256, *(one.sha256 for one in result.run.inputs)]


def _told(one: ObjectsResult, arrays: ArrayWriter) -> dict[str, Any]:
    """The document entry of a model, with its arrays appended."""
    count = len(one.image_ids)
    per_image = {name: _counts(getattr(one, name), count) for name in _OF_IMAGES}
    first = np.cumsum(per_image["gt_images"]) - per_image["gt_images"]
    offset = np.repeat(first.astype(np.int32), per_image["images"])
    columns = {name: getattr(one, name) for name in _PLAIN}
    columns |= per_image
    for name in _OF_TRUTHS:
        number = getattr(one, name)
        columns[name] = np.where(number >= 0, number - offset, np.int32(-1))
    ids = one.gt_ids.tolist()
    whole = one.gt_ids.dtype.kind == "i"
    return {
        "model": one.model,
        "parameters": dict(one.parameters),
        **{name: list(getattr(one, name)) for name in _LISTS},
        "gt_ids": arrays.add(one.gt_ids) if whole else None,
        "gt_texts": None if whole else ids,
        "arrays": {name: arrays.add(array) for name, array in columns.items()},
        **(
            {"outlines": [arrays.add(array) for array in structs.astuple(one.outlines)]}
            if one.outlines is not None
            else {}
        ),
    }


def _counts(numbers: Array, count: int) -> Array:
    """How many there are of each number; they ascend."""
    return np.diff(np.searchsorted(numbers, np.arange(count + 1, dtype=numbers.dtype)))


def from_bytes(content: bytes, path: str, result: RunResult) -> tuple[ObjectsResult, ...]:
    """Read what `to_blocks` wrote.

    Raises:
        DataError: As `read_records`; or it is of other inputs.
    """
    found, document = read_records(content, path, result, _NAME, _read)
    if document.get("run") != _run(result):
        message = "not of the config and the inputs of results.json; is it from another run?"
        raise DataError(Problem(path, message), hint=NEXT)
    return found


def _read(record: Mapping[str, Any], arrays: ArrayReader) -> ObjectsResult:
    """The objects of a model, whose arrays come next.

    Raises:
        LookupError, TypeError, ValueError: They do not fit together.
    """
    ids: Any = record["gt_texts"]
    ids = arrays.take(record["gt_ids"]) if ids is None else np.array([*ids, None], object)[:-1]
    columns: dict[str, Any]
    columns = {name: arrays.take(told) for name, told in record["arrays"].items()}
    lists = {name: tuple(record[name]) for name in _LISTS}
    gt_counts, counts = (columns[name] for name in _OF_IMAGES)
    images = np.arange(len(lists["image_ids"]))
    columns |= {"gt_images": np.repeat(images, gt_counts), "images": np.repeat(images, counts)}
    offset = np.repeat(np.cumsum(gt_counts) - gt_counts, counts)
    for name in _OF_TRUTHS:
        columns[name] = np.where(columns[name] >= 0, columns[name] + offset, -1)
    columns = {name: columns[name].astype(kind, copy=False) for name, kind in _COLUMNS.items()}
    shapes = record.get("outlines")
    found = ObjectsResult(
        model=record["model"],
        parameters=record["parameters"],
        gt_ids=ids,
        **lists,
        **columns,
        outlines=None if shapes is None else Outlines(*map(arrays.take, shapes)),
    )
    _check(found)
    return found


def _check(one: ObjectsResult) -> None:
    """Check that columns are of equal length, and numbers lead to what there is.

    Raises:
        ValueError: They are not, or do not.
    """
    images, truths, found = len(one.image_ids), len(one.gt_labels), len(one.detected)
    shapes = {
        **dict.fromkeys(("gt_images", "gt_labels", "gt_ids", "gt_ignored"), (truths,)),
        **dict.fromkeys(("images", "detected", "scores", "outcomes", "ious"), (found,)),
        **dict.fromkeys(_OF_TRUTHS, (found,)),
        "gt_boxes": (truths, 4),
        "boxes": (found, 4),
        "sizes": (images, 2),
        "files": (images,),
    }
    below = {
        **dict.fromkeys(("gt_labels", "detected"), len(one.labels)),
        **dict.fromkeys(_OF_TRUTHS, truths),
        "outcomes": len(OUTCOMES),
    }
    columns = structs.asdict(one)
    if any(np.shape(columns[name]) != shape for name, shape in shapes.items()):
        raise ValueError(shapes)
    for name, end in below.items():
        column = columns[name].astype(np.int64)
        lowest = -1 if name in _OF_TRUTHS else 0
        if len(column) and not lowest <= int(column.min()) <= int(column.max()) < end:
            raise ValueError(name)
    if one.outlines is not None:
        rings, points, xy = structs.astuple(one.outlines)
        counts = (truths + found, int(rings.sum()), int(points.sum()))
        if min(rings.min(initial=0), points.min(initial=0)) < 0 or counts != (
            len(rings),
            len(points),
            len(xy),
        ):
            raise ValueError(counts)
    named = {*map(type, one.labels), *map(type, one.files)}
    if not named <= {str, type(None)} or not isinstance(one.parameters["iou_threshold"], float):
        raise TypeError(named)
