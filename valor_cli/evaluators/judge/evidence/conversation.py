"""Ask judges about one sample and parse their replies."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import printable
from valor_cli.evaluators.judge.evidence.reply_readings import Reading, Unfit
from valor_cli.evaluators.judge.evidence.sample import Sample
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.judge.prompts import Field, Prompt
from valor_cli.models.requests import Message, NoAnswer, Purpose, Reply, Request
from valor_cli.results import JudgeCalls

if TYPE_CHECKING:
    import asyncio

    from valor_cli.models.scheduler.calls import CachedReply

T = TypeVar("T")

LONGEST = 200_000
"""Characters of a reply that are read, and kept in results; no judge has so much to say."""

QUOTED = 4_000
"""Characters of an unfit reply that its judge is shown again."""

AGAIN = 1000
"""What is added to the variant of a request each time that its words are sent again: without that
the cache would say what the judge said before. No metric has as many variants of its own."""

LONGEST_REASON = 300
"""Characters of a reason that reports show beside a value; verdicts have all of it."""


class ParseFailure(Exception):  # noqa: N818  # what it says of the sample
    """No reply could be parsed; says why the last one could not."""


class Panelist(Protocol):
    """One judge of the panel, or one repeat of it."""

    @property
    def name(self) -> str:
        """Name used in results."""

    @property
    def judge_retries(self) -> int:
        """Retries after unparsable replies, unless the metric sets its own."""

    @property
    def keep_prompts(self) -> bool:
        """Whether results keep what it was asked."""

    def prompt(self, name: str) -> Prompt:
        """The prompt of that name."""

    async def reply(self, request: Request) -> CachedReply:
        """Get the reply. Raises `NoAnswer`, `Stopped`, `ValorError`."""

    def forget(self, request: Request) -> None:
        """Remove the reply to a request from the cache. Raises `ValorError`."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) vectors of texts. Raises as `reply`."""


class Memo:
    """What was awaited, by key: a result, or the failure."""

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}

    async def once(self, key: object, make: Callable[[], Awaitable[T]]) -> T:
        """Run `make` once; a failure is shared by all callers."""
        if key not in self._found:
            try:
                self._found[key] = (await make(), None)
            except Exception as error:
                self._found[key] = (None, error)
        found, failure = self._found[key]
        if failure is not None:
            raise failure
        result: T = found
        return result


def _new_lock() -> asyncio.Lock:
    import asyncio  # runs that ask no judge do without it

    return asyncio.Lock()


@dataclass(slots=True, eq=False)
class Shared:
    """What is found once for all samples of a run, by its first judge.

    Attributes:
        panelist: The first judge.
        model: The first model of the run, for which its calls count.
        told: What results tell of it, as settings of the run.
    """

    panelist: Panelist
    model: str
    told: dict[str, str] = field(default_factory=dict)
    _found: Memo = field(default_factory=Memo)
    _lock: asyncio.Lock = field(default_factory=_new_lock)

    async def once(self, key: object, make: Callable[[], Awaitable[T]]) -> T:
        """Run `make` once; others wait for it, and share its failure."""
        async with self._lock:
            return await self._found.once(key, make)

    def conversation(self, metric: str) -> Conversation:
        """A conversation about no sample."""
        nothing = Sample(self.model, "", 0, None, None, (), None)
        return Conversation(nothing, self.panelist, metric=metric)


