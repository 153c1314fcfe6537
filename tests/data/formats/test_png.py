"""PNG label maps: what their pixels say, and every way in which a file can be wrong."""

from __future__ import annotations

import hashlib
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.data.png_files import (
    GRAY,
    GRAY_ALPHA,
    PALETTE,
    RGB,
    RGBA,
    SIGNATURE,
    chunk,
    label_map,
    png,
    write,
)
from valor_cli.data.formats.images import MOST_PIXELS
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.errors import DataError

ONE_CHANNEL = (
    "Write each label map with one channel: in place of a colour of the legend, the number of "
    "its label (0 to 255 in 8 bits, 0 to 65535 in 16)."
)

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read(content: bytes) -> np.ndarray:
    write("map.png", content)
    return PngLabelMap("map.png").values()


def look_error(content: bytes) -> str:
    write("map.png", content)
    with pytest.raises(DataError) as caught:
        PngLabelMap("map.png").look()
    with pytest.raises(DataError) as same:
        PngLabelMap("map.png").values()
    assert str(same.value) == str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("depth", "kind"),
    [(1, GRAY), (2, GRAY), (4, GRAY), (8, GRAY), (16, GRAY)]
    + [(1, PALETTE), (2, PALETTE), (4, PALETTE), (8, PALETTE)],
)
def test_every_value_of_every_depth(depth: int, kind: int) -> None:
    # Seven columns: rows of few bits end within a byte.
    values = np.arange(7 * -(-(1 << depth) // 7)).reshape(-1, 7) % (1 << depth)
    found = read(label_map(values, depth=depth, kind=kind))
    assert found.dtype == (np.uint16 if depth == 16 else np.uint8)
    assert found.tolist() == values.tolist()


def test_what_pillow_writes() -> None:
    """Filtered rows, which it decodes into memory that is not its own."""
    values = np.random.default_rng(0).integers(0, 30, (90, 70)).cumsum(axis=1) // 90
    for mode, kind in (("L", np.uint8), ("P", np.uint8), ("I;16", np.uint16)):
        image = Image.fromarray(values.astype(kind))
        if mode == "P":
            image.putpalette(bytes(range(256)) * 3)
        image.save("map.png")
        found = PngLabelMap("map.png").values()
        assert found.dtype == kind
        assert found.tolist() == values.tolist()
        found[0, 0] = 7  # The array is the caller's own.


def test_transparency_of_a_palette_is_not_looked_at() -> None:
    image = Image.fromarray(np.array([[0, 1], [2, 255]], np.uint8))
    image.putpalette(bytes(range(256)) * 3)
    image.save("map.png", transparency=1)
    assert PngLabelMap("map.png").values().tolist() == [[0, 1], [2, 255]]


def test_look_says_size_and_digest() -> None:
    content = label_map(np.zeros((3, 5), int))
    write("map.png", content)
    assert PngLabelMap("map.png").look() == ((3, 5), hashlib.sha256(content).hexdigest())


def test_a_map_can_be_pickled() -> None:
    write("map.png", label_map([[1]]))
    assert pickle.loads(pickle.dumps(PngLabelMap("map.png"))).values().tolist() == [[1]]  # noqa: S301


@pytest.mark.parametrize(
    ("kind", "channels", "named"),
    [
        (RGB, 3, "RGB colours"),
        (RGBA, 4, "RGB colours with an alpha channel"),
        (GRAY_ALPHA, 2, "gray with an alpha channel"),
    ],
)
@pytest.mark.parametrize("depth", [8, 16])
def test_colours_are_refused(kind: int, channels: int, named: str, depth: int) -> None:
    message = look_error(png([bytes(channels * depth // 8)], 1, depth=depth, kind=kind))
    assert message.split("\n") == [
        f"map.png: expected gray or a palette, whose values are the labels, found {named}",
        ONE_CHANNEL,
    ]


def test_every_cut_is_found_without_decoding() -> None:
    content = label_map(np.arange(64).reshape(8, 8))
    for size in range(8, len(content)):
        assert "the PNG is cut off" in look_error(content[:size])
    assert "map.png: expected a PNG" in look_error(content[:7])
    assert "map.png: expected a PNG" in look_error(b"")


def test_every_flipped_bit_is_found_without_decoding() -> None:
    """Pillow decodes many of these to other pixels without a word."""
    content = label_map(np.arange(64).reshape(8, 8))
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        look_error(bytes(damaged))


def stored(data: bytes, *, side: int = 4, interlaced: int = 0) -> bytes:
    header = struct.pack(">IIBBBBB", side, side, 8, GRAY, 0, 0, interlaced)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        zlib.compress(bytes(5)),
        zlib.compress(bytes(19)),
        zlib.compress(bytes(range(20)))[:-8],
        zlib.compress(b""),
        b"no zlib at all",
        b"",
    ],
)
@pytest.mark.parametrize("interlaced", [0, 1])
def test_pixels_that_end_too_early(data: bytes, interlaced: int) -> None:
    """Every chunk is whole, yet rows are missing; Pillow takes them for black."""
    write("map.png", stored(data, interlaced=interlaced))
    assert PngLabelMap("map.png").look().size == (4, 4)
    with pytest.raises(DataError, match=r"^map\.png: "):
        PngLabelMap("map.png").values()
    with pytest.raises(DataError, match=r"^map\.png: the pixels of the PNG "):
        PngLabelMap("map.png").look(decode=True)


@pytest.mark.parametrize(("interlaced", "length"), [(0, 20), (1, 23)])
def test_rows_that_are_all_there(interlaced: int, length: int) -> None:
    # 4 x 4 pixels are 4 rows, interlaced 7, of 16 bytes in all, with a filter each.
    write("map.png", stored(zlib.compress(bytes(length)), interlaced=interlaced))
    assert PngLabelMap("map.png").look(decode=True).size == (4, 4)


@pytest.mark.parametrize("interlaced", [0, 1])
def test_damage_that_only_decoding_shows(interlaced: int) -> None:
    """There is no filter 9; what `values` refuses, a look that decodes refuses as well."""
    write(
        "map.png",
        stored(zlib.compress(b"\x09" * (23 if interlaced else 20)), interlaced=interlaced),
    )
    assert PngLabelMap("map.png").look().size == (4, 4)
    for read_all in (
        PngLabelMap("map.png").values,
        lambda: PngLabelMap("map.png").look(decode=True),
    ):
        with pytest.raises(DataError, match=r"^map\.png: the image cannot be read"):
            read_all()


def test_a_kind_of_pixels_that_there_is_not() -> None:
    content = bytearray(label_map([[1, 2]]))
    content[25] = 5
    content[29:33] = struct.pack(">I", zlib.crc32(bytes(content[12:29])))
    write("map.png", bytes(content))
    with pytest.raises(DataError, match="found colour type 5"):
        PngLabelMap("map.png").look(decode=True)


def test_rows_in_many_chunks() -> None:
    rows = np.random.default_rng(0).integers(0, 256, (300, 301), np.uint8)
    rows[:, 0] = 0  # Not filtered.
    data = zlib.compress(rows.tobytes(), 0)
    header = struct.pack(">IIBBBBB", 300, 300, 8, GRAY, 0, 0, 0)
    parts = [chunk(b"IDAT", data[at : at + 40_000]) for at in range(0, len(data), 40_000)]
    assert len(parts) == 3
    begin, end = SIGNATURE + chunk(b"IHDR", header), chunk(b"IEND", b"")
    write("map.png", begin + b"".join(parts) + end)
    assert PngLabelMap("map.png").look(decode=True).size == (300, 300)
    # Stored, not deflated: two blocks of data with five bytes of their own before each.
    write("map.png", begin + parts[0] + end)
    with pytest.raises(DataError, match=r"end after 39,993 of 90,300 bytes"):
        PngLabelMap("map.png").look(decode=True)


def test_a_last_row_that_looks_as_if_it_were_missing() -> None:
    for depth, value in ((8, 0xA5), (16, 0xA5A5)):
        assert read(label_map([[1, 2], [value, value]], depth=depth)).tolist()[1] == [value] * 2


def test_interlaced() -> None:
    # Adam7 of 3 x 3: pass 1 has (0, 0); 4 has (0, 2); 5 has (2, 0), (2, 2); 6 has (0, 1), (2, 1);
    # 7 has row 1; each row begins with its filter, 0.
    rows = [[1], [2], [3, 4], [5], [6], [7, 8, 9]]
    data = zlib.compress(b"".join(bytes([0, *row]) for row in rows))
    found = read(stored(data, side=3, interlaced=1))
    assert found.tolist() == [[1, 5, 2], [7, 8, 9], [3, 6, 4]]


def bomb(kind: int) -> bytes:
    """A PNG of few bytes that says it is 30,000 pixels wide and high."""
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, kind, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return SIGNATURE + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def test_too_many_pixels_are_refused_before_they_are_inflated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zlib, "decompressobj", None)
    assert look_error(bomb(GRAY)) == "map.png: the image has more than 89,478,485 pixels"
    with pytest.raises(DataError, match="the image has more than"):
        PngLabelMap("map.png").look(decode=True)


def test_the_limit_of_pixels_is_that_of_pillow() -> None:
    assert Image.MAX_IMAGE_PIXELS == MOST_PIXELS


@pytest.mark.parametrize(
    "chunks",
    [
        chunk(b"IEND", b""),
        chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 4, 8, GRAY, 0, 0, 0)) + chunk(b"IEND", b""),
        chunk(b"tEXt", bytes(13)) + chunk(b"IEND", b""),
    ],
)
def test_no_header(chunks: bytes) -> None:
    assert "does not begin with its header" in look_error(SIGNATURE + chunks)


def test_another_kind_of_file() -> None:
    Image.new("L", (3, 3)).save("map.jpg")
    assert "map.png: expected a PNG" in look_error(Path("map.jpg").read_bytes())


def test_no_file_or_a_folder() -> None:
    for path, reason in (("none.png", "cannot be read: No such file"), (".", "found a folder")):
        with pytest.raises(DataError, match=reason):
            PngLabelMap(path).look()
