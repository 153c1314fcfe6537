"""Start local worker processes, and replace any that are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final

from valor_cli.errors import Problem, ValorError
from valor_cli.kernels import threads
from valor_cli.pipeline.executor.files import LocalWorkers, Work, worked

RESTARTS: Final = 3
"""How often processes that were ended from outside are replaced before the run gives up."""

AHEAD: Final = 8
"""Tasks a process that are handed out before the result of the first is taken: while one process
is at a long task, the others have enough to do. Large results wait in files."""


class Processes:
    """Runs as many tasks at a time as there are processes.

    A process that is ended from outside is replaced, and what it was at is done again.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._restarts = 0
        self._pool = self._started()

    def stop(self, *, at_once: bool) -> None:
        """End the processes; with `at_once` without waiting for running tasks."""
        if at_once:
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def results(self, work: Iterable[Work]) -> Iterator[Any]:
        """Results in order; a few tasks a process are under way, so that results do not pile up."""
        coming = iter(work)
        waiting: deque[tuple[Work, Future[Any]]] = deque()
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
            yield found

    def _submit(self, work: Work) -> Future[Any]:
        try:
            return self._pool.submit(worked, work)
        except BrokenProcessPool:
            self._replace()
            return self._pool.submit(worked, work)

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
        with ends_deferred():
            pool = ProcessPoolExecutor(self.count, context, initializer=_begin)
            for _ in range(self.count):
                pool.submit(os.getpid)
        return pool


@contextmanager
def processes(jobs: int, folder: str) -> Iterator[LocalWorkers]:
    """Start `jobs` processes that keep values in a folder.

    Raises:
        ValorError: Processes were ended from outside, again and again.
    """
    found = Processes(jobs)
    try:
        yield LocalWorkers(jobs, folder, found.results)
    except BaseException:
        found.stop(at_once=True)
        raise
    found.stop(at_once=False)


@contextmanager
def ends_deferred() -> Iterator[None]:
    """Let SIGTERM wait until all is started that is to be ended with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
        if told:
            signal.raise_signal(signal.SIGTERM)


def _done(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _begin() -> None:
    """Ctrl-C reaches every process of a terminal; the one that waits for the others handles it.

    The cores are shared by the processes, a thread each.
    """
    threads.alone = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
