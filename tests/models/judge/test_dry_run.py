"""Judges that nobody asks: their replies, tokens and prices."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from valor_cli.models.judge.dry_run import SimulatedEmbedder, simulated_calls, tokens
from valor_cli.models.requests import Purpose, Request, conversation
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings import EmbedderSettings, JudgeSettings, PriceSettings


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a", 0), ("abc", 1), ("abcd" * 10, 10), ("ü" * 8, 4), ("漢" * 4, 3), ("\ud800", 0)],
)
def test_four_bytes_are_a_token(text: str, count: int) -> None:
    assert tokens(text) == count


def test_a_request_costs_its_messages_and_the_imagined_reply() -> None:
    settings = JudgeSettings(
        model="m", name="mine", price=PriceSettings(input_usd=3.0, output_usd=10.0)
    )
    calls = simulated_calls(settings, Stop())
    request = Request(
        conversation(("system", "s" * 40), ("user", "u" * 400)),
        example_reply="r" * 80,
        purpose=Purpose("metric", "model", "1"),
    )

    async def twice() -> tuple[bool, bool]:
        return (await calls.ask(request)).cached, (await calls.ask(request)).cached

    assert asyncio.run(twice()) == (False, True)
    assert calls.judge.name == "mine"
    usage = calls.usage["metric", "model"]
    assert (usage.calls, usage.cached, usage.tokens_in, usage.tokens_out) == (2, 1, 110, 20)
    assert usage.cost_usd == pytest.approx((3 * 110 + 10 * 20) / 1e6)
    assert usage.saved_usd == pytest.approx(usage.cost_usd)


def test_all_texts_have_one_vector() -> None:
    embedder = SimulatedEmbedder(EmbedderSettings(backend="litellm", model="openai/e"))
    found = asyncio.run(embedder.embed(["a", "b"]))
    assert embedder.name == "openai/e"
    assert np.array_equal(found, [[1.0], [1.0]])
    # None of it is any model's: nothing is kept, and nothing is cut.
    assert (embedder.identity.sha256, embedder.keeps, embedder.longest) == (None, None, None)
    assert embedder.cut(["a" * 99_999]) == 0
    assert EmbedderSettings().called == SimulatedEmbedder(EmbedderSettings()).name == "minilm-int8"
