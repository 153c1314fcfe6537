"""Judges without a model: scripted, replayed and simulated ones."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from tests.models.scheduler.test_calls import YES, ends
from tests.oracles.model_server import FakeJudge, limits, question
from valor_cli.errors import DataError
from valor_cli.models.judge.dry_run import SimulatedEmbedder, simulated_calls, tokens
from valor_cli.models.judge.replay_judge import ReplayJudge
from valor_cli.models.judge.scripted_judge import ScriptedJudge
from valor_cli.models.requests import (
    Judge,
    NoAnswer,
    PermanentError,
    Price,
    Purpose,
    RateLimited,
    Reply,
    Request,
    Stop,
    TransientError,
    conversation,
)
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.scheduler.cassette import CassetteWriter
from valor_cli.models.settings import EmbedderSettings, JudgeSettings, PriceSettings

ASKED = Request((), purpose=Purpose("faithfulness", "gpt", "s3", "verdicts"))


def judge(tmp_path: Path, content: str, **more: object) -> ScriptedJudge:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(content.encode())
    settings = {"backend": "scripted", "replies": str(path), **more}
    return ScriptedJudge(JudgeSettings.model_validate(settings))


def next_reply(scripted: Judge) -> Reply:
    return asyncio.run(scripted.answer(ASKED))


def test_replies_in_order(tmp_path: Path) -> None:
    scripted = judge(
        tmp_path,
        '\ufeff{"reply": "one"}\r\n\r\n'
        '{"reply": {"verdicts": [{"reason": "ä", "verdict": 1}], "half": 0.50}}\n'
        '{"refused": true}\n'
        '{"reply": "cut o", "cut": true, "tokens_in": 7, "tokens_out": null}',
    )
    assert next_reply(scripted) == Reply("one", cost_usd=0.0)
    as_text = '{"verdicts": [{"reason": "ä", "verdict": 1}], "half": 0.5}'
    assert next_reply(scripted) == Reply(as_text, cost_usd=0.0)
    assert next_reply(scripted) == Reply("", refused=True, cost_usd=0.0)
    assert scripted.check() == f"{tmp_path}/replies.jsonl: 1 of 4 replies were not used"
    assert next_reply(scripted) == Reply("cut o", cut=True, tokens_in=7, cost_usd=0.0)
    assert scripted.check() is None
    asyncio.run(scripted.close())


def test_how_it_may_be_asked(tmp_path: Path) -> None:
    scripted: Judge = judge(tmp_path, "")
    assert (scripted.remote, scripted.in_order, scripted.keeps) == (False, True, False)
    assert scripted.name == "scripted"
    assert judge(tmp_path, "", name="teacher").name == "teacher"


def test_faults_for_teaching(tmp_path: Path) -> None:
    scripted = judge(
        tmp_path,
        '{"error": "busy"}\n{"error": "passing"}\n{"error": "unanswerable"}\n{"reply": "ok"}',
    )
    for kind, said in (
        (RateLimited, "busy"),
        (TransientError, "passing"),
        (PermanentError, "unanswerable"),
    ):
        with pytest.raises(kind, match=f"is to fail: {said}$"):
            next_reply(scripted)
    assert next_reply(scripted) == Reply("ok", cost_usd=0.0)


def test_replies_run_out(tmp_path: Path) -> None:
    scripted = judge(tmp_path, '{"reply": "ok"}\n' * 6)
    for _ in range(6):
        next_reply(scripted)
    with pytest.raises(DataError) as caught:
        next_reply(scripted)
    place = f"{tmp_path}/replies.jsonl"
    message = f"{place}: call 7 (faithfulness, sample s3) has no reply: the file holds 6"
    assert str(caught.value).startswith(message)
    assert scripted.check() is None


def test_what_replies_cost(tmp_path: Path) -> None:
    content = '{"reply": "a", "tokens_in": 1000, "tokens_out": 100}\n{"reply": "b"}\n'
    price = {"input_usd": 2.0, "output_usd": 10.0}
    priced = judge(tmp_path, content, price=price)
    assert priced.price == Price(2.0, 10.0)
    # 1,000 tokens at 2 dollars and 100 at 10 dollars a million: 0.002 + 0.001.
    assert next_reply(priced).cost_usd == pytest.approx(0.003, abs=1e-15)
    assert next_reply(priced).cost_usd is None
    unpriced = judge(tmp_path, content)
    assert unpriced.price is None
    assert next_reply(unpriced).cost_usd == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"reply": 4}', "reply: must be a text or an object"),
        ("{}", "the key 'reply' is missing"),
        ('{"refused": false}', "the key 'reply' is missing"),
        ('{"rely": "a"}', "there is no key 'rely' (did you mean 'reply'?)"),
        ('{"error": "bussy"}', "error: must be one of busy, passing, unanswerable"),
        ('{"error": "busy", "reply": "a"}', "a call that fails has no reply"),
        ('{"reply": "a", "tokens_out": "9"}', "tokens_out: must be a whole number"),
    ],
)
def test_bad_lines_are_told(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        judge(tmp_path, '{"reply": "fine"}\n\n' + line)
    assert str(caught.value).startswith(f"{tmp_path}/replies.jsonl:3: ")
    assert message in str(caught.value)
    assert caught.value.total == 1


def request(words: str, *purpose: str, repeat: int = 0) -> Request:
    messages = conversation(("user", words))
    return Request(messages, repeat=repeat, purpose=Purpose(*purpose))


KNOWN = request("known", "faithfulness", "gpt", "s1", "verdicts")


def replayed(path: Path, **more: object) -> ReplayJudge:
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
    replay: Judge = replayed(cassette)
    # Who asks is no part of a request.
    again = request("known", "bias", "claude", "s2", "other")
    expected = Reply("yes", cut=True, tokens_in=7, tokens_out=3, cost_usd=0.0)
    assert asyncio.run(replay.answer(KNOWN)) == asyncio.run(replay.answer(again)) == expected
    assert (replay.remote, replay.in_order, replay.keeps) == (False, False, False)
    assert replay.price == Price(0.0, 0.0)
    assert replayed(cassette).check() is None
    asyncio.run(replay.close())


def test_misses_are_named_all_at_once(cassette: Path) -> None:
    replay = replayed(cassette)
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
    assert replayed(cassette).name == "openai/gpt-4o-mini"
    assert replayed(cassette, name="mine").name == "mine"
    assert replayed(cassette, model="openai/gpt-4o").name == "openai/gpt-4o"
    two = lines(tmp_path / "two.jsonl", ("a", "k", "same"), ("b", "l", "other"))
    assert replayed(two).name == "replay"
    nameless = lines(tmp_path / "none.jsonl", ("", "k", "same"))
    assert replayed(nameless).name == "replay"
    assert replayed(lines(tmp_path / "empty.jsonl")).name == "replay"


def test_of_several_judges_the_one_named_replies(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", ("a", KNOWN.key, "yes"), ("b", KNOWN.key, "no"))
    for name, said in (("a", "yes"), ("b", "no")):
        assert asyncio.run(replayed(path, name=name).answer(KNOWN)).text == said
    failed = path.read_text().replace('"reply": "no"', '"error": "no"')
    for content in (path.read_text(), failed):
        path.write_text(content)
        with pytest.raises(DataError, match="several judges who reply differently: a, b") as caught:
            replayed(path)
        assert "`name:`" in caught.value.hint
        assert replayed(path, name="b").name == "b"


def played(path: Path, *asked: Request) -> list[object]:
    replay = replayed(path)
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
    other = replayed(path, name="other")
    [failure] = ends(Calls(other, limits(), Stop()).ask(question("a", "m", "z")))
    assert str(failure) == "other: too long"


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
