"""What became of requests comes in; how many may be under way goes out.

The configured concurrency is the most; the server's own limit is found by its refusals. Two of
them within as many replies as requests may be under way take the limit down to what the server
serves just now. Successes take it up again one by one, each level on trial until it has held: one
refusal ends a trial. A level that was refused is tried again more and more rarely, so that nearly
all requests are accepted.
"""

from __future__ import annotations

import math
from collections import deque

RARELY = 64
"""How much more rarely, at most, a level that was refused is tried again."""


class Limiter:
    """How many requests may be under way, and from when on.

    Attributes:
        most: As configured.
        limit: As found out.
        in_flight: Under way now.
        successes: So many ever.
        paused_until: No request starts before this time of the loop.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = most
        self.in_flight = 0
        self.successes = 0
        self.paused_until = 0.0
        self._told_to_pause = False
        self._in_vain = False
        self._recent: deque[bool] = deque(maxlen=max(2, most))
        self._calm = 0
        self._on_trial = False
        self._ceiling = math.inf
        self._rarely = 1

    def start(self) -> None:
        """A request goes out."""
        self.in_flight += 1

    def drop(self) -> None:
        """A request that was to go out does not, or nobody waits for it any more."""
        self.in_flight -= 1

    def replied(self) -> None:
        """A request was answered."""
        # Nothing is learnt about a limit that was not reached.
        self._calm += self.in_flight >= self.limit
        self.in_flight -= 1
        self.successes += 1
        self._in_vain = False
        if not self._told_to_pause:
            # Our own guess of how long; the reply shows that there is room again.
            self.paused_until = 0.0
        self._recent.append(False)
        self._grow()

    def failed(self) -> None:
        """A request failed otherwise than by a refusal."""
        self.in_flight -= 1
        self._recent.append(False)

    def refused(self, now: float, wait: float, told: bool) -> None:
        """The server answers too many already.

        Args:
            now: The time of the loop.
            wait: Seconds that the refused request waits.
            told: Whether the server said so; else it is our guess.
        """
        self.in_flight -= 1
        self._calm = 0
        self._recent.append(True)
        # A single one is no sign; but none at all was refused at the level below.
        if self._on_trial:
            self._rarely = min(RARELY, 2 * self._rarely)
            self._ceiling = self.limit
            self._to(self.limit - 1)
        elif self._recent.count(True) > 1:
            self._to(max(1, min(self.in_flight, self.limit)))
        if self._in_vain or self.in_flight == 0:
            # Refused twice and nothing answered between, or none but this one under way: the
            # server counts requests over time, and all of its rate is used up.
            self._pause(now, wait, told)
        self._in_vain = True

    def _pause(self, now: float, wait: float, told: bool) -> None:
        if self.paused_until <= now:
            self._told_to_pause = False
        self.paused_until = max(self.paused_until, now + wait)
        self._told_to_pause |= told

    def resume(self, until: float) -> None:
        """A pause that was to last until that time is over, unless it was made longer since."""
        if self.paused_until <= until:
            self.paused_until = 0.0

    def _grow(self) -> None:
        if self._on_trial and self._calm >= 2 * self.limit:
            self._on_trial = False
            if self.limit >= self._ceiling:
                # What was refused before holds now.
                self._ceiling, self._rarely = math.inf, 1
        rarely = self._rarely if self.limit + 1 >= self._ceiling else 1
        if self.limit < self.most and self._calm >= 2 * self.limit * rarely:
            self._to(self.limit + 1)
            self._on_trial = True

    def _to(self, limit: int) -> None:
        self.limit = limit
        self._on_trial = False
        self._calm = 0
        self._recent = deque(maxlen=max(2, limit))
