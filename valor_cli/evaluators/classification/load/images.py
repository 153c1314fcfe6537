"""Find the image of each sample in a folder."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from valor_cli.data.formats.images import ImageFolder
from valor_cli.errors import printable
from valor_cli.results import Picture


class SamplePictures:
    """Images of samples: files in a folder that are named after the sample ids.

    Raises:
        DataError: There is no such folder, or it cannot be read.
    """

    def __init__(self, folder: str) -> None:
        self._folder = ImageFolder(folder)

    def picture(self, sample_id: str) -> Picture | None:
        """The image of a sample; None if the folder has none.

        Nothing is drawn on it, so that no file is opened for its size.
        """
        file = self._folder.find(sample_id)
        return None if file is None else Picture(file, None, None)

    def warnings(self, sample_ids: NDArray[Any]) -> list[str]:
        """Warnings about samples without an image."""
        names = [name.decode() for name in sample_ids.tolist()]
        missing = [name for name in names if self._folder.find(name) is None]
        if not missing:
            return []
        warning = (
            f"images: {len(missing):,} of {len(names):,} samples have no file in "
            f"{self._folder.folder} (the first: {printable(missing[0])}); they are shown without"
        )
        return [warning]
