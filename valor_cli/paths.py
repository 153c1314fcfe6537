"""Paths as a config writes them, relative to its own folder, to paths that can be opened."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo


def _resolve(path: str, info: ValidationInfo) -> str:
    """The path from the current folder; `-` (standard input) stays as it is."""
    if not path:
        raise ValueError("a path is needed, found an empty text")
    folder = (info.context or {}).get("folder")
    if path == "-" or folder is None:
        return path
    return from_folder(folder, path)


def from_folder(folder: str | os.PathLike[str], path: str) -> str:
    """A path of a folder's own as one from the current folder; `~` is the user's home."""
    joined = os.path.join(folder, os.path.expanduser(path))
    tidy = os.path.normpath(joined)
    # Behind a link, `..` is another folder than the text suggests.
    return tidy if os.path.realpath(tidy) == os.path.realpath(joined) else joined


InputPath = Annotated[str, AfterValidator(_resolve)]
"""A path in a `data:` block; the validation context names the config's `folder`."""
