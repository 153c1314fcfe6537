"""Join the image and category ids of a file to those of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import Joined
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import SKIP_HINT, Table
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.evaluators.detection.load.images_and_labels import Frame
from valor_cli.evaluators.detection.load.warnings import ALIKE
from valor_cli.evaluators.id_mismatch import SHOWN, spellings
from valor_cli.kernels.columns.grouping import positions_of

Ints = NDArray[np.int64]

_NAMES_HINT = (
    "give predictions with names (a COCO dictionary with categories, JSONL, CSV, …), or the COCO "
    "ground truth"
)


def _alike(ids: NDArray[Any], keys: NDArray[Any]) -> bool:
    return (ids.dtype.kind == "i") == (keys.dtype.kind == "i")


def positions(values: NDArray[Any], keys: NDArray[Any]) -> Ints:
    """Positions of ids among known ones; numbers never match text."""
    if not _alike(values, keys):
        return np.full(len(values), -1)
    return positions_of(values if values.dtype.kind == "i" else values.astype(str), keys)


def label_positions(file: ObjectFile, frame: Frame) -> Ints:
    """(n,) position of each object's label in the frame's labels.

    -1 for a label that is left out, -2 for a category that is not known at all.
    """
    category = file.objects["category_id"]
    if file.categories is None:
        at = positions(category, frame.category_ids)
        return np.where(at >= 0, frame.label_number[at], -2)
    ids = file.categories["id"]
    ids = ids if ids.dtype.kind == "i" else ids.astype(str)
    order = np.argsort(ids)
    number = frame.labels_at(_named(file.categories))
    at = positions(category, ids[order])
    return np.where(at >= 0, np.array([*number, -2], np.int64)[np.append(order, -1)[at]], -2)


def things_of(truth: ObjectFile, frame: Frame) -> tuple[bool | None, ...] | None:
    """By label, whether it is a thing (True) or stuff (False).

    None where a label has neither or, mapped from several categories, both; None for all where the
    ground truth does not say.
    """
    if truth.categories is None or "isthing" not in truth.categories.columns:
        return None
    label = frame.label_number[positions(truth.categories["id"], frame.category_ids)]
    said: list[set[bool]] = [set() for _ in frame.labels]
    for at, thing in zip(label.tolist(), truth.categories["isthing"].tolist(), strict=True):
        if at >= 0:
            said[at].add(bool(thing))
    return tuple(one.pop() if len(one) == 1 else None for one in said)


def _named(categories: Table) -> list[tuple[Any, str]]:
    return list(zip(categories["id"].tolist(), categories["name"].tolist(), strict=True))


def check_named(file: ObjectFile, truth: ObjectFile) -> None:
    """Check that ids without names refer to a ground truth with ids of its own.

    Raises:
        DataError: A results list meets a ground truth whose ids its reader has made up.
    """
    if file.categories is None and truth.coded and len(file.objects):
        message = f"its category ids mean nothing to {truth.path}, which names its labels"
        raise DataError(Problem(file.path, message), hint=_NAMES_HINT)


def check_categories(file: ObjectFile, truth: ObjectFile) -> None:
    """Raise an error if an id has two names, unless the name is known under another id.

    Raises:
        DataError: There are such ids.
    """
    if file.categories is None or truth.categories is None or file.coded or truth.coded:
        return
    expected: Mapping[Any, str] = dict(_named(truth.categories))
    known = set(expected.values())
    problems = [
        Problem(
            f"{file.path}: categories",
            f"id {number} is '{printable(name)}' here and "
            f"'{printable(expected[number])}' in {truth.path}",
        )
        for number, name in _named(file.categories)
        if number in expected and name not in known
    ]
    if problems:
        raise DataError(problems, hint="give both files the same categories")


def unknown_ids(
    file: ObjectFile, image: Joined, label: Ints, truth: ObjectFile, ids: Sequence[str]
) -> DataError:
    """The error for objects whose image or category is not known.

    Args:
        file: The predictions.
        image: Where their images are in the ground truth.
        label: (n,) the label of each object, -2 for an unknown category.
        truth: The ground truth.
        ids: Some ids of its images.
    """
    causes = list(_likely_causes(file, truth))
    if len(label) > SHOWN and (image.objects < 0).all():
        own = sorted(set(map(str, file.objects["image_id"].tolist())))[:SHOWN]
        message = f"none of {len(label):,} detections is of an image of {truth.path}"
        problem = Problem(file.path, f"{message} ({spellings(own, ids)})")
        return DataError(problem, hint="\n".join([*causes, ALIKE]))
    problems = []
    unknown = {"image_id": image.objects < 0, "category_id": label == -2}
    for column, missing in unknown.items():
        for row in np.flatnonzero(missing)[:LISTED].tolist():
            (value,) = file.objects[column][row : row + 1].tolist()
            if column == "image_id":
                message = image.problem(value, truth.path)
            else:
                message = f"no category {value!r} in {truth.path}"
            problems.append((row, Problem(file.objects.place_of(row, column), message)))
    problems.sort(key=lambda entry: entry[0])
    return DataError(
        [problem for _, problem in problems[:LISTED]],
        total=int(sum(missing.sum() for missing in unknown.values())),
        hint="\n".join([*causes, f"Check that both files belong together. {SKIP_HINT}"]),
    )


def _likely_causes(file: ObjectFile, truth: ObjectFile) -> Iterator[str]:
    """What the ids look like, where that explains why they are not known."""
    if truth.categories is not None and file.categories is None:
        own = set(file.objects["category_id"].tolist())
        known = dict(_named(truth.categories))
        yield from _shifted("category", own, set(known))
        if own - set(known) and own <= set(known.values()):
            yield "These are names of categories: write the category ids of the ground truth."
    if truth.images is not None:
        own = set(file.objects["image_id"].tolist())
        yield from _shifted("image", own, set(truth.images["id"].tolist()))


def _shifted(what: str, own: set[Any], known: set[Any]) -> Iterator[str]:
    """Whether whole numbers would all be known if they were one more, or one less."""
    if own <= known or not all(type(one) is int for one in own):
        return
    for step, word in ((1, "more"), (-1, "less")):
        if {one + step for one in own} <= known:
            yield (
                f"All {what} ids would be in the ground truth if they were one {word}: do both "
                "files count from the same number?"
            )
            return
