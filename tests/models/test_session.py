"""The judges of a run: opened, asked in one loop, closed, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.errors import ConfigError, DataError, ValorError
from valor_cli.models import session as sessions
from valor_cli.models.backends import open_judge
from valor_cli.models.embedders.vector_store import FILE
from valor_cli.models.embedders.vectors import STAGE
from valor_cli.models.panel import ASKING, Member
from valor_cli.models.protocols import Embedder, ModelIdentity, Unavailable, sha256_of
from valor_cli.models.requests import Judge, Purpose, Reply, Request, Stop, Stopped, conversation
from valor_cli.models.scheduler import event_loop
from valor_cli.models.scheduler.event_loop import Interrupts
from valor_cli.models.session import Session, Settings
from valor_cli.models.settings import EmbedderSettings, JudgeSettings

Piece = Callable[[], Awaitable[None]]


class SlowJudge(Judge):
    """A judge that answers when it is let; it counts what is under way."""

    keeps = True

    def __init__(self, settings: JudgeSettings) -> None:
        self.name = settings.called
        self.identity: dict[str, Any] = {}
        self.delay_s = 0.001
        self.now = self.most = self.asked = 0
        self.closed = False

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.delay_s)
        finally:
            self.now -= 1
        return Reply(f"to {request.messages[0].content}")

    async def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges are slow ones here, and what is kept is kept apart."""
    monkeypatch.setenv("VALOR_CACHE_DIR", str(tmp_path / "cache"))
    real = open_judge

    def opened(settings: JudgeSettings) -> Any:
        if settings.backend == "litellm":
            return SlowJudge(settings)
        return real(settings)

    monkeypatch.setattr(sessions, "open_judge", opened)


def settings(**more: Any) -> JudgeSettings:
    return JudgeSettings.model_validate({"model": "slow", "concurrency": 3, **more})


def session(*judges: JudgeSettings, **more: Any) -> Session:
    return Session(Settings(judges or (settings(),)), more.pop("identity", "run"), **more)


def question(words: str) -> Request:
    return Request(conversation(("user", words)), purpose=Purpose("m", "model", words, "p"))


def pieces(member: Member, count: int, heard: list[str], *, about: str = "q") -> Iterator[Piece]:
    """So many requests; what was replied, or that the run stopped, is heard."""

    def piece(at: int) -> Piece:
        async def ask() -> None:
            try:
                heard.append((await member.reply(question(f"{about}{at}"))).reply.text)
            except Stopped as stop:
                heard.append(str(stop))

        return ask

    return (piece(at) for at in range(count))


def slow_of(member: Member) -> SlowJudge:
    judge = member.calls.judge
    assert isinstance(judge, SlowJudge)
    return judge


def test_all_work_is_done_at_the_concurrency_allowed() -> None:
    told: list[tuple[str, int, int]] = []
    heard: list[str] = []
    with session(on_progress=lambda *what: told.append(what)) as run:
        [member] = run.jurors
        run.run([(20, pieces(member, 20, heard))])
        judge = slow_of(member)
    assert sorted(heard) == sorted(f"to q{at}" for at in range(20))
    assert (judge.most, judge.closed) == (3, True)
    assert told == [(ASKING, done, 20) for done in range(21)]
    assert run.stopped is None
    [usage] = run.usage
    assert (usage.metric, usage.model, usage.judge, usage.calls, usage.cached) == (
        *("m", "model", "slow"),
        *(20, 0),
    )
    # Nobody counted tokens.
    assert (usage.tokens_in, usage.cost_usd) == (None, None)
    with session() as run:
        run.run([(0, iter(()))])
        assert slow_of(run.jurors[0]).closed
        with pytest.raises(ConfigError, match="embedder: none is configured"):
            asyncio.run(run.jurors[0].embed(["a"]))
    assert run.usage == []


def test_judges_are_asked_at_the_same_time() -> None:
    heard: list[list[str]] = [[], []]
    with session(settings(name="one"), settings(name="two")) as run:
        first, second = run.jurors
        waits = asyncio.Event()

        async def held() -> None:
            await waits.wait()
            heard[0].append("held")

        async def frees() -> None:
            waits.set()
            heard[1].append("freed")

        # The first can only go on after the second was asked.
        run.run([(1, iter([held])), (1, iter([frees]))])
        assert heard == [["held"], ["freed"]]
        assert run.models_used == ["one", "two"]
        assert run.settings == {"judge": "one, two"}
    assert slow_of(first).closed
    assert slow_of(second).closed


def test_replies_are_known_to_the_next_run() -> None:
    for calls in (4, 0):
        heard: list[str] = []
        with session() as run:
            run.run([(4, pieces(run.jurors[0], 4, heard))])
            assert slow_of(run.jurors[0]).asked == calls
        assert len(heard) == 4


