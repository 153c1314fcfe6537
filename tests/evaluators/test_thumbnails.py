"""Thumbnails of examples: those of the folder that the config names, each file once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from valor_cli.evaluators import thumbnails as module
from valor_cli.evaluators.thumbnails import thumbnails
from valor_cli.metric import Selection
from valor_cli.results import EmbeddedImages, ExampleResult, Picture


class Inputs(NamedTuple):
    images: str | None


def example(file: str | None, kind: str = "true_positive") -> ExampleResult:
    picture = Picture(file, None, None)
    return ExampleResult("counts", "m", None, None, {}, kind, "s", None, picture, ())


def test_each_picture_of_the_examples_is_made_once(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        Image.new("RGB", (4, 3)).save(tmp_path / name)
    (tmp_path / "broken.png").write_bytes(b"no picture")
    shown = [example("a.png"), example(None), example("broken.png"), example("a.png")]
    found, (told,) = thumbnails(Inputs(str(tmp_path)), Selection(), shown)
    assert list(found.photos) == ["a.png"]
    assert told.startswith("not shown: ")
    assert "broken.png" in told


def test_of_many_the_worst_and_the_mistakes_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 4)
    for name in "abcdef":
        Image.new("RGB", (4, 3)).save(tmp_path / f"{name}.png")
    shown = [
        example("a.png"),
        example("f.png", "misclassification"),
        example("b.png", "true_negative"),
        example("e.png", "no_prediction"),
        example("d.png", "worst_image"),
        example("c.png"),
        example("f.png", "worst_image"),
    ]
    found, _ = thumbnails(Inputs(str(tmp_path)), Selection(), shown)
    assert list(found.photos) == ["d.png", "f.png", "e.png", "a.png"]


def test_without_a_folder_there_are_none() -> None:
    assert thumbnails(Inputs(None), Selection(), [example("a.png")]) == (EmbeddedImages(), ())
