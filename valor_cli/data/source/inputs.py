"""Expand input patterns and look at the first bytes of an input."""

from __future__ import annotations

import glob
import os
import re
import sys
from io import BytesIO, TextIOWrapper
from typing import Final

from valor_cli.data.source.compression import KINDS
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.errors import DataError, Problem
from valor_cli.paths import bare, is_url

_SHARD: Final = re.compile(r"(.+)-[0-9]{5}-of-[0-9]{5}\.\w+$")
"""The name of a file of a split of a data set."""

PARQUET: Final = (b"PAR1", b"PARE")
"""Magic bytes at both ends of a Parquet file, and of one with an encrypted footer."""

HEAD: Final = 1 << 16
"""Bytes of an input that are read to detect its format, at most."""


def expanded(path: str) -> list[str]:
    """The sorted inputs that a path, URL or pattern matches.

    Raises:
        DataError: Nothing matches.
        UnreachableError: A store cannot be asked.
    """
    if not any(mark in path for mark in "*?["):
        return [path]
    if is_url(path):
        from valor_cli.data.source.stores import matching

        found = matching(path)
    elif os.path.lexists(path):
        return [path]
    else:
        try:
            found = sorted(glob.glob(path, recursive=True))
        except ValueError:
            # The name of a folder in it holds what no name can.
            found = []
    if not found:
        message = "no file matches (* is any text, ** any folders, ? a character, [..] one of some)"
        raise DataError(Problem(path, message))
    return found


def expanded_tables(path: str) -> list[str]:
    """As `expanded`; a folder of Parquet or Arrow files, as of a data set, is these files.

    Raises:
        DataError: As `expanded`, or the folder has several splits.
    """
    if path == STDIN or is_url(path) or not os.path.isdir(path):
        return expanded(path)
    found = _tables_in(path)
    splits = sorted({match[1] for one in found if (match := _SHARD.search(os.path.basename(one)))})
    if len(splits) > 1:
        message = f"this folder has the splits {', '.join(splits)}"
        example = os.path.join(os.path.dirname(found[0]), f"{splits[0]}-*")
        raise DataError(Problem(path, message), hint=f"Name the files of one, such as {example}")
    return sorted(found) or [path]


def is_table_folder(path: str) -> bool:
    """Whether a path is a folder that has Parquet or Arrow files."""
    local = path != STDIN and not is_url(path) and os.path.isdir(path)
    return local and any(
        name.endswith((".parquet", ".arrow")) for _, _, names in os.walk(path) for name in names
    )


def _tables_in(folder: str) -> list[str]:
    return [
        one
        for ending in ("parquet", "arrow")
        for one in glob.glob(f"{glob.escape(folder)}/**/*.{ending}", recursive=True)
    ]


def extension_of(path: str) -> str:
    """The lower-case extension, without compression suffix or URL query."""
    stem, extension = os.path.splitext(bare(path))
    if extension.lower() in KINDS:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def head_of(path: str) -> bytes:
    """The first bytes of an input's text, or of Parquet; empty if it can be read only once.

    Raises:
        DataError: It cannot be read.
    """
    if _is_read_once(path):
        return b""
    source = TextSource(path)
    chunks = source.chunks(HEAD)
    try:
        with source.stored() as raw:
            head = raw.read(len(PARQUET[0]))
        return head if head in PARQUET else next(chunks)
    finally:
        # Not read to the end, so nothing is said of its end here.
        chunks.close()
        rewind(path)


def rewind(path: str) -> None:
    """Let standard input be read again from its start, once `head_of` has looked into it."""
    if path == STDIN and isinstance(sys.stdin.buffer, BytesIO):
        sys.stdin.buffer.seek(0)


def _is_read_once(path: str) -> bool:
    """Whether an input is a pipe, a device, or standard input that is closed or a terminal.

    A stream that can be read again is put in the place of standard input, if that can be read: what
    waits on a pipe is too little to tell the format of a compressed file by.
    """
    if path != STDIN:
        return not is_url(path) and os.path.exists(path) and not os.path.isfile(path)
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed or stream.isatty():
        return True
    try:
        sys.stdin = TextIOWrapper(BytesIO(stream.read()))
    except OSError:
        return True
    return False
