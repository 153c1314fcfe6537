"""Pairs of label maps come in; an error that lists what is wrong with their pixels goes out."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.label_maps import RawPair, StrayValue, stray_values

_VALUES_SHOWN = 5
_VOID = 255
"""What most data sets write where nobody is judged."""


class StrayPixels:
    """Values that are no label, and files without pixels: the first kept, the rest counted."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._total = 0
        self._truths: set[int] = set()
        self._hints: dict[str, None] = {}
        self._stray = False

    def note(self, places: tuple[str, str], pair: RawPair) -> None:
        """Note the values of one pair; `places` are its files, ground truth first."""
        found = stray_values(pair)
        for place, in_truth in zip(places, (True, False), strict=True):
            side = [one for one in found if one.in_truth is in_truth]
            if side:
                self._stray = True
                self._keep([Problem(place, _message(side))], 1)
        self._truths.update(one.value for one in found if one.in_truth)

    def note_error(self, error: DataError) -> None:
        """Note a pair that cannot be read."""
        self._keep(error.problems, error.total)
        if error.hint:
            self._hints[error.hint] = None

    def _keep(self, problems: Sequence[Problem], total: int) -> None:
        self._problems += problems[: LISTED - len(self._problems)]
        self._total += total

    def stop(self) -> None:
        """Raise what was noted, if anything was.

        Raises:
            DataError: Files hold values that are no label, or could not be read.
        """
        if self._total:
            hints = [*self._hints, *([self._hint()] if self._stray else [])]
            raise DataError(self._problems, total=self._total, hint="\n".join(hints))

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
