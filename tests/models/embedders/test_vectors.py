"""The vectors of a run: each distinct text embedded once, whoever asks, in whatever order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.text_models import drawn
from valor_cli.errors import ValorError
from valor_cli.models.embedders import vectors as module
from valor_cli.models.embedders.vector_store import FILE, VectorStore
from valor_cli.models.embedders.vectors import STAGE, Vectors
from valor_cli.models.protocols import Embedder, ModelIdentity
from valor_cli.models.requests import NoAnswer, Stop, Stopped


class CountingEmbedder(Embedder):
    """Vectors that are the text's own; it remembers what it was asked for."""

    name = "counting"
    identity = ModelIdentity("counting", "4" * 64)
    keeps = "counting"
    longest: int | None = 20

    def __init__(self, kind: Any = np.float32, dimensions: int = 3) -> None:
        self.kind = kind
        self.dimensions = dimensions
        self.calls: list[list[str]] = []
        self.before: Callable[[Sequence[str]], None] = lambda texts: None

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        self.before(texts)
        for _ in range(5):
            await asyncio.sleep(0)
        return self.of(texts)

    def of(self, texts: Sequence[str]) -> Any:
        drew = [drawn(text).normal(size=self.dimensions) for text in texts]
        return np.array(drew).reshape(len(texts), self.dimensions).astype(self.kind)

    def cut(self, texts: Sequence[str]) -> int:
        return sum(len(text) > 20 for text in texts)


def opened(embedder: Embedder, **more: Any) -> Vectors:
    given = {"stop": Stop(), "on_progress": lambda *_: None, **more}
    return Vectors(embedder, **given)


def embedded(vectors: Vectors, *texts: str) -> Any:
    return asyncio.run(vectors.embed(texts))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_each_distinct_text_is_embedded_once_and_its_numbers_stay(kind: Any) -> None:
    embedder = CountingEmbedder(kind)
    vectors = opened(embedder)
    assert embedded(vectors).shape == (0, 0)
    found = embedded(vectors, "a", "b", "a")
    assert found.dtype == np.float64
    assert vectors._table.dtype == kind
    assert np.array_equal(found, embedder.of(["a", "b", "a"]))
    # Another metric, another evaluated model: the same texts, and a new one.
    found = embedded(vectors, "c", "b", "a")
    assert np.array_equal(found, embedder.of(["c", "b", "a"]))
    assert sorted(embedder.asked) == ["a", "b", "c"]
    assert embedded(vectors).shape == (0, 3)


def test_the_widest_numbers_are_held() -> None:
    embedder = CountingEmbedder(np.float32)
    vectors = opened(embedder)
    embedded(vectors, "a")
    embedder.kind = np.float64
    found = embedded(vectors, "b", "a")
    assert np.array_equal(found[0], embedder.of(["b"])[0])
    assert np.array_equal(found[1], embedder.of(["a"])[0].astype(np.float32))


