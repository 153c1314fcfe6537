"""Images: found by what data call them, small copies, broken ones, and where two maps differ."""

from __future__ import annotations

import os
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from valor_cli.data.formats import images
from valor_cli.data.formats.difference_images import (
    GAP,
    LONGEST_SIDE,
    colour_of,
    overlay,
    shrunk,
)
from valor_cli.data.formats.images import ImageFolder, image_size, small_copies
from valor_cli.errors import DataError, Problem, UnreachableError
from valor_cli.kernels.geometry.label_maps import IGNORED

pytestmark = pytest.mark.usefixtures("in_a_folder")


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
    asked = ["../a.jpg", "../c.jpg", str(folder / "c.jpg")]
    assert inside.paths(asked) == {"../a.jpg": str(folder / "val" / "a.png")}
    assert [inside.find(one) for one in asked[1:]] == [None, None]
    assert inside.size("../a.jpg") == (None, None)


TURNED = Image.Exif()
TURNED[0x0112] = 6  # a quarter to the right

RED, BLUE = (255, 0, 0), (0, 0, 255)
_HALVES = Image.new("RGB", (40, 20), RED)
_HALVES.paste(BLUE, (20, 0, 40, 20))
_CLEAR = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
_CLEAR.paste((0, 0, 255, 255), (20, 0, 40, 20))
_DEEP = Image.fromarray(np.array([[1000, 1100]], np.uint16).repeat(20, 0).repeat(20, 1))
_FLOATS = np.array([[0.0, 0.5]], np.float32).repeat(20, 0).repeat(20, 1)
_FLOATS[0, 0] = np.nan

PICTURES: dict[str, tuple[Image.Image, dict[str, Any], tuple[int, int], Any, Any]] = {
    "plain.png": (_HALVES, {}, (40, 20), RED, BLUE),
    "large.jpg": (_HALVES.resize((200, 100)), {}, (40, 20), RED, BLUE),
    "turned.jpg": (_HALVES, {"exif": TURNED}, (20, 40), RED, BLUE),
    "turned.tif": (_HALVES, {"exif": TURNED}, (20, 40), RED, BLUE),
    "palette.png": (_HALVES.quantize(4), {}, (40, 20), RED, BLUE),
    "clear.png": (_CLEAR, {}, (40, 20), (255, 255, 255), BLUE),
    "clear.gif": (_CLEAR, {}, (40, 20), (255, 255, 255), BLUE),
    "ink.jpg": (_HALVES.convert("CMYK"), {}, (40, 20), RED, BLUE),
    "deep.png": (_DEEP, {}, (40, 20), (0, 0, 0), (255, 255, 255)),
    "float.tif": (Image.fromarray(_FLOATS), {}, (40, 20), (0, 0, 0), (255, 255, 255)),
    "bits.png": (_HALVES.convert("L").point(lambda v: 255 * (v > 50)).convert("1"), {})
    + ((40, 20), (255, 255, 255), (0, 0, 0)),
}
"""Image, how it is saved, and of its copy the size and the colours near two opposite corners."""


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("as_is", [False, True])
def test_small_copies(tmp_path: Path, name: str, as_is: bool) -> None:
    image, options, size, first, last = PICTURES[name]
    image.save(tmp_path / name, **options)
    (made,) = small_copies([str(tmp_path / name)], 40, as_is=as_is)
    assert isinstance(made, bytes)
    copy = ImageOps.exif_transpose(Image.open(BytesIO(made))).convert("RGB")
    assert copy.size == size
    for at, colour in (((3, 3), first), ((size[0] - 4, size[1] - 4), last)):
        assert np.abs(np.subtract(copy.getpixel(at), colour)).max() < 60
    assert ImageFolder(str(tmp_path)).size(name) == (image.size if size == (40, 20) else size)


