"""Match the image files of a folder to images, and make thumbnails."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from valor_cli.data.formats.folders import files_under, is_folder
from valor_cli.data.formats.png.images import image_size, opened
from valor_cli.errors import DataError, Problem, UnreachableError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

LONGEST_SIDE = 480
"""Pixels of a thumbnail's longer side."""

QUALITY = 80

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


class ImageFolder:
    """The image files in a folder, matched by path, name, or name without extension.

    Names come from data and are never joined to a path: only what the folder holds is opened.

    Raises:
        DataError: There is no such folder, or it cannot be read.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        if not is_folder(folder):
            what = "this is a file" if os.path.exists(folder) else "no such folder"
            problem = Problem(f"images: {folder}", what)
            raise DataError(problem, hint="name the folder that holds the image files")
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, str | None] = {}
        for path in files_under(folder, ENDINGS):
            self._by_path[path] = path
            name = os.path.basename(path)
            for claim in {name, os.path.splitext(name)[0]}:
                self._by_name[claim] = None if claim in self._by_name else path

    def find(self, name: str) -> str | None:
        """The file with a path, name or stem; None if not unique."""
        path = os.path.normpath(name)
        base = os.path.basename(path)
        return (
            self._by_path.get(path)
            or self._by_name.get(base)
            or self._by_name.get(os.path.splitext(base)[0])
        )

    def size(self, name: str) -> tuple[int | None, int | None]:
        """Width and height of a file from `find`; None if unreadable."""
        if name not in self._by_path:
            return None, None
        try:
            height, width = image_size(os.path.join(self.folder, name))
        except DataError:
            return None, None
        return width, height

    def thumbnails(self, names: Sequence[str]) -> tuple[Mapping[str, bytes], list[str]]:
        """JPEG thumbnails of files from `find`, with warnings."""
        made: dict[str, bytes] = {}
        warnings = []
        for name in names:
            if name not in self._by_path:
                continue
            try:
                made[name] = _thumbnail(os.path.join(self.folder, name))
            except (DataError, UnreachableError) as error:
                warnings.append(f"not shown: {error.problems[0]}")
        return made, warnings


def _thumbnail(path: str) -> bytes:
    with opened(path, path) as image:
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        small = _eight_bit(image)
        small.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        content = BytesIO()
        small.save(content, "JPEG", quality=QUALITY, optimize=True)
    return content.getvalue()


def _eight_bit(image: Picture) -> Picture:
    """As RGB; deeper gray is stretched over what it uses, else it would be white or black."""
    from PIL import Image

    if not image.mode.startswith(("I", "F")):
        return image.convert("RGB")
    values = np.asarray(image, np.float64)
    low, span = values.min(), np.ptp(values) or 1.0
    return Image.fromarray(np.uint8((values - low) * (255 / span))).convert("RGB")
