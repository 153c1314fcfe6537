"""Datasets of label maps: shards, what verifying finds, what examples show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from valor_cli.dataset.segmentation import SegmentationDataset
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.label_maps import IGNORED, UNKNOWN, RawPair
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
        "Pixels that nobody is judged by are left out with `ignore_index: 9`.",
    ]
    with pytest.raises(DataError) as caught:
        dataset(**{f"s{at:02}": None for at in range(30)}).verify()
    assert str(caught.value).split("\n")[20:] == ["… and 10 more problems"]


def test_values_that_are_no_label() -> None:
    with pytest.raises(DataError) as caught:
        # What is predicted on an ignored pixel may be anything.
        dataset(a=([0, 7, 7, 255], [0, 0, 3, 9]), b=([1], [4])).verify()
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("gt/a.png: ")
    assert "7 (2 pixels)" in lines[0]
    assert [line.split(":")[0] for line in lines[1:3]] == ["pred/a.png", "pred/b.png"]
    assert "9" not in lines[1]


def test_examples_are_whole_images() -> None:
    examples = [MetricExample("worst_image", name, value=0.5) for name in ("b", "a")]
    shown = dataset(a=GOOD, b=([0], [1])).illustrate(examples)
    assert [one.picture for one in shown] == [Picture("b", 1, 1), Picture("a", 3, 1)]
