"""Pair the label maps of ground truth and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.cityscapes import encoding_of_truth
from valor_cli.data.formats.label_map_folders import NO_MASK
from valor_cli.data.inputs.label_maps import read_label_maps
from valor_cli.data.shapes.label_map_pairs import pair_maps
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps, check_size
from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.load.label_codes import (
    Coding,
    impossible_value_warnings,
    make_coding,
    names_of,
)
from valor_cli.evaluators.selection import filtered_columns, kept_images, with_metadata
from valor_cli.kernels.geometry.label_maps import RawPair
from valor_cli.metric import Selection


class PairReader(Struct, frozen=True):
    """Reads the label maps of a sample.

    Attributes:
        truths, predictions: By name of the sample.
        truth_codes, prediction_codes: As `RawPair` has them, for the largest values that a file
            may have.
    """

    truths: Mapping[str, LabelMap]
    predictions: Mapping[str, LabelMap]
    truth_codes: NDArray[np.int32]
    prediction_codes: NDArray[np.int32]

    def __call__(self, sample: str) -> RawPair:
        """Read the pair of that name.

        Raises:
            DataError: A file cannot be read or decoded, or the two differ in size.
        """
        truth, prediction = self.truths[sample], self.predictions[sample]
        true, found = truth.values(), prediction.values()
        check_size(truth, true.shape, prediction, found.shape)
        truth_codes = self.truth_codes[: 256**true.itemsize]
        return RawPair(true, found, truth_codes, self.prediction_codes[: 256**found.itemsize])


class Pairing(Struct, frozen=True):
    """What to evaluate; no label map is opened yet.

    Attributes:
        truth: The ground truth.
        sides: By model, its predictions.
        maps: By model, the predictions by name of the ground truth.
        coding: What pixel values mean.
        sample_ids: Samples that every side has and the selection keeps, ascending.
        warnings: Oddities that did not prevent use.
    """

    truth: LabelMaps
    sides: Mapping[str, LabelMaps]
    maps: Mapping[str, Mapping[str, LabelMap]]
    coding: Coding
    sample_ids: tuple[str, ...]
    warnings: Sequence[str]

    def reader(self, model: str, samples: Sequence[str]) -> PairReader:
        """A reader of a model's pairs."""
        return PairReader(
            {sample: self.truth.maps[sample] for sample in samples},
            {sample: self.maps[model][sample] for sample in samples},
            self.coding.codes("ground_truth", self.truth.meanings),
            self.coding.codes("predictions", self.sides[model].meanings),
        )


def pair_sides(inputs: SegmentationInputs, selection: Selection) -> Pairing:
    """Pair the label maps of all sides.

    Raises:
        DataError: An input cannot be used; a label map has no partner; the labels are not known;
            the selection leaves no sample, or names labels or samples that are not there.
    """
    form = inputs.format_of("ground_truth", inputs.ground_truth)
    if selection.every_metadata:
        # Few runs look for slices: the others need none of its parsers.
        from valor_cli.data.inputs.object_metadata import label_map_metadata

        there = label_map_metadata(inputs.ground_truth, inputs.columns, form)
        selection = with_metadata(selection, there)
    truth, sides, names = read_sides(inputs, filtered_columns(selection))
    if form == "masks" and not inputs.background:
        # Pixels in no mask are of no label.
        inputs = inputs.model_copy(update={"background": NO_MASK})
    coding, warnings = make_coding(names, inputs, selection)
    warnings = [*_other_files([truth, *sides.values()]), *warnings]
    if any(side.meanings is None for side in (truth, *sides.values())):
        warnings += impossible_value_warnings(names, inputs)
    maps: dict[str, Mapping[str, LabelMap]] = {}
    for model, found in sides.items():
        skip = inputs.on_invalid == "skip"
        maps[model], left_out = pair_maps(truth, found, model, skip=skip)
        warnings += left_out
    common = set(truth.maps).intersection(*maps.values())
    if not common:
        problem = Problem(truth.path, "no label map has a prediction of every model")
        raise DataError(problem, hint="evaluate the models one by one, or add what is missing")
    samples = sorted(common)
    place = {sample: at for at, sample in enumerate(truth.maps)}
    places = np.array([place[one] for one in samples], np.int64)
    kept = kept_images(samples, places, truth.metadata_of(samples), selection, truth.path)
    sample_ids = tuple(compress(samples, kept.tolist()))
    return Pairing(truth, sides, maps, coding, sample_ids, warnings)


def _other_files(sides: Sequence[LabelMaps]) -> list[str]:
    """A warning about images among the label maps that are not PNG."""
    return [
        f"{side.path}: files that are no PNG were passed over: {len(side.others):,} "
        f"(the first: {printable(side.others[0])})"
        for side in sides
        if side.others
    ]


def read_sides(
    inputs: SegmentationInputs, metadata: Sequence[str]
) -> tuple[LabelMaps, Mapping[str, LabelMaps], Mapping[int, str]]:
    """List the label maps of all inputs without opening them.

    Args:
        inputs: The `data:` block.
        metadata: Columns of the ground truth to read.

    Returns:
        Ground truth; predictions by model; names of labels by value, in order.

    Raises:
        DataError: An input cannot be used, or the names of the labels are not known.
    """
    names = names_of(inputs)
    form = inputs.format_of("ground_truth", inputs.ground_truth)
    truth = read_label_maps(
        inputs.ground_truth, "ground_truth", form, metadata=metadata, columns=inputs.columns
    )
    if truth.categories is not None:
        if names is not None:
            problem = Problem("labels", f"{truth.path} names its categories, which are the labels")
            raise DataError(problem, hint="Leave `labels:` out.")
        names = truth.categories
    if names is None:
        raise _no_names(truth)
    predictions = {}
    for model, path in inputs.models.items():
        own = form if inputs.predictions is None else inputs.format_of("predictions", path)
        predictions[model] = read_label_maps(
            path, "predictions", own, names=names, columns=inputs.columns
        )
    return truth, predictions, names


def _no_names(truth: LabelMaps) -> DataError:
    hint = (
        "Give `labels:` under `data:`: a list of names by pixel value, a map from value to name, "
        "or a file with either (classes.json)."
    )
    if (encoding := encoding_of_truth(f"{name}.png" for name in truth.maps)) is not None:
        hint = f"Its files are named as Cityscapes names them: set `format: {encoding}`."
    problem = Problem("labels", f"the pixel values of {truth.path} have no names")
    return DataError(problem, hint=hint)
