"""Retry a judge request within its limits, with exponential backoff."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from valor_cli.errors import JudgeError, Problem, ValorError
from valor_cli.models.requests import (
    Judge,
    NoAnswer,
    PermanentError,
    RateLimited,
    Reply,
    Request,
    Stop,
    TransientError,
)
from valor_cli.models.scheduler.breaker import Breaker
from valor_cli.models.scheduler.budget import Budget, Highest, cost_of
from valor_cli.models.scheduler.concurrency import Limiter, Slot
from valor_cli.models.scheduler.request_queue import RequestQueue

if TYPE_CHECKING:
    from valor_cli.models.settings import JudgeSettings

FIRST_S = 0.5
LONGEST_S = 30.0

LONGEST_SAID_S = 120.0
"""The longest `Retry-After` that is waited for; a server that means hours is asked again sooner,
and each refusal counts."""


class Backoff:
    """Exponential backoff with jitter, or the delay that the server asked for."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311  # it spreads requests, it keeps no secret

    def wait(self, failed: int, after_s: float | None = None) -> float:
        """Seconds to wait after a number of failed attempts.

        Args:
            failed: From 1; 0 counts as 1.
            after_s: What the server asked for. 0 says nothing: to come back at once is what
                failed just now.
        """
        if after_s is not None and after_s > 0:
            return min(after_s, LONGEST_SAID_S)
        # 2**30 s is far past the longest; more would overflow a float in the end.
        whole = min(LONGEST_S, FIRST_S * 2.0 ** min(max(failed, 1) - 1, 30))
        return self._random.uniform(whole / 4, whole)


TOO_LONG_S = 600.0
"""A server that means longer by `Retry-After`, and answers nothing else, has a day's quota."""

AGAIN = "start the run again when it does; replies that came in are not paid twice"


class ReplyTimeout(TransientError):  # noqa: N818 - as other clients call it
    """A reply that is no longer awaited, although the provider may complete it."""


Said: TypeAlias = Reply | RateLimited | TransientError | PermanentError | ValorError
"""What came of an attempt."""


@dataclass(slots=True)
class _Fared:
    """How a request fared so far.

    Attributes:
        ticket: Its number; the lower, the sooner it was asked.
        progress: Requests of the judge that had been answered when it was last tried.
        made: Tries.
        failed: Those that count against `max_retries`.
        wait: Seconds until the next.
        sent: When the last one went out, by the loop's clock.
    """

    ticket: int
    progress: int
    made: int = 0
    failed: int = 0
    wait: float = 0.0
    sent: float = 0.0


