"""Divide input files into byte ranges and read the text of a range.

A large plain file is divided into byte ranges, so that several processes can read it at once, or
one in bounded memory. A range is nominal: each format decides which bytes a piece has (its
`Span`), by a rule that both neighbours apply to the byte between them. So spans join without gap
or overlap, whatever the size of the pieces.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from valor_cli.data.source.compression import KINDS
from valor_cli.data.source.files import STDIN, TextSource, is_plain
from valor_cli.paths import is_url

_STEP: Final = 1 << 16
"""Bytes that are read at once to find where a line ends."""


class Piece(Struct, frozen=True):
    """A byte range of an input, or all of it.

    Attributes:
        path: The input, as the user wrote it.
        start: Its first byte.
        end: The byte behind its last; None: all of the input, which need not be a plain file.
        number: Which of the pieces of its file it is, from 0.
    """

    path: str
    start: int = 0
    end: int | None = None
    number: int = 0


class Span(NamedTuple):
    """The bytes read for a piece, from `begin` to below `end`."""

    begin: int
    end: int


def cut(path: str, size: int) -> list[Piece]:
    """Divide a large local plain file into pieces; others are one piece.

    What is compressed, a pipe, no UTF-8 by its first bytes, or not there, is one piece, and so
    for the reader to speak of.

    Args:
        path: A file, or anything else that a reader takes for one.
        size: Bytes of a piece, at most; one line or object may be larger.
    """
    if size < 1:
        raise ValueError(f"expected a piece of at least 1 byte, found {size}")
    total = _plain_size(path)
    count = max(-(-total // size), 1)
    if count == 1:
        return [Piece(path)]
    edges = [total * at // count for at in range(count + 1)]
    return [Piece(path, *edge, number) for number, edge in enumerate(pairwise(edges))]


class UnsplittableError(Exception):
    """Pieces of inputs say too little by themselves: the inputs must be read whole."""


def seamless(spans: Sequence[Span], size: int) -> bool:
    """Whether the spans, in piece order, cover every byte of a file once.

    They are not where the file was written to while it was read.

    Args:
        spans: One of each piece.
        size: Bytes of the file: the end of its last piece.
    """
    at = 0
    for begin, end in spans:
        if begin != at or end < at:
            return False
        at = end
    return at == size


def sha256_of(path: str) -> str:
    """SHA-256 of a plain file, read in blocks.

    Other threads run meanwhile: hashing a large file takes as long as reading it in pieces.

    Raises:
        DataError: The file cannot be read.
    """
    with TextSource(path).stored() as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def span_of_lines(piece: Piece) -> Span:
    r"""The lines that begin in a byte range; a line ends after its "\n".

    Raises:
        DataError: The file cannot be read.
    """
    if piece.end is None:
        raise ValueError("all of an input has no range of bytes")
    return Span(_line_from(piece.path, piece.start), _line_from(piece.path, piece.end))


def rest_of(path: str, at: int) -> Span:
    """The bytes of a plain file from an offset.

    Raises:
        DataError: The file cannot be read.
    """
    with TextSource(path).stored() as raw:
        return Span(at, raw.seek(0, os.SEEK_END))


def line_above(path: str, at: int) -> Span:
    """The line before an offset.

    Args:
        path: A plain file.
        at: Where a line begins, though not the first.

    Raises:
        DataError: The file cannot be read.
    """
    begin = at - 1
    with TextSource(path).stored() as raw:
        while begin:
            step = min(_STEP, begin)
            raw.seek(begin - step)
            place = raw.read(step).rfind(b"\n")
            if place >= 0:
                return Span(begin - step + place + 1, at)
            begin -= step
    return Span(0, at)


def _line_from(path: str, at: int) -> int:
    """Where the first line begins that does not begin before a byte."""
    if not at:
        return 0
    with TextSource(path).stored() as raw:
        raw.seek(at - 1)
        while (text := raw.readline(_STEP)) and not text.endswith(b"\n"):
            pass
        return raw.tell()


def _plain_size(path: str) -> int:
    """Bytes of a file that can be cut; 0 of anything else."""
    if path == STDIN or is_url(path) or path.endswith(tuple(KINDS)):
        return 0
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return 0
        with open(path, "rb", buffering=0) as raw:
            return found.st_size if is_plain(raw.read(4)) else 0
    except (OSError, ValueError):
        return 0
