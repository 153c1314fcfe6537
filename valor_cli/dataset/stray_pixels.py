"""Pairs of label maps come in; an error that lists the values that are no label goes out."""

from __future__ import annotations

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.label_maps import RawPair, StrayValue, stray_values

_VALUES_SHOWN = 5
_VOID = 255
"""What most data sets write where nobody is judged."""


class StrayPixels:
    """Pixels that have a value that is no label: the first files kept, the rest counted."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._total = 0
        self._truths: set[int] = set()

    def note(self, places: tuple[str, str], pair: RawPair) -> None:
        """Note the values of one pair; `places` are its files, ground truth first."""
        found = stray_values(pair)
        for place, in_truth in zip(places, (True, False), strict=True):
            side = [one for one in found if one.in_truth is in_truth]
            if side:
                self._total += 1
                if len(self._problems) < LISTED:
                    self._problems.append(Problem(place, _message(side)))
        self._truths.update(one.value for one in found if one.in_truth)

    def stop(self) -> None:
        """Raise what was noted, if anything was.

        Raises:
            DataError: Files hold values that are no label.
        """
        if self._total:
            raise DataError(self._problems, total=self._total, hint=self._hint())

    def _hint(self) -> str:
        hint = "Every value needs a label: `labels` under `data:` names the values."
        if len(self._truths) == 1 or _VOID in self._truths:
            value = _VOID if _VOID in self._truths else min(self._truths)
            hint += f"\nPixels that nobody is judged by are left out with `ignore_index: {value}`."
        return hint


def _message(side: list[StrayValue]) -> str:
    shown = ", ".join(
        f"{one.value} ({one.pixels:,} pixel{'s' * (one.pixels != 1)})"
        for one in side[:_VALUES_SHOWN]
    )
    more = len(side) - _VALUES_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return f"no label for the value{'s' * (len(side) > 1)} {shown}{rest}"
