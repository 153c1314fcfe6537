"""Judge calls: cache, retries, budget and breaker."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from valor_cli.errors import ValorError
from valor_cli.models.requests import Judge, NoAnswer, Reply, Request, Stop, Stopped
from valor_cli.models.scheduler.budget import budget_of, cost_of
from valor_cli.models.scheduler.retries import Retries

if TYPE_CHECKING:
    from valor_cli.models.scheduler.cassette import CassetteWriter
    from valor_cli.models.settings import JudgeSettings


class CachedReply(Struct, frozen=True):
    """A reply, and whether it was cached."""

    reply: Reply
    cached: bool = False


@dataclass(slots=True)
class Usage:
    """Usage of a metric for a model; see `results.UsageResult`.

    Attributes:
        counted: Whether all tokens are known.
        priced: Whether all costs are known.
        valued: Whether it is known of all that was reused what it had cost.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    priced: bool = True
    valued: bool = True

    def fail(self, tries: int = 1) -> None:
        """Record a failure after a number of requests."""
        self.calls += tries
        self.failed += 1

    def reuse(self, cost: float | None) -> None:
        """Record a cached reply and its original cost."""
        self.calls += 1
        self.cached += 1
        self.saved_usd += cost or 0.0
        self.valued &= cost is not None

    def pay(self, reply: Reply, cost: float | None) -> None:
        """Record a new reply and its cost."""
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.counted &= reply.tokens_in is not None and reply.tokens_out is not None
        self.cost_usd += cost or 0.0
        self.priced &= cost is not None


class Store(Protocol):
    """A store of replies for later runs."""

    def find(self, key: str) -> Reply | None:
        """Look up a reply by key (`cache_key`)."""

    def keep(self, key: str, request: Request, reply: Reply) -> None:
        """Store a reply durably."""

    def forget(self, key: str) -> None:
        """Delete the entry of a key, for all runs."""


def cache_key(judge: Judge, request: Request) -> str:
    """SHA-256 of everything a reply depends on."""
    said = [dict(judge.identity), request.key]
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True, eq=False)
class _Shared:
    """A reply that is awaited, by how many."""

    task: asyncio.Task[Reply]
    askers: int = 0


