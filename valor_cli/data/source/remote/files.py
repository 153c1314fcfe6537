"""Read remote files by URL.

Interrupted transfers are resumed and temporary refusals retried. The length stated by the store
decides where a file ends: a shorter body is not the end.
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
"""Maximum attempts for the same byte."""

_FEWER: Final = {"gs": 2, "gcs": 2}
"""Where the package beneath tries six times on its own, half a minute long."""

FIRST_WAIT_S = 0.2
"""Before the second try; twice as long before each further one."""

_ALL: Final = 1 << 62


class Source(Protocol):
    """A remote file as read by `RemoteFile`."""

    @property
    def length(self) -> int | None:
        """Length in bytes; None if not known yet."""

    def blocks(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end."""


class RemoteFile(io.RawIOBase):
    """A remote file for reading. Sequential reads are one transfer; a seek starts a new one.

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
        """Length in bytes; None if the server does not say.

        Raises:
            DataError, UnreachableError: The file cannot be read.
        """
        if self._source.length is None and not self._end:
            self._fill()
        return self._source.length

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
        return True

    def tell(self) -> int:
        """Offset of the next byte."""
        return self._end - len(self._block) + self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Seek to an offset; buffered bytes are not requested again."""
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
        """Read a number of bytes, fewer only at the end; by default all.

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
        """Fill a buffer; see `read`."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close the connection."""
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
    """Call a function and retry it after transient faults.

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
