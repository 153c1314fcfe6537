"""Stop flag shared by all judges of a run, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

ProgressCallback = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is."""


@dataclass(slots=True)
class Stop:
    """Why requests are stopped; None if they are not. Shared by all judges of a run.

    Attributes:
        reason: In words: "the budget of 2.00 US dollars is reached", "interrupted".
        kind: "budget", "interrupted", "terminated", "failed"; empty while all goes on.
        callbacks: Called when it happens.
    """

    reason: str | None = None
    kind: str = ""
    callbacks: list[Callable[[], None]] = field(default_factory=list)

    def now(self, kind: str, reason: str) -> None:
        """Stop; only the first reason is kept."""
        if self.reason is None:
            self.kind, self.reason = kind, reason
            for tell in self.callbacks:
                tell()
