"""Requests in; replies that would fit out, for estimates: nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.calls import Calls, Limits, Stop
from valor_cli.models.judge import Price, Reply, Request
from valor_cli.models.prices import price_of
from valor_cli.models.settings import EmbedderSettings, JudgeSettings

BYTES_PER_TOKEN = 4.0
"""Of English under the tokenizers of today's models, about; what an estimate rests on."""


class ImaginedJudge:
    """A judge that replies with what each request imagines."""

    remote = False
    in_order = True
    keeps = False

    def __init__(self, settings: JudgeSettings, price: Price | None) -> None:
        self.name = settings.called
        self.identity: Mapping[str, Any] = {}
        self.price = price

    async def answer(self, request: Request) -> Reply:
        """The imagined reply, with the tokens that both sides would take."""
        prompt = sum(tokens(message.content) for message in request.messages)
        reply = tokens(request.imagined)
        cost = None if self.price is None else self.price.of(prompt, reply)
        return Reply(
            request.imagined, tokens_in=prompt, tokens_out=reply, cost_usd=cost, model=self.name
        )

    async def close(self) -> None:
        """It holds nothing."""


class ImaginedEmbedder:
    """An embedder to which all texts are the same."""

    remote = False

    def __init__(self, settings: EmbedderSettings) -> None:
        self.name = settings.model or settings.backend

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, 1) ones."""
        return np.ones((len(texts), 1))

    async def close(self) -> None:
        """It holds nothing."""


def tokens(text: str) -> int:
    """About how many tokens a text is."""
    return round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def imagined_calls(settings: JudgeSettings, stop: Stop) -> Calls:
    """Calls to an imagined judge that costs what the real one does."""
    free = settings.backend in ("replay", "scripted", "local")
    price = Price(0.0, 0.0) if free else price_of(settings)
    return Calls(ImaginedJudge(settings, price), Limits(concurrency=1), stop)
