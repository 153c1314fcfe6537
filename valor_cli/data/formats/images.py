"""Read image files: sizes, pixel values, small copies; match the files of a folder to images."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Collection, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.folders import files_under, is_folder, without_extension
from valor_cli.errors import DataError, Problem, UnreachableError
from valor_cli.kernels.threads import in_threads
from valor_cli.paths import is_url

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

_LABEL_MODES = ("1", "L", "P", "I", "I;16", "I;16B", "I;16L")
"""Pillow's names of images with one whole number a pixel."""

_PNG = b"\x89PNG\r\n\x1a\n"

_PILLOW = RLock()
"""Held while images are open: which warnings are errors is one setting for all threads."""

LARGEST_FILE = 1 << 30
"""Bytes of an image file."""

MOST_PIXELS = 89_478_485
"""Of an image, as Pillow has it: a few bytes may say that there are more than memory holds."""

_QUALITY = 80
"""Of the JPEG of a copy."""

_ORIENTATION, _TURNED = 0x0112, (5, 6, 7, 8)
"""The EXIF tag that says how a picture is turned, and its values for a quarter."""

_PICTURE = frozenset(("APP0", "APP2", "APP14"))
"""Segments of a JPEG that say how it is read: JFIF, colour profile, Adobe's colours."""

_END, _TAIL = b"\xff\xd9", 64
"""How a JPEG ends, and after how many bytes at most the file does."""

_GROUND = "white"
"""Colour behind transparent pixels."""

ENDINGS = (".bmp", ".dng", ".gif", ".jp2", ".jpeg", ".jpg", ".mpo", ".pfm", ".pgm", ".png") + (
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)
"""How the names of image files end."""


def image_size(path: str) -> tuple[int, int]:
    """Height and width from the header of an image file.

    Raises:
        DataError: The file cannot be read as an image.
    """
    with opened(path, path) as image:
        return image.height, image.width


def png_content(path: str) -> bytes:
    """The bytes of a PNG file.

    Raises:
        DataError: The file cannot be read, is a folder, a pipe or a device, is huge, or is no PNG.
    """
    try:
        if is_url(path):
            from valor_cli.data.source.remote import content_of

            content = content_of(path, LARGEST_FILE)
        else:
            _check_file(path)
            content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        # A NUL or half a character in a name is a ValueError.
        reason = getattr(error, "strerror", None) or error
        raise DataError(Problem(path, f"the PNG cannot be read: {reason}")) from None
    if not content.startswith(_PNG):
        raise DataError(Problem(path, "expected a PNG; this is another kind of file"))
    return content


def _check_file(path: str) -> None:
    """Refuse what could be read without end.

    Raises:
        DataError: It is no regular file, or larger than any image should be.
        OSError, ValueError: There is no such file, or can be none.
    """
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise DataError(Problem(path, f"expected a file, found {what}"))
    if found.st_size > LARGEST_FILE:
        message = f"the file has {found.st_size:,} bytes; at most {LARGEST_FILE:,} are read"
        raise DataError(Problem(path, message))


def pixel_values(path: str, content: bytes) -> NDArray[np.int64]:
    """The values of a PNG of one channel: gray of 1, 8 or 16 bits, or indices of a palette.

    Args:
        path: The file, for messages.
        content: Its bytes.

    Returns:
        (height, width) whole numbers of 0 or more.

    Raises:
        DataError: It is no such image, or damaged, or too large to be a mask.
    """
    with opened(BytesIO(content), path) as image:
        if image.mode not in _LABEL_MODES:
            message = (
                "expected a mask of one channel (gray, palette or 1 bit), "
                f"found an image of mode {image.mode}"
            )
            raise DataError(Problem(path, message))
        return np.asarray(image).astype(np.int64)


def check_pixels(width: int, height: int, path: str) -> None:
    """Reject an image that is too large before decoding it.

    Raises:
        DataError: It has more than `MOST_PIXELS`.
    """
    if width * height > MOST_PIXELS:
        raise _too_large(path)


