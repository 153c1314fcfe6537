"""Run work in threads, with results in order.

For functions that release the GIL. The results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from queue import SimpleQueue
from threading import Lock, Thread, local
from typing import Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST: Final = 8
"""Threads beyond which one that hands out the work has not enough of it."""

_AHEAD: Final = 2
"""Pieces of each thread that wait for it, so that it has no need to."""

alone = False
"""Whether a thread is all that this process may use: it is one of several that share the cores."""


_here = local()
"""Of a thread that works for another: it starts none of its own, as the cores are taken."""


def usable_threads() -> int:
    """Number of threads to use: the available cores, at most `MOST`."""
    return 1 if alone or hasattr(_here, "serves") else min(_cores(), MOST)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], pieces: Iterable[T], threads: int) -> Iterator[R]:
    """Apply `work` to each piece, with results in order.

    Args:
        work: A function that spends its time where other threads may run.
        pieces: What to work on; it is advanced by the caller's thread, a little ahead of the work.
        threads: How many there are in all; the caller's is one of them, and fetches the pieces.

    Raises:
        Exception: What `work` or `pieces` raises, when it is that piece's turn.
    """
    if threads < 2:
        yield from map(work, pieces)
        return
    waiting: SimpleQueue[_Task[T, R] | None] = SimpleQueue()
    workers = [Thread(target=_serve, args=(waiting,), daemon=True) for _ in range(threads - 1)]
    for worker in workers:
        worker.start()
    pending: deque[_Task[T, R]] = deque()
    try:
        for piece in pieces:
            task = _Task(work, piece)
            waiting.put(task)
            pending.append(task)
            if len(pending) > _AHEAD * len(workers):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for task in pending:
            task.given_up = True
        for _ in workers:
            waiting.put(None)
        for worker in workers:
            worker.join()


def share(work: Callable[[slice], object], rows: int, least: int = 1, even: int = 1) -> None:
    """Apply `work` to all rows: in each thread to an equal share.

    Args:
        work: A function that spends its time where other threads may run.
        rows: How many there are.
        least: So many at least are worth a thread.
        even: Each share but the last is a multiple of it.
    """
    each = -(-max(-(-rows // usable_threads()), least) // even) * even
    at_once(work, [slice(first, min(first + each, rows)) for first in range(0, rows, each)])


def at_once(work: Callable[[T], R], pieces: Collection[T], *, worth: bool = True) -> list[R]:
    """Apply `work` to each piece, on all cores, with results in order.

    Args:
        work: A function that spends its time where other threads may run.
        pieces: What to work on.
        worth: Whether there is enough to do for several threads.
    """
    return list(in_threads(work, pieces) if worth else map(work, pieces))


def in_threads(work: Callable[[T], R], pieces: Collection[T]) -> Iterator[R]:
    """As `in_order`, on all cores, of pieces that are there: the caller's thread has none to fetch.

    Args:
        work: A function that spends its time where other threads may run.
        pieces: What to work on.
    """
    threads = min(usable_threads(), len(pieces))
    return in_order(work, pieces, threads + 1 if threads > 1 else 1)


class _Task(Generic[T, R]):
    """A piece, and its result."""

    def __init__(self, work: Callable[[T], R], piece: T) -> None:
        self._work = work
        self._piece = piece
        self._results: list[R] = []
        self._error: BaseException | None = None
        self._done = Lock()
        self._done.acquire()
        self.given_up = False

    def run(self) -> None:
        try:
            if not self.given_up:
                self._results.append(self._work(self._piece))
        except BaseException as error:
            self._error = error
        finally:
            self._done.release()

    def result(self) -> R:
        """Wait for it."""
        self._done.acquire()
        if self._error is not None:
            raise self._error
        return self._results[0]


def _serve(tasks: SimpleQueue[_Task[T, R] | None]) -> None:
    _here.serves = True
    while (task := tasks.get()) is not None:
        task.run()
