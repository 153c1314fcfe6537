"""Label maps stored as PNG files whose pixel values are labels.

Gray PNGs of 1, 2, 4, 8 or 16 bits, whose values are the labels, and palette PNGs, whose indices
are. RGB and alpha channels are rejected: no file says which label a colour means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from valor_cli.data.formats.png.chunks import CHANNELS, GRAY, RGB, PngHeader, check_rows, png_header
from valor_cli.data.formats.png.images import opened, png_content
from valor_cli.data.formats.png.pixels import plain_pixels
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile, Scalar

if TYPE_CHECKING:
    from PIL.Image import Image

_REFUSED: Final = {
    RGB: "RGB colours",
    4: "gray with an alpha channel",
    6: "RGB colours with an alpha channel",
}
_MARK: Final = 0xA5A5
"""What the last row holds before it is decoded."""

_STRETCHED: Final = {2: 85, 4: 17}
"""Pillow shows gray of few bits on the scale of 0 to 255."""


_ONE_CHANNEL: Final = (
    "Write each label map with one channel: in place of a colour of the legend, the number of its "
    "label (0 to 255 in 8 bits, 0 to 65535 in 16)."
)


class Stored(NamedTuple):
    """An unread file: its size (height, width) and SHA-256."""

    size: tuple[int, int]
    sha256: str


class LabelMap(Protocol):
    """One label map, in a file."""

    @property
    def path(self) -> str:
        """The file."""

    def look(self, *, decode: bool = False) -> Stored:
        """Read the file and its header. Raises a DataError if invalid.

        Args:
            decode: Whether to decode the pixels too: some damage shows only then.
        """

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values of the pixels. Raises as `look` does."""


class LabelMaps(Struct, frozen=True):
    """One side of a segmentation run, from one input.

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


class PngLabelMap(Struct, frozen=True):
    """A PNG of one channel."""

    path: str

    def look(self, *, decode: bool = False) -> Stored:
        """Its size and digest; pixels are decoded only on request.

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
        plain = plain_pixels(content, header)
        if plain is not None:
            return plain
        try:
            with opened(BytesIO(content), self.path) as image:
                values, whole = _pixels(image)
        except DataError:
            # Of rows that are missing more can be said than Pillow does.
            if header.kind in CHANNELS:
                check_rows(content, header, self.path)
            raise
        if header.interlaced or not whole:
            check_rows(content, header, self.path)
        if header.kind == GRAY and header.depth in _STRETCHED:
            return values // np.uint8(_STRETCHED[header.depth])
        return values


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
