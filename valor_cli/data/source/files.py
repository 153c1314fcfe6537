"""Open UTF-8 text inputs (path, URL or "-") and hash what is read."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from valor_cli.data.source.decompression import UnpackLimit
from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.paths import bare, is_url

STDIN = "-"
CHUNK = 1 << 17
"""Bytes per chunk. 128 KiB and what is parsed from it stay in a core's own cache: 480k detections
load a quarter faster than in chunks of 4 MiB."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"
"""Bytes 2 to 4 of a frame without text, as parallel compressors put first."""

_ZSTD_WINDOW = 1 << 31
"""The largest a file may ask for; by default those of `zstd --long` above 27 are refused."""

_ZSTD_RATIO = 8
"""About what JSON of numbers shrinks by: pieces of 1/8 chunk become chunks of full size."""

_ZSTD_PIECE = 1 << 11
"""Bytes that are unpacked at once: they become 64 MiB at most."""

_MOST_AT_ONCE = 1 << 22
"""Bytes of text that come out of a gzip at once."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextSource:
    """A UTF-8 text input: a file, a gzip or zstd file, a URL, a pipe, or "-" (standard input).

    It can be read more than once, each time from its beginning; what cannot be rewound (a pipe)
    is kept in memory for that. A UTF-8 byte order mark is left out.

    Attributes:
        path: The input, as the user wrote it.
        is_empty: Whether it was read and holds no byte.
    """

    __slots__ = ("_kept", "_sha256", "is_empty", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_empty = False
        self._kept: bytes | None = None
        self._sha256 = ""

    @property
    def sha256(self) -> str:
        """Hex digest of the stored (still compressed) bytes.

        Raises:
            ValueError: The input has not been read to its end yet.
        """
        if not self._sha256:
            raise ValueError(f"{self.path} has not been read to its end")
        return self._sha256

    def chunks(self, size: int = CHUNK) -> Generator[bytes, None, None]:
        """The text in chunks of up to `size` bytes, divided anywhere.

        Raises:
            DataError: The input is missing, a folder, unreadable, empty, a broken gzip or zstd
                file, one that unpacks to too much, or no UTF-8 text.
        """
        try:
            with self._open() as raw:
                magic = raw.read(4)
                self.is_empty = not magic
                raw.seek(0)
                stored = _HashedReader(raw)
                yield from checked_text(self._decompressed(stored, magic, size), self.path)
                self._sha256 = stored.sha256()
        except NotUtf8Error as error:
            raise self._not_utf8(error) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._error(f"the gzip file is damaged or cut off ({error})") from error
        except OSError as error:
            raise self._os_error(error) from error

    def whole(self) -> bytes:
        """The whole text. Raises as `chunks` does."""
        try:
            size = CHUNK if is_url(self.path) else os.stat(self.path).st_size + 1
        except (OSError, ValueError):
            size = CHUNK
        return b"".join(self.chunks(max(size, CHUNK)))

    def _open(self) -> BinaryIO:
        if self._kept is None and self.path == STDIN:
            self._kept = self._standard_input()
        if self._kept is not None:
            return BytesIO(self._kept)
        if is_url(self.path):
            # Its packages are an extra, and their imports cost a tenth of a second.
            from valor_cli.data.source.remote.files import RemoteFile

            return cast(BinaryIO, RemoteFile(self.path))
        try:
            raw = open(self.path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
        except ValueError:
            held = "a NUL character" if "\0" in self.path else "half a character"
            raise self._error(f"no such file (the name holds {held})") from None
        if stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            return raw
        with raw:
            self._kept = raw.readall()
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

    def _decompressed(self, stored: _HashedReader, magic: bytes, size: int) -> Iterator[bytes]:
        name = bare(self.path)
        if magic.startswith(_GZIP_MAGIC):
            yield from self._bounded(self._gzip(stored, size), stored)
        elif _is_zstd(magic):
            size = min(size, CHUNK)
            yield from _of_size(self._bounded(self._zstd(stored, size), stored), size)
        elif magic and name.endswith((".gz", ".zst")):
            suffix, kind = (".gz", "gzip") if name.endswith(".gz") else (".zst", "zstd")
            raise self._error(
                f"the name ends in {suffix}, but this is not a {kind} file; rename it"
            )
        else:
            while chunk := stored.read(size):
                yield chunk

    def _bounded(self, texts: Iterator[bytes], stored: _HashedReader) -> Iterator[bytes]:
        """What is unpacked, as far as an input may grow."""
        limit, unpacked = UnpackLimit(self.path), 0
        for text in texts:
            unpacked += len(text)
            limit.check(stored.read_bytes, unpacked)
            yield text

    def _gzip(self, stored: _HashedReader, size: int) -> Iterator[bytes]:
        with gzip.GzipFile(fileobj=cast(BinaryIO, stored)) as plain:
            while chunk := plain.read(min(size, _MOST_AT_ONCE)):
                yield chunk

    def _zstd(self, stored: _HashedReader, size: int) -> Iterator[bytes]:
        """The text of consecutive zstd frames, in chunks of any size.

        The package's own stream reader ends without a word where a file is cut off.
        """
        # Its import costs 10 ms, which most runs can save.
        import zstandard

        unpacker = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        frame = unpacker.decompressobj()
        try:
            while block := stored.read(max(size // _ZSTD_RATIO, 1)):
                for at in range(0, len(block), _ZSTD_PIECE):
                    piece = block[at : at + _ZSTD_PIECE]
                    while piece:
                        frame = unpacker.decompressobj() if frame.eof else frame
                        if text := frame.decompress(piece):
                            yield text
                        piece = frame.unused_data
        except zstandard.ZstdError as error:
            raise self._error(f"the zstd file is damaged or cut off ({error})") from error
        if not frame.eof:
            message = "the zstd file is damaged or cut off (it ends before the end of a frame)"
            raise self._error(message)

    def _not_utf8(self, error: NotUtf8Error) -> DataError:
        """The error with its line: line ends are counted only where something is wrong."""
        line, left = 1, error.offset
        with self._open() as raw:
            magic = raw.read(4)
            raw.seek(0)
            chunks = self._decompressed(_HashedReader(raw), magic, CHUNK)
            while left and (chunk := next(chunks, b"")):
                line += chunk[:left].count(b"\n")
                left -= min(left, len(chunk))
        return DataError(Problem(f"{self.path}:{line}", str(error)))

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


def _of_size(texts: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The text in chunks of a size, the last one shorter."""
    waiting, length = [], 0
    for text in texts:
        waiting.append(text)
        length += len(text)
        if length >= size:
            joined = b"".join(waiting)
            end = length - length % size
            yield from (joined[at : at + size] for at in range(0, end, size))
            waiting, length = [joined[end:]], length - end
    if rest := b"".join(waiting):
        yield rest


