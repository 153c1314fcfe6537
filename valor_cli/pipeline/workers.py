"""The same work in this process or in several; the results come in the order of the work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from valor_cli.errors import Problem, ValorError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")


class Progress(Protocol):
    """Told how far a stage has come; `total` is 0 where it is not known."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


class Workers(Protocol):
    """Something that applies a function to many things."""

    count: int

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterable[R]: ...


class ThisProcess:
    """One task after the other, here."""

    count = 1

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterable[R]:
        """Results in the order of the tasks, each made when asked for."""
        return map(function, tasks)


class Processes:
    """As many tasks at a time as there are processes."""

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        self.pool = pool
        self.count = count

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterable[R]:
        """Results in the order of the tasks; the tasks must be picklable."""
        # Not pool.map: it cancels what is left when a process dies, over which the pool stumbles.
        futures = [self.pool.submit(function, task) for task in tasks]
        return (future.result() for future in futures)


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """`jobs` processes, started afresh: forking a process that holds threads may hang.

    Raises:
        ValorError: A process was ended from outside.
    """
    if jobs <= 1:
        yield ThisProcess()
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_leave_interrupts) as pool:
        try:
            yield Processes(pool, jobs)
        except BrokenProcessPool:
            # The system ends processes without a word when memory runs out.
            problem = Problem(f"--jobs {jobs}", "a process ended before its work was done")
            raise ValorError(problem, hint="memory may have run out; try fewer jobs") from None
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; the one that waits for the others handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
