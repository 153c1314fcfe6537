"""Datasets of label maps: shards, what verifying finds, what examples show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from tests.oracles.label_map_problems import codes_of
from valor_cli.data.shapes.label_maps import SegmentationDataset, UnexpectedPixels
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.label_maps import IGNORED, UNKNOWN, RawPair
from valor_cli.results import MetricExample, Picture

CODES = np.full(256, UNKNOWN, np.int32)
CODES[:2] = 0, 1
CODES[255] = IGNORED


@dataclass(frozen=True)
class Pairs:
    """Rows of pixels by sample, ground truth first; None is a damaged file."""

    rows: Mapping[str, tuple[list[int], list[int]] | None]

    def __call__(self, sample: str) -> RawPair:
        row = self.rows[sample]
        if row is None:
            raise DataError(Problem(f"gt/{sample}.png", "damaged"))
        truth, prediction = (np.array([side], np.uint8) for side in row)
        return RawPair(truth, prediction, CODES, CODES)


def dataset(**rows: tuple[list[int], list[int]] | None) -> SegmentationDataset:
    names = tuple(sorted(rows))
    return SegmentationDataset(
        names,
        ("road", "cat"),
        np.array([[1, len(row[0]) if row else 0] for row in (rows[name] for name in names)]),
        tuple((f"gt/{name}.png", f"pred/{name}.png") for name in names),
        Pairs(rows),
    )


GOOD = ([0, 1, 255], [0, 0, 1])


def test_a_shard_has_some_images() -> None:
    whole = dataset(a=GOOD, b=([0], [1]), c=GOOD)
    part = whole.shard(np.array([False, True, True]))
    assert (part.sample_ids, part.unit_count) == (("b", "c"), 2)
    assert part.sizes.tolist() == [[1, 1], [1, 3]]
    assert part.places[0] == ("gt/b.png", "pred/b.png")
    assert part.read("b").truth.tolist() == [[0]]


def test_sound_pairs() -> None:
    dataset(a=GOOD, b=GOOD).verify()


def test_every_damaged_file_is_named() -> None:
    with pytest.raises(DataError) as caught:
        dataset(a=None, b=GOOD, c=None, d=([9], [0])).verify()
    assert str(caught.value).split("\n") == [
        "gt/a.png: damaged",
        "gt/c.png: damaged",
        "gt/d.png: no label for the value 9 (1 pixel)",
        "Every value needs a label: `labels` under `data:` names the values.",
        "Ignore pixels with `ignore_index: 9`.",
    ]
    with pytest.raises(DataError) as caught:
        dataset(**{f"s{at:02}": None for at in range(30)}).verify()
    assert str(caught.value).split("\n")[20:] == ["… and 10 more problems"]


def test_examples_are_whole_images() -> None:
    examples = [MetricExample("worst_image", name, value=0.5) for name in ("b", "a")]
    shown = dataset(a=GOOD, b=([0], [1])).illustrate(examples)
    assert [one.picture for one in shown] == [Picture("b", 1, 1), Picture("a", 3, 1)]


PLACES = ("truth/a.png", "found/a.png")


def told(truth: list[int], prediction: list[int], *, void_known: bool = True) -> list[str]:
    """The lines of the error; values 0 and 1 are labels, 255 is ignored if it is known."""
    truth_codes, codes = codes_of(2)
    if not void_known:
        truth_codes = codes = np.where(np.arange(256) < 2, np.arange(256), -2).astype(np.int32)
    sides = (np.array([side], np.uint8) for side in (truth, prediction))
    stray = UnexpectedPixels()
    stray.note(PLACES, RawPair(*sides, truth_codes, codes))
    with pytest.raises(DataError) as caught:
        stray.stop()
    return str(caught.value).splitlines()


def test_values_and_pixels_of_each_file() -> None:
    # What stands where the ground truth is ignored (255) is nobody's business.
    assert told([2, 2, 0, 255], [3, 0, 1, 9]) == [
        "truth/a.png: no label for the value 2 (2 pixels)",
        "found/a.png: no label for the value 3 (1 pixel)",
        "Every value needs a label: `labels` under `data:` names the values.",
        "Ignore pixels with `ignore_index: 2`.",
    ]


def test_many_values_are_counted() -> None:
    first, hint = told([0] * 7, [2, 3, 4, 5, 6, 7, 8])
    assert first.endswith("6 (1 pixel) and 2 more")
    assert hint.startswith("Every value needs a label")


def test_255_among_others_is_what_is_ignored_mostly() -> None:
    *_, hint = told([2, 3, 255], [0, 0, 0], void_known=False)
    assert "`ignore_index: 255`" in hint


def test_files_that_cannot_be_read_are_listed_among_them() -> None:
    stray = UnexpectedPixels()
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
        "Ignore pixels with `ignore_index: 9`.",
    ]
