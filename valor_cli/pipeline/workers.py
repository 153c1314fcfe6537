"""The same work in this process or in several; the results come in the order of the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

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
        return self.pool.map(function, tasks)


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """`jobs` processes, started afresh: forking a process that holds threads may hang."""
    if jobs <= 1:
        yield ThisProcess()
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        try:
            yield Processes(pool, jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
