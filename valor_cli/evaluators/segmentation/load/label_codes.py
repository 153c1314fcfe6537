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
        label_of: Value to position in `labels`; to `len(labels)` for the background.
        ignored: Values that are left out.
        kept: Positions of the labels whose ground truth is evaluated; None for all.
        reduced: Whether values of ground truth are one higher.
    """

    labels: tuple[str, ...]
    label_of: Mapping[int, int]
    ignored: frozenset[int]
    kept: frozenset[int] | None
    reduced: bool

    @property
    def left_open(self) -> int:
        """The code of pixels without a prediction, which are never correct."""
        return len(self.labels) + 1

    def codes(self, role: Role, meanings: Sequence[int | None] | None) -> Codes:
        """The code of each pixel value of a side, as `RawPair` has them.

        Args:
            role: Which side.
            meanings: What stored values stand for, None for no label; None where they are values
                themselves.
        """
        code = self._of_truth if role == "ground_truth" else self._of_prediction
        if meanings is not None:
            none = IGNORED if role == "ground_truth" else self.left_open
            return np.array([none if one is None else code(one) for one in meanings], np.int32)
        codes = np.full(_VALUES, UNKNOWN, np.int32)
        # Of reduced ground truth, the value above a known one is known.
        known = {0, *self.label_of, *self.ignored}
        for value in known | {one + 1 for one in known}:
            if value < _VALUES:
                codes[value] = code(value)
        return codes

    def _of_truth(self, value: int) -> int:
        if self.reduced and value not in self.ignored & {_UNMOVED}:
            if value == 0:
                return IGNORED
            value -= 1
        if value in self.ignored:
            return IGNORED
        label = self.label_of.get(value, UNKNOWN)
        left_out = self.kept is not None and label != UNKNOWN and label not in self.kept
        return IGNORED if left_out else label

    def _of_prediction(self, value: int) -> int:
        return self.left_open if value in self.ignored else self.label_of.get(value, UNKNOWN)


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
    label_of = {value: number.get(name, len(labels)) for value, name in mapped.items()}
    if isinstance(inputs.background, int):
        label_of[inputs.background] = len(labels)
    kept = _kept(selection, number if background is None else {**number, background: len(labels)})
    return Coding(labels, label_of, ignored, kept, inputs.reduce_labels), warnings


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


def _kept(selection: Selection, number: Mapping[str, int]) -> frozenset[int] | None:
    """The labels that a filter names.

    Raises:
        DataError: It names another one.
    """
    if "label" not in selection.keep:
        return None
    wanted = filter_labels([*number], selection.keep["label"])
    return frozenset(number[name] for name in wanted)
