"""A folder of masks for each label: what label maps they make, and what is said of faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.evaluators.segmentation.asking import ask
from tests.evaluators.segmentation.scenes import folder, load
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

MASKS = {"labels": None, "format": "masks"}


def masks(side: str, labels: Mapping[str, Mapping[str, Any]]) -> None:
    for label, maps in labels.items():
        folder(f"{side}/{label}", maps)


def test_masks_are_the_label_map_that_they_make() -> None:
    masks("gt", {"cat": {"a": [[255, 255, 0, 0]]}, "dog": {"a": [[0, 0, 1, 0]], "s/b": [[1]]}})
    masks("pred", {"cat": {"a": [[1, 0, 0, 7]], "s/b": [[0]]}, "dog": {"a": [[0, 0, 1, 0]]}})
    loaded = load(**MASKS)
    (dataset,) = loaded.datasets.values()
    assert (loaded.labels, dataset.sample_ids) == (("cat", "dog"), ("a", "s/b"))
    assert dataset.read("a").truth.tolist() == [[1, 1, 2, 0]]
    found = {value.label: value.value for value in ask(dataset, "iou").values}
    # cat: 1 of 3 pixels of either side; dog: 1 of 2, for b is missed.
    assert (found["cat"], found["dog"]) == (1 / 3, 1 / 2)
    # Right are one cat and one dog of 5 pixels: the pixel of no label is called a cat.
    assert ask(dataset, "pixel_accuracy").values[0].value == 2 / 5
    # The same as label maps.
    folder("gt2", {"a": [[1, 1, 2, 0]], "s/b": [[2]]})
    folder("pred2", {"a": [[1, 0, 2, 1]], "s/b": [[0]]})
    names = {0: "none", 1: "cat", 2: "dog"}
    other = load(ground_truth="gt2", predictions="pred2", labels=names, background="none")
    (plain,) = other.datasets.values()
    assert [one.value for one in ask(plain, "iou").values] == [
        one.value for one in ask(dataset, "iou").values
    ]


def test_what_is_wrong_names_the_files() -> None:
    def read() -> None:
        (dataset,) = load(**MASKS).datasets.values()
        dataset.read("a")

    def error() -> str:
        with pytest.raises(DataError) as caught:
            read()
        return str(caught.value).split("\n")[0]

    masks("gt", {"cat": {"a": [[1, 1]]}, "dog": {"a": [[0, 1]]}})
    masks("pred", {"cat": {"a": [[1, 1]]}})
    assert error() == "gt/dog/a.png: 1 of its pixels are in gt/cat/a.png too; a pixel has one label"
    masks("gt", {"dog": {"a": [[0]]}})
    assert error() == ("gt/dog/a.png: is 1 wide and 1 high; gt/cat/a.png is 2 wide and 1 high")
    masks("gt", {"dog": {"a": [[0, 0]]}})
    masks("pred", {"cats": {"a": [[0, 0]]}})
    assert error() == "pred/cats: the ground truth has no label 'cats' (did you mean 'cat'?)"
    folder("gt", {"loose": np.zeros((1, 2), np.uint8)})
    assert error() == "gt/loose.png: not in the folder of a label"
