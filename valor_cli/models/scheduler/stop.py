"""Whatever ends the asking comes in; why nothing more is asked goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stop:
    """Why no more is asked: None while all goes on. Shared by all judges of a run.

    Attributes:
        reason: In words: "the budget of 2.00 US dollars is reached", "interrupted".
        kind: "budget", "interrupted", "terminated", "failed"; empty while all goes on.
        told: Called when it happens.
    """

    reason: str | None = None
    kind: str = ""
    told: list[Callable[[], None]] = field(default_factory=list)

    def now(self, kind: str, reason: str) -> None:
        """Stop; the first reason stays."""
        if self.reason is None:
            self.kind, self.reason = kind, reason
            for tell in self.told:
                tell()