class Calls:
    """All requests of a run to one judge.

    The same request is asked once, also while its reply is awaited, of a judge that `keeps` its
    replies; a reply is stored before anyone sees it.

    Attributes:
        usage: What was asked, by the metric and the model of `Purpose`. A reply is paid by the
            first who asked, retries included; for all others it is a cached one. Requests that
            the run's stop left without a reply are not counted.
    """

    def __init__(
        self,
        judge: Judge,
        limits: JudgeSettings,
        stop: Stop,
        *,
        store: Store | None = None,
        recorder: CassetteWriter | None = None,
        spent_before: float = 0.0,
        role: str = "judge",
    ) -> None:
        """Create once per judge and run, for one event loop.

        Args:
            judge: Who is asked.
            limits: How: as many at a time, as often, for as long and as much as they say.
            stop: Ends the asking, of all judges of the run.
            store: Where replies are kept, and looked up if the judge `keeps` them.
            recorder: Is shown every reply, and every failure.
            spent_before: US dollars of the budget that went before, in a run that is resumed.
            role: What messages call who is asked.

        Raises:
            ConfigError: There is a budget, and the judge has no price.
        """
        self.judge = judge
        self.stop = stop
        self.usage: dict[tuple[str, str], Usage] = {}
        self._store = store if judge.keeps else None
        # What is played again has an answer for each who asked, be it that there was none.
        self._shares = judge.keeps and not judge.in_order
        self._recorder = recorder
        self._budget = budget_of(judge, limits.budget_usd, limits.max_tokens, spent_before, role)
        self._tries = Retries(judge, limits, stop, self._budget, self._take_in, role)
        self._awaited: dict[str, _Shared] = {}
        self._unreadable: dict[str, Reply] = {}
        self._raised = False

    @property
    def fatal(self) -> ValorError | None:
        """Why the judge will never answer; None if it may."""
        return self._tries.fatal

    async def ask(self, request: Request) -> CachedReply:
        """The reply to a request.

        Raises:
            NoAnswer: None could be had; the sample has status judge_error.
            Stopped: The run asks no more.
            ValorError: The judge will never answer: a wrong key, an unknown model. The run has
                stopped; one asker hears why, the others get `Stopped`.
        """
        if self.stop.reason is not None:
            raise Stopped(self.stop.reason)
        usage = self._usage_of(request)
        shared = self._awaited.get(request.key) if self._shares else None
        joined = shared is not None
        try:
            kept = None if joined else self._kept(request)
            if kept is not None:
                # Many in a row must not keep signals and other replies waiting.
                await asyncio.sleep(0)
                usage.reuse(cost_of(kept, self.judge.price))
                return CachedReply(kept, cached=True)
            reply = await self._reply_of(shared or self._begin(request))
        except NoAnswer as failure:
            # Who joined made no request of their own.
            tries = 1 if joined else failure.tries
            usage.fail(tries)
            self._record_failure(request, str(failure), tries)
            raise NoAnswer(str(failure), tries) from failure
        except ValorError as error:
            self._tries.give_up(error)
            if self._raised:
                raise Stopped(self.stop.reason) from None
            self._raised = True
            usage.fail()
            raise
        if joined:
            usage.reuse(cost_of(reply, self.judge.price))
            reply = replace(reply, tries=1)
        else:
            usage.calls += reply.tries
        return CachedReply(reply, cached=joined)

    def forget(self, request: Request) -> None:
        """Remove the reply to a request from the cache, because it could not be parsed.

        Raises:
            ValorError: The store cannot be used.
        """
        if self._store is None:
            return
        key = cache_key(self.judge, request)
        reply = self._store.find(key)
        if reply is not None:
            # Within the run the same request has the same reply.
            self._unreadable[key] = reply
            self._store.forget(key)

    def _usage_of(self, request: Request) -> Usage:
        return self.usage.setdefault((request.purpose.metric, request.purpose.model), Usage())

    def _kept(self, request: Request) -> Reply | None:
        """The reply that the store has."""
        if self._store is None:
            return None
        key = cache_key(self.judge, request)
        reply = self._unreadable.get(key) or self._store.find(key)
        if reply is not None:
            self._tries.known()
            if self._recorder is not None:
                self._recorder.record(request, reply)
        return reply

    def _begin(self, request: Request) -> _Shared:
        """Work on a request in a task of its own: those who wait for it may come and go."""
        shared = _Shared(asyncio.create_task(self._tries.reply(request)))
        if self._shares:
            self._awaited[request.key] = shared
            shared.task.add_done_callback(lambda _: self._forget(request.key, shared))
        # Whoever wanted to know of a failure may be gone.
        shared.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return shared

    def _forget(self, key: str, shared: _Shared) -> None:
        if self._awaited.get(key) is shared:
            del self._awaited[key]

    async def _reply_of(self, shared: _Shared) -> Reply:
        """Wait for a reply; the last who gives up waiting ends the work."""
        shared.askers += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.askers -= 1
            if shared.askers == 0 and not shared.task.done():
                for key in [key for key, one in self._awaited.items() if one is shared]:
                    del self._awaited[key]
                shared.task.cancel()
                await asyncio.wait({shared.task})

    def _record_failure(self, request: Request, words: str, tries: int) -> None:
        if self._recorder is None:
            return
        try:
            # Whoever replays it may call the judge otherwise.
            words = words.removeprefix(f"{self.judge.name}: ")
            self._recorder.record(request, NoAnswer(words, tries))
        except ValorError as error:
            self._tries.give_up(error)
            raise

    def _take_in(self, request: Request, reply: Reply) -> None:
        """Keep a reply before anyone sees it."""
        self._usage_of(request).pay(reply, cost_of(reply, self.judge.price))
        try:
            if self._store is not None:
                self._store.keep(cache_key(self.judge, request), request, reply)
            if self._recorder is not None:
                self._recorder.record(request, reply)
        except ValorError as error:
            self._tries.give_up(error)
            raise
