"""Replies come from the file in the order of calls, faults included; neither more nor fewer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from valor_cli.errors import DataError
from valor_cli.models.judge.scripted_judge import ScriptedJudge
from valor_cli.models.requests import (
    Judge,
    PermanentError,
    Price,
    Purpose,
    RateLimited,
    Reply,
    Request,
    TransientError,
)
from valor_cli.models.settings import JudgeSettings

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
