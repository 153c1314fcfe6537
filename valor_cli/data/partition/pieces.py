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
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import BinaryIO, Final, NamedTuple

from msgspec import Struct

from valor_cli.data.source.files import (
    CHUNK,
    STDIN,
    NotUtf8Error,
    TextSource,
    checked_text,
    is_plain,
    utf8_text,
)
from valor_cli.paths import is_url

_STEP: Final = 1 << 16
"""Bytes that are read at once to find where a line ends."""

_HASHED: Final = 1 << 20
"""Bytes that are hashed at once."""

_COMPRESSED: Final = (".gz", ".zst")


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
    digest = hashlib.sha256()
    with SpanSource(path, Span(0, 0)).stored() as raw:
        while chunk := raw.read(_HASHED):
            digest.update(chunk)
    return digest.hexdigest()


class SpanSource(TextSource):
    """The text of a byte range that begins and ends at character boundaries.

    Its `sha256` is empty: a range alone cannot tell that of the file.
    """

    __slots__ = ("_span",)

    def __init__(self, path: str, span: Span) -> None:
        super().__init__(path)
        self._span = span

    @property
    def sha256(self) -> str:
        """An empty string: the whole file is hashed elsewhere."""
        return ""

    def chunks(self, size: int = CHUNK) -> Generator[bytes, None, None]:
        """The text in chunks of up to `size` bytes, divided anywhere; none for an empty range.

        Raises:
            DataError: The file is missing, unreadable, shorter than the range, or no UTF-8 text.
        """
        begin, end = self._span
        if begin >= end:
            return
        try:
            with self.stored() as raw:
                stored = self._bytes(raw, size)
                if begin:
                    yield from utf8_text(stored, begin)
                else:
                    yield from checked_text(stored, self.path)
        except NotUtf8Error as error:
            raise self._not_utf8(error) from None

    def _bytes(self, raw: BinaryIO, size: int) -> Iterator[bytes]:
        at, end = self._span
        raw.seek(at)
        while at < end:
            chunk = raw.read(min(size, end - at))
            if not chunk:
                raise self._error("the file became shorter while it was read")
            at += len(chunk)
            yield chunk

    @contextmanager
    def stored(self) -> Iterator[BinaryIO]:
        """The whole file, for seeking.

        Raises:
            DataError: They cannot be read.
        """
        try:
            with self._open() as raw:
                yield raw
        except OSError as error:
            raise self._os_error(error) from error


def span_of_lines(piece: Piece) -> Span:
    r"""The lines that begin in a byte range; a line ends after its "\n".

    Raises:
        DataError: The file cannot be read.
    """
    if piece.end is None:
        raise ValueError("all of an input has no range of bytes")
    with SpanSource(piece.path, Span(0, 0)).stored() as raw:
        return Span(_line_from(raw, piece.start), _line_from(raw, piece.end))


def rest_of(path: str, at: int) -> Span:
    """The bytes of a plain file from an offset.

    Raises:
        DataError: The file cannot be read.
    """
    with SpanSource(path, Span(0, 0)).stored() as raw:
        return Span(at, raw.seek(0, os.SEEK_END))


def line_above(path: str, at: int) -> Span:
    """The line before an offset.

    Args:
        path: A plain file.
        at: Where a line begins, though not the first.

    Raises:
        DataError: The file cannot be read.
    """
    with SpanSource(path, Span(0, 0)).stored() as raw:
        begin = end = at - 1
        while begin:
            step = min(_STEP, begin)
            raw.seek(begin - step)
            place = raw.read(step).rfind(b"\n")
            if place >= 0:
                return Span(begin - step + place + 1, end + 1)
            begin -= step
    return Span(0, end + 1)


def _line_from(raw: BinaryIO, at: int) -> int:
    """Where the first line begins that does not begin before a byte."""
    if not at:
        return 0
    at -= 1
    raw.seek(at)
    while chunk := raw.read(_STEP):
        place = chunk.find(b"\n")
        if place >= 0:
            return at + place + 1
        at += len(chunk)
    return at


def _plain_size(path: str) -> int:
    """Bytes of a file that can be cut; 0 of anything else."""
    if path == STDIN or is_url(path) or path.endswith(_COMPRESSED):
        return 0
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return 0
        with open(path, "rb", buffering=0) as raw:
            return found.st_size if is_plain(raw.read(4)) else 0
    except (OSError, ValueError):
        return 0
