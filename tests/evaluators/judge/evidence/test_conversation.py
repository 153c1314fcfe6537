"""The conversation of a judge about a sample: asked again while replies do not fit, counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.oracles.judges import REFUSED, ScriptedJudge
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.evidence.conversation import (
    LONGEST_REASON,
    QUOTED,
    Conversation,
    ParseFailure,
    shortened,
)
from valor_cli.evaluators.judge.evidence.reply_readings import Judged, verdict
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.judge.prompts import Prompt, from_words
from valor_cli.models.requests import Message, NoAnswer, Purpose, Reply, Stopped
from valor_cli.results import JudgeCalls

PROMPT = from_words("mine", "Is {response} kind?")

YES = '{"reason": "", "verdict": 1}'


def asking(
    *replies: str | Reply | Exception, retries: int = 1
) -> tuple[Conversation, ScriptedJudge]:
    judge = ScriptedJudge(replies, judge_retries=retries)
    return Conversation(
        Sample.of(samples(["Dear Ada"]), 0, "gpt"), judge, repeat=2, metric="m"
    ), judge


def asked(one: Conversation, prompt: str | Prompt = PROMPT, **more: Any) -> Judged:
    from valor_cli.models.judge.prompts import UntrustedText

    fields = {"response": UntrustedText(one.sample.response)}
    return asyncio.run(one.ask(prompt, verdict(), fields, **more))


def test_a_request_says_what_it_is_for() -> None:
    one, judge = asking(YES)
    assert asked(one, variant=3, tools=({"type": "search"},)) == Judged(True)
    [request] = judge.requests
    assert request.purpose == Purpose("m", "gpt", "s000", "mine")
    assert (request.variant, request.repeat, request.tools) == (3, 2, ({"type": "search"},))
    assert request.schema == verdict().schema
    assert verdict().read(request.example_reply)
    assert [message.role for message in request.messages] == ["system", "user"]
    assert "Dear Ada" in request.messages[1].content


def test_a_reply_that_does_not_fit_is_answered_with_what_is_wrong() -> None:
    one, judge = asking("Perhaps.", YES)
    assert asked(one) == Judged(True)
    first, second = judge.requests
    *opening, said, words = second.messages
    assert tuple(opening) == first.messages
    assert said == Message("assistant", "Perhaps.")
    assert words.role == "user"
    assert words.content.startswith("Your reply cannot be used: ")
    assert one.judge_calls() == JudgeCalls(2, 0, ("Perhaps.", YES))


def test_the_same_words_sent_again_want_a_reply_of_their_own() -> None:
    # From the third try on the conversation is the one before: the same reply, the same problem.
    one, judge = asking("Perhaps.", "Perhaps.", "Perhaps.", YES, retries=3)
    assert asked(one, variant=2) == Judged(True)
    _, second, third, fourth = judge.requests
    assert second.messages == third.messages == fourth.messages
    assert len({request.key for request in judge.requests}) == 4
    assert [request.variant for request in judge.requests] == [2, 2, 1002, 2002]


def test_only_the_last_unfit_reply_is_shown_again_and_its_start_only() -> None:
    long = "x" * (QUOTED + 7)
    one, judge = asking("first", long, YES, retries=2)
    asked(one)
    last = judge.requests[2].messages
    assert len(last) == 4
    assert last[2].content == "x" * QUOTED
    assert all("first" not in message.content for message in last)


@pytest.mark.parametrize("said", ["", " \n", REFUSED])
def test_an_empty_reply_is_no_turn_of_its_own(said: str | Reply) -> None:
    # Servers refuse empty turns, and two turns of one side in a row.
    one, judge = asking(said, YES)
    asked(one)
    first, second = judge.requests
    assert [message.role for message in second.messages] == ["system", "user"]
    assert second.messages[1].content.startswith(first.messages[1].content)
    assert "Your reply cannot be used" in second.messages[1].content
    assert first.key != second.key


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (REFUSED, "the judge refused to reply"),
        (Reply('{"verdict"', cut=True), "ends at the limit of tokens"),
        (Reply('{"verdict": 3}'), "3"),
    ],
)
def test_a_failure_says_what_was_wrong_with_the_last_reply(said: Reply, words: str) -> None:
    one, judge = asking("nothing", said)
    with pytest.raises(ParseFailure, match=words):
        asked(one)
    assert len(judge.requests) == 2
    assert one.judge_calls().calls == 2


def test_retries_of_the_call_come_before_those_of_the_config() -> None:
    one, judge = asking("no", retries=5)
    with pytest.raises(ParseFailure):
        asked(one, retries=0)
    assert len(judge.requests) == 1


@pytest.mark.parametrize("error", [NoAnswer("too long"), Stopped("interrupted")])
def test_no_reply_is_no_reason_to_ask_again(error: Exception) -> None:
    one, judge = asking("no", error)
    with pytest.raises(type(error)):
        asked(one)
    assert len(judge.requests) == 2
    # A request that got no reply counts; one that the run's stop kept back was not made.
    assert one.judge_calls() == JudgeCalls(2 if isinstance(error, NoAnswer) else 1, 0, ("no",))


def test_prompts_go_by_name() -> None:
    one, judge = asking('{"reason": "", "verdict": 1}')
    asked(one, "contact_information")
    assert judge.requests[0].messages[0].content.startswith("You examine")
    assert judge.requests[0].purpose.prompt == "contact_information"
    assert [prompt.name for prompt in judge.prompts.used] == ["contact_information"]


def test_what_was_taken_is_counted_once() -> None:
    one, _ = asking(YES, YES)
    asked(one)
    assert one.judge_calls().calls == 1
    asked(one)
    assert one.judge_calls() == JudgeCalls(1, 0, (YES,))
    assert one.judge_calls() == JudgeCalls()


def test_what_several_need_is_made_once_failures_too() -> None:
    one, _ = asking()
    made: list[str] = []

    async def fails() -> int:
        made.append("failed")
        raise ParseFailure("no list")

    async def works() -> int:
        made.append("worked")
        return 7

    async def all_of_it() -> None:
        for _ in range(2):
            with pytest.raises(ParseFailure, match="no list"):
                await one.once("a", fails)
            assert await one.once("b", works) == 7

    asyncio.run(all_of_it())
    assert made == ["failed", "worked"]


def test_a_metric_of_other_parameters_is_another_one() -> None:
    one, _ = asking()
    made: list[int] = []

    async def measure(asking: Conversation, *, size: int) -> Outcome:
        made.append(size)
        if size == 0:
            raise Missing("no size")
        return Outcome({"value": float(size)})

    async def all_of_it() -> None:
        for size in (1, 2, 1):
            found = await one.measured("m", measure, {"size": size})
            assert found.values == {"value": float(size)}
        for _ in range(2):
            with pytest.raises(Missing):
                await one.measured("m", measure, {"size": 0})

    asyncio.run(all_of_it())
    assert made == [1, 2, 0]


def test_reasons_are_short_and_on_one_line() -> None:
    assert shortened("  It \n\n is\tso. ") == "It is so."
    assert shortened("x" * LONGEST_REASON) == "x" * LONGEST_REASON
    assert shortened("x" * (LONGEST_REASON + 1)) == "x" * (LONGEST_REASON - 1) + "…"
    # Of 299 characters the last is a space, which goes too.
    assert shortened("x" * 298 + " yz") == "x" * 298 + "…"
    assert shortened("a\x1b[31mred\u202eder") == "a\\x1b[31mred\\u202eder"
    assert shortened(" \n") == ""
