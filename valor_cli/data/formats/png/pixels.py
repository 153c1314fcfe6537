"""Decode common PNGs fast.

Pillow takes three fifths of the time of reading label maps. PNGs as most tools write them are
decoded here without it: one pass inflates, one undoes the filters. All others, including damaged
ones, are left to Pillow.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.png.chunks import CHANNELS, PALETTE, RGB, PngHeader, chunks
from valor_cli.kernels import engine

_HEADER_BYTES: Final = 13
_METHODS: Final = slice(26, 28)
"""Where the header says how rows are compressed and filtered; there is one way each."""

_NO_MATTER: Final = {
    b"gAMA": 4,
    b"cHRM": 32,
    b"sRGB": 1,
    b"pHYs": 9,
    b"bKGD": 1,
    b"tIME": 7,
    b"tEXt": 1,
}
"""Chunks that change no value, and the fewest bytes of each that Pillow takes."""

_MOST_TEXT: Final = 1 << 20
"""Bytes of the file beside its rows: Pillow refuses texts of many."""

_MOST_COLOURS: Final = 256
_MOST_INFLATED: Final = 1032
"""How many times its length data can become."""

_SHORTEST: Final = 6
_ZLIB: Final = 8
_WINDOW: Final = 1 << 15


def plain_pixels(content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger] | None:
    """Gray values, palette indices, or RGB values.

    Args:
        content: All bytes of the file, whose chunks are whole.
        header: What they say, not more pixels than are allowed.

    Returns:
        (height, width) uint8, uint16 for gray of 16 bits, or uint32 red + 256 green + 65,536 blue;
        None if Pillow is to be asked.
    """
    if engine.compiled is None or header.interlaced or content[_METHODS] != bytes(2):
        return None
    kind = _kind(header)
    if kind is None:
        return None
    channels = CHANNELS[header.kind]
    size = header.height * (1 + (header.width * header.depth * channels + 7) // 8)
    stream = _stream(content, header)
    if stream is None or not _may_become(stream, size):
        return None
    # Where no label map is read, it is not needed.
    from deflate import DeflateError, zlib_decompress

    try:
        rows = zlib_decompress(stream, size)
    except DeflateError:
        return None
    if len(rows) != size:
        return None
    values = np.empty((header.height, header.width), kind)
    layout = np.array([header.width, header.height, header.depth, channels], np.int64)
    known = engine.compiled.png_pixels(rows, layout, values.view(np.uint8))
    return values if known else None


def _kind(header: PngHeader) -> type[np.unsignedinteger] | None:
    """What values of these samples are; None for those that are not read here."""
    if header.kind == RGB:
        return np.uint32 if header.depth == 8 else None
    if CHANNELS.get(header.kind) != 1 or header.depth not in (1, 2, 4, 8, 16):
        return None
    if header.depth < 16:
        return np.uint8
    return None if header.kind == PALETTE else np.uint16


def _stream(content: bytes, header: PngHeader) -> memoryview | bytes | None:
    """The compressed rows; None if the PNG has chunks that may have a say in what they mean."""
    view = memoryview(content)
    parts: list[memoryview] = []
    names: list[bytes] = []
    beside = 0
    for name, start, end in chunks(content, ""):
        if name == b"IDAT":
            parts.append(view[start:end])
            if names[-1] == name:
                continue
        elif not _is_plain(name, content[start : min(end, start + 1)], end - start):
            return None
        else:
            beside += end - start
        names.append(name)
    palettes = 1 if header.kind == PALETTE else 0
    once = {b"IHDR": 1, b"PLTE": palettes, b"IDAT": 1}
    if beside > _MOST_TEXT or any(names.count(name) != count for name, count in once.items()):
        return None
    if palettes and names.index(b"PLTE") > names.index(b"IDAT"):
        return None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _is_plain(name: bytes, first: bytes, length: int) -> bool:
    """Whether a chunk is as it should be, or changes nothing."""
    if name == b"IHDR":
        return length == _HEADER_BYTES
    if name == b"PLTE":
        return length % 3 == 0 and 0 < length <= 3 * _MOST_COLOURS
    if name == b"tEXt" and not b"A" <= first <= b"Z":
        # Pillow keeps texts under the names of its own that are small, as "interlace".
        return False
    return name == b"IEND" or length >= _NO_MATTER.get(name, length + 1)


def _may_become(stream: memoryview | bytes, size: int) -> bool:
    """Whether the data can be so many bytes, and repeat none from farther back than they say."""
    if len(stream) < _SHORTEST or size > _MOST_INFLATED * len(stream) or stream[0] & 15 != _ZLIB:
        return False
    return min(size, _WINDOW) <= 1 << (stream[0] >> 4) + 8
