"""Index the images and labels under evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import Table
from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.evaluators.selection import filter_labels, kept_images
from valor_cli.metric import Selection
from valor_cli.results import Scalar


class Frame(Struct, frozen=True):
    """The images and labels under evaluation, and how ids of the files become their numbers.

    Attributes:
        image_ids: (images,) of the ground truth, ascending.
        image_number: (images,) number among the images kept; -1 for those left out.
        images: The same, by which other files find them.
        category_ids: (categories,) of the ground truth, ascending.
        label_number: (categories,) position in `labels`; -1 for labels left out.
        label_names: (categories,) as in the file.
        labels: Names, in the order of the category ids; then those that predictions alone have.
        new_labels: Name in a file of predictions to its position in `labels`, or -1.
        metadata: A value per kept image.
    """

    image_ids: NDArray[np.generic]
    image_number: NDArray[np.int64]
    images: KnownImages
    category_ids: NDArray[np.generic]
    label_number: NDArray[np.int64]
    label_names: tuple[str, ...]
    labels: tuple[str, ...]
    new_labels: Mapping[str, int]
    metadata: Mapping[str, Sequence[Scalar]]

    def labels_at(self, categories: Sequence[tuple[object, str]]) -> list[int]:
        """The frame label of each category, by id and name or by name only."""
        known: dict[object, int] = {}
        numbers = self.label_number.tolist()
        ids = self.category_ids.tolist()
        for own, name, number in zip(ids, self.label_names, numbers, strict=True):
            known.setdefault((own, name), number)
            known.setdefault(name, number)
        return [
            known.get(one, known[one[1]]) if one[1] in known else self.new_labels[one[1]]
            for one in categories
        ]


def label_names(
    categories: Table, new: Sequence[str], label_map: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The label of each category, in id order, with warnings.

    Args:
        categories: Of the ground truth.
        new: Names that only predictions have.
        label_map: Label as in the files to label as evaluated.
    """
    ids, names = ids_of(categories), categories["name"].tolist()
    known = {*names, *new}
    warnings = [
        f"label_map: the ground truth has no label '{name}'{did_you_mean(name, names)}"
        for name in label_map
        if name not in known
    ]
    labels: list[str] = []
    seen: set[str] = set()
    for at in np.argsort(ids).tolist():
        name = names[at]
        if name in seen and name not in label_map:
            # The reference keeps two categories of one name apart, so do we.
            distinct = f"{name} #{ids[at]}"
            while distinct in known:
                distinct += "'"
            warnings.append(f"two categories are named '{name}'; one is shown as '{distinct}'")
            labels.append(distinct)
        else:
            labels.append(label_map.get(name, name))
        seen.add(name)
    return labels, warnings


def make_frame(
    truth: ObjectFile, predicted: Sequence[ObjectFile], selection: Selection
) -> tuple[Frame, list[str]]:
    """Index the selected images and labels, with warnings.

    Raises:
        DataError: The selection leaves no image, or names labels or images that are not there.
    """
    images, categories = images_of(truth), _categories(truth)
    image_ids = ids_of(images)
    order = np.argsort(image_ids)
    columns = {name: [values[at] for at in order] for name, values in truth.metadata.items()}
    image_ids = image_ids[order]
    kept = kept_images(image_ids.tolist(), _places(truth)[order], columns, selection, truth.path)
    known = set(categories["name"].tolist())
    # By name, for the order of files and of rows in them must not matter.
    new = sorted({name for file in predicted for name in _names(file) if name not in known})
    names, warnings = label_names(categories, new, selection.label_map)
    new_names = [selection.label_map.get(name, name) for name in new]
    labels = _kept_labels([*names, *new_names], selection)
    number = {label: at for at, label in enumerate(labels)}
    by_id = np.argsort(ids_of(categories))
    frame = Frame(
        image_ids=image_ids,
        image_number=np.where(kept, np.cumsum(kept) - 1, -1),
        images=KnownImages.of(images.pick(order), truth.image_names),
        category_ids=ids_of(categories)[by_id],
        label_number=np.array([number.get(name, -1) for name in names], np.int64),
        label_names=tuple(categories["name"][by_id].tolist()),
        labels=tuple(labels),
        new_labels={
            name: number.get(label, -1) for name, label in zip(new, new_names, strict=True)
        },
        metadata={
            name: [value for value, keep in zip(values, kept, strict=True) if keep]
            for name, values in columns.items()
        },
    )
    return frame, warnings


def _names(file: ObjectFile) -> list[str]:
    return [] if file.categories is None else file.categories["name"].tolist()


def images_of(truth: ObjectFile) -> Table:
    """The images of the ground truth, listed or from its objects."""
    if truth.images is not None:
        return truth.images
    ids = truth.objects["image_id"]
    return Table(truth.path, {"id": np.unique(ids) if len(ids) else ids})


def _places(truth: ObjectFile) -> NDArray[np.int64]:
    """(images,) where the file first names each of `images_of`."""
    if truth.images is not None or not len(truth.objects):
        return np.arange(len(images_of(truth)))
    return np.unique(truth.objects["image_id"], return_index=True)[1]


def _categories(truth: ObjectFile) -> Table:
    if truth.categories is None:
        raise DataError(
            Problem(truth.path, "the ground truth does not name its categories"),
            hint="give a ground truth with categories",
        )
    return truth.categories


def _kept_labels(names: Sequence[str], selection: Selection) -> list[str]:
    labels = list(dict.fromkeys(names))
    if "label" not in selection.keep:
        return labels
    wanted = filter_labels(labels, selection.keep["label"])
    return [label for label in labels if label in wanted]


def ids_of(table: Table) -> NDArray[np.generic]:
    """Ids as numbers, or as text that NumPy can sort."""
    column = table["id"]
    return column if column.dtype.kind == "i" else column.astype(str)
