"""Read PNG files of label values: header, chunks, pixels.

Gray PNGs of 1, 2, 4, 8 or 16 bits, whose values are the labels, and palette PNGs, whose indices
are. RGB and alpha channels are rejected: no file says which label a colour means.

Pillow takes three fifths of the time of reading label maps. PNGs as most tools write them are
decoded without it: one pass inflates, one undoes the filters. All others, including damaged ones,
are left to Pillow.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.formats.images import check_pixels, opened, png_content
from valor_cli.data.shapes.label_maps import Stored
from valor_cli.errors import DataError, Problem
from valor_cli.kernels import engine

if TYPE_CHECKING:
    from PIL.Image import Image

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

_MARK: Final = 0xA5A5
"""What the last row holds before it is decoded."""

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


def kind_of_png(header: PngHeader) -> str:
    """Its colour type for a message."""
    return _KINDS.get(header.kind, f"colour type {header.kind}")


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


def pixels(content: bytes, header: PngHeader, path: str) -> NDArray[np.unsignedinteger]:
    """(height, width) values as `plain_pixels` has them, of any PNG without an alpha channel.

    Raises:
        DataError: The pixels cannot be decoded, or some are missing.
    """
    plain = plain_pixels(content, header)
    if plain is not None:
        return plain
    try:
        with opened(BytesIO(content), path) as image:
            values, whole = _pillow_pixels(image)
    except DataError:
        # Of rows that are missing more can be said than Pillow does.
        if header.kind in CHANNELS:
            check_rows(content, header, path)
        raise
    if header.interlaced or not whole:
        check_rows(content, header, path)
    if header.kind == GRAY and header.depth in _STRETCHED:
        return values // np.uint8(_STRETCHED[header.depth])
    return values


def _pillow_pixels(image: Image) -> tuple[NDArray[np.unsignedinteger], bool]:
    """The values of an image, and whether its last row was surely decoded.

    Pillow decodes straight into numpy's memory: copies would take a third of the time.
    """
    from PIL import Image as pillow  # noqa: N813 - its module is called like its class

    kinds: dict[str, type[np.unsignedinteger]] = {"L": np.uint8, "P": np.uint8, "I;16": np.uint16}
    if image.mode in kinds:
        values = np.empty((image.height, image.width), kinds[image.mode])
        mark = _MARK & np.iinfo(values.dtype).max
        values[-1] = mark
        target = pillow.frombuffer(image.mode, image.size, values, "raw", image.mode, 0, 1).im
        image.im = target
        image.load()
        if image.im is target:
            return values, bool((values[-1] != mark).any())
    if image.mode == "RGB":
        # Four bytes a pixel are one little-endian number, less the alpha in its highest byte.
        colours = np.asarray(image.convert("RGBA")).view("<u4")[..., 0]
        return colours & np.uint32(0xFFFFFF), False
    found = np.asarray(image)
    return found.astype(np.uint16 if found.dtype.itemsize > 1 else np.uint8), False


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
        content, header = self._read()
        if decode:
            self._decode(content, header)
        return Stored((header.height, header.width), hashlib.sha256(content).hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values.

        Raises:
            DataError: As `look`, or the pixels cannot be decoded.
        """
        return self._decode(*self._read())

    def _read(self) -> tuple[bytes, PngHeader]:
        content = png_content(self.path)
        header = png_header(content, self.path)
        if header.kind not in (GRAY, PALETTE):
            found = kind_of_png(header)
            message = f"expected gray or a palette, whose values are the labels, found {found}"
            raise DataError(Problem(self.path, message), hint=_ONE_CHANNEL)
        return content, header

    def _decode(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        return pixels(content, header, self.path)
