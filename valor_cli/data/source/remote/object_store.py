"""Read an object of an object store in blocks, from any offset.

The next blocks are fetched ahead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any, Final

from valor_cli.data.source.remote.faults import Fault, RemoteError, fault_of
from valor_cli.data.source.remote.file_systems import store_of
from valor_cli.data.source.remote.http import CHANGED

FIRST: Final = 1 << 19
LARGEST: Final = 1 << 23
"""Bytes of the first request, which may be all that is looked at, and of those far into an object.
Stores send 8 MiB about as fast as they send anything; smaller ones wait more than they send."""

_GROWTH: Final = 4
_AHEAD: Final = 2
"""Requests that are under way; with the block that is worked on, 24 MiB of an object."""

_MARKS: Final = ("ETag", "etag", "generation", "LastModified", "mtime", "size")


class StoredObject:
    """An object of a store.

    Attributes:
        length: Bytes, as the store says; None before any were read, or where it says nothing.
    """

    def __init__(self, url: str) -> None:
        self.length: int | None = None
        self._url = url
        self._store, self._path = store_of(url)
        self._mark: tuple[object, ...] | None = None

    def blocks(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end.

        Raises:
            RemoteError: The object cannot be read, or not to its end.
        """
        if self._mark is None:
            self._mark, self.length = self._look()
        if self.length is None:
            yield from self._in_order(start)
            return
        cuts = _cuts(start, self.length)
        waiting: deque[Callable[[], bytes]] = deque()
        try:
            for at, (begin, end) in enumerate(cuts):
                # The first may be all that is looked at; what follows is asked for ahead.
                ahead = cuts[at + len(waiting) : at + 1 + (_AHEAD if at else 0)]
                waiting.extend(self._asked(*cut) for cut in ahead)
                yield self._checked(waiting.popleft(), begin, end)
        finally:
            for fetch in waiting:
                _drop(fetch)
        if len(cuts) > 1 and self._look()[0] != self._mark:
            raise RemoteError(CHANGED)

    def _look(self) -> tuple[tuple[object, ...], int | None]:
        """What tells the object from another of its name, and its length."""
        found = call_store(lambda: self._store.info(self._path), self._url)
        if found.get("type") == "directory":
            raise RemoteError(Fault("this is a folder; name a file in it", absent=True))
        size = found.get("size")
        return tuple(str(found.get(one)) for one in _MARKS), None if size is None else int(size)

    def _asked(self, begin: int, end: int) -> Callable[[], bytes]:
        """A request that is under way; what it is called for waits for the answer.

        The last one asks for a byte more than there should be, to see that there is none.
        """
        end += end == self.length
        if not self._store.async_impl:
            return lambda: bytes(self._store.cat_file(self._path, start=begin, end=end))
        coming = self._store._cat_file(self._path, start=begin, end=end)
        return _Coming(asyncio.run_coroutine_threadsafe(coming, self._store.loop)).take

    def _checked(self, fetch: Callable[[], bytes], begin: int, end: int) -> bytes:
        """The bytes of a request.

        Raises:
            RemoteError: They are fewer, or more.
        """
        content: bytes = call_store(fetch, self._url)
        if len(content) > end - begin:
            raise RemoteError(CHANGED)
        if len(content) < end - begin:
            raise RemoteError(cut_off(begin + len(content), self.length))
        return content

    def _in_order(self, start: int) -> Generator[bytes, None, None]:
        """Of a store that says no lengths."""
        with call_store(lambda: self._store.open(self._path, "rb"), self._url) as file:
            call_store(lambda: file.seek(start), self._url)
            while block := call_store(lambda: file.read(LARGEST), self._url):
                yield block


class _Coming:
    """An answer that is awaited."""

    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def take(self) -> bytes:
        """The answer."""
        return bytes(self.future.result())


def call_store(function: Callable[[], Any], url: str) -> Any:
    """Call a function of a store, translating its errors to faults.

    Raises:
        RemoteError: It raised something.
    """
    try:
        return function()
    except RemoteError:
        raise
    except Exception as error:  # of any package beneath
        raise RemoteError(fault_of(error, url)) from error


def cut_off(at: int, length: int | None) -> Fault:
    """The fault of a truncated body."""
    whole = "" if length is None else f" of {length:,}"
    return Fault(f"cut off: {at:,}{whole} bytes came", transient=True)


def _drop(fetch: Callable[[], bytes]) -> None:
    """Discard an answer that nobody waits for."""
    coming = getattr(fetch, "__self__", None)
    if isinstance(coming, _Coming):
        coming.future.cancel()


def _cuts(start: int, length: int) -> list[tuple[int, int]]:
    """The parts that an object is read in, as (begin, end)."""
    cuts = []
    size = FIRST
    while start < length:
        cuts.append((start, min(start + size, length)))
        start += size
        size = min(size * _GROWTH, LARGEST)
    return cuts