def test_a_jpeg_that_is_small_enough_may_stay_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    _HALVES.save(path, quality=95)
    (made,) = small_copies([str(path)], 40, as_is=True)
    assert made == path.read_bytes()
    (made,) = small_copies([str(path)], 39, as_is=True)
    assert made != path.read_bytes()
    where = Image.Exif()
    where[0x010E] = "at home"
    _HALVES.save(tmp_path / "exif.jpg", quality=95, exif=where)
    (made,) = small_copies([str(tmp_path / "exif.jpg")], 40, as_is=True)
    assert isinstance(made, bytes)
    assert b"at home" not in made
    path.write_bytes(path.read_bytes()[:-300])
    (made,) = small_copies([str(path)], 40, as_is=True)
    assert isinstance(made, Problem)


def _png_of(width: int, height: int) -> bytes:
    """A PNG that says how large it is, and holds nothing."""

    def chunk(kind: bytes, content: bytes = b"") -> bytes:
        crc = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT") + chunk(b"IEND")


def test_broken_images_are_told_and_the_others_made(folder: Path) -> None:
    (folder / "cut.png").write_bytes((folder / "val" / "b.png").read_bytes()[:-30])
    (folder / "text.jpg").write_text("no image")
    for side in (10_000, 30_000):
        (folder / f"bomb{side}.png").write_bytes(_png_of(side, side))
    os.mkfifo(folder / "pipe.jpg")
    messages = {
        "cut.png": "the image cannot be read, it may be cut off",
        "text.jpg": "not a readable image",
        "bomb10000.png": "the image has more than 89,478,485 pixels",
        "bomb30000.png": "the image has more than 89,478,485 pixels",
        "none.jpg": "no such file",
        "pipe.jpg": "expected a file, found a pipe or a device",
    }
    paths = [str(folder / name) for name in ("a.jpg", *messages, "val/b.png")]
    first, *told, last = small_copies(paths, 30)
    assert isinstance(first, bytes)
    assert isinstance(last, bytes)
    for path, problem, message in zip(paths[1:-1], told, messages.values(), strict=True):
        assert isinstance(problem, Problem)
        assert problem.place == path
        assert problem.message.startswith(message)
    assert ImageFolder(str(folder)).size("text.jpg") == (None, None)
    with pytest.raises(DataError, match=r"pipe\.jpg: expected a file, found a pipe or a device"):
        image_size(str(folder / "pipe.jpg"))


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


