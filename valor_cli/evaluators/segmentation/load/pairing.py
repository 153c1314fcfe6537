"""Pair the label maps of ground truth and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.inputs.label_maps import NO_MASK, read_label_maps
from valor_cli.data.shapes.label_maps import (
    LabelMap,
    LabelMaps,
    PairedNames,
    pair_names,
    refuse_unpaired,
)
from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.load.label_codes import (
    Coding,
    impossible_value_warnings,
    make_coding,
    names_of,
)
from valor_cli.evaluators.selection import (
    SAMPLE_KEYS,
    among,
    filtered_columns,
    limited,
    unknown_samples,
    values_hint,
    with_metadata,
)
from valor_cli.kernels.geometry.label_maps import RawPair
from valor_cli.metric import METADATA, Selection, written
from valor_cli.results import Scalar


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
        if true.shape != found.shape:
            raise DataError(size_mismatch(truth, true.shape, prediction, found.shape))
        return RawPair(
            true, found, _fitting(self.truth_codes, true), _fitting(self.prediction_codes, found)
        )


class Sides(NamedTuple):
    """Ground truth; predictions by model; names of labels by value, in order."""

    truth: LabelMaps
    predictions: Mapping[str, LabelMaps]
    names: Mapping[int, str]

    def other_files(self) -> list[str]:
        """A warning about images among the label maps that are not PNG."""
        return [
            f"{side.path}: files that are no PNG were passed over: {len(side.others):,} "
            f"(the first: {printable(side.others[0])})"
            for side in (self.truth, *self.predictions.values())
            if side.others
        ]


class Pairing(Struct, frozen=True):
    """What to evaluate; no label map is opened yet.

    Attributes:
        sides: All label maps, and the names of their values.
        coding: What pixel values mean.
        sample_ids: Samples that every side has and the selection keeps, ascending.
        partner: By model, what each sample is called there.
        metadata: By name, a value for each sample.
        alone: By model, and None for the ground truth, how many label maps have no partner.
        warnings: Oddities that did not prevent use.
    """

    sides: Sides
    coding: Coding
    sample_ids: tuple[str, ...]
    partner: Mapping[str, Mapping[str, str]]
    metadata: Mapping[str, Sequence[Scalar]]
    alone: Mapping[str | None, int]
    warnings: Sequence[str]

    def truth(self, sample: str) -> LabelMap:
        """The ground truth of a sample."""
        return self.sides.truth.maps[sample]

    def prediction(self, model: str, sample: str) -> LabelMap:
        """The predicted label map of a sample."""
        return self.sides.predictions[model].maps[self.partner[model][sample]]

    def reader(self, model: str, samples: Sequence[str]) -> PairReader:
        """A reader of a model's pairs."""
        return PairReader(
            {sample: self.truth(sample) for sample in samples},
            {sample: self.prediction(model, sample) for sample in samples},
            self.coding.codes("ground_truth", self.sides.truth.meanings),
            self.coding.codes("predictions", self.sides.predictions[model].meanings),
        )


def pair_sides(inputs: SegmentationInputs, selection: Selection) -> Pairing:
    """Pair the label maps of all sides.

    Raises:
        DataError: An input cannot be used; a label map has no partner; the labels are not known;
            the selection leaves no sample, or names labels or samples that are not there.
    """
    if selection.every_metadata:
        selection = with_metadata(selection, metadata_there(inputs))
    columns = filtered_columns(selection)
    sides = read_sides(inputs, columns)
    if inputs.format_of("ground_truth", inputs.ground_truth) == "masks" and not inputs.background:
        # Pixels in no mask are of no label.
        inputs = inputs.model_copy(update={"background": NO_MASK})
    coding, warnings = make_coding(sides.names, inputs, selection)
    warnings = [*sides.other_files(), *warnings]
    if any(side.meanings is None for side in (sides.truth, *sides.predictions.values())):
        warnings += impossible_value_warnings(sides.names, inputs)
    meetings = {model: pair_names(sides.truth, found) for model, found in sides.predictions.items()}
    for model, meeting in meetings.items():
        skip = inputs.on_invalid == "skip"
        refuse_unpaired(meeting, sides.truth, sides.predictions[model], skip=skip)
        warnings += _left_out(meeting, sides, model)
    common = set(sides.truth.maps).intersection(*(one.pairs for one in meetings.values()))
    if not common:
        problem = Problem(sides.truth.path, "no label map has a prediction of every model")
        raise DataError(problem, hint="evaluate the models one by one, or add what is missing")
    sample_ids, metadata = _selected(sorted(common), sides, columns, selection)
    return Pairing(
        sides,
        coding,
        sample_ids,
        {model: meeting.pairs for model, meeting in meetings.items()},
        metadata,
        {
            None: len(sides.truth.maps) - len(common),
            **{model: len(meeting.unpaired_predictions) for model, meeting in meetings.items()},
        },
        warnings,
    )


