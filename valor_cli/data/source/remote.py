"""Read files of web servers and object stores through fsspec.

Connections and ranges of bytes are those of fsspec's file systems. Not used are

- the files that they open: blocks of one size are too large for a look at the first bytes or too
  small to read fast, and a file that changes meanwhile is no error;
- the HTTP files: they follow a redirect to any host;
- the retries: they begin anew, where here a transfer goes on with the byte that comes next.

The length stated by a server decides where a file ends: a shorter body is not the end. Redirect
hosts, size and time of a file on the web are limited by environment variables, because every
command and every process of a run reads inputs.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from time import monotonic
from typing import Any, Final

from valor_cli.data.source.compression import bound
from valor_cli.data.source.store_errors import IS_FOLDER, TransientError, retried, status_error
from valor_cli.data.source.stores import EXTRA, store_of
from valor_cli.errors import DataError, Problem, UnreachableError
from valor_cli.extras import extra
from valor_cli.paths import is_web
from valor_cli.results.run import REDIRECTED

SIZE: Final = "VALOR_HTTP_GIB"
SECONDS: Final = "VALOR_HTTP_S"
HOSTS: Final = "VALOR_HTTP_HOSTS"
"""Environment variables: GiB of a file, seconds for all of it, and hosts to follow to (a,b)."""

GIB: Final = 64.0
MOST_S: Final = 3600.0

FIRST: Final = 1 << 19
LARGEST: Final = 1 << 23
"""Bytes of the first request, which may be all that is looked at, and of those far into an object.
Stores send 8 MiB about as fast as they send anything; smaller ones wait more than they send."""

_GROWTH: Final = 4
_AHEAD: Final = 2
"""Requests that are under way; with the block that is worked on, 24 MiB of an object."""

_BUFFER: Final = 1 << 18
_LONGEST_WAIT_S: Final = 30
_MOST_REDIRECTS: Final = 10
_RANGE: Final = re.compile(r"bytes (\d+)-\d*(?:/(\d+))?")
_MARKS: Final = ("ETag", "etag", "generation", "LastModified", "mtime", "size")


def open_url(url: str) -> io.BufferedReader:
    """A remote file for reading and seeking. Sequential reads are one transfer.

    What goes wrong is an error that names the URL, less what is secret in it: a `DataError` where
    there is no such file, else an `UnreachableError`. Transfers that are cut off are resumed and
    temporary refusals retried.
    """
    return io.BufferedReader(_file(url), _BUFFER)


def content_of(url: str, most: int) -> bytes:
    """All bytes of a file.

    Args:
        url: The file.
        most: How many bytes it may have.

    Raises:
        DataError: There is no such file, or it is larger.
        UnreachableError: It cannot be read.
    """
    with _file(url) as file:
        length = file.known_length()
        wanted = most if length is None else min(most, length)
        content = io.BufferedReader(file, _BUFFER).read(wanted + 1)
    if max(length or 0, len(content)) > most:
        found = f"{length:,} bytes" if length is not None else f"more than {most:,} bytes"
        raise DataError(Problem(url, f"the file has {found}; at most {most:,} are read"))
    return content


def _file(url: str) -> _RemoteFile:
    return _WebFile(url) if is_web(url) else _StoredObject(url)


class _RemoteFile(io.RawIOBase):
    """A remote file: what servers and stores have in common.

    A seek outside of the block that was received starts a new transfer.

    Attributes:
        length: In bytes; None before any were read, or where the server does not say.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.length: int | None = None
        self._url = url
        self._store, self._path = store_of(url)
        self._mark: tuple[object, ...] | None = None
        self._at = 0
        self._rest = memoryview(b"")
        self._blocks: Generator[bytes, None, None] | None = None

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end; errors of the packages are not translated."""
        raise NotImplementedError

    def known_length(self) -> int | None:
        """The length; None where the server does not say."""
        if self.length is None and not self._at and not self._rest:
            self._rest = memoryview(retried(self._next, self._url))
        return self.length

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Choose the next byte to read; nothing is requested until it is read."""
        if whence == io.SEEK_CUR:
            offset += self._at
        elif whence == io.SEEK_END:
            length = self.known_length()
            if length is None:
                message = "the server does not say how long this file is"
                raise DataError(Problem(self._url, message))
            offset += length
        ahead = offset - self._at
        if 0 <= ahead <= len(self._rest):
            self._rest = self._rest[ahead:]
        else:
            self._drop()
            self._rest = memoryview(b"")
        self._at = offset
        return offset

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or some of it; 0 at the end."""
        block = self._rest or memoryview(retried(self._next, self._url))
        part = block[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = block[len(part) :]
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        """Close the connection."""
        self._drop()
        super().close()

    def _next(self) -> bytes:
        """The next block; none at the end. After an error, the next call asks for it again."""
        if self._blocks is None:
            self._blocks = self._blocks_from(self._at)
        try:
            block = next(self._blocks, b"")
            if not block and self._at < (self.length or 0):
                raise self._cut_off(self._at)
        except BaseException:
            self._drop()
            raise
        return block

    def _drop(self) -> None:
        if self._blocks is not None:
            self._blocks.close()
            self._blocks = None

    def _error(self, message: str, hint: str = "") -> UnreachableError:
        return UnreachableError(Problem(self._url, message), hint=hint)

    def _changed(self) -> UnreachableError:
        return self._error("the file changed while it was read; run again when it is complete")

    def _cut_off(self, at: int) -> UnreachableError:
        message = f"cut off: {at:,} of {self.length or 0:,} bytes came"
        return TransientError(Problem(self._url, message))


class _WebFile(_RemoteFile):
    """A file on a web server.

    One answer is read from its beginning to its end; where it is cut, the rest is asked for.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._most = bound(SIZE, GIB) * 2**30
        self._most_s = bound(SECONDS, MOST_S)
        self._begun = monotonic()

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        loop = self._store.loop
        sync = extra("fsspec.asyn", EXTRA, self._url).sync
        answer = sync(loop, self._answer, start)
        try:
            skipped = start if answer.status == 200 else 0
            at = start - skipped
            while block := sync(loop, answer.content.read, _BUFFER):
                at += len(block)
                self._check_bounds(at)
                kept = block[skipped:]
                skipped -= len(block) - len(kept)
                if kept:
                    yield kept
        finally:
            # The connection cannot be reused while a body is unread.
            loop.call_soon_threadsafe(answer.close)

    async def _answer(self, start: int) -> Any:
        """The answer to one request, with the file behind it."""
        session = await self._store.set_session()
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        make = extra("yarl", EXTRA, self._url).URL
        first = address = make(self._url, encoded=self._url.isascii())
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await session.get(
                address, headers=headers, read_bufsize=_BUFFER, allow_redirects=False
            )
            location = answer.headers.get("Location")
            if answer.status not in (301, 302, 303, 307, 308) or location is None:
                break
            answer.close()
            address = self._followed(address, make(location, encoded=location.isascii()))
        else:
            raise self._error("too many redirects")
        try:
            self._check(answer, start)
        except BaseException:
            answer.close()
            raise
        if address != first:
            REDIRECTED[self._url] = str(address)
        return answer

    def _followed(self, address: Any, location: Any) -> Any:
        """The address that an answer sends to.

        Raises:
            UnreachableError: It is of another host, and not of one that may be followed to.
        """
        found = address.join(location)
        if found.scheme not in ("http", "https"):
            raise self._error(f"the server redirects to '{found.scheme}:', which is not read")
        allowed = {one.strip().lower() for one in os.environ.get(HOSTS, "").split(",")}
        if found.host != address.host and (found.host or "").lower() not in allowed:
            message = f"the server redirects to another host, '{found.host}'"
            hint = f"If that is intended, set {HOSTS}={found.host} in the environment."
            raise self._error(message, hint)
        return found

    def _check(self, answer: Any, start: int) -> None:
        """See that an answer holds the file that was begun, from the offset or from its start."""
        headers = answer.headers
        if answer.status == 416 and start:
            raise self._changed()
        if answer.status not in (200, 206):
            error = status_error(answer.status, self._url)
            if isinstance(error, TransientError):
                error.wait_s = min(_number(headers.get("Retry-After")) or 0, _LONGEST_WAIT_S)
            raise error
        length = _number(headers.get("Content-Length"))
        if answer.status == 206:
            part = _RANGE.match(headers.get("Content-Range", ""))
            if part is None or int(part[1]) != start:
                message = "the server sends another part of the file than was asked for"
                raise self._error(message)
            length = _number(part[2])
        mark = headers.get("ETag"), headers.get("Last-Modified")
        known = self.length is not None and length is not None
        if self._mark not in (None, mark) or (known and length != self.length):
            raise self._changed()
        self._mark = mark
        self.length = length if self.length is None else self.length
        self._check_bounds(length or 0)

    def _check_bounds(self, size: int) -> None:
        """See that a file is not too large, nor too slow.

        Raises:
            UnreachableError: It is.
        """
        if size > self._most:
            message = f"the file has more than {self._most / 2**30:g} GiB"
            raise self._error(message, f"Set {SIZE} in the environment to more.")
        if monotonic() - self._begun > self._most_s:
            message = f"the file took longer than {self._most_s:g} s"
            hint = f"Set {SECONDS} in the environment to more, or copy the file here first."
            raise self._error(message, hint)


