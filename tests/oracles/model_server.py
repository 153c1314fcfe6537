"""Requests to a simulated model server come in; replies or failures go out, in virtual time.

What it served, and how busy it was, is noted on the server's side, apart from the code under test.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from valor_cli.models.requests import (
    Judge,
    NoAnswer,
    Price,
    Purpose,
    RateLimited,
    Reply,
    Request,
    TransientError,
    conversation,
)
from valor_cli.models.settings import JudgeSettings


def question(name: object, metric: str = "m", model: str = "") -> Request:
    """A request like no other of that name."""
    return Request(conversation(("user", f"question {name}")), purpose=Purpose(metric, model))


def limits(**said: Any) -> JudgeSettings:
    """How a judge is asked."""
    return JudgeSettings(model="fake", **said)


@dataclass
class FakeJudge(Judge):
    """A judge that does for each try what `tell` says, given the request and the try's number.

    Attributes:
        tell: A reply, a failure to raise, or a pair of seconds and one of these.
        asked: The requests tried, in order.
        at: When, by the loop's clock.
        most: So many were under way at once.
        dropped: So many were cancelled.
    """

    tell: Callable[[Request, int], Any] = lambda request, number: Reply("yes")
    name: str = "fake"
    identity: Mapping[str, Any] = field(default_factory=lambda: {"model": "fake"})
    remote: bool = True
    in_order: bool = False
    keeps: bool = True
    price: Price | None = None

    def __post_init__(self) -> None:
        self.asked: list[Request] = []
        self.at: list[float] = []
        self.under_way = self.most = self.dropped = 0

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        self.at.append(asyncio.get_running_loop().time())
        told = self.tell(request, self.asked.count(request))
        seconds, told = told if isinstance(told, tuple) else (0.0, told)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.dropped += 1
            raise
        finally:
            self.under_way -= 1
        if isinstance(told, BaseException):
            raise told
        return told


class Kept:
    """A store, and a recorder, in memory."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.recorded: list[tuple[Request, Reply | NoAnswer]] = []

    def find(self, key: str) -> Reply | None:
        return self.replies.get(key)

    def keep(self, key: str, request: Request, reply: Reply) -> None:
        assert key not in self.replies, "asked twice"
        self.replies[key] = reply

    def forget(self, key: str) -> None:
        del self.replies[key]

    def record(self, request: Request, reply: Reply | NoAnswer) -> None:
        self.recorded.append((request, reply))


@dataclass
class ModelServer(Judge):
    """A judge behind a server that serves so many at a time and so many a second.

    Attributes:
        at_a_time: More are refused.
        latency: Seconds to a reply, drawn from it.
        refusal_s: Seconds to a refusal.
        retry_after: What refusals say.
        rate, burst: Of a token bucket that starts full; None: none. Its refusals say when the
            next token comes.
        failing: The part of requests that end in a 500, halfway.
        stray: The part of requests that are refused for nothing, every other one with a
            Retry-After of 0.2 to 1 s.
        stalled: The part that is never answered, and holds its place until who asked hangs up.
        cut: The part whose connection breaks after a quarter of the time.
        down: Since when and until when every request fails at once; None: never.
        name, keeps: As of any judge.
    """

    at_a_time: int = 1000
    latency: Callable[[random.Random], float] = lambda chance: chance.uniform(0.5, 2.0)
    refusal_s: float = 0.02
    retry_after: float | None = None
    rate: float | None = None
    burst: int = 1
    failing: float = 0.0
    stray: float = 0.0
    stalled: float = 0.0
    cut: float = 0.0
    down: tuple[float, float] | None = None
    seed: int = 0
    name: str = "server"
    keeps: bool = True

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.under_way = 0
        self.answered: Counter[str] = Counter()
        self.refused = 0
        self.failed = 0
        self.strays = 0
        self.refused_while_down = 0
        self.busy: list[tuple[float, int]] = []
        self.ends: list[float] = []
        self._tokens = float(self.burst)
        self._filled = 0.0

    async def answer(self, request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        if self.down is not None and self.down[0] <= loop.time() < self.down[1]:
            self.refused_while_down += 1
            raise TransientError("connection refused")
        if self.stray and self.chance.random() < self.stray:
            self.strays += 1
            await asyncio.sleep(self.refusal_s)
            after = self.chance.uniform(0.2, 1.0) if self.strays % 2 else None
            raise RateLimited("HTTP 429", after)
        wait = self._wait_for_token(loop.time())
        if self.under_way >= self.at_a_time or wait > 0:
            self.refused += 1
            await asyncio.sleep(self.refusal_s)
            raise RateLimited("HTTP 429", wait if wait > 0 else self.retry_after)
        self._tokens -= 1
        seconds, failure = self._fate()
        self._now(+1)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._now(-1)
        if failure is not None:
            self.failed += 1
            raise failure
        self.answered[request.key] += 1
        self.ends.append(loop.time())
        return Reply("yes", tokens_in=5, tokens_out=1)

    def _fate(self) -> tuple[float, TransientError | None]:
        """How long a request is worked on, and what it ends with if not with a reply."""
        drawn, seconds = self.chance.random(), self.latency(self.chance)
        if drawn < self.failing:
            return seconds / 2, TransientError("HTTP 500")
        if drawn < self.failing + self.cut:
            return seconds / 4, TransientError("the connection broke")
        if drawn < self.failing + self.cut + self.stalled:
            return 1e9, None
        return seconds, None

    def _wait_for_token(self, now: float) -> float:
        if self.rate is None:
            return 0.0
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.rate)
        self._filled = now
        # A hair less than a token is one: sums of floats.
        return max(0.0, 1 - 1e-9 - self._tokens) / self.rate

    def _now(self, change: int) -> None:
        self.under_way += change
        self.busy.append((asyncio.get_running_loop().time(), self.under_way))

    def in_use(self, start: float, end: float) -> float:
        """The mean number under way between two times."""
        total = 0.0
        following: Sequence[tuple[float, int]] = [*self.busy[1:], (math.inf, 0)]
        for (since, count), (until, _) in zip(self.busy, following, strict=True):
            total += count * max(0.0, min(until, end) - max(since, start))
        return total / (end - start)

    def steady(self) -> tuple[float, float]:
        """From when a twentieth was answered to when all but a twentieth was."""
        ends = sorted(self.ends)
        return ends[len(ends) // 20], ends[-len(ends) // 20]
