"""Paths of PNG files in an input come in; their pixels go out, and what was read."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.paths import beside, own_folder
from valor_cli.readers.files import STDIN
from valor_cli.readers.folders import digest_of
from valor_cli.readers.image_files import pixel_values, png_content
from valor_cli.results import InputFile


class MaskFiles:
    """The PNG files that one input names, relative to its own folder."""

    __slots__ = ("_digests", "_folder", "_last")

    def __init__(self, path: str) -> None:
        self._folder = "" if path == STDIN else own_folder(path)
        self._digests: dict[str, str] = {}
        self._last: tuple[str, NDArray[np.int64]] | None = None

    def pixels(self, name: str) -> NDArray[np.int64]:
        """(height, width) values of a PNG; the last file stays in memory.

        Objects of one image stand together, often in one file.

        Raises:
            DataError: The file is missing or no PNG that can be a mask.
        """
        if self._last is None or self._last[0] != name:
            try:
                path = beside(self._folder, name)
            except ValueError as error:
                raise DataError(Problem(name, str(error))) from None
            content = png_content(path)
            self._last = name, pixel_values(path, content)
            self._digests[name] = hashlib.sha256(content).hexdigest()
        return self._last[1]

    def input_files(self) -> list[InputFile]:
        """All of them as one record; nothing if there was none."""
        if not self._digests:
            return []
        return [InputFile(self._folder or ".", digest_of(self._digests), 0)]
