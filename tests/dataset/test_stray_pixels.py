"""What is said of pixel values that are no label."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.label_map_problems import codes_of
from valor_cli.dataset.stray_pixels import StrayPixels
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.label_maps import RawPair

PLACES = ("truth/a.png", "found/a.png")


def told(truth: list[int], prediction: list[int], *, void_known: bool = True) -> list[str]:
    """The lines of the error; values 0 and 1 are labels, 255 is ignored if it is known."""
    truth_codes, codes = codes_of(2)
    if not void_known:
        truth_codes = codes = np.where(np.arange(256) < 2, np.arange(256), -2).astype(np.int32)
    sides = (np.array([side], np.uint8) for side in (truth, prediction))
    stray = StrayPixels()
    stray.note(PLACES, RawPair(*sides, truth_codes, codes))
    with pytest.raises(DataError) as caught:
        stray.stop()
    return str(caught.value).splitlines()


def test_nothing_stray_stops_nothing() -> None:
    stray = StrayPixels()
    values = np.array([[0, 1, 255]], np.uint8)
    stray.note(PLACES, RawPair(values, values, *codes_of(2)))
    stray.stop()


def test_values_and_pixels_of_each_file() -> None:
    # What stands where the ground truth is ignored (255) is nobody's business.
    assert told([2, 2, 0, 255], [3, 0, 1, 9]) == [
        "truth/a.png: no label for the value 2 (2 pixels)",
        "found/a.png: no label for the value 3 (1 pixel)",
        "Every value needs a label: `labels` under `data:` names the values.",
        "Pixels that nobody is judged by are left out with `ignore_index: 2`.",
    ]


def test_many_values_are_counted() -> None:
    first, hint = told([0] * 7, [2, 3, 4, 5, 6, 7, 8])
    assert first.endswith("6 (1 pixel) and 2 more")
    assert hint.startswith("Every value needs a label")


def test_255_among_others_is_what_is_ignored_mostly() -> None:
    *_, hint = told([2, 3, 255], [0, 0, 0], void_known=False)
    assert "`ignore_index: 255`" in hint


def test_files_that_cannot_be_read_are_listed_among_them() -> None:
    stray = StrayPixels()
    values = np.array([[0, 9]], np.uint8)
    stray.note_error(DataError(Problem("truth/b.png", "damaged"), hint="Copy it again."))
    stray.note(PLACES, RawPair(values, values, *codes_of(2)))
    stray.note_error(
        DataError([Problem(f"truth/c{at}.png", "damaged") for at in range(LISTED)], total=100)
    )
    with pytest.raises(DataError) as caught:
        stray.stop()
    assert (len(caught.value.problems), caught.value.total) == (LISTED, 103)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "truth/b.png: damaged",
        "truth/a.png: no label for the value 9 (1 pixel)",
        "found/a.png: no label for the value 9 (1 pixel)",
    ]
    assert lines[LISTED:] == [
        "… and 83 more problems",
        "Copy it again.",
        "Every value needs a label: `labels` under `data:` names the values.",
        "Pixels that nobody is judged by are left out with `ignore_index: 9`.",
    ]


def test_a_file_that_cannot_be_read_has_no_values() -> None:
    stray = StrayPixels()
    stray.note_error(DataError(Problem("truth/b.png", "damaged")))
    with pytest.raises(DataError) as caught:
        stray.stop()
    assert str(caught.value) == "truth/b.png: damaged"
