"""Adaptive limit on the number of requests in flight.

The configured concurrency is the maximum; the server's own limit is inferred from its refusals.
Many servers also refuse single requests for reasons unrelated to load; a limit that followed those
would soon be one. So each request records its level, the number in flight when it was sent, and a
refusal lowers the limit only if the server has not recently served most requests of that level.
The limit then falls to what is served now. Successes raise it again one by one, each level on
trial until it has held. A refused level is retried more and more rarely, so that nearly all
requests are accepted, but soon if it was served recently, since a server may be short of capacity
only for a moment.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

RARELY = 128
"""Replies, at most, after which a level that was refused is tried again: a trial costs a refusal,
so fewer than one in a hundred are spent on them."""

IN_A_ROW = 4
"""So many refusals with nothing answered between are the server's doing, whatever was before."""

FEW = 1 / 4
"""A part of the requests at a level that is no more than chance."""


@dataclass(slots=True, eq=False)
class Slot:
    """A request in flight; `level` is the number in flight when it was sent, without refused
    ones.
    """

    level: int


class Limiter:
    """Limits the requests in flight, and pauses.

    Attributes:
        most: As configured.
        limit: As found out.
        successes: So many ever.
        paused_until: No request starts before this time of the loop.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = most
        self.successes = 0
        self.paused_until = 0.0
        self._under_way: dict[Slot, None] = {}
        self._recent: deque[tuple[int, bool]] = deque(maxlen=max(8, 4 * most))
        self._in_a_row = 0
        self._calm = 0
        self._on_trial = False
        self._ceiling = math.inf
        self._rarely = 1

    @property
    def in_flight(self) -> int:
        """Number of requests in flight."""
        return len(self._under_way)

    def start(self) -> Slot:
        """Record that a request is sent."""
        slot = Slot(self.in_flight + 1)
        self._under_way[slot] = None
        return slot

    def drop(self, slot: Slot) -> None:
        """Release a slot whose request was not sent or is no longer awaited."""
        del self._under_way[slot]

    def replied(self, slot: Slot) -> None:
        """Record that a request was answered."""
        # Nothing is learnt about a limit that was not reached.
        self._calm += self.in_flight >= self.limit
        self._accepted(slot)
        self.successes += 1
        self._grow()

    def failed(self, slot: Slot) -> None:
        """Record that a request failed, other than by refusal."""
        self._accepted(slot)

    def _accepted(self, slot: Slot) -> None:
        del self._under_way[slot]
        self._in_a_row = 0
        self._recent.append((slot.level, True))

    def refused(self, slot: Slot, now: float, wait: float) -> None:
        """Record a refusal because of load.

        Args:
            slot: What the request had.
            now: The time of the loop.
            wait: Seconds that the refused request waits.
        """
        held = self._free_refused(slot)
        self._recent.append((slot.level, False))
        self._in_a_row += 1
        if self._by_load(slot.level, held):
            self._shrink()
        if self.in_flight == 0:
            # None but this one was under way: the server counts requests over time, and all of
            # its rate is used up.
            self.paused_until = now + wait

    def _free_refused(self, slot: Slot) -> int:
        """End a request that took no place.

        Returns:
            So many went out before it at its level or above, and were not refused till now.
        """
        held, later = 0, False
        for other in self._under_way:
            if other is slot:
                later = True
            elif later:
                other.level -= 1
            else:
                held += other.level >= slot.level
        del self._under_way[slot]
        return held

    def _by_load(self, level: int, held: int) -> bool:
        """Whether a refusal at that level means that the server serves fewer."""
        if self._in_a_row >= IN_A_ROW:
            return True
        recent = list(self._recent)[-max(8, 2 * self.limit) :]
        served = held + sum(accepted and at >= level for at, accepted in recent)
        refused = sum(not accepted and at == level for at, accepted in recent)
        # A single one is no sign, unless of a level that never held, where there are no strays.
        borne = 0 if self._on_trial and not self._strays(level) else 1
        return refused > borne and refused > FEW * (served + refused)

    def _strays(self, level: int) -> bool:
        """Whether some, but few, that went out below a level were refused lately."""
        below = [accepted for at, accepted in self._recent if at < level]
        return 0 < below.count(False) < FEW * len(below)

    def _served_lately(self, level: int) -> bool:
        """Whether a level was served so often that it is likely to be again."""
        served = sum(accepted and at >= level for at, accepted in self._recent)
        # Without strays every refusal is meant, and the few that were served had luck.
        return served >= max(IN_A_ROW, FEW * level) and self._strays(level)

    def _shrink(self) -> None:
        if self._on_trial:
            again = self.limit >= self._ceiling and not self._served_lately(self.limit)
            self._rarely = min(2 * RARELY, 2 * self._rarely) if again else 1
            self._ceiling = self.limit
            self._to(self.limit - 1)
        else:
            self._to(max(1, min(self.in_flight, self.limit)))

    def resume(self, until: float) -> None:
        """End a pause."""
        if self.paused_until <= until:
            self.paused_until = 0.0

    def _grow(self) -> None:
        if self._on_trial and self._calm >= 2 * self.limit:
            self._on_trial = False
            if self.limit >= self._ceiling:
                # What was refused before holds now.
                self._ceiling, self._rarely = math.inf, 1
        enough = self.limit / 2
        if self.limit + 1 >= self._ceiling:
            enough = max(enough, min(RARELY, enough * self._rarely))
        if self.limit < self.most and self._calm >= enough:
            self._to(self.limit + 1)
            self._on_trial = True

    def _to(self, limit: int) -> None:
        self.limit = limit
        self._on_trial = False
        self._calm = 0
