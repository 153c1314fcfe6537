"""Requests in; replies out, from the cache or the judge, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from valor_cli.models.judge import Judge, Reply, Request


@dataclass(frozen=True, slots=True)
class Limits:
    """How a judge may be asked; as in `JudgeSettings`."""

    concurrency: int = 8
    timeout_s: float = 60.0
    max_retries: int = 5
    budget_usd: float | None = None
    max_tokens: int = 2048


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, and whether it was kept from before."""

    reply: Reply
    cached: bool = False


@dataclass(slots=True)
class Usage:
    """What a metric asked about a model; see `results.UsageResult`."""

    calls: int = 0
    cached: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    priced: bool = True


@dataclass(slots=True)
class Stop:
    """Why no more is asked: None while all goes on. Shared by all judges of a run.

    Attributes:
        reason: In words: "the budget of 2 US dollars is reached", "interrupted".
        kind: "budget", "interrupted", "terminated"; empty while all goes on.
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


class Calls:
    """All requests of a run to one judge.

    The same request is asked once, also while its reply is awaited; a reply is stored before
    anyone sees it.
    """

    def __init__(self, judge: Judge, limits: Limits, stop: Stop) -> None:
        self.judge = judge
        self.limits = limits
        self.stop = stop
        self.usage: dict[tuple[str, str], Usage] = {}

    async def ask(self, request: Request) -> Answered:
        """The reply to a request.

        Raises:
            NoAnswer: None could be had; the sample has status judge_error.
            Stopped: The run asks no more.
            ValorError: The judge will never answer: a wrong key, an unknown model.
        """
        raise NotImplementedError