def _too_large(path: str) -> DataError:
    return DataError(Problem(path, f"the image has more than {MOST_PIXELS:,} pixels"))


def _readable(file: str | BytesIO) -> AbstractContextManager[str | IO[bytes]]:
    """What Pillow can open: the path of a file, or something that reads one behind a URL."""
    if not isinstance(file, str):
        return nullcontext(file)
    if is_url(file):
        from valor_cli.data.source.remote import open_url

        return open_url(file)
    _check_file(file)
    return nullcontext(file)


@contextmanager
def opened(file: str | BytesIO, path: str) -> Iterator[ImageFile]:
    """Open an image; errors are raised as a `DataError` that names `path`."""
    with _strict_pillow(), _opened(file, path) as image:
        yield image


@contextmanager
def _strict_pillow() -> Iterator[None]:
    """Make Pillow refuse images of suspicious size, and be silent of the rest, in all threads."""
    from PIL import Image as pillow  # noqa: N813 - its module is called like its class

    with _PILLOW, warnings.catch_warnings():
        # An image of suspicious size is a warning for Pillow up to twice that size.
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        yield


@contextmanager
def _opened(file: str | BytesIO, path: str) -> Iterator[ImageFile]:
    from PIL import Image as pillow  # noqa: N813 - its module is called like its class
    from PIL import UnidentifiedImageError

    try:
        with _readable(file) as readable, pillow.open(readable) as image:
            check_pixels(image.width, image.height, path)
            yield image
    except FileNotFoundError:
        raise DataError(Problem(path, "no such file")) from None
    except (pillow.DecompressionBombWarning, pillow.DecompressionBombError):
        raise _too_large(path) from None
    except UnidentifiedImageError:
        raise DataError(Problem(path, "not a readable image")) from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow raises SyntaxError and ValueError for broken chunks.
        message = f"the image cannot be read, it may be cut off ({error})"
        raise DataError(Problem(path, message)) from None


