"""Load thumbnails of example images for reports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, Protocol

from valor_cli.data.formats.images import ImageFolder
from valor_cli.metric import Selection
from valor_cli.results import EmbeddedImages, ExampleResult

MOST: Final = 300
"""Pictures made at most: more than a page has room for."""

WORST: Final = "worst_image"
HITS: Final = ("true_positive", "true_negative")


class WithImages(Protocol):
    """A `data:` block with an optional image folder."""

    @property
    def images(self) -> str | None:
        """The folder."""


def thumbnails(
    inputs: WithImages, selection: Selection, examples: Sequence[ExampleResult]
) -> tuple[EmbeddedImages, Sequence[str]]:
    """Thumbnails of the examples if the config names an image folder, and warnings.

    A run may have tens of thousands of examples, and a page shows few of them, so that 300 pictures
    are made and no more. Which ones a page shows is its own affair: worst images and mistakes come
    first on every page, and so they do here, in the order of the results.
    """
    if inputs.images is None:
        return EmbeddedImages(), ()
    files = dict.fromkeys(
        example.picture.file
        for example in sorted(examples, key=_rank)
        if example.picture is not None and example.picture.file is not None
    )
    photos, told = ImageFolder(inputs.images).thumbnails(list(islice(files, MOST)))
    return EmbeddedImages(photos), told


def _rank(example: ExampleResult) -> int:
    """Worst images, then mistakes, then what is right."""
    return 0 if example.kind == WORST else 2 if example.kind in HITS else 1