@dataclass(slots=True)
class Conversation:
    """The conversation of one judge about one sample, in the order of the calls.

    Attributes:
        sample: Whom it is about.
        panelist: Who is asked.
        repeat: Which time, from 0.
        metric: What is being computed; the calls count for it.
        last: The last reply.
    """

    sample: Sample
    panelist: Panelist
    repeat: int = 0
    metric: str = ""
    last: Reply | None = None
    _asked: JudgeCalls = field(default=JudgeCalls())
    _shared: Shared | None = None
    _found: Memo = field(default_factory=Memo)

    @property
    def shared(self) -> Shared:
        """What all samples of the run share."""
        if self._shared is None:
            raise ValueError("a conversation outside a run shares nothing")
        return self._shared

    async def ask(
        self,
        prompt: str | Prompt,
        reading: Reading[T],
        fields: Mapping[str, Field],
        *,
        retries: int | None = None,
        variant: int = 0,
        tools: Sequence[Mapping[str, Any]] = (),
        scores: Sequence[str] = (),
    ) -> T:
        """Ask, and repeat with the problem named while the reply cannot be parsed.

        Args:
            prompt: Its name.
            reading: What the reply has to be.
            fields: Values of the placeholders of the prompt.
            retries: How often to ask again; None: as the config says.
            variant: Tells apart requests of the same words that each want a reply of their own.
            tools: What the judge may use.
            scores: Tokens whose probabilities are wanted; `last` has them.

        Raises:
            ParseFailure: No reply fitted.
            NoAnswer: There was none.
            Stopped: The run asks no more.
        """
        asked = self.panelist.prompt(prompt) if isinstance(prompt, str) else prompt
        opening = asked.messages(fields)
        messages = opening
        sample = self.sample
        purpose = Purpose(self.metric, sample.model, sample.sample_id, asked.name)
        tries = 1 + (self.panelist.judge_retries if retries is None else retries)
        problem = ""
        sent: list[Request] = []
        for _ in range(tries):
            request = Request(
                messages=messages,
                schema=reading.schema,
                schema_name=reading.name,
                variant=variant + AGAIN * sum(one.messages == messages for one in sent),
                repeat=self.repeat,
                tools=tuple(tools),
                scores=tuple(scores),
                example_reply=reading.example_reply,
                purpose=purpose,
            )
            sent.append(request)
            reply = await self._reply(request)
            try:
                return _read(reading, reply)
            except Unfit as unfit:
                problem = _said(reply, unfit)
            messages = _again(opening, reply, problem)
        # A later run may have better luck; what a retry mended stays, as it was said.
        for request in sent:
            self.panelist.forget(request)
        raise ParseFailure(problem)

    async def once(self, key: object, make: Callable[[], Awaitable[T]]) -> T:
        """Run `make` once per sample; a failure is shared by all callers."""
        return await self._found.once(key, make)

    async def measured(
        self,
        name: str,
        measure: Callable[..., Awaitable[Outcome]],
        parameters: Mapping[str, Any],
    ) -> Outcome:
        """Run a metric on the sample once, for itself or as part of another.

        Raises:
            Missing, ParseFailure, NoAnswer, Stopped: It finds nothing.
        """
        key = (name, json.dumps(parameters, sort_keys=True, default=str))
        return await self.once(key, lambda: measure(self, **parameters))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) vectors of texts."""
        return await self.panelist.embed(texts)

    def judge_calls(self) -> JudgeCalls:
        """Calls since the last time this was read."""
        asked, self._asked = self._asked, JudgeCalls()
        return asked

    async def _reply(self, request: Request) -> Reply:
        """Get the judge's reply and count it, failed ones included."""
        before = self._asked
        try:
            answer = await self.panelist.reply(request)
        except NoAnswer as failure:
            self._asked = replace(before, calls=before.calls + failure.tries)
            raise
        reply = self.last = answer.reply
        asked = [f"{role}:\n{text}" for role, text in request.messages]
        self._asked = JudgeCalls(
            before.calls + reply.tries,
            before.cached + answer.cached,
            (*before.replies, reply.text[:LONGEST]),
            (*before.prompts, "\n\n".join(asked)) if self.panelist.keep_prompts else (),
        )
        return reply


def _read(reading: Reading[T], reply: Reply) -> T:
    """Parse a reply; a truncated one is rejected.

    Raises:
        Unfit: It does not fit.
    """
    if reply.cut:
        raise Unfit("it ends at the limit of tokens (max_tokens)")
    if len(reply.text) > LONGEST:
        raise Unfit(f"it is longer than {LONGEST:,} characters")
    return reading.read(reply.text)


def _said(reply: Reply, unfit: Unfit) -> str:
    return "the judge refused to reply" if reply.refused else str(unfit)


def _again(opening: tuple[Message, ...], reply: Reply, problem: str) -> tuple[Message, ...]:
    """The conversation after a reply that did not fit."""
    words = f"Your reply cannot be used: {problem}. Reply once more, in the form asked for, only."
    said = reply.text[:QUOTED]
    if not said.strip():
        # Servers refuse empty turns, and two turns of one side.
        *before, (role, asked) = opening
        return (*before, Message(role, f"{asked}\n\n{words}"))
    return (*opening, Message("assistant", said), Message("user", words))


def shortened(text: str) -> str:
    """Shorten a text to one line of bounded length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1].rstrip()}…"
