"""A folder of images comes in; their file names and sizes by stem go out."""

from __future__ import annotations

import os
from typing import Final

from valor_cli.errors import DataError, Problem
from valor_cli.readers.folders import is_folder, names_in
from valor_cli.readers.image_files import image_size

EXTENSIONS: Final = frozenset(
    {".bmp", ".dng", ".gif", ".jpeg", ".jpg", ".jp2", ".mpo", ".png", ".pfm", ".tif", ".tiff"}
    | {".webp"}
)
"""What counts as an image, in lower case."""


class ImageFolder:
    """The images of a folder and of its sub-folders, which label files lie under likewise.

    Attributes:
        path: The folder, as the user wrote it.
    """

    __slots__ = ("_listed", "path")

    def __init__(self, path: str) -> None:
        if not is_folder(path):
            raise DataError(Problem(path, "there is no such folder of images"))
        self.path = path
        self._listed: dict[str, dict[str, str]] = {}

    def names(self, sub_folder: str) -> dict[str, str]:
        """File names by stem in a sub-folder; the first of equal stems."""
        if sub_folder not in self._listed:
            folder = os.path.join(self.path, sub_folder)
            listed: dict[str, str] = {}
            for name in names_in(folder):
                stem, extension = os.path.splitext(name)
                if extension.lower() in EXTENSIONS:
                    listed.setdefault(stem, name)
            self._listed[sub_folder] = listed
        return self._listed[sub_folder]

    def file_of(self, image: str) -> str | None:
        """Path in the folder of the image of a label file ("train/17"); None if there is none."""
        sub_folder, stem = os.path.split(image)
        name = self.names(sub_folder).get(stem)
        return None if name is None else os.path.join(sub_folder, name)

    def size(self, file: str) -> tuple[int, int]:
        """Height and width of one of the images.

        Raises:
            DataError: It cannot be read.
        """
        return image_size(os.path.join(self.path, file))
