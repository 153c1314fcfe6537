"""Read the header and chunks of a PNG and check that no rows are missing."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from valor_cli.data.formats.png.images import check_pixels
from valor_cli.errors import DataError, Problem

_HEADER: Final = struct.Struct(">8x4x4sIIBB2xB")
"""Name of the first chunk; width, height, bits of a sample, colour type, whether interlaced."""

_CHUNK: Final = struct.Struct(">I4s")
_CHECKSUM: Final = struct.Struct(">I")
_SMALLEST: Final = 33
"""Bytes of the signature and the header."""

GRAY: Final = 0
RGB: Final = 2
PALETTE: Final = 3
CHANNELS: Final = {GRAY: 1, PALETTE: 1, RGB: 3, 4: 2, 6: 4}
_ADAM7: Final = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
"""Of each pass of an interlaced PNG: the first column and row, and the steps between them."""

_PIECE: Final = 1 << 14
"""Bytes that are inflated at a time; they may become a thousand times as many."""


class PngHeader(NamedTuple):
    """The header of a PNG: size in pixels, bit depth, colour type."""

    width: int
    height: int
    depth: int
    kind: int
    interlaced: int


def png_header(content: bytes, path: str) -> PngHeader:
    """Read the header of a PNG and check that its chunks are complete.

    A decoder shows wrong pixels of many a damaged file without a word, so checksums are compared.

    Args:
        content: All bytes of the file; the signature is not looked at.
        path: The file, for messages.

    Raises:
        DataError: The file is cut off or damaged, or has too many pixels.
    """
    view = memoryview(content)
    for _, start, end in chunks(content, path):
        if _CHECKSUM.unpack_from(content, end)[0] != zlib.crc32(view[start - 4 : end]):
            message = f"the PNG is damaged after byte {start:,} (a checksum differs): copy it again"
            raise DataError(Problem(path, message))
    if len(content) >= _SMALLEST:
        first, *header = _HEADER.unpack_from(content)
        if first == b"IHDR" and all(header[:3]):
            found = PngHeader(*header)
            check_pixels(found.width, found.height, path)
            return found
    raise DataError(Problem(path, "the PNG does not begin with its header: write it again"))


def chunks(content: bytes, path: str) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and end of each chunk's data, up to the last chunk.

    Raises:
        DataError: The file is cut off.
    """
    size, start, name = len(content), 16, b""
    while name != b"IEND":
        if start + 4 > size:
            raise DataError(Problem(path, _cut_off(size)))
        length, name = _CHUNK.unpack_from(content, start - 8)
        end = start + length
        if end + 4 > size:
            raise DataError(Problem(path, _cut_off(size)))
        yield name, start, end
        start = end + 12


def check_rows(content: bytes, header: PngHeader, path: str) -> None:
    """Reject a PNG with missing rows, which Pillow fills silently.

    Raises:
        DataError: Rows are missing, or the compressed data are damaged.
    """
    expected = sum(
        rows * (1 + (columns * header.depth * CHANNELS[header.kind] + 7) // 8)
        for rows, columns in _passes(header)
    )
    try:
        found = _inflated(content, expected, path)
    except zlib.error as error:
        raise DataError(Problem(path, f"the pixels of the PNG are damaged ({error})")) from None
    if found < expected:
        message = f"the pixels of the PNG end after {found:,} of {expected:,} bytes: write it again"
        raise DataError(Problem(path, message))


def _inflated(content: bytes, most: int, path: str) -> int:
    """How many bytes of pixels there are, up to `most`; few of them are in memory at a time."""
    view, inflater, found = memoryview(content), zlib.decompressobj(), 0
    for name, start, end in chunks(content, path):
        if name != b"IDAT":
            continue
        for at in range(start, end, _PIECE):
            if found == most:
                return found
            piece = view[at : min(at + _PIECE, end)]
            found += len(inflater.decompress(piece, most - found))
    return found


def _passes(header: PngHeader) -> list[tuple[int, int]]:
    """Rows and columns of each image that is stored: of an interlaced PNG there are seven."""
    if not header.interlaced:
        return [(header.height, header.width)]
    sizes = [
        (-(-(header.height - top) // down), -(-(header.width - left) // right))
        for left, top, right, down in _ADAM7
    ]
    return [(rows, columns) for rows, columns in sizes if rows > 0 and columns > 0]


def _cut_off(size: int) -> str:
    return f"the PNG is cut off after {size:,} bytes: copy or write it again"
