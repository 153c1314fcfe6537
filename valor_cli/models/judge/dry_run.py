"""Simulated judges and embedders for cost estimates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.litellm.endpoints import price_of
from valor_cli.models.protocols import Embedder, ModelIdentity
from valor_cli.models.requests import Judge, Price, Reply, Request, Stop
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.settings import EmbedderSettings, JudgeSettings, judge_backend

BYTES_PER_TOKEN = 4.0
"""Of English under the tokenizers of today's models, about; what an estimate rests on."""


class SimulatedJudge(Judge):
    """A judge that returns each request's simulated reply."""

    in_order = True

    def __init__(self, settings: JudgeSettings, price: Price | None) -> None:
        self.name = settings.called
        self.keeps = judge_backend(settings.backend).keeps
        self.price = price

    async def answer(self, request: Request) -> Reply:
        """A simulated reply, with the tokens that both sides would use."""
        prompt = sum(tokens(message.content) for message in request.messages)
        reply = tokens(request.example_reply)
        cost = None if self.price is None else self.price.of(prompt, reply)
        return Reply(
            request.example_reply,
            tokens_in=prompt,
            tokens_out=reply,
            cost_usd=cost,
            model=self.name,
        )


class SimulatedEmbedder(Embedder):
    """An embedder with the same vector for all texts."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self.name = settings.called
        self.identity = ModelIdentity(self.name)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, 1) ones."""
        return np.ones((len(texts), 1))


def tokens(text: str) -> int:
    """Approximate number of tokens of a text."""
    return round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


class SimulatedStore:
    """The replies of one estimate: a repeated request is counted once, as in a run."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}

    def find(self, key: str) -> Reply | None:
        """The earlier simulated reply, if any."""
        return self._replies.get(key)

    def keep(self, key: str, request: Request, reply: Reply) -> None:
        """Remember a simulated reply and its cost."""
        self._replies[key] = reply

    def forget(self, key: str) -> None:
        """Forget it."""
        self._replies.pop(key, None)


def simulated_calls(settings: JudgeSettings, stop: Stop) -> Calls:
    """Calls to a simulated judge with the prices of the real one."""
    free = judge_backend(settings.backend).free and settings.price is None
    price = Price(0.0, 0.0) if free else price_of(settings)
    judge = SimulatedJudge(settings, price)
    # No budget stops an estimate.
    limits = settings.model_copy(update={"budget_usd": None})
    return Calls(judge, limits, stop, store=SimulatedStore())
