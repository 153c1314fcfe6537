"""Map pixel values to labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.selection import filter_labels
from valor_cli.kernels.geometry.label_maps import IGNORED, UNKNOWN
from valor_cli.metric import Selection

Codes = NDArray[np.int32]

_VALUES = 65_536
"""What 16 bits hold."""

_LISTED = 5
"""Values that a warning names."""

_UNMOVED = 255
"""Value that `reduce_labels` leaves where it is if it is ignored, as the reference does."""


class Coding(Struct, frozen=True):
    """The meaning of pixel values.

    Attributes:
        labels: Names as evaluated, in the order of their values.
        truth, prediction: Code of each value of a side, as `RawPair` has them; others are unknown.
        left_open: Code of pixels without a prediction, which are never correct.
    """

    labels: tuple[str, ...]
    truth: Mapping[int, int]
    prediction: Mapping[int, int]
    left_open: int

    def codes(self, role: Role, meanings: Sequence[int | None] | None) -> Codes:
        """The code of each pixel value of a side.

        Args:
            role: Which side.
            meanings: What stored values stand for, None for no label; None where they are values
                themselves.
        """
        known, none = self.prediction, self.left_open
        if role == "ground_truth":
            known, none = self.truth, IGNORED
        codes = np.full(_VALUES, UNKNOWN, np.int32)
        if meanings is not None:
            found = [none if one is None else known.get(one, UNKNOWN) for one in meanings]
            codes[: len(found)] = found
            return codes
        for value, code in known.items():
            if value < _VALUES:
                codes[value] = code
        return codes


def names_of(inputs: SegmentationInputs) -> Mapping[int, str] | None:
    """Names by pixel value as in the config; None if it has none.

    Raises:
        DataError: The file of the names cannot be used.
    """
    given = inputs.labels
    if isinstance(given, str):
        from valor_cli.data.formats.class_names import read_names

        return read_names(given)
    if isinstance(given, tuple):
        return dict(enumerate(given))
    return None if given is None else dict(sorted(given.items()))


def make_coding(
    names: Mapping[int, str], inputs: SegmentationInputs, selection: Selection
) -> tuple[Coding, list[str]]:
    """The meaning of pixel values, with warnings.

    A value that `ignore_index` lists is no label, whatever its name.

    Args:
        names: By value, in order.
        inputs: With `ignore_index`, `background` and `reduce_labels`.
        selection: With the map of labels, and the labels whose ground truth is evaluated.

    Raises:
        DataError: There is no such background, a filter names no label, or no label is left.
    """
    ignored = inputs.ignored
    own = {value: name for value, name in names.items() if value not in ignored}
    mapped = {value: selection.label_map.get(name, name) for value, name in own.items()}
    warnings = _warnings(own, mapped, selection)
    background = _background(inputs.background, own, mapped)
    labels = tuple(dict.fromkeys(name for name in mapped.values() if name != background))
    if not labels:
        raise DataError(Problem("labels", "no label is left beside what is ignored or background"))
    number = {name: at for at, name in enumerate(labels)}
    code_of = {value: number.get(name, len(labels)) for value, name in mapped.items()}
    if isinstance(inputs.background, int):
        code_of[inputs.background] = len(labels)
    if background is not None:
        number[background] = len(labels)
    kept = {*number.values(), len(labels)}
    if "label" in selection.keep:
        kept = {number[name] for name in filter_labels([*number], selection.keep["label"])}
    truth = {value: code if code in kept else IGNORED for value, code in code_of.items()}
    truth |= dict.fromkeys(ignored, IGNORED)
    if inputs.reduce_labels:
        truth = {0: IGNORED, **{value + 1: code for value, code in truth.items()}}
        truth |= dict.fromkeys(ignored & {_UNMOVED}, IGNORED)
    left_open = len(labels) + 1
    prediction = code_of | dict.fromkeys(ignored, left_open)
    return Coding(labels, truth, prediction, left_open), warnings


def _warnings(own: Mapping[int, str], mapped: Mapping[int, str], selection: Selection) -> list[str]:
    """Keys of the map that name no label, and values that share a name without one."""
    names = [*own.values()]
    known: dict[str, list[int]] = {}
    for value, name in own.items():
        known.setdefault(name, []).append(value)
    told = [
        f"label_map: there is no label '{name}'{did_you_mean(name, names)}"
        for name in selection.label_map
        if name not in known
    ]
    for name, values in known.items():
        if len(values) > 1:
            listed = ", ".join(map(str, values))
            told.append(f"labels: the values {listed} have one name, '{name}': they are one label")
    ignorable = [value for value, name in mapped.items() if name.strip("()<> ").lower() in _IGNORE]
    for value in ignorable:
        told.append(
            f"labels: {value} is named '{mapped[value]}' and counts as a label; set "
            f"`ignore_index: {value}` under `data:` to leave its pixels out"
        )
    return told


_IGNORE = ("ignore", "ignored")


def impossible_value_warnings(names: Mapping[int, str], inputs: SegmentationInputs) -> list[str]:
    """A warning if the config names values that no pixel of a PNG can have."""
    given: dict[str, Collection[int]] = {"labels": names, "ignore_index": inputs.ignored}
    if isinstance(inputs.background, int):
        given["background"] = {inputs.background}
    told = []
    for key, values in given.items():
        large = sorted(value for value in values if value >= _VALUES)
        if large:
            listed = ", ".join(map(str, large[:_LISTED])) + (" …" if len(large) > _LISTED else "")
            told.append(
                f"{key}: no pixel of a PNG has a value above {_VALUES - 1:,}, and so none has "
                f"{listed}"
            )
    return told


def _background(
    given: str | int | None, own: Mapping[int, str], mapped: Mapping[int, str]
) -> str | None:
    """The name of the background as evaluated; None if there is none, or it is a bare value.

    Raises:
        DataError: No label has that name.
    """
    if given is None or isinstance(given, int):
        return None if given is None else mapped.get(given)
    for names in (mapped, own):
        for value, name in names.items():
            if name == given:
                return mapped[value]
    known = list(dict.fromkeys(mapped.values()))
    problem = Problem("background", f"no label is named '{given}'{did_you_mean(given, known)}")
    more = " …" if len(known) > LISTED else ""
    raise DataError(problem, hint=f"labels: {', '.join(known[:LISTED])}{more}")
