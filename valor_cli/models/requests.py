"""Protocol of judges, with their requests, replies and errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol


class Message(NamedTuple):
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Purpose(NamedTuple):
    """What a request is for: shown in messages and usage, not part of its identity."""

    metric: str = ""
    model: str = ""
    sample_id: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Request:
    """A question to a judge.

    Attributes:
        messages: The conversation so far.
        schema: JSON Schema of the reply; None where any text will do.
        schema_name: What the schema is called there.
        variant: Tells apart requests of the same words that each want a reply of their own.
        repeat: Which time, from 0, the whole evaluation is asked (`repeat:`).
        tools: Tools of the provider that the judge may use, as its API has them.
        scores: Tokens whose probabilities are wanted, of the last of them in the reply.
        example_reply: A reply that would fit, for estimates.
        purpose: What it is for.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    variant: int = 0
    repeat: int = 0
    tools: tuple[Mapping[str, Any], ...] = ()
    scores: tuple[str, ...] = ()
    example_reply: str = ""
    purpose: Purpose = field(default=Purpose(), compare=False)

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that the reply may depend on, except the judge and its settings."""
        said = [
            [list(message) for message in self.messages],
            self.schema,
            self.variant,
            self.repeat,
            list(self.tools),
            *([list(self.scores)] if self.scores else []),
        ]
        text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Cost of tokens in US dollars."""
        return (self.input * tokens_in + self.output * tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's reply.

    Attributes:
        text: All of it; empty where it said nothing.
        refused: Whether the provider marked it as a refusal, or filtered it.
        cut: Whether it ended at the limit of tokens.
        tokens_in, tokens_out: As the provider counted them; None: it did not.
        cost_usd: What it cost; None: the price is not known.
        model: What the provider calls the model that replied.
        tries: Requests that it took, retries included; no part of what was said.
        scores: Of the last token that is one of `Request.scores`, the probabilities of these, the
            one that was written first; None: the endpoint tells no probabilities.
    """

    text: str
    refused: bool = False
    cut: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    model: str | None = None
    tries: int = field(default=1, compare=False)
    scores: Mapping[str, float] | None = None


class Judge(Protocol):
    """A model that answers requests. Backends inherit what is usual of all else than `answer`.

    Attributes:
        name: As results call it.
        identity: All settings that its replies depend on; a part of the key of the cache.
        remote: Whether asking it leaves this machine; `--offline` forbids that.
        in_order: Whether requests must come one at a time, in an order that does not change.
        keeps: Whether its replies are worth keeping in the cache.
        price: What it costs; None: not known.
    """

    name: str
    identity: Mapping[str, Any] = MappingProxyType({})
    remote: bool = False
    in_order: bool = False
    keeps: bool = False
    price: Price | None = None

    async def answer(self, request: Request) -> Reply:
        """Make one attempt.

        Raises:
            RateLimited: It asks to come back later.
            TransientError: It failed in a way that may pass.
            PermanentError: It will never answer this request.
            ValorError: It will never answer any: a wrong key, an unknown model.
        """

    async def close(self) -> None:
        """Release resources."""
        return


class RateLimited(Exception):  # noqa: N818  # what it says of the judge
    """The judge is rate-limited (HTTP 429); `after_s` is the delay it asked for."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


class TransientError(Exception):
    """A transient failure: 5xx, a timeout, a lost connection, a truncated reply."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


class PermanentError(Exception):
    """A request that will never be answered: too long for the model, or refused by its filter.

    `tries` are the requests that it took to know.
    """

    def __init__(self, message: str, tries: int = 1) -> None:
        super().__init__(message)
        self.tries = tries


class NoAnswer(Exception):  # noqa: N818
    """A request that failed for good; its sample has status judge_error.

    `tries` are the requests that were made for it.
    """

    def __init__(self, message: str, tries: int = 1) -> None:
        super().__init__(message)
        self.tries = tries


ProgressCallback = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is."""


@dataclass(slots=True)
class Stop:
    """Why requests are stopped; None if they are not. Shared by all judges of a run.

    Attributes:
        reason: In words: "the budget of 2.00 US dollars is reached", "interrupted".
        kind: "budget", "interrupted", "terminated", "failed"; empty while all goes on.
        callbacks: Called when it happens.
    """

    reason: str | None = None
    kind: str = ""
    callbacks: list[Callable[[], None]] = field(default_factory=list)

    def now(self, kind: str, reason: str) -> None:
        """Stop; only the first reason is kept."""
        if self.reason is None:
            self.kind, self.reason = kind, reason
            for tell in self.callbacks:
                tell()


class Stopped(Exception):  # noqa: N818
    """The run sends no more requests; samples without a reply are skipped."""


def conversation(
    *messages: tuple[Literal["system", "user", "assistant"], str],
) -> tuple[Message, ...]:
    """Messages from pairs of role and text."""
    return tuple(Message(role, content) for role, content in messages)
