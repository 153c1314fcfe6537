"""Examples and the folder of their pictures in; what the report shows of them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from valor_cli.metric import Selection
from valor_cli.readers.pictures import PictureFolder
from valor_cli.results import ExampleResult, Pictures


class WithImages(Protocol):
    """A `data:` block that may name a folder of images."""

    @property
    def images(self) -> str | None:
        """The folder."""


def thumbnails(
    inputs: WithImages, selection: Selection, examples: Sequence[ExampleResult]
) -> tuple[Pictures, Sequence[str]]:
    """The pictures of the examples, where the config names their folder; and warnings."""
    if inputs.images is None:
        return Pictures(), ()
    shown = [example.picture for example in examples if example.picture is not None]
    names = dict.fromkeys(picture.file for picture in shown if picture.file is not None)
    photos, told = PictureFolder(inputs.images).thumbnails(list(names))
    return Pictures(photos), told
