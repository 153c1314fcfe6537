"""A folder of images: finding files by what data call them, thumbnails, and broken ones."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from valor_cli.data.formats import images as pictures
from valor_cli.data.formats.images import LONGEST_SIDE, ImageFolder, image_size
from valor_cli.errors import DataError, Problem, UnreachableError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "val").mkdir()
    for name in ("a.jpg", "val/b.png", "val/a.png"):
        Image.new("RGB", (40, 30), "red").save(tmp_path / name)
    return tmp_path


def test_files_are_found_by_path_name_or_stem(folder: Path) -> None:
    pictures = ImageFolder(str(folder))
    assert pictures.find("val/b.png") == "val/b.png"
    assert pictures.find("b.png") == "val/b.png"
    assert pictures.find("b") == "val/b.png"
    assert pictures.find("b.jpg") == "val/b.png"
    # Two files have the stem "a"; a whole name says which is meant.
    assert pictures.find("a") is None
    assert pictures.find("a.png") == "val/a.png"
    assert pictures.find("c") is None


def test_nothing_outside_the_folder_is_found_or_read(folder: Path) -> None:
    inside = ImageFolder(str(folder / "val"))
    # A folder in the name leads nowhere: what bears that name inside is found.
    assert inside.find("../a.jpg") == "a.png"
    assert inside.find("../c.jpg") is None
    made, told = inside.thumbnails(["../a.jpg", str(folder / "a.jpg")])
    assert (made, told) == ({}, [])
    assert inside.size("../a.jpg") == (None, None)


def test_thumbnails_are_small_and_whole(folder: Path) -> None:
    Image.new("RGB", (2000, 1000), "blue").save(folder / "big.jpg")
    made, told = ImageFolder(str(folder)).thumbnails(["big.jpg", "val/b.png"])
    assert told == []
    assert Image.open(BytesIO(made["big.jpg"])).size == (LONGEST_SIDE, LONGEST_SIDE // 2)
    assert Image.open(BytesIO(made["val/b.png"])).size == (40, 30)


def test_deep_gray_is_stretched(folder: Path) -> None:
    values = np.array([[1000, 1000], [1100, 1100]], np.uint16).repeat(20, 0).repeat(20, 1)
    Image.fromarray(values).save(folder / "deep.png")
    made, _ = ImageFolder(str(folder)).thumbnails(["deep.png"])
    shown = np.asarray(Image.open(BytesIO(made["deep.png"])))
    assert shown[0, 0, 0] < 10
    assert shown[-1, -1, 0] > 245


def test_broken_images_are_told_and_left_out(folder: Path) -> None:
    (folder / "cut.png").write_bytes((folder / "val" / "b.png").read_bytes()[:40])
    (folder / "text.jpg").write_text("no image")
    pictures = ImageFolder(str(folder))
    made, told = pictures.thumbnails(["cut.png", "text.jpg", "a.jpg"])
    assert list(made) == ["a.jpg"]
    assert [said.startswith("not shown: ") for said in told] == [True, True]
    assert "text.jpg: not a readable image" in told[1]
    assert pictures.size("text.jpg") == (None, None)
    assert pictures.size("a.jpg") == (40, 30)


def test_a_pipe_is_no_picture(folder: Path) -> None:
    os.mkfifo(folder / "pipe.jpg")
    with pytest.raises(DataError, match=r"pipe\.jpg: expected a file, found a pipe or a device"):
        image_size(str(folder / "pipe.jpg"))
    made, told = ImageFolder(str(folder)).thumbnails(["pipe.jpg"])
    assert (dict(made), len(told)) == ({}, 1)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        ImageFolder(str(tmp_path / "none"))
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="this is a file"):
        ImageFolder(str(tmp_path / "file"))


def test_pictures_behind_a_link_are_found(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    Image.new("L", (2, 2)).save(tmp_path / "more" / "a.png")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "link").symlink_to(tmp_path / "more")
    assert ImageFolder(str(tmp_path / "images")).find("a") == "link/a.png"


def test_a_picture_that_does_not_come_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers are there already: the run is not lost for it."""

    def lost(path: str) -> bytes:
        raise UnreachableError(Problem("s3://data/a.png", "the store answers 503"))

    Image.new("L", (4, 3)).save(tmp_path / "a.png")
    monkeypatch.setattr(pictures, "_thumbnail", lost)
    told = ["not shown: s3://data/a.png: the store answers 503"]
    assert ImageFolder(str(tmp_path)).thumbnails(["a.png"]) == ({}, told)
