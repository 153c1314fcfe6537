"""Unpack gzip and zstd inputs, within limits.

A gzip file of a megabyte can hold a gigabyte, a zstd file of a megabyte thirty. The limits are
checked while an input is read, so nothing of that size is ever in memory. They are set by
environment variables, because every command and every process of a run reads inputs.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.paths import bare

SIZE: Final = "VALOR_UNPACK_GIB"
"""The environment variable that says how many GiB one input may unpack to."""

RATIO: Final = "VALOR_UNPACK_RATIO"
"""The environment variable that says how many times its stored size that may be."""

GIB: Final = 64.0
TIMES: Final = 200.0
"""Text of numbers shrinks to a fifth or a tenth, logs that repeat themselves to a fiftieth."""

FREE: Final = 64 << 20
"""Bytes that any input may unpack to: the ratio of a small one does no harm."""

KINDS: Final = {".gz": "gzip", ".zst": "zstd"}
"""Compressions by the extension of a file."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = b"\x2a\x4d\x18"
"""Bytes 2 to 4 of a frame without text, as parallel compressors put first."""

_ZSTD_WINDOW: Final = 1 << 31
"""The largest a file may ask for; by default those of `zstd --long` above 27 are refused."""

_ZSTD_CHUNK: Final = 1 << 17
"""Bytes of a chunk, at most."""

_ZSTD_RATIO: Final = 8
"""About what JSON of numbers shrinks by: pieces of 1/8 chunk become chunks of full size."""

_ZSTD_PIECE: Final = 1 << 11
"""Bytes that are unpacked at once: they become 64 MiB at most."""

_GZIP_CHUNK: Final = 1 << 22
"""Bytes of a chunk, at most."""


def unpacked(stored: BinaryIO, magic: bytes, path: str, size: int) -> Iterator[bytes]:
    """The content of an input in chunks of up to a size; that of a plain one as it is.

    Args:
        stored: The stored bytes.
        magic: The first four of them.
        path: The input, for messages.
        size: Bytes of a chunk.

    Raises:
        DataError: The input is damaged, unpacks to too much, or is not what its name says.
    """
    if magic.startswith(_GZIP_MAGIC):
        yield from _bounded(_gzip(stored, path, size), stored, path)
    elif _is_zstd(magic):
        size = min(size, _ZSTD_CHUNK)
        yield from _of_size(_bounded(_zstd(stored, path, size), stored, path), size)
    else:
        suffix = next((one for one in KINDS if bare(path).endswith(one)), None)
        if magic and suffix:
            message = f"the name ends in {suffix}, but this is not a {KINDS[suffix]} file"
            raise DataError(Problem(path, f"{message}; rename it"))
        while chunk := stored.read(size):
            yield chunk


def is_packed(magic: bytes) -> bool:
    """Whether a file that begins with these four bytes is compressed."""
    return magic.startswith(_GZIP_MAGIC) or _is_zstd(magic)


def _is_zstd(magic: bytes) -> bool:
    return magic == _ZSTD_MAGIC or (magic[1:] == _ZSTD_SKIPPABLE and magic[0] >> 4 == 5)


def check_unpacked(path: str, stored: int, content: int) -> None:
    """Check what an input unpacks to against the limits.

    Args:
        path: The input, for the message.
        stored: Bytes of it that were read.
        content: Bytes that these became.

    Raises:
        DataError: They are too many.
        ConfigError: A limit in the environment is not a number above 0.
    """
    gib, times = bound(SIZE, GIB), bound(RATIO, TIMES)
    if content > gib * 2**30:
        found, name = f"more than {gib:g} GiB", SIZE
    elif content > max(FREE, times * stored):
        found = (
            f"{content / 2**20:,.0f} MiB from {stored:,} bytes, more than {times:g} times as many"
        )
        name = RATIO
    else:
        return
    hint = f"If the file is sound, unpack it first, or set {name} to more."
    raise DataError(Problem(path, f"unpacks to {found}"), hint=hint)


def bound(name: str, usual: float) -> float:
    """A limit from an environment variable, or the default.

    Raises:
        ConfigError: It is not a number above 0.
    """
    said = os.environ.get(name)
    if said is None:
        return usual
    try:
        found = float(said)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise ConfigError(
            Problem(name, f"expected a number above 0, found {said!r}"),
            hint=f"leave it out, or set it to {usual:g}",
        )
    return found


def _bounded(chunks: Iterator[bytes], stored: BinaryIO, path: str) -> Iterator[bytes]:
    content = 0
    for chunk in chunks:
        content += len(chunk)
        check_unpacked(path, stored.tell(), content)
        yield chunk


def _gzip(stored: BinaryIO, path: str, size: int) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=stored) as plain:
            while chunk := plain.read(min(size, _GZIP_CHUNK)):
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(path, "gzip", str(error)) from error


def _zstd(stored: BinaryIO, path: str, size: int) -> Iterator[bytes]:
    """The content of consecutive zstd frames, in chunks of any size.

    The package's own stream reader ends without an error where a file is cut off.
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
                    if chunk := frame.decompress(piece):
                        yield chunk
                    piece = frame.unused_data
    except zstandard.ZstdError as error:
        raise _damaged(path, "zstd", str(error)) from error
    if not frame.eof:
        raise _damaged(path, "zstd", "it ends before the end of a frame")


def _damaged(path: str, kind: str, reason: str) -> DataError:
    return DataError(Problem(path, f"the {kind} file is damaged or cut off ({reason})"))


def _of_size(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The content in chunks of one size, the last one shorter."""
    waiting, length = [], 0
    for chunk in chunks:
        waiting.append(chunk)
        length += len(chunk)
        if length >= size:
            joined = b"".join(waiting)
            end = length - length % size
            yield from (joined[at : at + size] for at in range(0, end, size))
            waiting, length = [joined[end:]], length - end
    if rest := b"".join(waiting):
        yield rest