def _left_out(meeting: PairedNames, sides: Sides, model: str) -> list[str]:
    """What to warn of where label maps without partner are left out."""
    truth, found = sides.truth, sides.predictions[model]
    told = []
    for names, side, noun, other in (
        (meeting.unpaired_truths, truth, "ground truths have no prediction in", found.path),
        (
            meeting.unpaired_predictions,
            found,
            f"predictions of {model} have no ground truth in",
            truth.path,
        ),
    ):
        if names:
            count = f"{len(names):,} of {len(side.maps):,}"
            first = printable(names[0])
            told.append(f"left out: {count} {noun} {other} (the first: {first})")
    return told


def _selected(
    samples: Sequence[str], sides: Sides, columns: Sequence[str], selection: Selection
) -> tuple[tuple[str, ...], dict[str, list[Scalar]]]:
    """The samples that the selection keeps, and their metadata.

    Raises:
        DataError: The selection leaves none, or lists samples that are not there.
    """
    said = sides.truth.metadata
    metadata = {name: [said[name][sample] for sample in samples] for name in columns}
    kept = np.ones(len(samples), bool)
    for key, allowed in selection.keep.items():
        if key in SAMPLE_KEYS:
            known = set(samples)
            unknown = [one for one in allowed if written(one) not in known]
            if unknown:
                raise unknown_samples(unknown, key, "image", samples[:3])
            kept &= among(samples, allowed)
        elif key.startswith(METADATA):
            kept &= among(metadata[key.removeprefix(METADATA)], allowed)
    places = {sample: at for at, sample in enumerate(sides.truth.maps)}
    kept = limited(kept, selection.limit, np.array([places[one] for one in samples], np.int64))
    if not kept.any():
        problem = Problem("filter", f"leaves no image of {sides.truth.path}")
        raise DataError(problem, hint=values_hint(metadata))
    flags = kept.tolist()
    return tuple(compress(samples, flags)), {
        name: list(compress(values, flags)) for name, values in metadata.items()
    }


def read_sides(inputs: SegmentationInputs, metadata: Sequence[str]) -> Sides:
    """List the label maps of all inputs without opening them.

    Args:
        inputs: The `data:` block.
        metadata: Columns of the ground truth to read.

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
        raise DataError(
            Problem("labels", f"the pixel values of {truth.path} have no names"),
            hint="Give `labels:` under `data:`: a list of names by pixel value, a map from value "
            "to name, or a file with either (classes.json).",
        )
    predictions = {}
    for model, path in inputs.models.items():
        own = form if inputs.predictions is None else inputs.format_of("predictions", path)
        predictions[model] = read_label_maps(
            path, "predictions", own, names=names, columns=inputs.columns
        )
    return Sides(truth, predictions, names)


def metadata_there(inputs: SegmentationInputs) -> tuple[str, ...]:
    """The names of metadata that the ground truth has."""
    # Few runs look for slices: the others need none of its parsers.
    from valor_cli.data.inputs.object_metadata import label_map_metadata

    form = inputs.format_of("ground_truth", inputs.ground_truth)
    return label_map_metadata(inputs.ground_truth, inputs.columns, form)


def _fitting(codes: NDArray[np.int32], values: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
    return codes[:256] if values.dtype == np.uint8 else codes


def size_mismatch(
    truth: LabelMap, size: Sequence[int], prediction: LabelMap, other: Sequence[int]
) -> Problem:
    """An error: the label maps of a sample differ in size (height, width)."""
    message = f"is {other[1]} wide and {other[0]} high"
    expected = f"its ground truth {truth.path} is {size[1]} wide and {size[0]} high"
    return Problem(prediction.path, f"{message}; {expected}")