class NotUtf8Error(Exception):
    """Bytes that are not UTF-8; `offset` is that of the first, from 0."""

    def __init__(self, byte: int, offset: int) -> None:
        super().__init__(
            f"not UTF-8 text (byte 0x{byte:02x} at offset {offset:,}); save it as UTF-8 text"
        )
        self.offset = offset


class _HashedReader:
    """A binary file that hashes what is read from it."""

    __slots__ = ("_hash", "_raw", "read_bytes")

    def __init__(self, raw: BinaryIO) -> None:
        self.read_bytes = 0
        self._raw = raw
        self._hash = hashlib.sha256()

    def read(self, size: int) -> bytes:
        content = self._raw.read(size)
        self.read_bytes += len(content)
        self._hash.update(content)
        return content

    def sha256(self) -> str:
        return self._hash.hexdigest()


def _is_zstd(magic: bytes) -> bool:
    return magic == _ZSTD_MAGIC or (magic[1:] == _ZSTD_SKIPPABLE and magic[0] >> 4 == 5)


def is_plain(head: bytes) -> bool:
    """Whether a file starting with these four bytes may be uncompressed UTF-8."""
    packed = head.startswith(_GZIP_MAGIC) or _is_zstd(head)
    return not (packed or _is_wide(head))


def _is_wide(head: bytes) -> bool:
    """Whether a text that begins so is UTF-16 or UTF-32."""
    return head.startswith(_UTF16_MARKS) or b"\0" in head[:4]


def checked_text(chunks: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Check UTF-8 and remove the byte order mark.

    Raises:
        DataError: The bytes are UTF-16, UTF-32, or nothing.
        NotUtf8Error: They are no text at all.
    """
    head = next(chunks, b"")
    while len(head) < 4 and (more := next(chunks, b"")):
        head += more
    if _is_wide(head):
        raise DataError(Problem(path, "this looks like UTF-16 or UTF-32; save it as UTF-8 text"))
    text = head.removeprefix(codecs.BOM_UTF8)
    if not text:
        raise DataError(Problem(path, "the file is empty"))
    offset = len(head) - len(text)
    yield from utf8_text(chain([text], chunks), offset)


def utf8_text(chunks: Iterable[bytes], offset: int) -> Iterator[bytes]:
    """Check UTF-8.

    Args:
        chunks: The text, none of them empty.
        offset: Where in the file it begins.

    Raises:
        NotUtf8Error: The bytes are no UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for text in chunks:
        _check_utf8(decoder, text, offset)
        yield text
        offset += len(text)
    _check_utf8(decoder, b"", offset)


def _check_utf8(decoder: codecs.IncrementalDecoder, text: bytes, offset: int) -> None:
    pending = decoder.getstate()[0]
    # Nearly all text is ASCII, and isascii() is fifty times as fast as decoding.
    if text.isascii() and text and not pending:
        return
    try:
        decoder.decode(text, final=not text)
    except UnicodeDecodeError as error:
        at = offset - len(pending) + error.start
        raise NotUtf8Error(error.object[error.start], at) from None


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
