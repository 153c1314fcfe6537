"""Run asynchronous work from synchronous code, and end it in order when a signal comes.

In a notebook an event loop already runs in the thread of the cells, and a thread can have only
one: the work then runs in another thread.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

from valor_cli.models.requests import Stop

GRACE_S = 5.0
"""How long requests under way may still take once the run is to stop."""


_SIGNALS = ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"))


class Interrupts:
    """A context in which signals stop the requests, not the program.

    A first Ctrl-C, or SIGTERM, lets requests under way end; a second one drops them.
    """

    def __init__(self, stop: Stop, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Enter in the event loop of the tasks.

        Args:
            stop: Is told of the first signal.
            tasks: Are cancelled at the second, or when the grace is over.
        """
        self._stop = stop
        self._tasks = tasks
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number, kind in _SIGNALS:
            before = signal.getsignal(number)
            # Only the main thread of a Unix process can do this; elsewhere Ctrl-C ends the program.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._signalled, kind)
                self._before[number] = before
        self._stop.callbacks.append(self._grace)

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        self._stop.callbacks.remove(self._grace)
        for number, before in self._before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, before)

    def _signalled(self, kind: str) -> None:
        if self._stop.reason is not None:
            self._drop()
        self._stop.now(kind, kind)

    def _grace(self) -> None:
        if self._stop.kind in ("interrupted", "terminated"):
            asyncio.get_running_loop().call_later(GRACE_S, self._drop)

    def _drop(self) -> None:
        for task in self._tasks:
            task.cancel()


class Halting:
    """A context in which a first signal stops the run and a second one ends the program."""

    def __init__(self, stop: Stop) -> None:
        """Only effective in the main thread."""
        self._stop = stop
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        for number, kind in _SIGNALS:
            with suppress(ValueError):
                self._before[number] = signal.signal(number, self._signalled(kind))

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _signalled(self, kind: str) -> Any:
        def halt(number: int, frame: FrameType | None) -> None:
            if self._stop.reason is not None:
                raise KeyboardInterrupt
            self._stop.now(kind, kind)

        return halt


T = TypeVar("T")

_START_S = 5.0
"""How long the thread may take to begin; an interrupt may come before it has."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion.

    Raises:
        KeyboardInterrupt: The user interrupted a cell; the work is cancelled, and has ended.
    """
    work = _watched(work)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loops: list[asyncio.AbstractEventLoop] = []
    started, ended = threading.Event(), threading.Event()

    def worked() -> T:
        try:
            with asyncio.Runner() as runner:
                loops.append(runner.get_loop())
                started.set()
                return runner.run(work)
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as beside:
        try:
            return beside.submit(worked).result()
        except KeyboardInterrupt:
            if started.wait(_START_S):
                # A loop that has just ended is closed.
                with suppress(RuntimeError):
                    for loop in loops:
                        loop.call_soon_threadsafe(_cancel_all, loop)
                # The pool waits for no thread that an interrupt kept it from noting.
                ended.wait()
            raise


async def _watched(work: Coroutine[Any, Any, T]) -> T:
    """The same work, ended by an exception in a callback of the loop.

    The loop would only log it, and the work wait for ever for what the callback should have done.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    failed: list[BaseException] = []

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None or "handle" not in context or task is None:
            loop.default_exception_handler(context)
            return
        failed.append(error)
        task.cancel()

    loop.set_exception_handler(handle)
    try:
        return await work
    except asyncio.CancelledError:
        if failed:
            raise failed[0] from None
        raise


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()
