"""Choose output file names, without extension, for images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from valor_cli.data.shapes.objects.scene import Id, Images
from valor_cli.errors import LISTED, DataError, Problem

_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"})
_LONGEST = 240
"""Bytes. Most file systems take 255, with the extension."""


def stems_of(images: Images, path: str, reserved: Sequence[str] = ()) -> list[str]:
    """The output name of each image: its file name without folder and extension, or its id.

    Names come from data: they never lead out of the output folder.

    Args:
        images: The images.
        path: Where they come from, for messages.
        reserved: Names that are taken.

    Raises:
        DataError: A name cannot be that of a file, or two images share one.
    """
    stems = [
        _stem(number, name) for number, name in zip(images.ids, images.file_names, strict=True)
    ]
    first: dict[str, Id] = {}
    problems = []
    for number, stem in zip(images.ids, stems, strict=True):
        if fault := _fault(stem, reserved):
            problems.append(
                Problem(path, f"image {number!r}: no file can be named {stem!r}{fault}")
            )
        # Some file systems do not tell case apart; there one file would replace the other.
        elif (other := first.setdefault(stem.casefold(), number)) != number:
            message = f"the images {other!r} and {number!r} would both be written as '{stem}'"
            problems.append(Problem(path, message))
    if problems:
        hint = "give every image an id or a file name that is a file name of its own"
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)
    return stems


def _stem(number: Id, file_name: str | None) -> str:
    if file_name is None and isinstance(number, int):
        return str(number)
    # A file name may be written with either separator.
    name = PureWindowsPath(str(number) if file_name is None else file_name).name
    path = PurePosixPath(name)
    if file_name is None and path.suffix.lower() not in _PICTURES:
        return name
    return path.stem


def _fault(stem: str, reserved: Sequence[str]) -> str:
    if stem.casefold() in reserved:
        return " (the format has a file of that name)"
    if stem.startswith(".") or stem != stem.strip() or not (stem and stem.isprintable()):
        return " (empty, hidden, white space around it, or control characters)"
    if len(stem.encode()) > _LONGEST:
        return f" (longer than {_LONGEST} bytes)"
    return ""