class ImageFolder:
    """The image files in a folder, matched by path, name, or name without extension.

    Names come from data and are never joined to a path: only what the folder holds is opened.

    Attributes:
        folder: The folder.
        by_stem: The files by path without extension, with slashes; the first of equal ones.

    Raises:
        DataError: There is no such folder, or it cannot be read.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        if not is_folder(folder):
            what = "this is a file" if os.path.exists(folder) else "no such folder"
            problem = Problem(f"images: {folder}", what)
            raise DataError(problem, hint="name the folder that holds the image files")
        self._paths = dict.fromkeys(files_under(folder, ENDINGS))
        self.by_stem: dict[str, str] = {}
        self._by_name: dict[str, str | None] = {}
        for path in self._paths:
            name = os.path.basename(path)
            self.by_stem.setdefault(without_extension(path), path)
            for claim in {name, os.path.splitext(name)[0]}:
                self._by_name[claim] = None if claim in self._by_name else path

    def find(self, name: str) -> str | None:
        """The file with a path, name or stem; None if not unique."""
        path = os.path.normpath(name)
        if path in self._paths:
            return path
        base = os.path.basename(path)
        return self._by_name.get(base) or self._by_name.get(_stem(base))

    def paths(self, names: Collection[str]) -> dict[str, str]:
        """The path of the file of each name that has one: as of `find`, or else by shared words.

        Where it finds none of them, names and files are compared without the words that all of a
        side begin and end with: Cityscapes' `…_leftImg8bit.png` are the images of `…_gtFine`.
        """
        found = {name: file for name in names if (file := self.find(name)) is not None}
        found = found or self._by_shared_words(names)
        return {name: os.path.join(self.folder, file) for name, file in found.items()}

    def _by_shared_words(self, names: Collection[str]) -> dict[str, str]:
        # Most images have the name of their sample.
        from valor_cli.data.shared_words import ways_to_pair

        by_stem = {_stem(name): name for name in names}
        files = {_stem(name): file for name, file in self._by_name.items() if file is not None}
        ways = ways_to_pair(by_stem, files)
        if len(ways) != 1 or len(by_stem) < len(names):
            return {}
        return {by_stem[stem]: files[other] for stem, other in ways[0][1].items()}

    def frame(self, name: str) -> tuple[int, int] | None:
        """Height and width of the file that `find` finds; None if there is none.

        Raises:
            DataError: It cannot be read as an image.
        """
        file = self.find(name)
        return None if file is None else image_size(os.path.join(self.folder, file))

    def size(self, name: str) -> tuple[int | None, int | None]:
        """Width and height of a file from `find`, turned as it is shown; None if unreadable."""
        if name in self._paths:
            path = os.path.join(self.folder, name)
            with suppress(DataError), opened(path, path) as image:
                # Of a TIFF, Pillow itself turns the size.
                turned = image.format != "TIFF" and image.getexif().get(_ORIENTATION) in _TURNED
                return image.size[::-1] if turned else image.size
        return None, None


def _stem(name: str) -> str:
    """The last part of a name, without extension."""
    return os.path.splitext(os.path.basename(name))[0]


def small_copies(
    paths: Collection[str], size: int, *, as_is: bool = False
) -> Generator[bytes | Problem, None, None]:
    """A JPEG of each image in turn, or what is wrong with it; several are read at once.

    They are turned as EXIF says; transparent pixels are white.

    Args:
        paths: The files, or URLs.
        size: Maximum width and height, in pixels.
        as_is: Whether a JPEG that is no larger, and has no EXIF, stays as it is, even where a copy
            would take fewer bytes: a run that copies 5,000 photos takes 8 s so, and 24 s where each
            is made anew.
    """

    def copy(path: str) -> bytes | Problem:
        try:
            return _small_copy(path, size, as_is=as_is)
        except (DataError, UnreachableError) as error:
            return error.problems[0]

    with _strict_pillow():
        yield from in_threads(copy, paths)


def _small_copy(path: str, size: int, *, as_is: bool) -> bytes:
    from PIL import ImageOps

    with _opened(path, path) as image:
        whole = _plain_jpeg(image) if max(image.size) <= size else b""
        if as_is and whole:
            return whole
        image.draft("RGB", (size, size))
        ImageOps.exif_transpose(image, in_place=True)
        small = _on_ground(image)
        small.thumbnail((size, size))
        content = BytesIO()
        small.save(content, "JPEG", quality=_QUALITY)
    copy = content.getvalue()
    return whole if whole and len(whole) <= len(copy) else copy


def _plain_jpeg(image: ImageFile) -> bytes:
    """The file of a JPEG if it is whole and holds the picture alone: no EXIF; else nothing."""
    from PIL.JpegImagePlugin import JpegImageFile

    plain = isinstance(image, JpegImageFile) and _PICTURE.issuperset(image.app)
    if not plain or image.mode not in ("L", "RGB") or image.fp is None:
        return b""
    image.fp.seek(0)
    content = image.fp.read()
    return content if _END in content[-_TAIL:] else b""


def _on_ground(image: Image) -> Image:
    """As RGB, with nothing transparent."""
    from PIL import Image as pillow  # noqa: N813 - its module is called like its class

    if not image.has_transparency_data:
        return eight_bit(image, "RGB")
    whole = image.convert("RGBA")
    ground = pillow.new("RGBA", whole.size, _GROUND)
    return pillow.alpha_composite(ground, whole).convert("RGB")


def eight_bit(image: Image, mode: str) -> Image:
    """As RGB or L; deeper gray is stretched over what it uses, else it would be white or black."""
    from PIL import Image as pillow  # noqa: N813 - its module is called like its class

    if not image.mode.startswith(("I", "F")):
        return image.convert(mode)
    with np.errstate(invalid="ignore"):
        values = np.asarray(image, np.float64)
    values = np.where(np.isfinite(values), values, 0)
    low, span = values.min(), np.ptp(values) or 1.0
    return pillow.fromarray(np.uint8((values - low) * (255 / span))).convert(mode)
