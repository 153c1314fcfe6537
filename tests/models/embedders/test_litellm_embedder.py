"""litellm itself, driven by the embedder against a server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models.server import (
    KEY,
    Asked,
    FaultServer,
    Plan,
    Turn,
    busy,
    cut,
    failed,
    half_json,
    html,
    said,
    stalled,
    vector_of,
)
from valor_cli.errors import ConfigError, JudgeError
from valor_cli.models.embedders.litellm_embedder import LitellmEmbedder
from valor_cli.models.embedders.vector_store import VectorStore
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.requests import NoAnswer, Stop, Stopped
from valor_cli.models.scheduler.event_loop import Halting
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels


def embedder(server: FaultServer, stop: Stop | None = None, **more: Any) -> LitellmEmbedder:
    given = {"backend": "litellm", "model": "e", "timeout_s": 60.0, "api_key_env": "JUDGE_KEY"}
    settings = EmbedderSettings(api_base=server.url, **{**given, **more})
    return LitellmEmbedder(settings, stop or Stop())


def embedded(judge: LitellmEmbedder, texts: Sequence[str]) -> Any:
    async def main() -> Any:
        try:
            return await judge.embed(texts)
        finally:
            await judge.close()

    return asyncio.run(main())


def test_vectors_in_the_order_of_the_texts() -> None:
    texts = [f"text {at}" for at in range(70)]
    with FaultServer() as server:
        vectors = embedded(embedder(server), [*texts, "text 3"])
    assert vectors.shape == (71, 4)
    assert np.array_equal(vectors, [vector_of(text) for text in [*texts, "text 3"]])
    assert [len(each.body["input"]) for each in server.requests] == [64, 6]
    assert embedder(server).remote is False


def vectors_of(*numbers: list[Any]) -> Turn:
    data = [
        {"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(numbers)
    ]
    return Turn(body=json.dumps({"object": "list", "data": data, "model": "e"}).encode())


@pytest.mark.parametrize(
    "turn",
    [
        busy("0.01"),
        failed(500),
        cut("before"),
        half_json(),
        html(),
        vectors_of(),
        vectors_of([1], [2]),
    ],
)
def test_vectors_are_asked_for_again(turn: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valor_cli.models.scheduler.retries.FIRST_S", 0.01)
    with FaultServer([turn]) as server:
        assert embedded(embedder(server), ["a"]).tolist() == [vector_of("a")]
        assert len(server.requests) == 2
    with FaultServer([turn] * 3) as server, pytest.raises(NoAnswer, match="2 tries"):
        embedded(embedder(server, max_retries=1), ["a"])
    assert len(server.requests) == 2


def test_vectors_that_will_never_come() -> None:
    with FaultServer([failed(401, KEY)]) as server, pytest.raises(ConfigError) as caught:
        embedded(embedder(server), ["a"])
    assert "embedder (e): the endpoint refused the key (401)" in str(caught.value)
    assert KEY not in str(caught.value)
    with FaultServer([failed(413)]) as server, pytest.raises(NoAnswer, match="too long"):
        embedded(embedder(server), ["a"])
    assert embedded(embedder(server), []).shape == (0, 0)


def test_what_is_put_before_texts_and_how_many_are_asked_for_at_a_time() -> None:
    with FaultServer() as server:
        found = embedded(embedder(server, prompt="query: ", batch_size=2), ["a", "b", "c"])
    assert np.array_equal(found, [vector_of(f"query: {text}") for text in "abc"])
    assert [each.body["input"] for each in server.requests] == [
        ["query: a", "query: b"],
        ["query: c"],
    ]


def test_vectors_are_kept_by_model_server_and_prompt() -> None:
    def key(**more: Any) -> str:
        given = {"backend": "litellm", "model": "e", "api_base": "http://127.0.0.1:1/v1"}
        return LitellmEmbedder(EmbedderSettings(**{**given, **more}), Stop()).keeps

    assert key() == key(timeout_s=3.0, batch_size=7)
    others = [
        key(model="f"),
        key(api_base="http://127.0.0.1:2/v1"),
        key(api_base=None),
        key(prompt="query: "),
        key(api_base="http://127.0.0.1:1/v1?deployment=x"),
    ]
    assert len({key(), *others}) == 6
    # Addresses may hold keys: these are not written.
    assert key(api_base="http://me:secret@127.0.0.1:1/v1") == key()
    assert "SECRET" not in key(api_base="http://127.0.0.1:1/v1?key=SECRET")


def test_one_run_asks_in_several_loops_and_a_later_one_nobody(tmp_path: Path) -> None:
    def models(server: FaultServer, kept: VectorStore) -> TextModels:
        stop = Stop()
        vectors = Vectors(embedder(server, stop), stop, lambda *_: None, kept)
        return TextModels(EmbedderSettings(), None, Runtime("cpu", stop, lambda *_: None), vectors)

    with FaultServer() as server:
        path = tmp_path / "vectors.sqlite3"
        for asked in (3, 0):
            before = len(server.requests)
            with VectorStore(embedder(server).keeps, path) as kept:
                run = models(server, kept)
                for texts in (["a", "b"], ["b", "c"], ["a"], ["d"]):
                    assert np.array_equal(run.embed(texts), [vector_of(one) for one in texts])
            assert len(server.requests) - before == asked


def stopping(stop: Stop, turn: Turn | None = None) -> Plan:
    """A server during whose work the run is stopped."""

    def plan(_: Asked) -> Turn:
        stop.now("interrupted", "interrupted")
        return turn or said()

    return plan


def test_a_stop_is_seen_between_requests() -> None:
    stop = Stop()
    with FaultServer(stopping(stop)) as server, pytest.raises(Stopped, match="interrupted"):
        embedded(embedder(server, stop, batch_size=4), [f"text {at}" for at in range(300)])
    # Those that were under way by then.
    assert len(server.requests) <= 8


def test_what_is_under_way_has_its_grace_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valor_cli.models.scheduler.event_loop.GRACE_S", 0.05)
    stop = Stop()
    # The reply would come within the time-out: to wait for it would raise nothing.
    plan = stopping(stop, stalled(30.0))
    with FaultServer(plan) as server, pytest.raises(Stopped, match="interrupted"):
        embedded(embedder(server, stop), ["a"])
    with FaultServer() as server, pytest.raises(Stopped, match="interrupted"):
        embedded(embedder(server, stop), ["a"])
    assert not server.requests


def test_requests_are_counted_and_paid_as_those_of_a_judge() -> None:
    """The server counts a token a text; here each costs a dollar."""
    given = {"batch_size": 2, "price": {"input_usd": 1e6, "output_usd": 0}}
    texts = [f"text {at}" for at in range(6)]
    with FaultServer() as server:
        asked = embedder(server, **given)
        embedded(asked, texts)
    usage = asked.calls.usage["embeddings", ""]
    assert (usage.calls, usage.failed, usage.tokens_in, usage.cost_usd) == (3, 0, 6, 6.0)
    # A batch has 2 · (6 + 12) + 12 = 48 bytes, at most 20 tokens of which the server counts 2.
    stop = Stop()
    with FaultServer() as server, pytest.raises(Stopped, match=r"budget of 21.00 US dollars"):
        embedded(embedder(server, stop, budget_usd=21.0, **given), texts)
    assert (stop.kind, len(server.requests)) == ("budget", 1)
    with pytest.raises(ConfigError, match=r"embedder \(e\): `budget_usd:` cannot be kept"):
        LitellmEmbedder(EmbedderSettings(backend="litellm", model="e", budget_usd=1.0), Stop())


def test_an_endpoint_that_is_not_there_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valor_cli.models.scheduler.retries.FIRST_S", 0.01)
    stop = Stop()
    with FaultServer([failed(500)] * 6) as server, pytest.raises(JudgeError) as caught:
        embedded(embedder(server, stop), ["a"])
    assert "the embedder e cannot be reached: " in str(caught.value)
    assert stop.kind == "failed"


def test_ctrl_c_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valor_cli.models.scheduler.event_loop.GRACE_S", 0.05)
    stop = Stop()

    def interrupted(_: Asked) -> Turn:
        os.kill(os.getpid(), signal.SIGINT)
        return stalled(30.0)

    ends = pytest.raises(Stopped, match="interrupted")
    with FaultServer(interrupted) as server, Halting(stop), ends:
        embedded(embedder(server, stop), ["a"])
    assert stop.kind == "interrupted"


def test_nobody_is_asked_again_once_the_run_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valor_cli.models.scheduler.retries.FIRST_S", 60.0)
    stop = Stop()

    def plan(_: Asked) -> Turn:
        # While it waits to ask again, or a little before.
        threading.Timer(0.1, stop.now, ("interrupted", "interrupted")).start()
        return failed(500)

    with FaultServer(plan) as server, pytest.raises(Stopped):
        embedded(embedder(server, stop), ["a"])
    assert len(server.requests) == 1


def test_who_is_cancelled_from_outside_is_not_told_that_the_run_stops() -> None:
    async def main(server: FaultServer) -> None:
        asked = embedder(server)
        task = asyncio.create_task(asked.embed(["a"]))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asked.close()

    with FaultServer(delay_s=20.0) as server:
        asyncio.run(main(server))
