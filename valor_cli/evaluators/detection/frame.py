"""Which images and labels are evaluated, and how ids of COCO files become their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.metric import METADATA, Selection, written
from valor_cli.readers.coco import CocoGroundTruth
from valor_cli.readers.table import Table
from valor_cli.results import Scalar


@dataclass(frozen=True, slots=True)
class Frame:
    """The images and labels under evaluation, and how ids of the files become their numbers.

    Attributes:
        image_ids: (images,) ascending, as in the file.
        image_number: (images,) number among the images kept; -1 for those left out.
        category_ids: (categories,) ascending, as in the file.
        label_number: (categories,) position in `labels`; -1 for labels left out.
        labels: Names, in the order of the category ids.
        metadata: A value per kept image.
    """

    image_ids: NDArray[np.generic]
    image_number: NDArray[np.int64]
    category_ids: NDArray[np.generic]
    label_number: NDArray[np.int64]
    labels: tuple[str, ...]
    metadata: Mapping[str, Sequence[Scalar]]


def label_names(
    truth: CocoGroundTruth, label_map: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The label of each category, in the order of the ids, and what to warn of."""
    ids, names = ids_of(truth.categories), truth.categories["name"].tolist()
    warnings = [
        f"label_map: the ground truth has no label '{name}'{did_you_mean(name, names)}"
        for name in label_map
        if name not in names
    ]
    labels: list[str] = []
    seen: set[str] = set()
    for at in np.argsort(ids).tolist():
        name = names[at]
        if name in seen and name not in label_map:
            # The reference keeps two categories of one name apart, so do we.
            distinct = f"{name} #{ids[at]}"
            while distinct in names:
                distinct += "'"
            warnings.append(f"two categories are named '{name}'; one is shown as '{distinct}'")
            labels.append(distinct)
        else:
            labels.append(label_map.get(name, name))
        seen.add(name)
    return labels, warnings


def make_frame(truth: CocoGroundTruth, names: list[str], selection: Selection) -> Frame:
    """Number the images and labels that the selection keeps."""
    image_ids = ids_of(truth.images)
    order = np.argsort(image_ids)
    columns = {name: [values[at] for at in order] for name, values in truth.metadata.items()}
    image_ids = image_ids[order]
    kept = _kept_images(image_ids, columns, selection)
    if not kept.any():
        raise DataError(
            Problem("filter", f"leaves no image of {truth.file.path}"), hint=_values_hint(columns)
        )
    labels = list(dict.fromkeys(names))
    wanted = selection.keep.get("label", labels)
    unknown = [str(label) for label in wanted if label not in labels]
    if unknown:
        raise DataError(
            [
                Problem("filter.label", f"no label '{name}'{did_you_mean(name, labels)}")
                for name in unknown
            ],
            hint=f"labels: {', '.join(labels[:LISTED])}{' …' if len(labels) > LISTED else ''}",
        )
    labels = [label for label in labels if label in wanted]
    number = {label: at for at, label in enumerate(labels)}
    return Frame(
        image_ids=image_ids,
        image_number=np.where(kept, np.cumsum(kept) - 1, -1),
        category_ids=np.sort(ids_of(truth.categories)),
        label_number=np.array([number.get(name, -1) for name in names], np.int64),
        labels=tuple(labels),
        metadata={
            name: [value for value, keep in zip(values, kept, strict=True) if keep]
            for name, values in columns.items()
        },
    )


def _kept_images(
    image_ids: NDArray[np.generic], columns: Mapping[str, Sequence[Scalar]], selection: Selection
) -> NDArray[np.bool_]:
    kept = np.ones(len(image_ids), bool)
    for key, allowed in selection.keep.items():
        if key in ("image_id", "sample_id"):
            ids = image_ids.tolist()
            _check_ids(ids, allowed, key)
            kept &= _among(ids, allowed)
        elif key.startswith(METADATA):
            values = columns[key.removeprefix(METADATA)]
            kept &= _among(values, allowed)
    if selection.limit is not None:
        kept &= np.cumsum(kept) <= selection.limit
    return kept


def _among(values: Sequence[Scalar], allowed: Sequence[Scalar]) -> NDArray[np.bool_]:
    texts = set(map(written, allowed))
    return np.array([written(value) in texts for value in values], bool)


def _check_ids(ids: Sequence[Scalar], allowed: Sequence[Scalar], key: str) -> None:
    """The ids that a filter lists must all be there."""
    there = set(map(written, ids))
    problems = [
        Problem(f"filter.{key}", f"no image {wanted!r}")
        for wanted in allowed
        if written(wanted) not in there
    ]
    if problems:
        some = ", ".join(map(repr, ids[:3]))
        raise DataError(problems, hint=f"image ids look like {some}")


def _values_hint(columns: Mapping[str, Sequence[Scalar]]) -> str:
    """The values that the filtered columns do hold."""
    lines = []
    for name, values in columns.items():
        seen = sorted({str(value) for value in values})
        more = f" … ({len(seen)} values)" if len(seen) > LISTED else ""
        lines.append(f"{METADATA}{name} has: {', '.join(seen[:LISTED])}{more}")
    return "\n".join(lines)


def ids_of(table: Table) -> NDArray[np.generic]:
    """The ids as numbers, or as text that numpy can sort."""
    column = table["id"]
    return column if column.dtype.kind == "i" else column.astype(str)
