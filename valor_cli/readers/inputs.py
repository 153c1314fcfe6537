"""What the user wrote for an input comes in; the files it names, and how they begin, go out."""

from __future__ import annotations

import glob
import os
import sys
from io import BytesIO, TextIOWrapper
from typing import Final

from valor_cli.errors import DataError, Problem
from valor_cli.readers.files import STDIN, TextSource

HEAD: Final = 1 << 16
"""Bytes of an input that its format is told by, at most."""

_COMPRESSED = (".gz", ".zst")


def expanded(path: str) -> list[str]:
    """The inputs that a path names: itself, or those that match it, sorted.

    Raises:
        DataError: Nothing matches.
    """
    if not any(mark in path for mark in "*?[") or os.path.lexists(path):
        return [path]
    try:
        found = sorted(glob.glob(path, recursive=True))
    except ValueError:
        # The name of a folder in it holds what no name can.
        found = []
    if not found:
        message = "no file matches (* is any text, ** any folders, ? a character, [..] one of some)"
        raise DataError(Problem(path, message))
    return found


def extension_of(path: str) -> str:
    """The extension in lower case, less that of a compressed file."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in _COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def head_of(path: str) -> bytes:
    """The first bytes of the text of an input; nothing of what could not be read again.

    Raises:
        DataError: It cannot be read.
    """
    if path != STDIN and os.path.exists(path) and not os.path.isfile(path):
        return b""
    if path == STDIN and not _rewindable():
        return b""
    chunks = TextSource(path).chunks(HEAD)
    try:
        return next(chunks)
    finally:
        # Not read to the end, so nothing is said of its end here.
        chunks.close()
        if path == STDIN:
            sys.stdin.buffer.seek(0)


def _rewindable() -> bool:
    """Put a stream that can be read again in the place of standard input, if that can be read.

    What waits on a pipe is too little to tell the format of a compressed file by.
    """
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed or stream.isatty():
        return False
    try:
        sys.stdin = TextIOWrapper(BytesIO(stream.read()))
    except OSError:
        return False
    return True
