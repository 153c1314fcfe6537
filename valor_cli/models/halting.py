"""Ctrl-C, or SIGTERM, in; a run that computes no further, and ends in order, out."""

from __future__ import annotations

import signal
from contextlib import suppress
from types import FrameType
from typing import Any

from valor_cli.models.stop import Stop

_KINDS = ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"))


class Halting:
    """While it is entered, a first signal stops the run; a second one ends the program."""

    def __init__(self, stop: Stop) -> None:
        """To be entered in the main thread; elsewhere signals do what they did before."""
        self._stop = stop
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        for number, kind in _KINDS:
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