class Retries:
    """The open requests to one judge.

    Attributes:
        fatal: Why the judge will never answer; None while it may.
    """

    def __init__(
        self,
        judge: Judge,
        limits: JudgeSettings,
        stop: Stop,
        budget: Budget,
        take_in: Callable[[Request, Reply], None],
        role: str = "judge",
    ) -> None:
        """Initialise; `take_in` stores a reply before it is returned."""
        self.fatal: ValorError | None = None
        self._judge = judge
        self._role = role
        self._limits = limits
        self._stop = stop
        self._budget = budget
        self._take_in = take_in
        self._backoff = Backoff()
        self._limiter = Limiter(1 if judge.in_order else limits.concurrency)
        self._breaker = Breaker(most_open=1 if judge.in_order else None)
        self._turns = RequestQueue(self._limiter, self._breaker, budget, stop)
        self._tickets = itertools.count()
        self._asked = 0

    def known(self) -> None:
        """Record that the judge has replied in an earlier run."""
        self._breaker.replied = True

    async def reply(self, request: Request) -> Reply:
        """Retry until there is a reply or a final failure.

        Raises:
            NoAnswer: There is none.
            Stopped: The run stopped before the next try.
            ValorError: There will never be one; the run has stopped.
        """
        fared = _Fared(next(self._tickets), self._limiter.successes)
        self._asked += 1
        try:
            while True:
                highest = self._budget.highest(request)
                slot = await self._turns.take(fared.ticket, highest, begun=fared.made > 0)
                fared.made += 1
                fared.sent = self._now()
                said = await self._try(request, slot, highest, fared)
                match said:
                    case Reply():
                        return said
                    case PermanentError():
                        tries = fared.made - 1 + said.tries
                        raise NoAnswer(f"{self._judge.name}: {said}", tries)
                    case ValorError():
                        raise said
                if fared.failed > self._limits.max_retries or self.fatal is not None:
                    raise self._exhausted(said, fared.made)
                await self._turns.rest(fared.wait)
        finally:
            self._asked -= 1
            if fared.made:
                self._breaker.end()
                self._turns.next()

    async def _try(self, request: Request, slot: Slot, highest: Highest, fared: _Fared) -> Said:
        """Make one attempt, and record it before the next request is sent."""
        try:
            said = await _attempted(self._judge, request, self._limits.timeout_s)
        except BaseException:
            # Cancelled, or a fault of the backend: the turn is given back in any case.
            self._limiter.drop(slot)
            self._budget.lose(highest, highest.usd)
            raise
        try:
            self._note(said, slot, highest, fared)
            if isinstance(said, Reply):
                said = replace(said, tries=fared.made - 1 + said.tries)
                self._take_in(request, said)
        finally:
            self._turns.next()
        return said

    def _note(self, said: Said, slot: Slot, highest: Highest, fared: _Fared) -> None:
        match said:
            case Reply():
                self._limiter.replied(slot)
                self._breaker.answered(fared.sent)
                self._budget.settle(highest, said)
            case RateLimited():
                self._note_refusal(said, slot, fared)
                self._budget.lose(highest, 0.0)
            case TransientError():
                self._limiter.failed(slot)
                fared.failed += not self._outage(fared, refused=False)
                fared.wait = self._backoff.wait(fared.failed, said.after_s)
                lost = isinstance(said, ReplyTimeout)
                self._budget.lose(highest, highest.usd if lost else highest.prompt_usd)
            case PermanentError():
                self._limiter.failed(slot)
                self._breaker.answered(fared.sent)
                self._budget.lose(highest, highest.prompt_usd)
            case ValorError():
                self._limiter.failed(slot)
                self._budget.lose(highest, 0.0)
                self.give_up(said)

    def _note_refusal(self, busy: RateLimited, slot: Slot, fared: _Fared) -> None:
        # While others are answered it only waits for its turn.
        in_vain = fared.progress == self._limiter.successes
        fared.failed += not self._outage(fared, refused=True) and in_vain
        fared.progress = self._limiter.successes
        fared.wait = self._backoff.wait(fared.failed, busy.after_s)
        self._limiter.refused(slot, self._now(), fared.wait)
        long = (busy.after_s or 0.0) > TOO_LONG_S
        if long and in_vain and fared.made > 1 and not self._limiter.in_flight:
            minutes = math.ceil((busy.after_s or 0.0) / 60)
            words = f"has not answered for {minutes:,} minutes: {busy}"
            self.give_up(JudgeError(self._problem(words), hint=AGAIN))

    def _outage(self, fared: _Fared, *, refused: bool) -> bool:
        """Note a failed try; whether it was no fault of this request."""
        limit = self._limiter.limit
        return self._breaker.failed(self._now(), fared.ticket, limit, refused=refused)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _problem(self, words: str) -> Problem:
        return Problem("", f"the {self._role} {self._judge.name} {words}")

    def _exhausted(self, failure: RateLimited | TransientError, made: int) -> NoAnswer | ValorError:
        """What a request that used up its tries ends with."""
        times = "1 try" if made == 1 else f"{made} tries"
        words = f"{failure}, {times}"
        if self.fatal is not None:
            return self.fatal
        if not self._breaker.exhausted(self._now(), made, alone=self._asked == 1):
            return NoAnswer(f"{self._judge.name}: {words}", made)
        if self._breaker.replied:
            what, hint = "has stopped answering", AGAIN
        elif isinstance(failure, RateLimited):
            what = "refuses all requests"
            hint = "check the provider's limits, and whether they are used up"
        else:
            what = "cannot be reached"
            hint = "check that the server is running, and check `api_base:`"
        error = JudgeError(self._problem(f"{what}: {words}"), hint=hint)
        self.give_up(error)
        return error

    def give_up(self, error: ValorError) -> None:
        """Stop the run because the judge will never answer."""
        if self.fatal is None:
            self.fatal = error
            self._stop.now("failed", str(error.problems[0]))


async def _attempted(judge: Judge, request: Request, timeout_s: float) -> Said:
    """What came of asking once.

    Args:
        judge: Who is asked.
        request: What.
        timeout_s: Seconds that the reply may take, all of it.
    """
    try:
        async with asyncio.timeout(timeout_s):
            reply = await judge.answer(request)
        # What is kept has to tell what it cost, for runs to come.
        return replace(reply, cost_usd=cost_of(reply, judge.price))
    except TimeoutError:
        return ReplyTimeout(f"no reply within {timeout_s:g} s")
    except (RateLimited, TransientError, PermanentError, ValorError) as failure:
        return failure
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled this: a backend lets out what happened within it.
        return ReplyTimeout("the backend broke off the request")
