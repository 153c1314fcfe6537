"""Read objects of a Label Studio export, JSON or JSON-MIN.

A list of tasks, each an image: `{"data": {"image": …}, "annotations": [{"result": […]}],
"predictions": [{"result": […], "score"}]}`. A result of type `rectanglelabels` or `polygonlabels`
has a `value` in percent of `original_width` and `original_height`, and its labels; `rotation` turns
a rectangle clockwise about its left top corner. Other results (choices, texts) are no objects.
Ground truth is the annotation marked `ground_truth`, else the first that was not cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.values import describe, number
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.rle import LARGEST_SIDE

MARKS: Final = (b'"rectanglelabels"', b'"polygonlabels"', b'"brushlabels"')
"""What such a file holds."""

_SHAPES: Final = ("rectanglelabels", "polygonlabels")


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Objects of an export; image ids are names of image files without extension.

    Args:
        path: The file.
        role: Which side it is: annotations, or predictions with their scores.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: The file cannot be read or is no such JSON; a result is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata)
    for file, text in images.files(".json"):
        document = parse_json(text.encode(), file)
        if not isinstance(document, list):
            message = f"expected a list of tasks, found {describe(document)}"
            raise DataError(Problem(file, message))
        for row, task in enumerate(document):
            _add_task(task, row, images)
    return images.object_file(how.invalid, place="[{row}]")


def _add_task(task: Any, row: int, images: AnnotatedImages) -> None:
    place = f"[{row}]"
    data = task.get("data", task) if isinstance(task, dict) else None
    names = [one for one in data.values() if isinstance(one, str)] if data else []
    image = data.get("image", data.get("img", next(iter(names), None))) if data else None
    if not isinstance(image, str) or not image:
        message = f'expected a task with an image under "data", found {describe(task)}'
        images.faults.add(0, place, message)
        return
    results = list(_results(task, place, images))
    sizes = [_size(one, key, images) for key, one in results]
    width, height = next((size for size in sizes if all(size)), (0, 0))
    images.add_image(stem_of(image.split("?d=")[-1]), width, height, key=place)
    for key, result in results:
        _add_result(result, row, key, (width, height), images)


def _results(
    task: Mapping[str, Any], place: str, images: AnnotatedImages
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The shapes of a task, each with its place."""
    side = "predictions" if images.predicted else "annotations"
    if side not in task and "data" not in task:
        # JSON-MIN has the values of the results themselves.
        for name, values in task.items():
            for at, value in enumerate(values if isinstance(values, list) else ()):
                kind = next((one for one in value if one in _SHAPES), "") if value else ""
                if kind:
                    yield f"{place}.{name}[{at}]", {**value, "type": kind, "value": value}
        return
    found = task.get(side, [])
    if not isinstance(found, list):
        images.faults.add(0, f"{place}.{side}", f"expected a list, found {describe(found)}")
        return
    kept = [at for at, one in enumerate(found) if not (one or {}).get("was_cancelled")]
    kept.sort(key=lambda at: not found[at].get("ground_truth"))
    for at in kept[:1]:
        for number_of, result in enumerate(found[at].get("result") or ()):
            key = f"{place}.{side}[{at}].result[{number_of}]"
            if isinstance(result, dict) and str(result.get("type", "")).endswith("labels"):
                yield key, {"score": found[at].get("score"), **result}


def _size(result: Mapping[str, Any], key: str, images: AnnotatedImages) -> tuple[int, int]:
    sides = [result.get("original_width"), result.get("original_height")]
    for name, side in zip(("original_width", "original_height"), sides, strict=True):
        if type(side) is not int or not 0 < side <= LARGEST_SIDE:
            message = f"expected a whole number from 1 to {LARGEST_SIDE:,}, found {describe(side)}"
            images.faults.add(0, f"{key}.{name}", message)
            return 0, 0
    return sides[0], sides[1]  # type: ignore[return-value] # both are whole numbers


def _add_result(
    result: Mapping[str, Any], row: int, key: str, size: Sequence[int], images: AnnotatedImages
) -> None:
    kind, value = result["type"], result.get("value")
    images.found += 1
    before, problems = images.problems.total, images.problems
    labels = value.get(kind) if isinstance(value, dict) else None
    if kind not in _SHAPES:
        expected = " or ".join(_SHAPES)
        problems.add(0, f"{key}.type", f"expected {expected}, found {describe(kind)}")
    elif not (isinstance(labels, list) and labels and all(isinstance(one, str) for one in labels)):
        found = describe(labels if isinstance(value, dict) else value)
        problems.add(0, f"{key}.value.{kind}", f"expected a list of labels, found {found}")
    score = 0.0
    if images.predicted:
        score = number(result.get("score"), problems, 0, f"{key}.score") or 0.0
    if problems.total > before or not isinstance(value, dict) or not isinstance(labels, list):
        return
    width, height = (side / 100 for side in size)
    images.found += len(labels) - 1
    place = 0, f"{key}.value"
    if kind == "polygonlabels":
        points = value.get("points")
        pairs = points if isinstance(points, list) else [points]
        ring = [
            (number(one, problems, 0, f"{key}.value.points[{at}]") or 0.0) * scale
            for at, pair in enumerate(pairs)
            for one, scale in zip(_pair(pair), (width, height), strict=True)
        ]
        for label in labels if problems.total == before else ():
            images.add_polygon(label, ring, row, place=place, score=score)
        return
    sides = [
        number(
            value.get(name, 0 if name == "rotation" else None), problems, 0, f"{key}.value.{name}"
        )
        or 0.0
        for name in ("x", "y", "width", "height", "rotation")
    ]
    if problems.total > before:
        return
    x, y, wide, high, angle = sides
    box = [x * width, y * height, wide * width, high * height]
    for label in labels:
        if angle:
            images.add_rotated_box(label, [*_centre(box, angle), *box[2:], angle], row, score)
        else:
            corners = [box[0], box[1], box[0] + box[2], box[1] + box[3]]
            images.add_box(label, corners, row, place=place, score=score)


def _pair(point: Any) -> Sequence[Any]:
    return point if isinstance(point, list) and len(point) == 2 else (point, point)


def _centre(box: Sequence[float], angle: float) -> tuple[float, float]:
    """The centre of a box that is turned about its left top corner."""
    x, y, width, height = box
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return x + (width * cosine - height * sine) / 2, y + (width * sine + height * cosine) / 2
