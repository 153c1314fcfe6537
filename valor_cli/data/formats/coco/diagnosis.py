"""Read parsed COCO JSON value by value and report everything that is wrong with it.

The slow path: all messages about the content of a COCO file are written here. Where `coco_decode`
returns columns, this returns the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from valor_cli.data.formats.coco.images import (
    category_columns,
    federated_categories,
    federated_images,
    image_columns,
)
from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.coco.rows import annotation_rows, detection_rows
from valor_cli.data.formats.coco.tables import Request, ground_truth, results
from valor_cli.data.shapes.objects.checks import missing_keys
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import SKIP_HINT, InvalidRows
from valor_cli.data.values import Problems, describe, stop_on
from valor_cli.errors import DataError, Problem

_GROUND_TRUTH = "ground truth is an object with images, annotations and categories"
_GEOMETRY = {"box": "bbox", "shape": "segmentation"}


def _predictions(request: Request) -> str:
    return (
        "predictions are a list of objects with image_id, category_id, "
        f"{_GEOMETRY[request.wanted]} and score, or a COCO object whose annotations have a score"
    )


def diagnose_results(
    document: object, source: TextSource, request: Request, invalid: InvalidRows
) -> ObjectFile:
    """Detections of a parsed file.

    Raises:
        DataError: It holds no detections, or (unless they are skipped) some are wrong.
    """
    rows, list_name = _detection_list(document, source.path, request)
    categories = known = None
    if isinstance(document, dict) and "categories" in document:
        categories = category_columns(_list_of(document, "categories", source.path), source.path)
        known = set(categories["id"].tolist())
    problems = Problems(source.path, list_name)
    detections, taken = detection_rows(rows, known, request, problems)
    if invalid == "error":
        stop_on([problems], SKIP_HINT)
    return results(source, detections, list_name=list_name, categories=categories, taken=taken)


def diagnose_ground_truth(
    document: object,
    source: TextSource,
    metadata: Sequence[str],
    request: Request,
    invalid: InvalidRows,
) -> ObjectFile:
    """Ground truth of a parsed file.

    Raises:
        DataError: It is no ground truth, metadata of a name is nowhere, or something in it is
            wrong (annotations only where these are not skipped).
    """
    path = source.path
    lists = _ground_truth_lists(document, path)
    image_rows = lists["images"]
    if not image_rows:
        _stop(f"{path}: images", "there are no images; at least one is needed")
    images = image_columns(image_rows, path)
    categories = category_columns(lists["categories"], path)
    if request.federated:
        images = images | federated_images(image_rows, categories, path)
        categories = categories | federated_categories(lists["categories"], path)
    found_metadata = metadata_of(image_rows, metadata, path)
    problems = Problems(path, "annotations")
    annotations, taken = annotation_rows(
        lists["annotations"], images, categories, request, problems
    )
    if invalid == "error":
        stop_on([problems], SKIP_HINT)
    return ground_truth(
        source,
        images=images,
        categories=categories,
        annotations=annotations,
        metadata=found_metadata,
        taken=taken,
    )


def _stop(place: str, message: str) -> NoReturn:
    raise DataError(Problem(place, message))


def _list_of(document: Mapping[str, Any], key: str, path: str) -> list[Any]:
    value = document[key]
    if not isinstance(value, list):
        _stop(f"{path}: {key}", f"expected a list, found {describe(value)}")
    return value


def _ground_truth_lists(document: object, path: str) -> dict[str, list[Any]]:
    """The three lists of a ground-truth file."""
    if isinstance(document, list) and document and isinstance(document[0], dict):
        _stop(
            path,
            f"this is a list of detections (COCO results); {_GROUND_TRUTH} — "
            "give this file under data.predictions",
        )
    if not isinstance(document, dict):
        _stop(path, f"{_GROUND_TRUTH}, found {describe(document)}")
    keys = ("images", "annotations", "categories")
    missing = [key for key in keys if key not in document]
    if missing:
        _stop(path, f"{missing_keys(missing, document)}; {_GROUND_TRUTH}")
    return {key: _list_of(document, key, path) for key in keys}


def _detection_list(document: object, path: str, request: Request) -> tuple[list[Any], str]:
    """The list of detections and its key; an empty key when the file is the list."""
    if isinstance(document, list):
        rows, list_name = document, ""
    elif not isinstance(document, dict):
        _stop(path, f"{_predictions(request)}, found {describe(document)}")
    elif "annotations" not in document:
        _stop(path, f"{missing_keys(['annotations'], document)}; {_predictions(request)}")
    else:
        rows, list_name = _list_of(document, "annotations", path), "annotations"
    objects = [row for row in rows if isinstance(row, dict)]
    if objects and not any("score" in row for row in objects):
        _stop(
            path,
            f"these are annotations without score (ground truth); {_predictions(request)} — "
            "give this file under data.ground_truth",
        )
    return rows, list_name
