"""Pictures of two label maps and of where they differ."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from valor_cli.data.formats.difference_images import (
    GAP,
    LONGEST_SIDE,
    colour_of,
    overlay,
    shrunk,
)
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.label_maps import IGNORED

pytestmark = pytest.mark.usefixtures("in_a_folder")

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
