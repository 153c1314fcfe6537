"""Schedule requests to a judge.

This is the only place that decides whether a request begins: the run is not stopped, fewer
requests are in flight than allowed, there is no pause, the breaker is closed, and the budget
suffices.
"""

from __future__ import annotations

import asyncio
import heapq
from typing import NamedTuple, TypeVar

from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.scheduler.breaker import Breaker
from valor_cli.models.scheduler.budget import Budget, Highest
from valor_cli.models.scheduler.concurrency import Limiter, Slot

T = TypeVar("T")


class _Waiting(NamedTuple):
    """Who waits; those who have begun come before those who have not, then the first to ask."""

    fresh: bool
    ticket: int
    highest: Highest
    turn: asyncio.Future[Slot | None]


class RequestQueue:
    """A queue of requests. All waits end at once when the run stops."""

    def __init__(self, limiter: Limiter, breaker: Breaker, budget: Budget, stop: Stop) -> None:
        self._limiter = limiter
        self._breaker = breaker
        self._budget = budget
        self._stop = stop
        self._line: list[_Waiting] = []
        self._resting: set[asyncio.Future[bool]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        stop.callbacks.append(self._on_stop)

    async def take(self, ticket: int, highest: Highest, *, begun: bool) -> Slot:
        """Wait until a request may be sent; call `next` when it has ended.

        Args:
            ticket: A number of the request, the lower the sooner it was asked.
            highest: What it can cost.
            begun: Whether it went out before.

        Raises:
            Stopped: The run stopped first.
        """
        self._enter()
        turn: asyncio.Future[Slot | None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._line, _Waiting(not begun, ticket, highest, turn))
        self.next()
        try:
            slot = await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and (given := turn.result()) is not None:
                self._take_back(given, highest, begun=begun)
            # Or it stood first, and held up others that there is money for.
            self.next()
            raise
        if slot is not None and self._stop.reason is not None:
            self._take_back(slot, highest, begun=begun)
            slot = None
        if slot is None:
            raise Stopped(self._stop.reason)
        return slot

    def _enter(self) -> asyncio.AbstractEventLoop:
        """The running loop; the alarm of an earlier one, which has ended, will not ring."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._alarm = loop, None
        return loop

    async def rest(self, seconds: float) -> None:
        """Wait.

        Raises:
            Stopped: The run stopped first.
        """
        loop = self._enter()
        over: asyncio.Future[bool] = loop.create_future()
        self._resting.add(over)
        alarm = loop.call_later(seconds, _set, over, True)
        try:
            if self._stop.reason is not None or not await over:
                raise Stopped(self._stop.reason)
        finally:
            alarm.cancel()
            self._resting.discard(over)

    def next(self) -> None:
        """Release all requests that may be sent; call whenever that may have changed."""
        while self._line:
            first = self._line[0]
            if first.turn.done():
                heapq.heappop(self._line)
            elif self._stop.reason is not None:
                self._end_waits()
            elif self._must_wait(first):
                return
            elif not self._budget.fits(first.highest):
                if not self._budget.idle:
                    # Those under way may cost less than they could.
                    return
                self._stop.now("budget", self._budget.reached)
            else:
                heapq.heappop(self._line)
                self._let_out(first)

    def _must_wait(self, first: _Waiting) -> bool:
        if self._limiter.in_flight >= self._limiter.limit:
            return True
        if first.fresh and not self._breaker.may_begin(self._limiter.limit):
            return True
        return self._paused()

    def _paused(self) -> bool:
        loop = asyncio.get_running_loop()
        until = max(self._limiter.paused_until, self._breaker.held_until)
        if until <= loop.time():
            return False
        if self._alarm is None or self._alarm.cancelled() or self._alarm.when() != until:
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = loop.call_at(until, self._pause_over, until)
        return True

    def _pause_over(self, until: float) -> None:
        # The clock may be a hair before the time that was asked for.
        self._alarm = None
        self._limiter.resume(until)
        self.next()

    def _let_out(self, first: _Waiting) -> None:
        self._budget.reserve(first.highest)
        if first.fresh:
            self._breaker.begin()
        self._breaker.sent(asyncio.get_running_loop().time())
        first.turn.set_result(self._limiter.start())

    def _take_back(self, slot: Slot, highest: Highest, *, begun: bool) -> None:
        """A turn that was given is not used."""
        self._budget.lose(highest, 0.0)
        self._limiter.drop(slot)
        if not begun:
            self._breaker.end()
        self.next()

    def _on_stop(self) -> None:
        # It may be called from a signal handler, where only this wakes the loop.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end_waits)

    def _end_waits(self) -> None:
        for waiting in self._line:
            _set(waiting.turn, None)
        for over in self._resting:
            _set(over, False)
        self._line.clear()
        if self._alarm is not None:
            self._alarm.cancel()


def _set(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)
