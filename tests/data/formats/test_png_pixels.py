"""Pixels of plain PNGs without Pillow: what Pillow shows, or what it says is wrong."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.data.png_files import (
    GRAY,
    PALETTE,
    RGB,
    chunk,
    colours,
    label_map,
    png,
    write,
)
from valor_cli.data.formats.panoptic.segments import SegmentPng
from valor_cli.data.formats.png import PngLabelMap, plain_pixels, png_header
from valor_cli.data.shapes.objects.checks import UNKNOWN
from valor_cli.errors import DataError
from valor_cli.kernels import engine

KINDS: Final = [
    *((depth, GRAY) for depth in (1, 2, 4, 8, 16)),
    *((depth, PALETTE) for depth in (1, 2, 4, 8)),
]
SIZES: Final = [(1, 9), (7, 1), (5, 8), (4, 31), (9, 70)]
"""Heights and widths."""

Outcome = tuple[str, tuple[int, ...], bytes] | str

pytestmark = [
    pytest.mark.usefixtures("in_a_folder"),
    pytest.mark.skipif(engine.compiled is None, reason="the compiled kernel is not installed"),
]
any_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def filtered(rows: NDArray[np.uint8], filters: Sequence[int], size: int) -> bytes:
    """Rows of bytes with their filters, one byte at a time, as the specification says it."""
    out = bytearray()
    height, bytes_of_row = rows.shape
    for y in range(height):
        out.append(filters[y % len(filters)])
        for x in range(bytes_of_row):
            left = int(rows[y, x - size]) if x >= size else 0
            above = int(rows[y - 1, x]) if y else 0
            corner = int(rows[y - 1, x - size]) if y and x >= size else 0
            middle = left + above - corner
            # The first of equals, in this order.
            paeth = min((left, above, corner), key=lambda one, middle=middle: abs(middle - one))
            taken = (0, left, above, (left + above) // 2, paeth)[filters[y % len(filters)]]
            out.append((int(rows[y, x]) - taken) % 256)
    return bytes(out)


def refiltered(content: bytes, filters: Sequence[int]) -> bytes:
    """A PNG without filters, with these in their place."""
    header = png_header(content, "")
    channels = 3 if header.kind == RGB else 1
    plain = zlib.decompress(data_of(content))
    rows = np.frombuffer(plain, np.uint8).reshape(header.height, -1)[:, 1:]
    data = filtered(rows, filters, max(1, header.depth * channels // 8))
    return with_data(content, zlib.compress(data))


def data_of(content: bytes) -> bytes:
    at = content.index(b"IDAT")
    (length,) = struct.unpack_from(">I", content, at - 4)
    return content[at + 4 : at + 4 + length]


def with_data(content: bytes, *data: bytes) -> bytes:
    at = content.index(b"IDAT") - 4
    return content[:at] + b"".join(chunk(b"IDAT", one) for one in data) + chunk(b"IEND", b"")


def outcome(content: bytes) -> Outcome:
    write("map.png", content)
    try:
        values = PngLabelMap("map.png").values()
    except DataError as error:
        return str(error)
    return str(values.dtype), values.shape, values.tobytes()


def pillows(content: bytes) -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "compiled", None)
        return outcome(content)


def is_plain(content: bytes) -> bool:
    return plain_pixels(content, png_header(content, "")) is not None


def flat(rng: np.random.Generator, height: int, width: int, most: int) -> NDArray[np.int64]:
    """Regions, as label maps have them, and some noise."""
    values = rng.integers(0, most + 1, (height, width))
    lines = np.repeat(rng.integers(0, most + 1, (height, 3)), -(-width // 3), axis=1)[:, :width]
    lines[height // 2 :] = lines[height // 2]
    return np.where(rng.random((height, width)) < 0.1, values, lines)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("depth", "kind"), KINDS)
@pytest.mark.parametrize("filters", [(1,), (2,), (3,), (4,), (4, 3, 1, 2, 0)])
def test_every_kind_filter_and_size(
    depth: int, kind: int, filters: Sequence[int], size: tuple[int, int]
) -> None:
    rng = np.random.default_rng([depth, kind, *size])
    for values in (flat(rng, *size, 2**depth - 1), rng.integers(0, 2**depth, size)):
        content = refiltered(label_map(values, depth=depth, kind=kind), filters)
        assert is_plain(content)
        kept = np.dtype(np.uint16 if depth == 16 else np.uint8)
        assert outcome(content) == (str(kept), size, values.astype(kept).tobytes())
        assert pillows(content) == outcome(content)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("filters", [(0,), (1,), (2,), (3,), (4,), (4, 3, 1, 2, 0)])
def test_three_colours_are_one_number(filters: Sequence[int], size: tuple[int, int]) -> None:
    rng = np.random.default_rng(size)
    for values in (flat(rng, *size, 2**24 - 1), rng.integers(0, 2**24, size)):
        content = refiltered(colours(values), filters)
        found = plain_pixels(content, png_header(content, ""))
        assert found is not None
        assert found.dtype == np.uint32
        assert np.array_equal(found, values)
        write("map.png", content)
        segments = SegmentPng("map.png", "", UNKNOWN, np.unique(values))
        assert np.array_equal(found, segments.values())


def test_pillow_writes_what_is_read(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(1)
    for seed in range(5):
        values = flat(rng, 60 + seed, 90, 20).astype(np.uint8)
        Image.fromarray(values).save("map.png", compress_level=2 * seed)
        content = Path("map.png").read_bytes()
        assert is_plain(content)
        assert outcome(content) == pillows(content) == ("uint8", values.shape, values.tobytes())


SMALL: Final = label_map(np.arange(35).reshape(5, 7) // 4)
HEADER: Final = SMALL[8:33]
BEFORE: Final = 33
"""Bytes of the signature and the header."""


def inserted(more: bytes, content: bytes = SMALL, at: int = BEFORE) -> bytes:
    return content[:at] + more + content[at:]


HARMLESS: Final = {
    "gamma": inserted(chunk(b"gAMA", bytes(4))),
    "resolution": inserted(chunk(b"pHYs", bytes(9))),
    "time": inserted(chunk(b"tIME", bytes(7))),
    "program": inserted(chunk(b"tEXt", b"Software\0something")),
    "text behind": inserted(chunk(b"tEXt", b"Software\0something"), at=len(SMALL) - 12),
    "several pieces": with_data(SMALL, *(bytes([one]) for one in data_of(SMALL))),
    "an empty piece": with_data(SMALL, b"", data_of(SMALL)),
    "behind the end": SMALL + b"anything",
    "behind the data": with_data(SMALL, data_of(SMALL) + b"anything"),
    "behind the data, a piece": with_data(SMALL, data_of(SMALL), b"anything"),
    "small window": with_data(SMALL, b"\x18\x19" + data_of(SMALL)[2:]),
}
ODD: Final = {
    "transparent": inserted(chunk(b"tRNS", bytes(2))),
    "transparent, cut off": inserted(chunk(b"tRNS", b"")),
    "gamma, cut off": inserted(chunk(b"gAMA", bytes(3))),
    "resolution, cut off": inserted(chunk(b"pHYs", bytes(8))),
    "a name of Pillow's": inserted(chunk(b"tEXt", b"interlace\x001")),
    "a box of Pillow's": inserted(chunk(b"tEXt", b"bbox\x001")),
    "no text": inserted(chunk(b"tEXt", b"")),
    "much text": inserted(chunk(b"tEXt", b"A" * 2**20 + b"A")),
    "compressed text": inserted(chunk(b"zTXt", b"a\0\1")),
    "profile": inserted(chunk(b"iCCP", b"a\0\0nothing")),
    "animated": inserted(chunk(b"acTL", struct.pack(">II", 1, 0))),
    "two headers": inserted(SMALL[8:BEFORE]),
    "palette of gray": inserted(chunk(b"PLTE", bytes(6))),
    "no data": SMALL[:BEFORE] + chunk(b"IEND", b""),
    "data in two places": with_data(SMALL, data_of(SMALL)[:4])[:-12]
    + chunk(b"tIME", bytes(7))
    + chunk(b"IDAT", data_of(SMALL)[4:])
    + chunk(b"IEND", b""),
    "no palette": label_map([[1, 2]], kind=PALETTE).replace(chunk(b"PLTE", bytes(768)), b""),
    "a sixth filter": with_data(SMALL, zlib.compress(b"\5" + bytes(7) + bytes(32))),
    "more rows": with_data(SMALL, zlib.compress(bytes(41))),
    "fewer rows": with_data(SMALL, zlib.compress(bytes(39))),
    "no rows": with_data(SMALL, b""),
    "another checksum": with_data(SMALL, data_of(SMALL)[:-1] + b"\0"),
    "no checksum": with_data(SMALL, data_of(SMALL)[:-4]),
    "window too small": with_data(
        label_map(np.zeros((300, 7), int)), b"\x08\x1d" + zlib.compress(bytes(2400))[2:]
    ),
    "dictionary": with_data(SMALL, b"\x78\x20" + data_of(SMALL)[2:]),
    "RGB of 16 bits": png([bytes(12)], 2, depth=16, kind=RGB),
    "gray of 3 bits": png([bytes(1)], 2, depth=3),
    "palette of 16 bits": png([bytes(4)], 2, depth=16, kind=PALETTE),
}


@pytest.mark.parametrize("content", HARMLESS.values(), ids=HARMLESS)
def test_what_does_not_matter(content: bytes) -> None:
    assert is_plain(content)
    assert outcome(content) == pillows(content) == outcome(SMALL)


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_what_is_odd_is_left_to_pillow(content: bytes) -> None:
    assert not is_plain(content)
    assert outcome(content) == pillows(content)


@pytest.mark.parametrize("at", range(26, 29))
def test_methods_that_there_are_not_and_interlacing(at: int) -> None:
    header = bytearray(SMALL[16:29])
    header[at - 16] = 1
    content = SMALL[:8] + chunk(b"IHDR", bytes(header)) + SMALL[BEFORE:]
    assert not is_plain(content)
    assert outcome(content) == pillows(content)


@pytest.mark.parametrize("content", [SMALL, label_map([[1, 0, 3]], depth=2, kind=PALETTE)])
def test_cut_off_anywhere(content: bytes) -> None:
    for end in range(len(content)):
        assert outcome(content[:end]) == pillows(content[:end])


@any_folder
@given(st.data())
def test_damage_is_what_pillow_says_it_is(data: st.DataObject) -> None:
    depth, kind = data.draw(st.sampled_from(KINDS))
    size = data.draw(st.sampled_from(SIZES))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    filters = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    whole = refiltered(label_map(flat(rng, *size, 2**depth - 1), depth=depth, kind=kind), filters)
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        broken[data.draw(st.integers(8, len(broken) - 1))] = data.draw(st.integers(0, 255))
    assert outcome(bytes(broken)) == pillows(bytes(broken))


@any_folder
@given(st.data())
def test_damaged_data_under_a_right_checksum(data: st.DataObject) -> None:
    depth, kind = data.draw(st.sampled_from(KINDS))
    size = data.draw(st.sampled_from(SIZES))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    whole = refiltered(label_map(flat(rng, *size, 2**depth - 1), depth=depth, kind=kind), [4, 1])
    stream = bytearray(data_of(whole))
    if data.draw(st.booleans()):
        del stream[data.draw(st.integers(0, len(stream))) :]
    for _ in range(data.draw(st.integers(0, 2))):
        if stream:
            stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    content = with_data(whole, bytes(stream))
    assert outcome(content) == pillows(content)


@any_folder
@given(st.data())
def test_any_rows_are_shown_as_pillow_shows_them(data: st.DataObject) -> None:
    # Whatever filters, sizes and bytes there are.
    depth, kind = data.draw(st.sampled_from(KINDS))
    height, width = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 70)))
    few = data.draw(st.sampled_from([1, 2, 256]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = rng.integers(0, few, (height, 1 + (width * depth + 7) // 8)).astype(np.uint8)
    rows[:, 0] = data.draw(st.lists(st.integers(0, 5), min_size=height, max_size=height))
    content = png([bytes((width * depth + 7) // 8)] * height, width, depth=depth, kind=kind)
    content = with_data(content, zlib.compress(rows.tobytes()))
    assert outcome(content) == pillows(content)


def test_columns_that_do_not_fit_are_refused() -> None:
    assert engine.compiled is not None
    rows, pixels = np.zeros(2 * 4, np.uint8), np.zeros(2 * 3, np.uint8)
    fits = [3, 2, 8, 1]
    assert engine.compiled.png_pixels(rows, np.array(fits), pixels)
    wrong = [[4, 2, 8, 1], [3, 3, 8, 1], [3, 2, 16, 1], [3, 2, 8, 3], [3, 2, 8, 2], [3, 2, 7, 1]]
    wrong += [[0, 2, 8, 1], [3, -2, 8, 1], [2**62, 2, 8, 1], [3, 2**63 - 1, 8, 1], [3, 2, 8]]
    for layout in wrong:
        with pytest.raises(ValueError, match="rows of an image"):
            engine.compiled.png_pixels(rows, np.array(layout, np.int64), pixels)
    with pytest.raises(ValueError, match="rows of an image"):
        engine.compiled.png_pixels(rows, np.array(fits), pixels[1:])
