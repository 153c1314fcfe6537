"""Map the federated annotations of an LVIS ground truth to the images and labels of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import Federation
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import Table
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.load.images_and_labels import Frame, images_of
from valor_cli.evaluators.detection.load.joining import positions

_FIELDS = {"negative": "neg_category_ids", "not_exhaustive": "not_exhaustive_category_ids"}


def federation_of(truth: ObjectFile, frame: Frame) -> Federation:
    """The federated annotations for the selected images and the frame's labels.

    Raises:
        DataError: The ground truth lacks what LVIS adds to COCO; categories that became one label
            differ in their frequency.
    """
    images, categories = images_of(truth), truth.categories
    missing = [
        Problem(f"{truth.path}: images", f"no {theirs}, which lvis needs")
        for ours, theirs in _FIELDS.items()
        if ours not in images.columns
    ]
    if categories is None or "frequency" not in categories.columns:
        missing.append(Problem(f"{truth.path}: categories", "no frequency, which lvis needs"))
    if missing or categories is None:
        raise DataError(missing, hint="give an LVIS ground truth, or leave the metric lvis out")
    at = positions(images["id"], frame.image_ids)
    kept = frame.image_number >= 0
    frequency = np.full(len(frame.labels), "", object)
    by_id = positions(categories["id"], frame.category_ids)
    label = frame.label_number[by_id]
    _check_merged(categories, label, frame)
    frequency[label[label >= 0]] = categories["frequency"][label >= 0]
    return Federation(
        _pairs(images["negative"], at, frame)[kept],
        _pairs(images["not_exhaustive"], at, frame)[kept],
        tuple(frequency.tolist()),
    )


def _check_merged(categories: Table, label: NDArray[np.int64], frame: Frame) -> None:
    """One label has one frequency.

    Raises:
        DataError: `label_map` makes one label of categories that differ.
    """
    first: dict[int, tuple[str, str]] = {}
    problems = []
    columns = (label.tolist(), categories["name"].tolist(), categories["frequency"].tolist())
    for at, name, frequency in zip(*columns, strict=True):
        other, expected = first.setdefault(at, (name, frequency))
        if at >= 0 and frequency != expected:
            message = (
                f"'{other}' (frequency {expected}) and '{name}' (frequency {frequency}) become "
                f"'{frame.labels[at]}'"
            )
            problems.append(Problem("label_map", message))
    if problems:
        raise DataError(problems, hint="merge labels of one frequency, or leave out lvis")


def _pairs(lists: NDArray[np.object_], at: NDArray[np.int64], frame: Frame) -> NDArray[np.bool_]:
    """(images, labels) whether a label is in the list of an image."""
    found = np.zeros((len(frame.image_ids), len(frame.labels)), bool)
    image = np.repeat(at, [len(one) for one in lists])
    ids = np.array([one for each in lists for one in each], frame.category_ids.dtype)
    category = positions(ids, frame.category_ids)
    label = np.where(category >= 0, frame.label_number[category], -1)
    known = label >= 0
    found[image[known], label[known]] = True
    return found
