"""Which images are drawn, from which files."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.evaluators.segmentation.scenes import folder, inputs
from valor_cli.data.formats.difference_images import GAP
from valor_cli.data.formats.images import ImageFolder
from valor_cli.evaluators.segmentation.load.images import overlays
from valor_cli.metric import Selection
from valor_cli.results import ExampleResult, Picture

MISTAKE = (213, 62, 0)


@pytest.fixture(autouse=True)
def _maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder("gt", {"a": [[0, 1, 2, 255]], "b": [[0, 1]]})
    folder("pred", {"a": [[0, 2, 2, 0]], "b": [[0, 1]]})
    folder("other", {"a": [[1, 2, 2, 0]], "b": [[0, 1]]})


def example(sample: str, model: str = "pred", kind: str = "worst_image") -> ExampleResult:
    picture = Picture(sample, None, None)
    return ExampleResult("image_scores", model, None, None, {}, kind, sample, 0.1, picture, ())


def mistakes(content: bytes) -> list[bool]:
    pixels = np.asarray(Image.open(BytesIO(content)).convert("RGB"))
    width = (pixels.shape[1] - 2 * GAP) // 3
    return [tuple(one) == MISTAKE for one in pixels[0, -width:].tolist()]


def drawn(*examples: ExampleResult, selection: Selection | None = None, **data: Any) -> Any:
    block = inputs(**{"ignore_index": 255} | data)
    pictures, told = overlays(block, selection or Selection(), examples)
    assert not pictures.photos
    return {key: mistakes(content) for key, content in pictures.overlays.items()}, told


def test_the_worst_images_of_each_model() -> None:
    found, told = drawn(
        example("a", "one"),
        example("a", "two"),
        example("a", "one"),
        example("b", "one", kind="misclassification"),
        predictions={"one": "pred", "two": "other"},
    )
    assert found == {
        ("one", "a"): [False, True, False, False],
        ("two", "a"): [True, True, False, False],
    }
    assert told == []


def test_colours_are_those_of_the_labels_that_occur() -> None:
    pictures, _ = overlays(inputs(ignore_index=255), Selection(), [example("b", "pred")])
    assert pictures.colours == {"road": "#0072b2", "cat": "#e6be3c"}


def test_nothing_to_draw_reads_nothing() -> None:
    assert drawn(ground_truth="none") == ({}, [])


def test_labels_are_those_of_the_run() -> None:
    merged = Selection(label_map={"cat": "sky"}, limit=1)
    found, _ = drawn(example("a"), selection=merged)
    assert found["pred", "a"] == [False, False, False, False]


def test_files_that_changed_since_are_not_shown() -> None:
    Path("pred/a.png").write_bytes(b"nothing")
    found, told = drawn(example("a"), example("b"))
    assert [*found] == [("pred", "b")]
    assert told == ["not shown: pred/a.png: expected a PNG; this is another kind of file"]
    Path("gt/b.png").unlink()
    assert drawn(example("a")) == ({}, ["no pictures: pred/b.png: has no ground truth in gt"])


def test_photos() -> None:
    folder("photos", {"a": [[10, 100, 200, 250]]})
    found, told = drawn(example("a"), example("b"), images="photos")
    assert found["pred", "a"] == [False, True, False, False]
    assert ("pred", "b") in found
    assert told == []
    assert ImageFolder("photos").paths(["a", "b"]) == {"a": os.path.join("photos", "a.png")}
