"""Unpack gzip and zstd inputs, within limits.

A gzip file of a megabyte can hold a gigabyte, a zstd file of a megabyte thirty. The limits are
checked while an input is read, so nothing of that size is ever in memory. They are set by
environment variables, because every command and every process of a run reads inputs.
"""

from __future__ import annotations

import gzip
import math
import os
import sys
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
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

_CHUNK: Final = 1 << 22
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
        yield from _gzip(stored, path, min(size, _CHUNK))
    elif _is_zstd(magic):
        yield from _zstd(stored, path, min(size, _CHUNK))
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


def _gzip(stored: BinaryIO, path: str, size: int) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=stored) as plain:
            yield from _bounded(plain, stored, path, size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(path, "gzip", error) from error


def _zstd(stored: BinaryIO, path: str, size: int) -> Iterator[bytes]:
    # Its import costs 5 ms, which most runs can save.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    window = zstd.DecompressionParameter.window_log_max
    try:
        # By default what `zstd --long` above 27 writes is refused.
        with zstd.ZstdFile(stored, options={window: window.bounds()[1]}) as plain:
            yield from _bounded(plain, stored, path, size)
    except (EOFError, zstd.ZstdError) as error:
        raise _damaged(path, "zstd", error) from error


def _bounded(plain: BufferedIOBase, stored: BinaryIO, path: str, size: int) -> Iterator[bytes]:
    content = 0
    while chunk := plain.read(size):
        content += len(chunk)
        check_unpacked(path, stored.tell(), content)
        yield chunk


def _damaged(path: str, kind: str, error: Exception) -> DataError:
    return DataError(Problem(path, f"the {kind} file is damaged or cut off ({error})"))
