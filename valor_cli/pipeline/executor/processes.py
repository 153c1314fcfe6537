"""Run work in several processes of this machine, passing results through files."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

from valor_cli.errors import Problem, ValorError
from valor_cli.kernels import threads
from valor_cli.pipeline.executor.executor import Kept, LocalValue, local
from valor_cli.pipeline.executor.handover import Parcel, parcel

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
K = TypeVar("K")

RESTARTS: Final = 3
"""How often processes that were ended from outside are replaced before the run gives up."""

AHEAD: Final = 8
"""Tasks a process that are handed out before the result of the first is taken: while one process
is at a long task, the others have enough to do. Large results wait in files."""


class _Work(NamedTuple):
    """One task as a process is given it: what to call, on what, and how to hand over the result."""

    function: Callable[..., Any]
    task: Any
    parts: Sequence[Parcel[Any] | LocalValue[Any]] | None
    keeps: bool
    folder: str


class Processes:
    """Runs as many tasks at a time as there are processes.

    A process that is ended from outside is replaced, and what it was at is done again.
    """

    def __init__(self, count: int, folder: str) -> None:
        self.count = count
        self.folder = folder
        self._restarts = 0
        self._pool = self._started()

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""
        yield from self._results(
            _Work(function, task, None, keeps=False, folder=self.folder) for task in tasks
        )

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """Like `map`, with the second part of each result kept in a file."""
        yield from self._results(
            _Work(function, task, None, keeps=True, folder=self.folder) for task in tasks
        )

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """Like `map`, with kept values memory-mapped."""
        yield from self._results(
            _Work(function, task, [local(one) for one in kept], keeps=False, folder=self.folder)
            for task, kept in tasks
        )

    def share(self, value: K) -> Kept[K]:
        """Share the value in a file."""
        return parcel(value, self.folder)

    def fetch(self, kept: Kept[K]) -> K:
        """Load a kept value, memory-mapped."""
        found: K = local(kept).open()
        return found

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Delete the files."""
        for one in kept:
            local(one).drop()

    def stop(self, *, at_once: bool) -> None:
        """End the processes; with `at_once` without waiting for running tasks."""
        if at_once:
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def _results(self, work: Iterable[_Work]) -> Iterator[Any]:
        """Results in order; a few tasks a process are under way, so that results do not pile up."""
        coming = iter(work)
        waiting: deque[tuple[_Work, Future[Any]]] = deque()
        while True:
            while len(waiting) < AHEAD * self.count and (one := next(coming, None)) is not None:
                waiting.append((one, self._submit(one)))
            if not waiting:
                return
            try:
                found = waiting[0][1].result()
            except BrokenProcessPool:
                self._replace()
                waiting = deque(
                    (one, future if _done(future) else self._submit(one)) for one, future in waiting
                )
                continue
            waiting.popleft()
            if isinstance(found, Parcel):
                value = found.open()
                found.drop()
                yield value
            else:
                yield found

    def _submit(self, work: _Work) -> Future[Any]:
        try:
            return self._pool.submit(_worked, work)
        except BrokenProcessPool:
            self._replace()
            return self._pool.submit(_worked, work)

    def _replace(self) -> None:
        """New processes for those that were ended.

        Raises:
            ValorError: That has happened too often.
        """
        self._restarts += 1
        if self._restarts > RESTARTS:
            # The system ends processes without a word when memory runs out.
            problem = Problem(f"--jobs {self.count}", "processes ended before they were done")
            raise ValorError(problem, hint="the machine may be out of memory; try fewer jobs")
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        """A pool whose processes are there already.

        Forked while this process has a single thread, so that they begin with everything imported:
        a tenth of a second sooner; else, or where forking is not safe, started afresh.
        """
        alone = threading.active_count() == 1 and sys.platform == "linux"
        context = multiprocessing.get_context("fork" if alone else "spawn")
        pool = ProcessPoolExecutor(self.count, context, initializer=_begin)
        if alone:
            pool.submit(os.getpid)
        return pool


@contextmanager
def processes(jobs: int, folder: str) -> Iterator[Processes]:
    """Start `jobs` processes that keep values in a folder.

    Raises:
        ValorError: Processes were ended from outside, again and again.
    """
    found = Processes(jobs, folder)
    try:
        yield found
    except BaseException:
        found.stop(at_once=True)
        raise
    found.stop(at_once=False)


def _worked(work: _Work) -> Any:
    """What a process does of one task. Large results go through a file as well."""
    if work.parts is None:
        found = work.function(work.task)
    else:
        found = work.function(work.task, [one.open() for one in work.parts])
    if work.keeps:
        told, left = found
        return told, parcel(left, work.folder)
    return parcel(found, work.folder)


def _done(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _begin() -> None:
    """Ctrl-C reaches every process of a terminal; the one that waits for the others handles it.

    The cores are shared by the processes, a thread each.
    """
    threads.alone = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
