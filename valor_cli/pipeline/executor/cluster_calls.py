"""Run calls on a cluster, return results in order, and report a cluster that fails."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

from distributed import CancelledError, KilledWorker, wait
from distributed.comm import CommClosedError
from msgspec import Struct, field

from valor_cli.errors import ClusterError, Problem
from valor_cli.pipeline.executor.cluster_work import Boxed, Failed, Setting, call

if TYPE_CHECKING:
    from distributed import Client, Future, Scheduler

T = TypeVar("T")

AHEAD: Final = 3
"""Calls under way for each that is worked on: two that wait bridge the way to a worker and back."""

SENT: Final = 4
"""How often a call is sent whose data went with a worker; Dask gives a task as many workers."""

_LOOK_S: Final = 1.0
"""How often a client that waits looks whether there is anyone to wait for."""


class Calls(Struct, frozen=True):
    """Calls to a cluster.

    Attributes:
        client: Of Dask.
        setting: What holds for all of them.
        place: What messages say of the cluster: "--scheduler tcp://…".
        at_once: How many the cluster works on at a time.
        patience: Seconds that it may be without any worker that takes work.
        direct: Whether workers are reached from here, past the scheduler.
    """

    client: Client
    setting: Setting
    place: str
    at_once: int
    patience: float
    direct: bool
    _run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _numbers: Iterator[int] = field(default_factory=count)

    def send(
        self, function: Callable[..., Any], arguments: Sequence[Any], *, keeps: bool = False
    ) -> Future:
        """Where the result of a call will lie. Futures among its arguments become their values."""
        # Names that no other run has: the same calls may give other results from changed files.
        name = getattr(function, "__name__", "call")
        key = f"{name}-{self._run}-{next(self._numbers)}"
        return self.client.submit(call, self.setting, function, list(arguments), keeps, key=key)

    def results(self, send: Callable[[T], Future], tasks: Iterable[T]) -> Iterator[Boxed]:
        """What calls gave, in their order; a few are under way.

        Args:
            send: Sends the call of a task, and sends it again if its data went with a worker.
            tasks: One for each call.

        Raises:
            ValorError: A call ended with it.
            ClusterError: The cluster cannot carry it out.
        """
        waiting: deque[tuple[T, Future]] = deque()
        for task in tasks:
            waiting.append((task, send(task)))
            if len(waiting) == AHEAD * self.at_once:
                yield self._given(send, *waiting.popleft())
        while waiting:
            yield self._given(send, *waiting.popleft())

    def _given(self, send: Callable[[T], Future], task: T, future: Future) -> Boxed:
        """What a call gave; its data may have to be sent more than once."""
        for attempt in range(SENT):
            found = self.result(send(task) if attempt else future)
            if found is not None:
                return found
        message = f"data of a task was lost with its worker {SENT} times"
        raise self._ended(message, "the workers may be out of memory")

    def result(self, future: Future) -> Boxed | None:
        """What a call gave; None: what the client had sent for it is lost. Raises as `results`."""
        try:
            self._wait(future)
            found = self.client.gather(future, direct=self.direct)
        except (CancelledError, CommClosedError):
            self._check_connection()
            return None
        except KilledWorker:
            message = "a task ended every worker that it ran on"
            hint = "workers may be out of memory: try smaller shards, or workers with more memory"
            raise self._ended(message, hint) from None
        if isinstance(found, Failed):
            raise found.error
        box: Boxed = found
        return box

    def _wait(self, future: Future) -> None:
        """Until a call is done.

        Raises:
            ClusterError: There has been no worker for too long.
        """
        since = time.monotonic()
        while not future.done():
            try:
                with self.client.as_current():
                    wait([future], timeout=_LOOK_S)
            except TimeoutError:
                self._check_connection()
                running, there = self.client.run_on_scheduler(worker_counts)
                if running:
                    since = time.monotonic()
                elif time.monotonic() - since > self.patience:
                    raise self._deserted(there) from None

    def _check_connection(self) -> None:
        """Raise a ClusterError where the scheduler is gone, and with it all that was kept."""
        if self.client.status != "running":
            raise self._ended("the connection to the scheduler was lost", "run it again")

    def _deserted(self, there: int) -> ClusterError:
        if not there:
            message = f"no workers for {self.patience:g} s"
            # One that cannot unpack its work, without this package, ends as well.
            return self._ended(message, "start workers that have valor-cli, and run it again")
        message = f"none of {there} workers has accepted a task for {self.patience:g} s"
        hint = "their memory is full: try smaller shards, or workers with more memory"
        return self._ended(message, hint)

    def _ended(self, text: str, hint: str) -> ClusterError:
        return ClusterError(Problem(self.place, text), hint=hint)


def worker_counts(dask_scheduler: Scheduler) -> tuple[int, int]:
    """How many workers take work, and how many there are; run by the scheduler."""
    return len(dask_scheduler.running), len(dask_scheduler.workers)
