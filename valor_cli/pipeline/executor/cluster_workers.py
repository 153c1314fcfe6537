"""Pipeline workers on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from valor_cli.pipeline.executor.cluster_work import (
    LARGE,
    Boxed,
    Call,
    boxed,
    opened,
    size_of,
    summary_of_kept,
)
from valor_cli.pipeline.executor.executor import Kept, local
from valor_cli.pipeline.executor.handover import Parcel, parcel

if TYPE_CHECKING:
    from distributed import Future

    from valor_cli.pipeline.executor.cluster_calls import Calls

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
K = TypeVar("K")

_SCATTER_S: Final = 10
"""Seconds in which there must be a worker that takes what is sent ahead of a task."""


class LocalClusterWorkers:
    """Workers on this machine that share large and kept values through memory-mapped files.

    What a worker kept outlives it.
    """

    def __init__(self, calls: Calls) -> None:
        self.count = calls.at_once
        self._calls = calls
        self._folder = calls.setting.files

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""
        return self._values(Call(function), [(task, ()) for task in tasks])

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """Like `map`, with the second part of each result kept in a file."""
        call = Call(function, keeps=True)
        for box in self._calls.results(lambda at: self._calls.send(call, tasks[at]), len(tasks)):
            yield box.told, box.value

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """Like `map`, with kept values memory-mapped."""
        return self._values(Call(function, takes_kept=True), tasks)

    def share(self, value: K) -> Kept[K]:
        """Share the value in a file."""
        return parcel(value, self._folder)

    def fetch(self, kept: Kept[K]) -> K:
        """Load a kept value, memory-mapped."""
        found: K = local(kept).open()
        return found

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Delete the files."""
        for one in kept:
            local(one).drop()

    def _values(self, call: Call, tasks: Sequence[tuple[Any, Sequence[Any]]]) -> Iterator[Any]:
        """Results of calls. Files of tasks and results are deleted once read."""
        files: dict[int, Parcel[Any]] = {}

        def send(number: int) -> Future:
            task, kept = tasks[number]
            if size_of(task) > LARGE:
                task = files[number] = parcel(task, self._folder)
            return self._calls.send(call, task, kept)

        for number, box in enumerate(self._calls.results(send, len(tasks))):
            value = opened(box.value)
            self.forget(
                one for one in (files.pop(number, None), box.value) if isinstance(one, Parcel)
            )
            yield value


class RemoteValue(Generic[K]):
    """A value kept in the memory of a cluster worker."""

    __slots__ = ("future",)

    def __init__(self, future: Future) -> None:
        self.future = future


class RemoteWorkers:
    """Workers on other machines, which keep values in their memory.

    It goes from one worker to another where it is needed there, past the client. It is a result of
    Dask, which makes it anew from the inputs where its worker is lost.
    """

    def __init__(self, calls: Calls) -> None:
        self.count = calls.at_once
        self._calls = calls

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""
        return self._values(Call(function), [(task, ()) for task in tasks])

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """Like `map`, with the second part of each result kept on its worker."""
        call = Call(function, keeps=True)
        made: dict[int, Future] = {}

        def send(number: int) -> Future:
            made[number] = self._calls.send(call, tasks[number])
            return self._calls.client.submit(summary_of_kept, made[number], pure=False)

        for number, box in enumerate(self._calls.results(send, len(tasks))):
            yield box.value, RemoteValue(made.pop(number))

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """Like `map`, with kept values, on the worker that has most of them."""
        return self._values(
            Call(function, takes_kept=True),
            [(task, [_far(one).future for one in kept]) for task, kept in tasks],
        )

    def share(self, value: K) -> Kept[K]:
        """Share the value through a worker; the scheduler can restore it."""
        return RemoteValue(self._calls.client.submit(boxed, value, pure=False))

    def fetch(self, kept: Kept[K]) -> K:
        """Transfer a kept value to this process.

        Raises:
            ValueError: It was let go.
        """
        found = self._calls.result(_far(kept).future)
        if found is None:
            raise ValueError("this value was released and cannot be fetched")
        value: K = found.value
        return value

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Free the memory."""
        for one in kept:
            _far(one).future.release()

    def _values(self, call: Call, tasks: Sequence[tuple[Any, Sequence[Any]]]) -> Iterator[Any]:
        def send(number: int) -> Future:
            task, kept = tasks[number]
            return self._calls.send(call, self._ahead(task), kept)

        for box in self._calls.results(send, len(tasks)):
            yield box.value

    def _ahead(self, task: Any) -> Any:
        """A task, or where it will lie: the scheduler would unpack a large one, and keep it."""
        size = size_of(task)
        if size <= LARGE:
            return task
        try:
            return self._calls.client.scatter(
                Boxed(task, size), direct=self._calls.direct, hash=False, timeout=_SCATTER_S
            )
        except (OSError, TimeoutError):
            # No worker is there at the moment, or the one chosen went: the scheduler waits.
            return task


def _far(kept: Kept[K]) -> RemoteValue[K]:
    """What a worker of a cluster keeps.

    Raises:
        ValueError: It does not.
    """
    if not isinstance(kept, RemoteValue):
        raise ValueError("only what was kept on the cluster can be fetched from it")
    return kept
