"""Requests to models in; what came of each in a worker of a Dask cluster out.

They go past Dask's queue of tasks, which has a place for each core and does again, unasked, what
a lost worker was at: a request takes no core, and may cost money each time.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from valor_cli.errors import ClusterError, Problem, ValorError
from valor_cli.pipeline.cluster_versions import check_like, lacks_package

if TYPE_CHECKING:
    from valor_cli.pipeline.cluster_calls import Calls

T = TypeVar("T")
R = TypeVar("R")

_LOOK_S: Final = 0.2
"""How often it is looked whether there are workers again."""

_CLOSE_S: Final = 5.0
"""Seconds that workers have to close their connections."""


@dataclass(frozen=True, slots=True)
class _Broke:
    """An error that is nobody's fault but ours, in words."""

    told: str


class Asking:
    """The workers of a cluster as those who ask models; for one event loop, which is not Dask's."""

    def __init__(self, calls: Calls) -> None:
        """Nothing is sent yet."""
        self._calls = calls
        self._busy: Counter[str] = Counter()

    async def one(self, function: Callable[[T], Awaitable[R]], task: T) -> R:
        """What a function gives in the worker that has the least to ask; it is called once.

        Raises:
            ConnectionError: The worker was lost.
            ClusterError: There is none, or no scheduler.
            ValorError: The worker is not like this process.
        """
        found = await self._in_dasks_loop(self._sent(function, task))
        if isinstance(found, ValorError):
            raise found
        if isinstance(found, _Broke):
            raise RuntimeError(f"in a worker: {found.told}")
        return cast("R", found)

    async def all(self, function: Callable[[T], Awaitable[None]], task: T) -> None:
        """Call a function in all workers; those that cannot be reached have nothing to lose."""
        client, installed = self._calls.client, self._calls.setting.installed

        async def sent() -> None:
            await client.run(in_worker, installed, function, task, on_error="return")

        # Dask has many words for what is gone.
        with suppress(Exception):
            await asyncio.wait_for(self._in_dasks_loop(sent()), _CLOSE_S)

    async def _in_dasks_loop(self, work: Coroutine[Any, Any, T]) -> T:
        loop: asyncio.AbstractEventLoop = self._calls.client.loop.asyncio_loop
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    async def _sent(self, function: Callable[[T], Awaitable[R]], task: T) -> Any:
        address = await self._idlest()
        self._busy[address] += 1
        try:
            found = await self._calls.client.run(
                in_worker, self._calls.setting.installed, function, task, workers=[address]
            )
        except Exception as error:
            self._check_connection()
            if isinstance(error, OSError):
                raise ConnectionError(f"worker {address} was lost") from error
            told = f"worker {address} cannot ask: {type(error).__name__}: {error}"
            hint = "install valor-cli on all workers" if lacks_package(error) else "run it again"
            raise self._ended(told, hint) from None
        finally:
            self._busy[address] -= 1
        return found[address]

    async def _idlest(self) -> str:
        """The worker with the fewest requests under way; waits for one, if there is none.

        Raises:
            ClusterError: None came.
        """
        since = time.monotonic()
        while True:
            self._check_connection()
            try:
                there: dict[str, int] = await self._calls.client.nthreads()
            except OSError:
                there = {}
            if there:
                return min(there, key=lambda address: (self._busy[address], address))
            if time.monotonic() - since > self._calls.patience:
                told = f"there has been no worker for {self._calls.patience:g} s"
                raise self._ended(told, "start workers that have valor-cli, and run it again")
            await asyncio.sleep(_LOOK_S)

    def _check_connection(self) -> None:
        if self._calls.client.status != "running":
            raise self._ended("the connection to the scheduler was lost", "run it again")

    def _ended(self, told: str, hint: str) -> ClusterError:
        return ClusterError(Problem(self._calls.place, told), hint=hint)


async def in_worker(
    client: Mapping[str, str], function: Callable[[T], Coroutine[Any, Any, R]], task: T
) -> Any:
    """What a function gives, in a loop of its own: Dask's has to answer the scheduler.

    Nothing is raised: Dask would write what was sent to the log of the worker.

    Args:
        client: What is installed there; empty: the same.
        function: What is called.
        task: With what.
    """
    try:
        check_like(client)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(function(task), _loop()))
    except ValorError as error:
        return error
    except Exception:
        return _Broke(traceback.format_exc())


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own, as long as this process lives."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="asking", daemon=True).start()
    return loop
