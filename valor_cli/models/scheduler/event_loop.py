"""Run asynchronous work from synchronous code, also inside a running event loop.

In a notebook an event loop already runs in the thread of the cells, and a thread can have only
one: the work then runs in another thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

_START_S = 5.0
"""How long the thread may take to begin; an interrupt may come before it has."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion.

    Raises:
        KeyboardInterrupt: The user interrupted a cell; the work is cancelled, and has ended.
    """
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


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()
