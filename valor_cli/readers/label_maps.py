"""PNG files whose pixels are labels come in; their size, or the values of their pixels, goes out.

Gray of 1, 2, 4, 8 or 16 bits, whose values are the labels, and palettes, whose indices are. Colours
and an alpha channel are refused: which label a colour means stands in no file.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.readers.image_files import check_pixels, opened, png_content
from valor_cli.results import InputFile, Scalar

if TYPE_CHECKING:
    from PIL.Image import Image

_HEADER: Final = struct.Struct(">8x4x4sIIBB2xB")
"""Name of the first chunk; width, height, bits of a sample, colour type, whether interlaced."""

_CHUNK: Final = struct.Struct(">I4s")
_CHECKSUM: Final = struct.Struct(">I")
_SMALLEST: Final = 33
"""Bytes of the signature and the header."""

_GRAY: Final = 0
RGB: Final = 2
_PALETTE: Final = 3
_REFUSED: Final = {
    RGB: "RGB colours",
    4: "gray with an alpha channel",
    6: "RGB colours with an alpha channel",
}
_CHANNELS: Final = {_GRAY: 1, _PALETTE: 1, RGB: 3, 4: 2, 6: 4}
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

_MARK: Final = 0xA5A5
"""What the last row holds before it is decoded."""

_STRETCHED: Final = {2: 85, 4: 17}
"""Pillow shows gray of few bits on the scale of 0 to 255."""


_ONE_CHANNEL: Final = (
    "Write each label map with one channel: in place of a colour of the legend, the number of its "
    "label (0 to 255 in 8 bits, 0 to 65535 in 16)."
)


class Stored(NamedTuple):
    """A file that was looked at and not decoded: its size (height, width) and its sha256."""

    size: tuple[int, int]
    sha256: str


class LabelMap(Protocol):
    """One label map, in a file."""

    @property
    def path(self) -> str:
        """The file."""

    def look(self, *, decode: bool = False) -> Stored:
        """Read the file and its header. Raises a DataError if it cannot be used.

        Args:
            decode: Whether to decode the pixels too: some damage shows only then.
        """

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values of the pixels. Raises as `look` does."""


@dataclass(frozen=True, slots=True)
class LabelMaps:
    """One side of a segmentation run, as one input says it.

    Attributes:
        path: The input, as the user wrote it.
        folder: The folder of the files.
        maps: By sample name.
        texts: The files beside the PNGs that were read, a manifest or a JSON file.
        metadata: By name of the metadata and of the sample.
        meanings: Where pixel values are positions in a list, the value that each stands for, None
            for no label; None where they are values themselves.
        categories: Names by value, in order, if the input says them.
        others: Image files that are no PNG, which were passed over.
        images: Id of the image by sample name, if the input says ids: they decide then, and not
            names, what belongs together.
    """

    path: str
    folder: str
    maps: Mapping[str, LabelMap]
    texts: Sequence[InputFile] = ()
    metadata: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    meanings: Sequence[int | None] | None = None
    categories: Mapping[int, str] | None = None
    others: Sequence[str] = ()
    images: Mapping[str, int | str] | None = None


@dataclass(frozen=True, slots=True)
class PngLabelMap:
    """A PNG of one channel."""

    path: str

    def look(self, *, decode: bool = False) -> Stored:
        """Its size and digest; nothing is decoded unless that is asked for.

        Raises:
            DataError: It cannot be read, is no PNG, is cut off or damaged, is too large, or has
                colours; or the pixels cannot be decoded.
        """
        content, header = self._read()
        if decode:
            self._decoded(content, header)
        return Stored((header.height, header.width), hashlib.sha256(content).hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values.

        Raises:
            DataError: As `look`, or the pixels cannot be decoded.
        """
        return self._decoded(*self._read())

    def _read(self) -> tuple[bytes, PngHeader]:
        content = png_content(self.path)
        header = png_header(content, self.path)
        _check_kind(header, self.path)
        return content, header

    def _decoded(self, content: bytes, header: PngHeader) -> NDArray[np.unsignedinteger]:
        try:
            with opened(BytesIO(content), self.path) as image:
                values, whole = _pixels(image)
        except DataError:
            # Of rows that are missing more can be said than Pillow does.
            if header.kind in _CHANNELS:
                check_rows(content, header, self.path)
            raise
        if header.interlaced or not whole:
            check_rows(content, header, self.path)
        if header.kind == _GRAY and header.depth in _STRETCHED:
            return values // np.uint8(_STRETCHED[header.depth])
        return values


class PngHeader(NamedTuple):
    """What a PNG says of itself: sides in pixels, bits of a sample, colour type."""

    width: int
    height: int
    depth: int
    kind: int
    interlaced: int


def png_header(content: bytes, path: str) -> PngHeader:
    """The header of a PNG whose every chunk is whole.

    A decoder shows wrong pixels of many a damaged file without a word, so checksums are compared.

    Args:
        content: All bytes of the file; the signature is not looked at.
        path: The file, for messages.

    Raises:
        DataError: The file is cut off or damaged, or has too many pixels.
    """
    view = memoryview(content)
    for _, start, end in _chunks(content, path):
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


def _chunks(content: bytes, path: str) -> Iterator[tuple[bytes, int, int]]:
    """Name, first byte and end of the data of each chunk."""
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
    """Refuse a PNG whose pixels end too early; Pillow fills up what is missing without a word.

    Raises:
        DataError: Rows are missing, or the compressed data are damaged.
    """
    expected = sum(
        rows * (1 + (columns * header.depth * _CHANNELS[header.kind] + 7) // 8)
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
    for name, start, end in _chunks(content, path):
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


def _check_kind(header: PngHeader, path: str) -> None:
    if header.kind in _REFUSED:
        found = _REFUSED[header.kind]
        message = f"expected gray or a palette, whose values are the labels, found {found}"
        raise DataError(Problem(path, message), hint=_ONE_CHANNEL)


def _pixels(image: Image) -> tuple[NDArray[np.unsignedinteger], bool]:
    """The pixels of an image of one channel, and whether its last row was surely decoded.

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
    found = np.asarray(image)
    return found.astype(np.uint16 if found.dtype.itemsize > 1 else np.uint8), False
