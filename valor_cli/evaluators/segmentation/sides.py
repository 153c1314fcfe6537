"""Inputs of a `data:` block in; the label maps of each side, and the names of values, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.segmentation.coding import names_of
from valor_cli.evaluators.segmentation.inputs import SegmentationInputs
from valor_cli.readers.label_map_folders import read_folder
from valor_cli.readers.label_map_formats import Format
from valor_cli.readers.label_maps import LabelMaps
from valor_cli.readers.objects import Role


class Sides(NamedTuple):
    """Ground truth; predictions by model; names of labels by value, in order."""

    truth: LabelMaps
    predictions: Mapping[str, LabelMaps]
    names: Mapping[int, str]

    def other_files(self) -> list[str]:
        """What to warn of: images that are no PNG among the label maps."""
        return [
            f"{side.path}: files that are no PNG were passed over: {len(side.others):,} "
            f"(the first: {printable(side.others[0])})"
            for side in (self.truth, *self.predictions.values())
            if side.others
        ]


def read_sides(inputs: SegmentationInputs, metadata: Sequence[str]) -> Sides:
    """The label maps of all inputs, none of them opened.

    Args:
        inputs: The `data:` block.
        metadata: Columns of the ground truth to read.

    Raises:
        DataError: An input cannot be used, or the names of the labels are not known.
    """
    names = names_of(inputs)
    form = inputs.format_of("ground_truth", inputs.ground_truth)
    truth = _side(inputs.ground_truth, "ground_truth", form, inputs, None, metadata)
    if truth.categories is not None:
        if names is not None:
            problem = Problem("labels", f"{truth.path} names its categories, which are the labels")
            raise DataError(problem, hint="Leave `labels:` out.")
        names = truth.categories
    if names is None:
        raise DataError(
            Problem("labels", f"the pixel values of {truth.path} have no names"),
            hint="Give `labels:` under `data:`: a list of names by pixel value, a map from value "
            "to name, or a file with either (classes.json).",
        )
    predictions = {}
    for model, path in inputs.models.items():
        own = form if inputs.predictions is None else inputs.format_of("predictions", path)
        predictions[model] = _side(path, "predictions", own, inputs, names, ())
    return Sides(truth, predictions, names)


def metadata_there(inputs: SegmentationInputs) -> tuple[str, ...]:
    """The names of metadata that the ground truth has."""
    # Few runs look for slices: the others need none of its parsers.
    from valor_cli.readers.object_metadata import label_map_metadata

    form = inputs.format_of("ground_truth", inputs.ground_truth)
    return label_map_metadata(inputs.ground_truth, inputs.columns, form)


def _side(
    path: str,
    role: Role,
    form: Format,
    inputs: SegmentationInputs,
    names: Mapping[int, str] | None,
    metadata: Sequence[str],
) -> LabelMaps:
    """The label maps of one input. Readers are imported on use."""
    if form == "manifest":
        from valor_cli.readers.label_map_manifest import read_manifest

        return read_manifest(path, role, metadata=metadata, columns=inputs.columns)
    if form == "coco_panoptic":
        from valor_cli.readers.label_map_panoptic import read_panoptic_maps

        return read_panoptic_maps(path, role, names=names, metadata=metadata)
    if form == "masks" and not metadata:
        from valor_cli.readers.label_map_masks import read_masks

        return read_masks(path, names if role == "predictions" else None)
    if metadata:
        listed = ", ".join(f"'{name}'" for name in metadata)
        raise DataError(
            Problem(path, f"a folder holds no metadata of its images, so no {listed}"),
            hint="Metadata stands in the columns of a manifest (.jsonl or .csv), which lists the "
            "pairs in its columns ground_truth and prediction, or in COCO panoptic JSON.",
        )
    return read_folder(path)
