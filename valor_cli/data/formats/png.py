"""Read PNG files of label values: header, chunks, pixels.

Gray PNGs of 1, 2, 4, 8 or 16 bits, whose values are the labels, and palette PNGs, whose indices
are. RGB and alpha channels are rejected: no file says which label a colour means.

Pillow takes three fifths of the time of reading label maps. PNGs as most tools write them are
decoded without it: one pass inflates, one undoes the filters. All others, including damaged ones,
are left to Pillow.
"""

from __future__ import annotations

import hashlib
import re
import struct
import sys
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.images import check_pixels, opened, png_content
from valor_cli.data.shapes.label_maps import Stored
from valor_cli.errors import DataError, Problem
from valor_cli.kernels import engine

_HEADER: Final = struct.Struct(">8x4x4sIIBB2xB")
"""Name of the first chunk; width, height, bits of a sample, colour type, whether interlaced."""

_CHUNK: Final = struct.Struct(">I4s")
_CHECKSUM: Final = struct.Struct(">I")
_SMALLEST: Final = 33
"""Bytes of the signature and the header."""

GRAY: Final = 0
RGB: Final = 2
PALETTE: Final = 3
_CHANNELS: Final = {GRAY: 1, PALETTE: 1, RGB: 3}
_VALUES: Final[Mapping[tuple[int, int], type[np.unsignedinteger]]] = {
    **{(kind, depth): np.uint8 for kind in (GRAY, PALETTE) for depth in (1, 2, 4, 8)},
    (GRAY, 16): np.uint16,
    (RGB, 8): np.uint32,
}
"""What holds a pixel, by colour type and bits of a sample; others are left to Pillow."""

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

_METHODS: Final = slice(26, 28)
"""Where the header says how rows are compressed and filtered; there is one way each."""

_LENGTHS: Final = {
    b"IHDR": range(13, 14),
    b"PLTE": range(3, 3 * 256 + 1, 3),
    b"IEND": range(sys.maxsize),
    b"gAMA": range(4, sys.maxsize),
    b"cHRM": range(32, sys.maxsize),
    b"sRGB": range(1, sys.maxsize),
    b"pHYs": range(9, sys.maxsize),
    b"bKGD": range(1, sys.maxsize),
    b"tIME": range(7, sys.maxsize),
    b"tEXt": range(1, sys.maxsize),
}
"""Bytes of chunks beside the rows that change no value, as Pillow takes them."""

_ORDER: Final = re.compile(
    b"IHDR(OTHER*PLTE)?OTHER*(IDAT)+OTHER*IEND".replace(
        b"OTHER", b"(gAMA|cHRM|sRGB|pHYs|bKGD|tIME|tEXt)"
    )
)
_MOST_TEXT: Final = 1 << 20
"""Bytes of the file beside its rows: Pillow refuses texts of many."""

_WINDOW: Final = 1 << 15

_STRETCHED: Final = {2: 85, 4: 17}
"""Pillow shows gray of few bits on the scale of 0 to 255."""

_KINDS: Final = {
    GRAY: "gray",
    RGB: "RGB colours",
    PALETTE: "a palette",
    4: "gray with an alpha channel",
    6: "RGB colours with an alpha channel",
}
_ONE_CHANNEL: Final = (
    "Write each label map with one channel: in place of a colour of the legend, the number of its "
    "label (0 to 255 in 8 bits, 0 to 65535 in 16)."
)