def test_without_a_cache_only_a_resumed_run_knows_them() -> None:
    no_cache = settings(cache=False)
    asked = []
    for resume in (False, True, False):
        with session(no_cache, resume=resume) as run:
            run.run([(4, pieces(run.jurors[0], 4, []))])
            asked.append(slow_of(run.jurors[0]).asked)
            assert run.warnings == []
    assert asked == [4, 0, 4]


def test_a_run_that_nobody_began_cannot_go_on() -> None:
    with session(resume=True, identity="another") as run:
        assert run.warnings == ["--resume: no earlier run of this config with slow"]


def test_an_error_of_one_piece_ends_all() -> None:
    async def broken() -> None:
        raise DataError([])

    heard: list[str] = []
    with session() as run:
        judge = slow_of(run.jurors[0])
        judge.delay_s = 60.0

        def work() -> Iterator[Piece]:
            yield from pieces(run.jurors[0], 3, heard)
            yield broken

        with pytest.raises(DataError):
            run.run([(4, work())])
    assert heard == []
    assert (judge.now, judge.closed) == (0, True)


def interrupting(*numbers: signal.Signals) -> Piece:
    async def piece() -> None:
        for number in numbers:
            os.kill(os.getpid(), number)
            await asyncio.sleep(0.01)

    return piece


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_a_signal_ends_the_asking_and_not_the_program(number: signal.Signals, kind: str) -> None:
    before = signal.getsignal(number)
    heard: list[str] = []
    with session() as run:
        judge = slow_of(run.jurors[0])
        judge.delay_s = 0.05

        def work() -> Iterator[Piece]:
            yield from pieces(run.jurors[0], 2, heard)
            yield interrupting(number)
            yield from pieces(run.jurors[0], 50, heard, about="later")

        run.run([(53, work())])
    assert run.stopped == (kind, kind)
    # What was under way is heard; of the others only that nobody asks any more.
    assert {"to q0", "to q1"} <= set(heard)
    assert judge.asked <= 3
    assert signal.getsignal(number) is before
    # Nobody is left who would wait for the loop that is gone.
    assert not [one for one in run.stop.callbacks if isinstance(one.__self__, Interrupts)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("signals", "grace_s"), [(2, 60.0), (1, 0.02)])
def test_a_second_signal_or_the_end_of_the_grace_drops_what_is_under_way(
    signals: int, grace_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop, "GRACE_S", grace_s)
    heard: list[str] = []
    with session() as run:
        judge = slow_of(run.jurors[0])
        judge.delay_s = 300.0

        def work() -> Iterator[Piece]:
            yield from pieces(run.jurors[0], 2, heard)
            yield interrupting(*[signal.SIGINT] * signals)

        run.run([(3, work())])
    assert run.stopped == ("interrupted", "interrupted")
    assert heard == []
    assert (judge.now, judge.closed) == (0, True)


def test_a_thread_that_gets_no_signals_can_ask_too() -> None:
    heard: list[str] = []

    def all_of_it() -> None:
        with session() as run:
            run.run([(3, pieces(run.jurors[0], 3, heard))])

    thread = threading.Thread(target=all_of_it)
    thread.start()
    thread.join()
    assert len(heard) == 3


def test_a_recording_is_put_in_its_place_by_a_whole_run_only(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    with session(settings(record=str(path))) as run:
        run.run([(2, pieces(run.jurors[0], 2, []))])
    whole = path.read_text()
    assert len(whole.splitlines()) == 2
    with session(settings(record=str(path))) as run:

        def work() -> Iterator[Piece]:
            yield from pieces(run.jurors[0], 1, [])
            yield interrupting(signal.SIGINT)

        run.run([(2, work())])
    assert path.read_text() == whole
    assert path.with_name("made.jsonl.partial").exists()


def test_offline_refuses_before_anything_is_opened(tmp_path: Path) -> None:
    far = settings(record=str(tmp_path / "made.jsonl"))
    SlowJudge.remote = True
    try:
        with pytest.raises(ConfigError, match="slow is not on this machine"):
            session(far, offline=True).__enter__()
    finally:
        SlowJudge.remote = False
    assert list(tmp_path.iterdir()) == []


def test_scripted_replies_come_one_at_a_time_and_the_unused_are_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(f"{json.dumps({'reply': str(at)})}\n" for at in range(5)))
    vectors = tmp_path / "vectors.jsonl"
    vectors.write_text('{"text": "a", "vector": [1, 0]}\n')
    heard: list[str] = []
    wanted = Settings(
        (JudgeSettings(backend="scripted", replies=str(path), repeat=2),),
        "mean",
        EmbedderSettings(backend="precomputed", vectors=str(vectors)),
    )
    with Session(wanted, "run", offline=True) as run:
        run.run([(4, pieces(run.jurors[0], 4, heard))])
        assert asyncio.run(run.jurors[0].embed(["a"])).tolist() == [[1.0, 0.0]]
    assert heard == ["0", "1", "2", "3"]
    assert run.warnings == [f"{path}: 1 of 5 replies were not used"]
    assert run.settings == {
        "judge": "scripted",
        "repeat": 2,
        "combine": "mean",
        "embedder": f"precomputed (sha256 {sha256_of(vectors)[:12]})",
    }
    # Nothing of it is worth keeping.
    assert not (tmp_path / "cache").exists()


