"""Read label maps from folders of PNGs, of masks or of Cityscapes, a manifest, or COCO panoptic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from valor_cli.data.formats.label_map_folders import read_folder, read_masks
from valor_cli.data.formats.manifest import FORMS, Column, read_manifest
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.inputs import extension_of
from valor_cli.errors import DataError, Problem

Format: TypeAlias = Literal[
    "png", "masks", "cityscapes", "cityscapes_train_ids", "manifest", "coco_panoptic"
]


def format_of(path: str) -> Format:
    """The format of an input's extension; without a known one, a folder of PNGs."""
    extension = extension_of(path)
    if extension in FORMS:
        return "manifest"
    return "coco_panoptic" if extension == ".json" else "png"


def read_label_maps(
    path: str,
    role: Role,
    format: Format,  # noqa: A002 - as in YAML
    *,
    names: Mapping[int, str] | None = None,
    metadata: Sequence[str] = (),
    columns: Mapping[Column, str] | None = None,
) -> LabelMaps:
    """List the label maps of one side without opening them.

    Args:
        path: The folder, the manifest or the JSON file.
        role: Which side it is.
        format: What it is.
        names: Of the labels by value, as the ground truth says them; for predictions alone.
        metadata: Names to read for every sample, of ground truth alone.
        columns: Standard name of a column of a manifest to the file's own.

    Raises:
        DataError: The input cannot be used, or has no such metadata.
    """
    if format == "manifest":
        return read_manifest(path, role, metadata=metadata, columns=columns)
    if format == "coco_panoptic":
        from valor_cli.data.formats.panoptic.label_maps import read_panoptic_maps

        return read_panoptic_maps(path, role, names=names, metadata=metadata)
    if metadata:
        wanted = ", ".join(f"'{name}'" for name in metadata)
        raise DataError(
            Problem(path, f"a folder holds no metadata of its images, so no {wanted}"),
            hint="Metadata is read from the columns of a manifest (.jsonl or .csv), which lists "
            "the pairs in its columns ground_truth and prediction, or from COCO panoptic JSON.",
        )
    if format == "masks":
        return read_masks(path, names)
    if format in ("cityscapes", "cityscapes_train_ids"):
        from valor_cli.data.formats.cityscapes import read_cityscapes

        return read_cityscapes(path, role, format)
    return read_folder(path)
