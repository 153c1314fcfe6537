"""A cassette answers the requests it was recorded with; all others are named at the end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.models.scheduler.test_calls import YES, ends
from tests.oracles.model_server import FakeJudge, limits, question
from valor_cli.errors import DataError
from valor_cli.models.judge.replay_judge import ReplayJudge
from valor_cli.models.requests import (
    Judge,
    NoAnswer,
    PermanentError,
    Price,
    Purpose,
    Reply,
    Request,
    TransientError,
    conversation,
)
from valor_cli.models.scheduler.calls import Calls, Stop
from valor_cli.models.scheduler.cassette import CassetteWriter
from valor_cli.models.settings import JudgeSettings


def request(words: str, *purpose: str, repeat: int = 0) -> Request:
    messages = conversation(("user", words))
    return Request(messages, repeat=repeat, purpose=Purpose(*purpose))


KNOWN = request("known", "faithfulness", "gpt", "s1", "verdicts")


def judge(path: Path, **more: object) -> ReplayJudge:
    return ReplayJudge(
        JudgeSettings.model_validate({"backend": "replay", "cassette": str(path), **more})
    )


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    path = tmp_path / "c.jsonl"
    with CassetteWriter(str(path), "openai/gpt-4o-mini") as writer:
        writer.record(KNOWN, Reply("yes", cut=True, tokens_in=7, tokens_out=3, cost_usd=0.25))
    return path


def test_a_recorded_reply_costs_nothing_again(cassette: Path) -> None:
    replay: Judge = judge(cassette)
    # Who asks is no part of a request.
    again = request("known", "bias", "claude", "s2", "other")
    expected = Reply("yes", cut=True, tokens_in=7, tokens_out=3, cost_usd=0.0)
    assert asyncio.run(replay.answer(KNOWN)) == asyncio.run(replay.answer(again)) == expected
    assert (replay.remote, replay.in_order, replay.keeps) == (False, False, False)
    assert replay.price == Price(0.0, 0.0)
    assert judge(cassette).check() is None
    asyncio.run(replay.close())


def test_misses_are_named_all_at_once(cassette: Path) -> None:
    replay = judge(cassette)
    missed = [
        request("SAMPLE-TEXT", "faithfulness", "gpt", "s2", "verdicts"),
        request("known", "faithfulness", "gpt", "s1", "verdicts", repeat=1),
        request("no model", "bias", "", "s3", "opinions"),
    ]
    for each in missed:
        with pytest.raises(PermanentError, match=each.key[:12]):
            asyncio.run(replay.answer(each))
    with pytest.raises(DataError) as caught:
        replay.check()
    assert caught.value.exit_code == 2
    assert len(replay.misses) == 3
    *told, hint = str(caught.value).split("\n")
    key, repeated, nameless = (each.key[:12] for each in missed)
    place = f"{cassette}: no reply for sample"
    asked = "faithfulness, prompt verdicts"
    assert told == [
        f"{place} 's1' of model 'gpt' ({asked}, repeat 2, request {repeated}…)",
        f"{place} 's2' of model 'gpt' ({asked}, request {key}…)",
        f"{place} 's3' (bias, prompt opinions, request {nameless}…)",
    ]
    assert "record it again" in hint
    assert "SAMPLE-TEXT" not in str(caught.value)


def lines(path: Path, *said: tuple[str, str, str]) -> Path:
    keys = ("judge", "key", "reply")
    path.write_text("".join(json.dumps(dict(zip(keys, one, strict=True))) + "\n" for one in said))
    return path


def test_what_results_call_it(cassette: Path, tmp_path: Path) -> None:
    assert judge(cassette).name == "openai/gpt-4o-mini"
    assert judge(cassette, name="mine").name == "mine"
    assert judge(cassette, model="openai/gpt-4o").name == "openai/gpt-4o"
    two = lines(tmp_path / "two.jsonl", ("a", "k", "same"), ("b", "l", "other"))
    assert judge(two).name == "replay"
    nameless = lines(tmp_path / "none.jsonl", ("", "k", "same"))
    assert judge(nameless).name == "replay"
    assert judge(lines(tmp_path / "empty.jsonl")).name == "replay"


def test_of_several_judges_the_one_named_replies(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", ("a", KNOWN.key, "yes"), ("b", KNOWN.key, "no"))
    for name, said in (("a", "yes"), ("b", "no")):
        assert asyncio.run(judge(path, name=name).answer(KNOWN)).text == said
    failed = path.read_text().replace('"reply": "no"', '"error": "no"')
    for content in (path.read_text(), failed):
        path.write_text(content)
        with pytest.raises(DataError, match="several judges who reply differently: a, b") as caught:
            judge(path)
        assert "`name:`" in caught.value.hint
        assert judge(path, name="b").name == "b"


def played(path: Path, *asked: Request) -> list[object]:
    replay = judge(path)
    calls = Calls(replay, limits(), Stop())
    ended = ends(*map(calls.ask, asked))
    assert replay.check() is None
    told = [str(one) if isinstance(one, NoAnswer) else one.reply.text for one in ended]
    return [*told, calls.usage]


def test_failures_and_tries_are_those_of_the_recording(tmp_path: Path) -> None:
    """`a` fails for good, `b` is answered at the third try, `c` to the second who asks alone."""

    def tell(request: Request, number: int) -> object:
        words = request.messages[-1].content
        if words == "question a" or (words == "question c" and number == 1):
            return PermanentError("too long")
        return TransientError("HTTP 500") if words == "question b" and number < 3 else YES

    path = tmp_path / "c.jsonl"
    first = [question("a"), question("b"), question("c", "m", "x")]
    then = [question("c", "m", "y"), question("a", "m", "y")]
    with CassetteWriter(str(path), "fake") as writer:
        made = Calls(FakeJudge(tell), limits(), Stop(), recorder=writer)
        ended = [*ends(*map(made.ask, first)), *ends(*map(made.ask, then))]
    told = [str(one) if isinstance(one, NoAnswer) else one.reply.text for one in ended]
    assert told == ["fake: too long", "yes", "fake: too long", "yes", "fake: too long"]
    *again, usage = played(path, *first, *then)
    assert again == told
    counted = {who: (one.calls, one.failed) for who, one in made.usage.items()}
    assert counted == {("m", ""): (4, 1), ("m", "x"): (1, 1), ("m", "y"): (2, 1)}
    assert isinstance(usage, dict)
    assert {who: (one.calls, one.failed) for who, one in usage.items()} == counted
    # Under another name, and asked by someone else, what failed for all who asked fails again.
    other = judge(path, name="other")
    [failure] = ends(Calls(other, limits(), Stop()).ask(question("a", "m", "z")))
    assert str(failure) == "other: too long"
