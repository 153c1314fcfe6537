"""Circuit breaker: pause requests to a judge that keeps failing.

When a judge that has replied before fails for as many requests as may be in flight, and answers
none sent since, all requests pause. From time to time one of them is tried, without using up its
retries, and the first reply resumes all: an outage of a minute costs no sample. After `LOST_S` the
retries count again, and the judge is soon given up. A judge that never replied gets only a few
requests.
"""

from __future__ import annotations

HOPELESS = 5
"""Requests that used up their tries before the judge ever replied: it cannot be reached."""

LOST = 25
"""Requests in a row that used up their tries after it did reply: it is gone. More than
`HOPELESS`, for it may be the requests that it cannot answer."""

LOST_S = 120.0
"""And for so long nothing was answered: servers are started anew within a run."""

FIRST_PROBE_S = 0.5
LONGEST_PROBE_S = 5.0
"""Between two requests that are tried in an outage; twice as long each time until the longest."""


class Breaker:
    """The circuit breaker of a judge.

    Attributes:
        open: Requests begun, and not ended.
        replied: Whether it ever did.
        held_until: In an outage, no request goes out before this time of the loop.
    """

    def __init__(self, most_open: int | None = None) -> None:
        """Initialise; at most `most_open` requests begin, including those waiting to retry."""
        self.open = 0
        self.replied = False
        self.held_until = 0.0
        self._most_open = most_open
        self._failed = 0
        self._refused: set[int] = set()
        self._broken: set[int] = set()
        self._broken_since = 0.0
        self._failing_since = 0.0
        self._outage = False
        self._overdue = False
        self._probe_s = FIRST_PROBE_S
        self._exhausted = 0
        self._tries = 0

    def may_begin(self, limit: int) -> bool:
        """Whether another request may begin under `limit`."""
        if self._most_open is not None and self.open >= self._most_open:
            return False
        # As many as may be under way can fail at once by one hiccup. A judge that never replied
        # has not earned that.
        borne = max(HOPELESS, limit) if self.replied else 1
        return self._failed < borne or self.open < (LOST if self._overdue else HOPELESS)

    def begin(self) -> None:
        """Record that a request begins."""
        self.open += 1

    def end(self) -> None:
        """Record that a request has ended."""
        self.open -= 1

    def answered(self, sent: float) -> None:
        """Record that the judge answered, even if only to refuse a request.

        Args:
            sent: When the request went out, by the loop's clock.
        """
        self.replied = True
        self._failed = self._exhausted = 0
        self._refused.clear()
        # A server that goes down may well end what it had begun.
        if sent >= self._broken_since or not self._broken:
            self._broken.clear()
            self._outage = self._overdue = False
            self.held_until = 0.0

    def failed(self, now: float, ticket: int, limit: int, *, refused: bool) -> bool:
        """Record a failed attempt; returns whether an outage, not the request, is to blame.

        Args:
            now: The time of the loop.
            ticket: Of the request.
            limit: So many may be under way.
            refused: Whether it was refused, as a server does that is well.
        """
        if self._failed == 0:
            self._failing_since = now
        self._failed += 1
        if not self._broken and not refused:
            self._broken_since = now
        (self._refused if refused else self._broken).add(ticket)
        # In the run's tail, fewer than may be under way are left.
        many = max(HOPELESS, min(limit, self.open))
        if self.replied and not self._outage and len(self._refused | self._broken) >= many:
            self._outage = True
            self._probe_s = FIRST_PROBE_S
            self.held_until = now + self._probe_s
        if self._outage and now - self._failing_since >= LOST_S:
            self._overdue = True
            self.held_until = 0.0
        return self._outage and not self._overdue

    def sent(self, now: float) -> None:
        """Record that a request is sent; in an outage the next one is delayed."""
        if self._outage and not self._overdue:
            self._probe_s = min(LONGEST_PROBE_S, 2 * self._probe_s)
            self.held_until = now + self._probe_s

    def exhausted(self, now: float, tries: int, *, alone: bool) -> bool:
        """Record a request without retries left; return whether the judge should be given up.

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