class PngHeader(NamedTuple):
    """Name and data of each chunk of a PNG, and what its header says: size in pixels, bit depth,
    colour type.
    """

    chunks: Sequence[tuple[bytes, memoryview]]
    width: int
    height: int
    depth: int
    kind: int
    interlaced: int

    @property
    def length(self) -> int:
        """Bytes of the inflated rows, each with its filter."""
        bits = self.depth * _CHANNELS[self.kind]
        # An interlaced PNG holds seven images.
        passes = _ADAM7 if self.interlaced else [(0, 0, 1, 1)]
        sizes = [
            (-(-(self.width - left) // right), -(-(self.height - top) // down))
            for left, top, right, down in passes
        ]
        return sum(
            rows * (1 + (columns * bits + 7) // 8)
            for columns, rows in sizes
            if columns > 0 and rows > 0
        )


def png_header(content: bytes, path: str) -> PngHeader:
    """Read the header of a PNG and check that its chunks are complete.

    A decoder shows wrong pixels of many a damaged file without a word, so checksums are compared.

    Args:
        content: All bytes of the file; the signature is not looked at.
        path: The file, for messages.

    Raises:
        DataError: The file is cut off or damaged, or has too many pixels.
    """
    view, start, name = memoryview(content), 16, b""
    chunks: list[tuple[bytes, memoryview]] = []
    while name != b"IEND":
        try:
            length, name = _CHUNK.unpack_from(content, start - 8)
            end = start + length
            (checksum,) = _CHECKSUM.unpack_from(content, end)
        except struct.error:
            message = f"the PNG is cut off after {len(content):,} bytes: copy or write it again"
            raise DataError(Problem(path, message)) from None
        if checksum != zlib.crc32(view[start - 4 : end]):
            message = f"the PNG is damaged after byte {start:,} (a checksum differs): copy it again"
            raise DataError(Problem(path, message))
        chunks.append((name, view[start:end]))
        start = end + 12
    if len(content) >= _SMALLEST:
        first, *header = _HEADER.unpack_from(content)
        if first == b"IHDR" and all(header[:3]):
            found = PngHeader(chunks, *header)
            check_pixels(found.width, found.height, path)
            return found
    raise DataError(Problem(path, "the PNG does not begin with its header: write it again"))


def kind_of_png(header: PngHeader) -> str:
    """Its colour type for a message."""
    return _KINDS.get(header.kind, f"colour type {header.kind}")


def _inflated(header: PngHeader) -> bytearray | None:
    """All rows, each with its filter; None if `_check_rows` is to say what is wrong with them."""
    # Where no label map is read, it is not needed.
    from deflate import DeflateError, zlib_decompress

    stream = b"".join([data for name, data in header.chunks if name == b"IDAT"])
    size = header.length
    # Data that repeat bytes from farther back than they say are damaged for Pillow.
    if not stream or min(size, _WINDOW) > 1 << (stream[0] >> 4) + 8:
        return None
    try:
        rows = zlib_decompress(stream, size)
    except DeflateError:
        return None
    return rows if len(rows) == size else None


def _check_rows(header: PngHeader, path: str) -> None:
    """Reject a PNG with missing rows, which Pillow fills silently.

    Raises:
        DataError: Rows are missing, or the compressed data are damaged.
    """
    expected, found = header.length, 0
    inflater = zlib.decompressobj()
    try:
        for name, data in header.chunks:
            if name == b"IDAT" and found < expected:
                found += len(inflater.decompress(data, expected - found))
    except zlib.error as error:
        raise DataError(Problem(path, f"the pixels of the PNG are damaged ({error})")) from None
    if found < expected:
        message = f"the pixels of the PNG end after {found:,} of {expected:,} bytes: write it again"
        raise DataError(Problem(path, message))


def plain_pixels(content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger] | None:
    """Gray values, palette indices, or RGB values.

    Args:
        content: All bytes of the file, whose chunks are whole.
        header: What they say, not more pixels than are allowed.

    Returns:
        (height, width) uint8, uint16 for gray of 16 bits, or uint32 red + 256 green + 65,536 blue;
        None if Pillow is to be asked.
    """
    kind = _VALUES.get((header.kind, header.depth))
    if engine.compiled is None or kind is None or not _is_plain(content, header):
        return None
    rows = _inflated(header)
    if rows is None:
        return None
    values = np.empty((header.height, header.width), kind)
    layout = [header.width, header.height, header.depth, _CHANNELS[header.kind]]
    known = engine.compiled.png_pixels(rows, np.array(layout, np.int64), values.view(np.uint8))
    return values if known else None


def _is_plain(content: bytes, header: PngHeader) -> bool:
    """Whether no chunk is damaged, stands where it should not, or may change what rows mean."""
    names = b"".join([name for name, _ in header.chunks])
    if header.interlaced or content[_METHODS] != bytes(2) or not _ORDER.fullmatch(names):
        return False
    beside = 0
    for name, data in header.chunks:
        if name == b"IDAT":
            continue
        beside += len(data)
        # Pillow keeps texts under the names of its own that are small, as "interlace".
        if len(data) not in _LENGTHS[name] or (name == b"tEXt" and not bytes(data[:1]).isupper()):
            return False
    return beside <= _MOST_TEXT and (b"PLTE" in names) == (header.kind == PALETTE)


class PngLabelMap(Struct, frozen=True):
    """A PNG of one channel, whose values are the labels.

    Attributes:
        path: The file.
    """

    path: str

    def look(self, *, decode: bool = False) -> Stored:
        """Its size and digest; pixels are decoded only on request.

        Raises:
            DataError: It cannot be read, is no PNG, is cut off or damaged, is too large, or has
                colours; or the pixels cannot be decoded.
        """
        content, header = self.read()
        if decode:
            self.decode(content, header)
        return Stored((header.height, header.width), hashlib.sha256(content).hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values.

        Raises:
            DataError: As `look`, or the pixels cannot be decoded.
        """
        return self.decode(*self.read())

    def read(self) -> tuple[bytes, PngHeader]:
        """The bytes of the file, and their header. Raises as `look` does."""
        content = png_content(self.path)
        header = png_header(content, self.path)
        self.check(header)
        return content, header

    def check(self, header: PngHeader) -> None:
        """Reject a PNG that is no such label map. Raises as `look` does."""
        if header.kind not in (GRAY, PALETTE):
            found = kind_of_png(header)
            message = f"expected gray or a palette, whose values are the labels, found {found}"
            raise DataError(Problem(self.path, message), hint=_ONE_CHANNEL)

    def decode(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        """The values of what `read` returned. Raises as `values` does."""
        plain = plain_pixels(content, header)
        if plain is not None:
            return plain
        if _inflated(header) is None:
            _check_rows(header, self.path)
        with opened(BytesIO(content), self.path) as image:
            if image.mode == "RGB":
                # Four bytes a pixel are one little-endian number, less alpha in its highest byte.
                colours = np.asarray(image.convert("RGBA")).view("<u4")[..., 0]
                return colours & np.uint32(0xFFFFFF)
            found = np.asarray(image)
        kind: type[np.unsignedinteger] = np.uint16 if found.dtype.itemsize > 1 else np.uint8
        values = found.astype(kind)
        if header.kind == GRAY and header.depth in _STRETCHED:
            values //= np.uint8(_STRETCHED[header.depth])
        return values
