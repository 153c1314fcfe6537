"""The workers of a Dask cluster on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from valor_cli.pipeline.executor import executor
from valor_cli.pipeline.executor.cluster_work import Boxed, boxed, summary_of_kept
from valor_cli.pipeline.executor.executor import Kept
from valor_cli.pipeline.executor.handover import LARGE, size_of

if TYPE_CHECKING:
    from distributed import Future

    from valor_cli.pipeline.executor.cluster_calls import Calls

R = TypeVar("R")
S = TypeVar("S")

_SCATTER_S: Final = 10
"""Seconds in which there must be a worker that takes what is sent ahead of a task."""


class RemoteValue:
    """A value kept in the memory of a worker.

    It goes from one worker to another where it is needed there, past the client. It is a result of
    Dask, which makes it anew from the inputs where its worker is lost.
    """

    __slots__ = ("future",)

    def __init__(self, future: Future) -> None:
        self.future = future

    def drop(self) -> None:
        """Free the memory."""
        self.future.release()


class RemoteWorkers:
    """Workers on other machines, which keep values in their memory."""

    def __init__(self, calls: Calls) -> None:
        self.count = calls.at_once
        self._calls = calls

    def map(self, function: Callable[..., R], calls: executor.Calls) -> Iterator[R]:
        """The result of each call, in their order, made where most of its kept values are."""

        def send(arguments: Any) -> Future:
            return self._calls.send(function, list(map(self._ahead, arguments)))

        for box in self._calls.results(send, calls):
            yield box.value

    def keep(
        self, function: Callable[..., tuple[S, Any]], calls: executor.Calls
    ) -> Iterator[tuple[S, Kept]]:
        """The same for functions that return two values, of which the second is kept there."""
        made: dict[int, Future] = {}

        def send(number: int) -> Future:
            arguments = list(map(self._ahead, calls[number]))
            made[number] = self._calls.send(function, arguments, keeps=True)
            return self._calls.client.submit(summary_of_kept, made[number], pure=False)

        for number, box in enumerate(self._calls.results(send, range(len(calls)))):
            yield box.value, RemoteValue(made.pop(number))

    def share(self, value: Any) -> Kept:
        """Keep a value with a worker; the scheduler can restore it."""
        return RemoteValue(self._calls.client.submit(boxed, value, pure=False))

    def _ahead(self, argument: Any) -> Any:
        """An argument, or where it lies: the scheduler would unpack a large one, and keep it."""
        if isinstance(argument, RemoteValue):
            return argument.future
        size = size_of(argument)
        if size <= LARGE:
            return argument
        try:
            return self._calls.client.scatter(
                Boxed(argument, size), direct=self._calls.direct, hash=False, timeout=_SCATTER_S
            )
        except (OSError, TimeoutError):
            # No worker is there at the moment, or the one chosen went: the scheduler waits.
            return argument
