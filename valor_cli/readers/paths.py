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
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


InputPath = Annotated[str, AfterValidator(_resolve)]
"""A path in a `data:` block; the validation context names the config's `folder`."""
