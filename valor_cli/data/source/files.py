"""Read UTF-8 text inputs (path, URL or "-") in chunks or blocks of whole lines, and hash them."""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from valor_cli.data.source.compression import is_packed, unpacked
from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.paths import is_url

STDIN = "-"
CHUNK = 1 << 17
"""Bytes per chunk. 128 KiB and what is parsed from it stay in a core's own cache: 480k detections
load a quarter faster than in chunks of 4 MiB."""

Stored: TypeAlias = BufferedReader | BytesIO
"""The stored bytes of an input, for reading and seeking."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextSource:
    """A UTF-8 text input: a file, a gzip or zstd file, a URL, a pipe, or "-" (standard input).

    It can be read more than once, each time from its beginning; what cannot be rewound (a pipe)
    is kept in memory for that. A UTF-8 byte order mark is left out.

    Attributes:
        path: The input, as the user wrote it.
        is_empty: Whether it was read and holds no byte.
    """

    __slots__ = ("_kept", "_sha256", "_span", "is_empty", "path")

    def __init__(self, path: str, span: tuple[int, int] | None = None) -> None:
        """Name the input.

        Args:
            path: A path, a URL, or "-".
            span: The bytes of a plain file to read, from the first to below the second; they begin
                and end at character boundaries. None for the whole input.
        """
        self.path = path
        self.is_empty = False
        self._span = span
        self._kept: bytes | None = None
        self._sha256 = None if span is None else ""

    @property
    def sha256(self) -> str:
        """Hex digest of the stored (still compressed) bytes; empty for a part of them.

        Raises:
            ValueError: The input has not been read to its end yet.
        """
        if self._sha256 is None:
            raise ValueError(f"{self.path} has not been read to its end")
        return self._sha256

    def chunks(self, size: int = CHUNK) -> Generator[bytes, None, None]:
        """The text in chunks of up to `size` bytes, divided anywhere; none for an empty span.

        Raises:
            DataError: The input is missing, a folder, unreadable, empty, shorter than the span, a
                broken gzip or zstd file, one that unpacks to too much, or no UTF-8 text.
        """
        begin, end = self._span or (0, None)
        if end is not None and begin >= end:
            return
        with self.stored() as raw:
            chunks = self._all(raw, size) if end is None else self._part(raw, begin, end, size)
            yield from self._checked(chunks, begin)

    def whole(self) -> bytes:
        """The whole text. Raises as `chunks` does."""
        try:
            size = os.stat(self.path).st_size + 1
        except (OSError, ValueError):
            size = CHUNK
        return b"".join(self.chunks(max(size, CHUNK)))

    @contextmanager
    def stored(self) -> Iterator[Stored]:
        """The stored bytes of the whole input, for seeking.

        Raises:
            DataError: They cannot be read.
        """
        try:
            with self._open() as raw:
                yield raw
        except OSError as error:
            raise self._os_error(error) from error

    def _open(self) -> Stored:
        if self._kept is None and self.path == STDIN:
            self._kept = self._standard_input()
        if self._kept is not None:
            return BytesIO(self._kept)
        if is_url(self.path):
            # Its packages are an extra, and their imports cost a tenth of a second.
            from valor_cli.data.source.remote import open_url

            return open_url(self.path)
        try:
            raw = open(self.path, "rb")  # noqa: SIM115 - the caller closes it
        except ValueError:
            held = "a NUL character" if "\0" in self.path else "half a character"
            raise self._error(f"no such file (the name holds {held})") from None
        if stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            return raw
        with raw:
            self._kept = raw.read()
        return BytesIO(self._kept)

    def _standard_input(self) -> bytes:
        """All of it.

        Raises:
            DataError: It is closed, or a terminal.
        """
        # A closed standard input is None, whatever typeshed says.
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None or stream.closed:
            raise self._error("standard input is closed; name a file instead")
        if stream.isatty():
            raise self._error("standard input is a terminal; name a file or pipe one in")
        content: bytes = stream.read()
        return content

    def _all(self, raw: Stored, size: int) -> Iterator[bytes]:
        magic = raw.read(4)
        self.is_empty = not magic
        raw.seek(0)
        hashed = _HashedReader(raw)
        yield from unpacked(cast(BinaryIO, hashed), magic, self.path, size)
        self._sha256 = hashed.hash.hexdigest()

    def _part(self, raw: Stored, begin: int, end: int, size: int) -> Iterator[bytes]:
        raw.seek(begin)
        while begin < end:
            chunk = raw.read(min(size, end - begin))
            if not chunk:
                raise self._error("the file became shorter while it was read")
            begin += len(chunk)
            yield chunk

    def _checked(self, chunks: Iterator[bytes], offset: int) -> Iterator[bytes]:
        """The text that begins at an offset, once it is known to be UTF-8.

        Raises:
            DataError: It is UTF-16, UTF-32, no text, or nothing.
        """
        if not offset:
            head = next(chunks, b"")
            while len(head) < 4 and (more := next(chunks, b"")):
                head += more
            if _is_wide(head):
                raise self._error("this looks like UTF-16 or UTF-32; save it as UTF-8 text")
            text = head.removeprefix(codecs.BOM_UTF8)
            if not text:
                raise self._error("the file is empty")
            chunks, offset = chain([text], chunks), len(head) - len(text)
        decoder = codecs.getincrementaldecoder("utf-8")()
        for text in chain(chunks, [b""]):
            pending = decoder.getstate()[0]
            # Nearly all text is ASCII, and isascii() is fifty times as fast as decoding.
            if pending or not (text and text.isascii()):
                try:
                    decoder.decode(text, final=not text)
                except UnicodeDecodeError as error:
                    at = offset - len(pending) + error.start
                    raise self._not_utf8(error.object[error.start], at) from None
            if text:
                yield text
            offset += len(text)

    def _not_utf8(self, byte: int, offset: int) -> DataError:
        """The error with its line: line ends are counted only where something is wrong."""
        line, left = 1, offset
        with self._open() as raw:
            magic = raw.read(4)
            raw.seek(0)
            chunks = unpacked(raw, magic, self.path, CHUNK)
            while left and (chunk := next(chunks, b"")):
                line += chunk[:left].count(b"\n")
                left -= min(left, len(chunk))
        message = f"not UTF-8 text (byte 0x{byte:02x} at offset {offset:,}); save it as UTF-8 text"
        return DataError(Problem(f"{self.path}:{line}", message))

    def _error(self, message: str) -> DataError:
        return DataError(Problem(self.path, message))

    def _os_error(self, error: OSError) -> DataError:
        if isinstance(error, FileNotFoundError):
            return self._error(_missing(self.path))
        if isinstance(error, IsADirectoryError):
            return self._error("this is a folder; name a file in it")
        if isinstance(error, PermissionError):
            return self._error("no permission to read this file")
        return self._error(f"cannot be read: {error.strerror or error}")


class _HashedReader:
    """A binary file that hashes what is read from it."""

    __slots__ = ("_raw", "hash", "tell")

    def __init__(self, raw: Stored) -> None:
        self._raw = raw
        self.hash = hashlib.sha256()
        self.tell = raw.tell

    def read(self, size: int) -> bytes:
        content = self._raw.read(size)
        self.hash.update(content)
        return content


def blocks_of_lines(source: TextSource, size: int = CHUNK) -> Iterator[bytes]:
    """The text, cut after line ends alone; every block but the last ends with one.

    A block is as long as a chunk, unless a line is longer. Raises as `TextSource.chunks` does.
    """
    waiting: list[bytes] = []
    for chunk in source.chunks(size):
        end = chunk.rfind(b"\n") + 1
        if not end:
            waiting.append(chunk)
            continue
        yield b"".join([*waiting, chunk[:end]])
        waiting = [chunk[end:]]
    if rest := b"".join(waiting):
        yield rest


def is_plain(head: bytes) -> bool:
    """Whether a file starting with these four bytes may be uncompressed UTF-8."""
    return not (is_packed(head) or _is_wide(head))


def _is_wide(head: bytes) -> bool:
    """Whether a text that begins so is UTF-16 or UTF-32."""
    return head.startswith(_UTF16_MARKS) or b"\0" in head[:4]


def _missing(path: str) -> str:
    """The message for a file that does not exist."""
    folder, name = os.path.split(path)
    where = "" if os.path.isabs(path) else f" (relative to {Path.cwd()})"
    if folder and not os.path.isdir(folder):
        return f"no such file: there is no folder '{folder}'{where}"
    try:
        near = did_you_mean(name, os.listdir(folder or "."))
    except OSError:
        near = ""
    return f"no such file{where}{near}"
