"""Detect Parquet and Arrow inputs by their names and first bytes."""

from __future__ import annotations

import os
import sys
from typing import Final

from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.paths import is_url

MAGIC: Final = b"PAR1"
ENCRYPTED: Final = b"PARE"
"""Magic bytes at both ends of a file, and of one with an encrypted footer."""

ARROW: Final = (b"ARROW1", b"\xff\xff\xff\xff")
"""Magic bytes of Arrow files and of Arrow streams."""

ARROW_EXTENSIONS: Final = (".arrow", ".feather")
EXTENSIONS: Final = (".parquet", ".pq", *ARROW_EXTENSIONS)


def is_parquet(path: str) -> bool:
    """Whether an input without a known extension is Parquet; named pipes are not read.

    Raises:
        DataError: It cannot be read.
    """
    if path == STDIN:
        return _is_magic(_waiting())
    if not is_url(path) and not os.path.isfile(path):
        return False
    with TextSource(path).stored() as raw:
        return _is_magic(raw.read(len(MAGIC)))


def _waiting() -> bytes:
    """The first bytes of standard input, which stay there."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed or stream.isatty():
        return b""
    if hasattr(stream, "peek"):
        return bytes(stream.peek(len(MAGIC)))
    at = stream.tell()
    found: bytes = stream.read(len(MAGIC))
    stream.seek(at)
    return found


def _is_magic(head: bytes) -> bool:
    return head[: len(MAGIC)] in (MAGIC, ENCRYPTED)