class HereEmbedder(Embedder):
    """An embedder of this machine; it counts what it is asked for."""

    name = "here"
    identity = ModelIdentity("here", "5" * 64)
    longest = 3

    def __init__(self, keeps: str | None) -> None:
        self.keeps = keeps
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return np.array([[float(len(text)), 1.0] for text in texts])

    def cut(self, texts: Sequence[str]) -> int:
        return sum(len(text) > 3 for text in texts)


@pytest.fixture
def embedders(monkeypatch: pytest.MonkeyPatch) -> list[HereEmbedder]:
    """Those that were opened; none of a model that is called "absent"."""
    opened: list[HereEmbedder] = []

    def open_one(settings: EmbedderSettings, device: str, stop: Stop) -> HereEmbedder:
        if settings.model == "absent":
            raise Unavailable("absent is not on this machine")
        opened.append(HereEmbedder("far" if settings.backend == "litellm" else "here"))
        opened[-1].remote = settings.backend == "litellm"
        return opened[-1]

    monkeypatch.setattr(sessions, "open_embedder", open_one)
    return opened


def embedding(**more: Any) -> Settings:
    return Settings((), embedder=EmbedderSettings.model_validate(more))


def test_an_embedder_is_opened_where_one_is_asked_for_alone(
    embedders: list[HereEmbedder], tmp_path: Path
) -> None:
    with session() as run:
        assert run.vectors is None
        assert run.settings == {"judge": "slow"}
    with Session(embedding(), "run", dry_run=True) as run:
        assert run.models.embed(["a", "b"]).tolist() == [[1.0], [1.0]]
    assert embedders == []
    assert not (tmp_path / "cache" / FILE).exists()


def test_vectors_are_known_to_the_next_run_and_to_all_who_ask(
    embedders: list[HereEmbedder],
) -> None:
    for texts in (["a", "bb"], ["bb", "cc"], ["a", "cc"]):
        with Session(embedding(), "run") as run:
            assert run.models.embed(texts)[:, 0].tolist() == [len(text) for text in texts]
            assert run.models_used == ["here (sha256 555555555555)"]
            assert run.settings == {"embedder": "here (sha256 555555555555)"}
        assert run.warnings == []
    assert [one.asked for one in embedders] == [["bb", "a"], ["cc"], []]
    for _ in range(2):
        with Session(embedding(cache=False), "run") as run:
            run.models.embed(["a", "long"])
        assert run.warnings[0].startswith("1 text is longer than the 3 tokens that here sees")
    assert [one.asked for one in embedders[3:]] == [["long", "a"]] * 2


def test_judges_and_metrics_share_vectors(embedders: list[HereEmbedder]) -> None:
    told: list[str] = []
    wanted = Settings((settings(),), embedder=EmbedderSettings(cache=False))
    with Session(wanted, "run", on_progress=lambda stage, *_: told.append(stage)) as run:
        member = run.jurors[0]

        async def piece() -> None:
            assert (await member.embed(["a", "b"])).tolist() == [[1.0, 1.0], [1.0, 1.0]]

        run.run([(1, iter([piece]))])
        # What judges embed in between is no stage of its own.
        assert set(told) == {ASKING}
        run.models.embed(["b", "c"])
    assert embedders[0].asked == ["a", "b", "c"]
    assert set(told) == {ASKING, STAGE}


def test_a_cache_or_an_embedder_that_cannot_be_used_is_told_before_the_run(
    embedders: list[HereEmbedder], tmp_path: Path
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).write_text("somebody's notes" * 500)
    with pytest.raises(ValorError, match="cache of vectors cannot be used"):
        Session(embedding(), "run").__enter__()
    with Session(embedding(cache=False), "run") as run:
        run.models.embed(["a"])
    far = embedding(backend="litellm", model="e")
    with pytest.raises(ConfigError, match="embedder: here is not on this machine"):
        Session(far, "run", offline=True).__enter__()


def test_an_embedder_that_is_not_there_is_for_metrics_to_tell(
    embedders: list[HereEmbedder], tmp_path: Path
) -> None:
    wanted = embedding(backend="sentence_transformers", model="absent")
    with Session(wanted, "run") as run:
        with pytest.raises(Unavailable, match="absent is not on this machine"):
            run.models.embed(["a"])
        assert run.models.embedder == ModelIdentity("absent")
        assert run.models_used == []
    assert not (tmp_path / "cache").exists()