def test_an_image_that_does_not_come_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are there already: the run is not lost for it."""
    problem = Problem("s3://data/a.png", "the store answers 503")

    def lost(path: str, size: int, *, as_is: bool) -> bytes:
        raise UnreachableError(problem)

    monkeypatch.setattr(images, "_small_copy", lost)
    assert list(small_copies(["s3://data/a.png"], 40)) == [problem]


# Two labels, the background (2), an ignored pixel.
TRUTH = np.array([[0, 0, 1, 2], [0, 1, 2, IGNORED]], np.int32)
FOUND = np.array([[0, 1, 1, 0], [0, 1, 2, 0]], np.int32)
WRONG = np.array([[0, 1, 0, 1], [0, 0, 0, 0]], bool)
MISTAKE = [213, 62, 0]


def panels(content: bytes, width: int) -> list[np.ndarray]:
    pixels = np.asarray(Image.open(BytesIO(content)).convert("RGB"))
    starts = [at * (width + GAP) for at in range(3)]
    assert pixels.shape[1] == starts[2] + width
    return [pixels[:, start : start + width] for start in starts]


def test_three_panels() -> None:
    true, found, differ = panels(overlay(TRUTH, FOUND, 2), 4)
    for panel, codes in ((true, TRUTH), (found, FOUND)):
        colours = [{tuple(one) for one in panel[codes == code].tolist()} for code in (0, 1, 2)]
        if codes is FOUND:
            # An ignored pixel is shown as such on both sides.
            colours[0].discard(tuple(panel[1, 3].tolist()))
        assert all(len(found) == 1 for found in colours)
        assert len(set.union(*colours)) == 3
    assert true[0, 0].tolist() == found[0, 0].tolist()
    assert true[1, 3].tolist() == found[1, 3].tolist() == differ[1, 3].tolist()
    assert ((differ == MISTAKE).all(axis=2) == WRONG).all()


def test_the_colour_of_a_label_is_what_it_is_drawn_in() -> None:
    true, _, _ = panels(overlay(TRUTH, FOUND, 2), 4)
    for label in (0, 1):
        pixel = true[np.argwhere(label == TRUTH)[0][0], np.argwhere(label == TRUTH)[0][1]]
        assert colour_of(label) == f"#{bytes(pixel.tolist()).hex()}"
    assert len({colour_of(label) for label in range(80)}) == 80


def test_mistakes_over_a_photo() -> None:
    Image.fromarray(np.repeat(np.uint8([[0, 80, 160, 255]]), 20, axis=0)).save("photo.png")
    _, _, differ = panels(overlay(TRUTH, FOUND, 2, "photo.png"), 4)
    assert ((differ == MISTAKE).all(axis=2) == WRONG).all()
    assert differ[0, 0].tolist() == [0, 0, 0]
    assert len(set(differ[1, 1].tolist())) == 1
    assert 60 < differ[1, 1, 0] < 100


def test_deep_photos_are_stretched() -> None:
    values = np.array([[1000, 1100, 1200, 1255]] * 2, np.uint16)
    Image.fromarray(values).save("photo.png")
    same = np.zeros((2, 4), np.int32)
    _, _, differ = panels(overlay(same, same, 1, "photo.png"), 4)
    assert differ[0, :, 0].tolist()[::3] == [0, 255]


def test_a_photo_that_cannot_be_read() -> None:
    with pytest.raises(DataError, match=r"^none\.png: no such file"):
        overlay(TRUTH, FOUND, 2, "none.png")


def test_many_labels_and_odd_codes() -> None:
    codes = np.arange(1000, dtype=np.int32).reshape(20, 50)
    true, _, differ = panels(overlay(codes, codes, 1000), 50)
    assert len({tuple(one) for one in true.reshape(-1, 3).tolist()}) == 80
    assert not (differ == MISTAKE).all(axis=2).any()


def test_large_maps_shrink_and_small_ones_do_not() -> None:
    assert shrunk(np.zeros((1024, 2048), np.uint8)).shape == (240, LONGEST_SIDE)
    assert shrunk(np.zeros((3, 5000), np.uint8)).shape == (1, LONGEST_SIDE)
    small = np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert shrunk(small).tolist() == small.tolist()
    # The middle one of every three.
    long = np.arange(3 * LONGEST_SIDE).reshape(1, -1)
    assert shrunk(long).tolist() == [list(range(1, 3 * LONGEST_SIDE, 3))]


CITIES = ["frankfurt_000000_000294", "frankfurt_000000_000576", "lindau_000001_000019"]
SHARED_WORDS = [
    (CITIES, [f"{one}_leftImg8bit" for one in CITIES], "", "_leftImg8bit"),
    (
        [f"{one}_gtFine_labelIds" for one in CITIES],
        [f"{one}_leftImg8bit" for one in CITIES],
        "_gtFine_labelIds",
        "_leftImg8bit",
    ),
]


@pytest.mark.parametrize(("names", "files", "ours", "theirs"), SHARED_WORDS)
def test_images_are_found_without_words_that_all_share(
    folder: Path, names: list[str], files: list[str], ours: str, theirs: str
) -> None:
    own = folder / "leftImg8bit"
    # More images than are asked for, as of a whole data set.
    for file in [*files, f"munster_000000_000019{theirs}"]:
        city = own / file.split("_")[0]
        city.mkdir(parents=True, exist_ok=True)
        (city / f"{file}.png").touch()
    found = ImageFolder(str(own)).paths([f"city/{name}" for name in names])
    assert {name: Path(path).name for name, path in found.items()} == {
        f"city/{name}": f"{name.removesuffix(ours)}{theirs}.png" for name in names
    }


def test_images_with_equal_names_or_none_alike_are_not_paired(folder: Path) -> None:
    own = folder / "photos"
    for name in ("one/a_photo", "two/a_photo", "one/b_photo", "two/b_photo"):
        path = own / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert ImageFolder(str(own)).paths(["a", "b"]) == {}
    assert ImageFolder(str(own)).paths(["x", "y", "z"]) == {}
    assert ImageFolder(str(own)).paths([]) == {}
