"""Read a file from a web server in blocks, from any offset.

Redirect hosts, size and time are limited by environment variables, because every command and every
process of a run reads inputs.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from time import monotonic
from typing import Any, Final

from valor_cli.data.source.decompression import bound
from valor_cli.data.source.remote.faults import Fault, RemoteError, fault_of, status_fault
from valor_cli.data.source.remote.file_systems import EXTRA, store_of
from valor_cli.extras import extra
from valor_cli.results.run import REDIRECTED

_BLOCK: Final = 1 << 18
_BUFFER: Final = 1 << 18
_LONGEST_WAIT_S: Final = 30.0

SIZE: Final = "VALOR_HTTP_GIB"
SECONDS: Final = "VALOR_HTTP_S"
HOSTS: Final = "VALOR_HTTP_HOSTS"
"""Environment variables: GiB of a file, seconds for all of it, and hosts to follow to (a,b)."""

GIB: Final = 64.0
MOST_S: Final = 3600.0

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 10

CHANGED: Final = Fault("the file changed while it was read; run again when it is complete")


class WebFile:
    """A file on a web server.

    One answer is read from its beginning to its end; where it is cut, the rest is asked for.

    Attributes:
        length: Bytes, as the server says; None before any were read, or where it says nothing.
    """

    def __init__(self, url: str) -> None:
        self.length: int | None = None
        self._url = url
        self._store, _ = store_of(url)
        self._sync = extra("fsspec.asyn", EXTRA, url).sync
        self._mark: tuple[str | None, str | None] | None = None
        self._most = bound(SIZE, GIB) * 2**30
        self._most_s = bound(SECONDS, MOST_S)
        self._begun = monotonic()

    def blocks(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end.

        Raises:
            RemoteError: The file cannot be read, or not to its end.
        """
        answer = self._call(self._answer, start)
        try:
            skipped = start if answer.status == 200 else 0
            at = start - skipped
            while block := self._call(answer.content.read, _BLOCK):
                at += len(block)
                self._check_bounds(at)
                kept = block[skipped:]
                skipped -= len(block) - len(kept)
                if kept:
                    yield kept
        finally:
            self._close(answer)

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
            if answer.status not in _REDIRECTS or location is None:
                break
            answer.close()
            address = self._followed(address, make(location, encoded=location.isascii()))
        else:
            raise RemoteError(Fault("too many redirects"))
        try:
            self._check(answer, start)
            if address != first:
                REDIRECTED[self._url] = str(address)
        except BaseException:
            answer.close()
            raise
        return answer

    def _followed(self, address: Any, location: Any) -> Any:
        """The address that an answer sends to.

        Raises:
            RemoteError: It is of another host, and not of one that may be followed to.
        """
        found = address.join(location)
        if found.scheme not in ("http", "https"):
            raise RemoteError(
                Fault(f"the server redirects to '{found.scheme}:', which is not read")
            )
        allowed = {one.strip().lower() for one in os.environ.get(HOSTS, "").split(",")}
        if found.host != address.host and (found.host or "").lower() not in allowed:
            raise RemoteError(
                Fault(
                    f"the server redirects to another host, '{found.host}'",
                    f"If that is intended, set {HOSTS}={found.host} in the environment.",
                )
            )
        return found

    def _check_bounds(self, size: int) -> None:
        """See that a file is not too large, nor too slow.

        Raises:
            RemoteError: It is.
        """
        if size > self._most:
            raise RemoteError(
                Fault(
                    f"the file has more than {self._most / 2**30:g} GiB",
                    f"Set {SIZE} in the environment to more.",
                )
            )
        if monotonic() - self._begun > self._most_s:
            raise RemoteError(
                Fault(
                    f"the file took longer than {self._most_s:g} s",
                    f"Set {SECONDS} in the environment to more, or copy the file here first.",
                )
            )

    def _check(self, answer: Any, start: int) -> None:
        """See that an answer holds the file that was begun, from the offset or from its start."""
        if answer.status == 416 and start:
            raise RemoteError(CHANGED)
        if answer.status not in (200, 206):
            wait_s = _seconds(answer.headers.get("Retry-After", ""))
            raise RemoteError(status_fault(answer.status, self._url, wait_s=wait_s))
        mark = answer.headers.get("ETag"), answer.headers.get("Last-Modified")
        length = _length(answer)
        if answer.status == 206 and _start(answer) != start:
            raise RemoteError(Fault("the server sends another part of the file than was asked for"))
        known = self.length is not None and length is not None
        if self._mark not in (None, mark) or (known and length != self.length):
            raise RemoteError(CHANGED)
        self._mark = mark
        self.length = length if self.length is None else self.length
        self._check_bounds(length or 0)

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Run a coroutine to its end on fsspec's event loop."""
        try:
            return self._sync(self._store.loop, function, *arguments)
        except RemoteError:
            raise
        except Exception as error:  # of any package beneath
            raise RemoteError(fault_of(error, self._url)) from error

    def _close(self, answer: Any) -> None:
        """Close the connection; it cannot be reused while a body is unread."""
        self._store.loop.call_soon_threadsafe(answer.close)


def _length(answer: Any) -> int | None:
    """Bytes of the whole file, as an answer says; None: it does not."""
    if answer.status == 206:
        said = answer.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        said = answer.headers.get("Content-Length", "")
    return int(said) if said.isascii() and said.isdecimal() else None


def _start(answer: Any) -> int:
    """The offset that an answer with a part of a file begins at; -1: it does not say."""
    said = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(said) if said.isascii() and said.isdecimal() else -1


def _seconds(said: str) -> float:
    """How long a server asks to wait; a date counts as nothing."""
    return min(float(said), _LONGEST_WAIT_S) if said.isascii() and said.isdecimal() else 0.0
