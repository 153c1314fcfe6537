"""Stop sending requests on SIGINT or SIGTERM and end the run in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from valor_cli.models.scheduler.stop import Stop

GRACE_S = 5.0
"""How long requests under way may still take once the run is to stop."""


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
        for number, kind in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")):
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