@given(st.lists(st.lists(st.text(max_size=4), max_size=6), max_size=6), st.integers(1, 3))
def test_neither_order_nor_company_matters(asked: list[list[str]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", at_once)
        for calls in (asked, asked[::-1], [[text for call in asked for text in call]]):
            embedder = CountingEmbedder()
            vectors = opened(embedder)
            for call in calls:
                assert np.array_equal(embedded(vectors, *call).reshape(-1, 3), embedder.of(call))
            assert len(set(embedder.asked)) == len(embedder.asked)


def test_the_longest_first_and_told_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    told: list[tuple[str, int, int]] = []
    embedder = CountingEmbedder()
    vectors = opened(embedder, on_progress=lambda *what: told.append(what))
    embedded(vectors, "a", "ccc", "bb", "dddd", "eeeee")
    assert embedder.calls == [["eeeee", "dddd"], ["ccc", "bb"], ["a"]]
    assert told == [(STAGE, done, 5) for done in (0, 2, 4, 5)]
    embedded(vectors, "a")
    asyncio.run(vectors.embed(["within other work"], quiet=True))
    assert len(told) == 4


def test_a_stop_is_seen_between_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    stop = Stop()
    embedder = CountingEmbedder()
    embedder.before = lambda texts: stop.now("interrupted", "interrupted")
    vectors = opened(embedder, stop=stop)
    with pytest.raises(Stopped, match="interrupted"):
        embedded(vectors, "a", "b", "c")
    # What was under way is known, and needs nobody.
    assert np.array_equal(embedded(vectors, "b", "a"), embedder.of(["b", "a"]))
    with pytest.raises(Stopped):
        embedded(vectors, "c")
    assert embedder.calls == [["a", "b"]]


def test_judges_that_ask_side_by_side_ask_once() -> None:
    embedder = CountingEmbedder()
    vectors = opened(embedder)

    async def both() -> list[Any]:
        asked = (["a", "b"], ["b", "c"], ["a", "b"], ["c", "d", "a"])
        return await asyncio.gather(*(vectors.embed(one) for one in asked))

    found = asyncio.run(both())
    assert sorted(embedder.asked) == ["a", "b", "c", "d"]
    assert np.array_equal(found[3], embedder.of(["c", "d", "a"]))
    assert np.array_equal(found[1], embedder.of(["b", "c"]))


def test_what_failed_for_one_is_asked_again_for_the_other() -> None:
    embedder = CountingEmbedder()

    def fail_once(texts: Sequence[str]) -> None:
        if len(embedder.calls) == 1:
            raise NoAnswer("busy")

    embedder.before = fail_once
    vectors = opened(embedder)

    async def both() -> Any:
        return await asyncio.gather(
            vectors.embed(["a"]), vectors.embed(["a"]), return_exceptions=True
        )

    first, second = asyncio.run(both())
    assert isinstance(first, NoAnswer)
    assert np.array_equal(second, embedder.of(["a"]))


def test_who_asks_may_be_cancelled_too() -> None:
    embedder = CountingEmbedder()
    vectors = opened(embedder)

    async def both() -> Any:
        first = asyncio.create_task(vectors.embed(["a"]))
        await asyncio.sleep(0)
        second = asyncio.create_task(vectors.embed(["a"]))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert np.array_equal(asyncio.run(both()), embedder.of(["a"]))
    assert embedder.asked == ["a", "a"]


def test_one_that_makes_no_numbers() -> None:
    embedder = CountingEmbedder()
    vectors = opened(embedder)
    embedder.of = lambda texts: np.full((len(texts), 3), np.nan)  # type: ignore[method-assign]
    with pytest.raises(NoAnswer, match="counting made a vector that is not of finite numbers"):
        embedded(vectors, "a")


def test_one_that_changes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with VectorStore("counting", path) as kept:
        embedded(opened(CountingEmbedder(), kept=kept), "a")
    with VectorStore("counting", path) as kept:
        vectors = opened(CountingEmbedder(dimensions=4), kept=kept)
        with pytest.raises(ValorError, match="vectors of 4 numbers, and made some of 3 before"):
            embedded(vectors, "a", "b")
    # As it says, the next run knows the model of today alone.
    with VectorStore("counting", path) as kept:
        embedder = CountingEmbedder(dimensions=4)
        assert embedded(opened(embedder, kept=kept), "a", "b").shape == (2, 4)
        assert embedder.asked == ["a"]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_later_run_embeds_what_is_new(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / FILE
    texts = [f"text {at}" for at in range(1_200)]
    with VectorStore("counting", path) as kept:
        first = embedded(opened(CountingEmbedder(kind), kept=kept), *texts[:1_000])
    embedder = CountingEmbedder(kind)
    with VectorStore("counting", path) as kept:
        vectors = opened(embedder, kept=kept)
        second = embedded(vectors, *texts)
    assert set(embedder.asked) == set(texts[1_000:])
    assert np.array_equal(second[:1_000], first)
    assert np.array_equal(second, embedder.of(texts))


def test_what_a_stopped_run_made_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    stop = Stop()
    embedder = CountingEmbedder()
    embedder.before = lambda texts: stop.now("interrupted", "interrupted")
    with VectorStore("counting", tmp_path / FILE) as kept, pytest.raises(Stopped):
        embedded(opened(embedder, stop=stop, kept=kept), "a", "b", "c")
    embedder = CountingEmbedder()
    with VectorStore("counting", tmp_path / FILE) as kept:
        embedded(opened(embedder, kept=kept), "a", "b", "c")
    assert embedder.asked == ["c"]


def test_what_is_to_be_warned_of(tmp_path: Path) -> None:
    vectors = opened(CountingEmbedder())
    embedded(vectors, "short", "just over the twenty it sees")
    embedded(vectors, "just over the twenty it sees", "short")
    assert vectors.troubles == (
        "1 text is longer than the 20 tokens that counting sees: its end is not in its vector",
    )
    with VectorStore("counting", tmp_path / FILE) as kept:
        kept._database.execute("PRAGMA query_only = ON")
        vectors = opened(CountingEmbedder(), kept=kept)
        assert embedded(vectors, "x" * 30, "y" * 30).shape == (2, 3)
        cut, unkept = vectors.troubles
    assert cut.startswith("2 texts are longer than the 20 tokens that counting sees: their ends")
    assert unkept == (
        f"{tmp_path / FILE}: vectors are not kept for later runs: "
        "attempt to write a readonly database"
    )
