"""Failures of a judge come in; whether it is worth asking it anything new goes out.

While tries fail and nothing is answered between them, requests that wait do not begin: an outage
of a minute costs those under way, and not every sample that is left.
"""

from __future__ import annotations

HOPELESS = 5
"""Requests that used up their tries before the judge ever replied: it cannot be reached."""

LOST = 25
"""Requests in a row that used up their tries after it did reply: it is gone. More than
`HOPELESS`, for it may be the requests that it cannot answer."""

LOST_S = 120.0
"""And for so long nothing was answered: servers are started anew within a run."""


class Breaker:
    """What the failures of a judge say about it.

    Attributes:
        open: Requests begun, and not ended.
        replied: Whether it ever did.
    """

    def __init__(self, most_open: int | None = None) -> None:
        """`most_open` requests have begun at a time, those that wait to try again included."""
        self.open = 0
        self.replied = False
        self._most_open = most_open
        self._failed = 0
        self._failing_since = 0.0
        self._exhausted = 0
        self._tries = 0

    def may_begin(self, limit: int) -> bool:
        """Whether a further request may begin, where `limit` may be under way."""
        if self._most_open is not None and self.open >= self._most_open:
            return False
        # As many as may be under way can fail at once by one hiccup. A judge that never replied
        # has not earned that.
        borne = max(HOPELESS, limit) if self.replied else 1
        return self._failed < borne or self.open < HOPELESS

    def begin(self) -> None:
        """A request begins."""
        self.open += 1

    def end(self) -> None:
        """A request has ended, however it did."""
        self.open -= 1

    def answered(self) -> None:
        """It answered, be it that a request is unanswerable."""
        self.replied = True
        self._failed = self._exhausted = 0

    def failed(self, now: float) -> None:
        """A try failed, or was refused, at that time of the loop."""
        if self._failed == 0:
            self._failing_since = now
        self._failed += 1

    def exhausted(self, now: float, tries: int, *, alone: bool) -> bool:
        """A request has used up its tries; whether no other is worth asking.

        Args:
            now: The time of the loop.
            tries: How many it made.
            alone: Whether nothing else is asked now.
        """
        self._exhausted += 1
        self._tries += tries
        if self.replied:
            return self._exhausted >= LOST and now - self._failing_since >= LOST_S
        # Where few are asked, all of them; but one hiccup says nothing.
        return self._exhausted >= HOPELESS or (alone and self._tries >= HOPELESS)