def _number(said: str | None) -> int | None:
    """A number of a header; None if it is something else, as a date."""
    return int(said) if said and said.isascii() and said.isdecimal() else None


class _StoredObject(_RemoteFile):
    """An object of an object store. The next blocks are asked for ahead."""

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        if self._mark is None:
            self._mark, self.length = self._look()
        if self.length is None:
            with self._store.open(self._path, "rb") as file:
                file.seek(start)
                while block := file.read(LARGEST):
                    yield block
            return
        at = asked = start
        size = FIRST
        waiting: deque[tuple[int, Future[bytes]]] = deque()
        try:
            while at < self.length:
                # The first may be all that is looked at; what follows is asked for ahead.
                ahead = _AHEAD if at > start and self._store.async_impl else 0
                while asked < self.length and len(waiting) <= ahead:
                    end = min(asked + size, self.length)
                    waiting.append((end, self._asked(asked, end)))
                    asked, size = end, min(size * _GROWTH, LARGEST)
                end, request = waiting.popleft()
                block = bytes(request.result())
                if len(block) > end - at:
                    raise self._changed()
                if len(block) < end - at:
                    raise self._cut_off(at + len(block))
                at = end
                yield block
        finally:
            for _, request in waiting:
                request.cancel()
        if at > start + FIRST and self._look()[0] != self._mark:
            raise self._changed()

    def _look(self) -> tuple[tuple[object, ...], int | None]:
        """What tells the object from another of its name, and its length."""
        found = self._store.info(self._path)
        if found.get("type") == "directory":
            raise DataError(Problem(self._url, IS_FOLDER))
        size = found.get("size")
        return tuple(str(found.get(one)) for one in _MARKS), None if size is None else int(size)

    def _asked(self, begin: int, end: int) -> Future[bytes]:
        """A request for some bytes.

        The last one asks for a byte more than there should be, to see that there is none.
        """
        end += end == self.length
        if self._store.async_impl:
            coming = self._store._cat_file(self._path, start=begin, end=end)
            return asyncio.run_coroutine_threadsafe(coming, self._store.loop)
        done: Future[bytes] = Future()
        done.set_result(self._store.cat_file(self._path, start=begin, end=end))
        return done
