"""A URL comes in; the file behind it goes out.

What is cut off or refused for a moment is asked for again, from where it stopped. What the store
says of the length decides where a file ends: a body that is shorter is no end.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Generator
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from valor_cli.data.source.remote.faults import RemoteError, error_of
from valor_cli.data.source.remote.http import WebFile
from valor_cli.data.source.remote.object_store import StoredObject, cut_off
from valor_cli.errors import DataError, Problem
from valor_cli.paths import is_web, scheme_of

T = TypeVar("T")

TRIES: Final = 5
"""How often in a row the same byte is asked for."""

_FEWER: Final = {"gs": 2, "gcs": 2}
"""Where the package beneath tries six times on its own, half a minute long."""

FIRST_WAIT_S = 0.2
"""Before the second try; twice as long before each further one."""

_ALL: Final = 1 << 62


class Source(Protocol):
    """A file somewhere else, as `RemoteFile` reads it."""

    @property
    def length(self) -> int | None:
        """Bytes; None before any were read, and where that is not known."""

    def blocks(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end."""


class RemoteFile(io.RawIOBase):
    """A file behind a URL, for reading. Read in order it is one transfer; a seek is a new one.

    What goes wrong is an error that names the URL, less what is secret in it: a `DataError` where
    there is no such file, else an `UnreachableError`.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._source: Source = WebFile(url) if is_web(url) else StoredObject(url)
        self._blocks: Generator[bytes, None, None] | None = None
        self._block = b""
        self._at = 0
        self._end = 0

    def length(self) -> int | None:
        """Bytes; None where the server does not say.

        Raises:
            DataError, UnreachableError: The file cannot be read.
        """
        if self._source.length is None and not self._end:
            self._fill()
        return self._source.length

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._end - len(self._block) + self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset; what is in memory already is not asked for again."""
        if whence == io.SEEK_CUR:
            offset += self.tell()
        elif whence == io.SEEK_END:
            offset += self._known_length()
        begin = self._end - len(self._block)
        if begin <= offset <= self._end:
            self._at = offset - begin
        else:
            self._drop()
            self._block, self._at, self._end = b"", 0, offset
        return offset

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, fewer only at the end; all that are left by default.

        Raises:
            DataError, UnreachableError: The file cannot be read.
        """
        wanted = size if size is not None and size >= 0 else _ALL
        parts = []
        while wanted:
            if self._at == len(self._block) and not self._fill():
                break
            part = self._block[self._at : self._at + wanted]
            self._at += len(part)
            wanted -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; as `read`."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Let go of the connection."""
        self._drop()
        super().close()

    def _known_length(self) -> int:
        length = self.length()
        if length is None:
            raise DataError(Problem(self._url, "the server does not say how long this file is"))
        return length

    def _fill(self) -> bool:
        """The next block in place of the last; False: there is none."""
        block = retried(self._next, self._url)
        if block:
            self._end += len(block)
            self._block, self._at = block, 0
        return bool(block)

    def _next(self) -> bytes:
        """The bytes after the last block; none at the end.

        Raises:
            RemoteError: They did not come; the next try begins where they should have.
        """
        if self._blocks is None:
            self._blocks = self._source.blocks(self._end)
        try:
            block = next(self._blocks, b"")
            length = self._source.length
            if not block and length is not None and self._end < length:
                raise RemoteError(cut_off(self._end, length))
        except BaseException:
            self._drop()
            raise
        return block

    def _drop(self) -> None:
        if self._blocks is not None:
            self._blocks.close()
            self._blocks = None


def retried(function: Callable[[], T], url: str) -> T:
    """What a function gives that asks for something, which is tried again where that may help.

    Raises:
        DataError, UnreachableError: It did not help, or could not.
    """
    wait_s = FIRST_WAIT_S
    tries = min(TRIES, _FEWER.get(scheme_of(url) or "", TRIES))
    for left in range(tries - 1, -1, -1):
        try:
            return function()
        except RemoteError as error:
            fault = error.fault
            if not fault.transient:
                raise error_of(url, fault) from error
            if left:
                time.sleep(max(wait_s, fault.wait_s))
            wait_s *= 2
    message = f"{fault.message}; it was tried {tries} times"
    raise error_of(url, replace(fault, message=message))


def content_of(url: str, most: int) -> bytes:
    """All bytes of a file.

    Args:
        url: The file.
        most: How many bytes it may have.

    Raises:
        DataError: There is no such file, or it is larger.
        UnreachableError: It cannot be read.
    """
    with RemoteFile(url) as file:
        length = file.length()
        content = b"" if length is not None and length > most else file.read(most + 1)
    if len(content) > most or (length or 0) > most:
        found = f"{length:,} bytes" if length is not None else f"more than {most:,} bytes"
        raise DataError(Problem(url, f"the file has {found}; at most {most:,} are read"))
    return content
