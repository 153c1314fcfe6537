"""Read objects of a Label Studio export, JSON or JSON-MIN.

A list of tasks, each an image: `{"data": {"image": …}, "annotations": [{"result": […]}],
"predictions": [{"result": […], "score"}]}`. A result of type `rectanglelabels` or `polygonlabels`
has a `value` in percent of `original_width` and `original_height`, and its labels; `rotation` turns
a rectangle clockwise about its left top corner. Other results (choices, texts) are no objects.
Ground truth is the annotation marked `ground_truth`, else the first that was not cancelled. Image
ids are names of image files without extension.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, read_annotations, stem_of
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.values import describe
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import Kind

MARKS: Final = (b'"rectanglelabels"', b'"polygonlabels"', b'"brushlabels"')
"""What such a file holds."""

_SHAPES: Final = ("rectanglelabels", "polygonlabels")
_SIDES: Final = ("x", "y", "width", "height", "rotation")


def _parse(found: AnnotatedImages, text: str) -> None:
    document = parse_json(text.encode(), found.path)
    if not isinstance(document, list):
        message = f"expected a list of tasks, found {describe(document)}"
        raise DataError(Problem(found.path, message))
    for row, task in enumerate(document):
        _add_task(found, task, row)


def _add_task(found: AnnotatedImages, task: Any, row: int) -> None:
    place = f"[{row}]"
    data = task.get("data", task) if isinstance(task, dict) else None
    names = [one for one in data.values() if isinstance(one, str)] if data else []
    image = data.get("image", data.get("img", next(iter(names), None))) if data else None
    if not isinstance(image, str) or not image:
        message = f'expected a task with an image under "data", found {describe(task)}'
        found.faults.add(0, place, message)
        return
    results = list(_results(found, task, place))
    sizes = [_size(found, one, key) for key, one in results]
    width, height = next((size for size in sizes if all(size)), (0, 0))
    found.add_image(stem_of(image.split("?d=")[-1]), width, height, key=place)
    for key, result in results:
        found.begin(row)
        _add_result(found, result, key, (width, height))


def _results(
    found: AnnotatedImages, task: Mapping[str, Any], place: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The shapes of a task, each with its place."""
    side = "predictions" if found.predicted else "annotations"
    if side not in task and "data" not in task:
        # JSON-MIN has the values of the results themselves.
        for name, values in task.items():
            for at, value in enumerate(values if isinstance(values, list) else ()):
                kind = next((one for one in value if one in _SHAPES), "") if value else ""
                if kind:
                    yield f"{place}.{name}[{at}]", {**value, "type": kind, "value": value}
        return
    groups = task.get(side, [])
    if not isinstance(groups, list):
        found.faults.add(0, f"{place}.{side}", f"expected a list, found {describe(groups)}")
        return
    kept = [at for at, one in enumerate(groups) if not (one or {}).get("was_cancelled")]
    kept.sort(key=lambda at: not groups[at].get("ground_truth"))
    for at in kept[:1]:
        for number, result in enumerate(groups[at].get("result") or ()):
            key = f"{place}.{side}[{at}].result[{number}]"
            if isinstance(result, dict) and str(result.get("type", "")).endswith("labels"):
                yield key, {"score": groups[at].get("score"), **result}


def _size(found: AnnotatedImages, result: Mapping[str, Any], key: str) -> tuple[int, int]:
    width, height = (result.get(f"original_{side}") for side in ("width", "height"))
    wide = found.side(width, f"{key}.original_width", least=1)
    return wide, wide and found.side(height, f"{key}.original_height", least=1)


def _add_result(
    found: AnnotatedImages, result: Mapping[str, Any], key: str, size: Sequence[int]
) -> None:
    kind, value = result["type"], result.get("value")
    labels = value.get(kind) if isinstance(value, dict) else None
    if kind not in _SHAPES:
        expected = " or ".join(_SHAPES)
        found.fault(f"{key}.type", f"expected {expected}, found {describe(kind)}")
    elif not (isinstance(labels, list) and labels and all(isinstance(one, str) for one in labels)):
        said = describe(labels if isinstance(value, dict) else value)
        found.fault(f"{key}.value.{kind}", f"expected a list of labels, found {said}")
    score = found.number(result.get("score"), f"{key}.score") if found.predicted else 0.0
    if not found.sound or not isinstance(value, dict) or not isinstance(labels, list):
        return
    found.found += len(labels) - 1
    wide, high = (side / 100 for side in size)
    shape: Kind = "polygon"
    if kind == "polygonlabels":
        points = value.get("points")
        numbers = [
            found.number(one, f"{key}.value.points[{at}]") * by
            for at, point in enumerate(points if isinstance(points, list) else [points])
            for one, by in zip(_pair(point), (wide, high), strict=True)
        ]
    else:
        value = {"rotation": 0, **value}
        sides = [found.number(value.get(name), f"{key}.value.{name}") for name in _SIDES]
        x, y, width, height, angle = sides
        x, y, width, height = x * wide, y * high, width * wide, height * high
        shape, numbers = "box", [x, y, x + width, y + height]
        if angle:
            centre = _centre((x, y, width, height), angle)
            shape, numbers = "rotated_box", [*centre, width, height, angle]
    for label in labels:
        found.add(shape, label, numbers, key=f"{key}.value", score=score)


def _pair(point: Any) -> Sequence[Any]:
    return point if isinstance(point, list) and len(point) == 2 else (point, point)


def _centre(box: Sequence[float], angle: float) -> tuple[float, float]:
    """The centre of a box that is turned about its left top corner."""
    x, y, width, height = box
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return x + (width * cosine - height * sine) / 2, y + (width * sine + height * cosine) / 2


read_objects = partial(read_annotations, parse=_parse, ending=".json", place="[{row}]")
