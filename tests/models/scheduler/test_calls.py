"""The call loop, by what askers see: replies, reuse, retries, stops, usage."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.oracles.model_server import FakeJudge, Kept, limits, question
from tests.oracles.virtual_time import run_at_once
from valor_cli.errors import JudgeError, Problem, ValorError
from valor_cli.models.requests import (
    NoAnswer,
    PermanentError,
    Price,
    RateLimited,
    Reply,
    Request,
    Stop,
    Stopped,
    TransientError,
)
from valor_cli.models.scheduler.calls import CachedReply, Calls, Usage, cache_key
from valor_cli.models.scheduler.retries import Backoff

YES = Reply("yes", tokens_in=10, tokens_out=2, cost_usd=0.5)


def calls_of(judge: FakeJudge, stop: Stop | None = None, **more: Any) -> Calls:
    given = {
        name: more.pop(name)
        for name in ("concurrency", "timeout_s", "max_retries", "budget_usd", "max_tokens")
        if name in more
    }
    return Calls(judge, limits(**given), stop or Stop(), **more)


def ends(*asks: Coroutine[Any, Any, CachedReply]) -> list[Any]:
    """What each ask ends with, a reply or a failure."""

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*asks, return_exceptions=True)

    return run_at_once(all_of_them())


# --- replies, and their reuse ---------------------------------------------------------------


@pytest.mark.parametrize(("before", "keeps"), [(False, True), (True, True), (True, False)])
def test_what_is_kept_is_not_asked_and_all_is_recorded(before: bool, keeps: bool) -> None:
    judge, kept = FakeJudge(lambda *_: YES, keeps=keeps), Kept()
    request = question(1)
    if before:
        kept.replies[cache_key(judge, request)] = YES
    calls = calls_of(judge, store=kept, recorder=kept)
    cached = before and keeps
    assert ends(calls.ask(request)) == [CachedReply(YES, cached)]
    assert judge.asked == [] if cached else [request]
    assert kept.replies == {cache_key(judge, request): YES}
    assert kept.recorded == [(request, YES)]


def test_the_key_depends_on_the_judge_and_on_the_request() -> None:
    one, other = FakeJudge(identity={"model": "a", "t": 0}), FakeJudge(identity={"model": "b"})
    keys = {cache_key(judge, question(i)) for judge in (one, other) for i in (1, 2)}
    assert len(keys) == 4
    # The order of its settings does not matter, nor what a request is for.
    same = FakeJudge(identity={"t": 0, "model": "a"})
    assert cache_key(same, question(1, metric="other")) == cache_key(one, question(1))


def test_many_replies_kept_do_not_keep_others_waiting() -> None:
    judge, kept = FakeJudge(), Kept()
    kept.replies[cache_key(judge, question(1))] = YES
    calls = calls_of(judge, store=kept)
    seen: list[str] = []

    async def main() -> None:
        asyncio.get_running_loop().call_soon(seen.append, "signal")
        for _ in range(3):
            await calls.ask(question(1))
            seen.append("reply")

    run_at_once(main())
    assert seen[0] == "signal"


def test_the_same_request_is_asked_once_while_its_reply_is_awaited() -> None:
    judge, kept = FakeJudge(lambda *_: (1.0, YES)), Kept()
    calls = calls_of(judge, store=kept, recorder=kept)
    answered = ends(*(calls.ask(question(1)) for _ in range(3)))
    assert answered == [
        CachedReply(YES),
        CachedReply(YES, cached=True),
        CachedReply(YES, cached=True),
    ]
    assert len(judge.asked) == len(kept.recorded) == 1


def test_a_failure_is_shared_as_a_reply_is() -> None:
    judge = FakeJudge(lambda *_: (1.0, PermanentError("too long")))
    calls = calls_of(judge)
    failures = ends(*(calls.ask(question(1)) for _ in range(3)))
    assert [str(one) for one in failures] == ["fake: too long"] * 3
    assert all(isinstance(one, NoAnswer) for one in failures)
    assert len(judge.asked) == 1


def test_in_order_every_ask_is_a_call_of_its_own_one_at_a_time() -> None:
    # The first needs a second try, and nobody comes between.
    def tell(request: Request, number: int) -> Any:
        first = request == question("a") and number == 1
        return (0.1, TransientError("hiccup") if first else Reply(str(number)))

    judge = FakeJudge(tell, in_order=True, keeps=False)
    calls = calls_of(judge, concurrency=8)
    asks = [question(name) for name in "abba"]
    answered = ends(*map(calls.ask, asks))
    assert [one.reply.text for one in answered] == ["2", "1", "2", "3"]
    assert judge.asked == [asks[0], *asks]
    assert judge.most == 1


# --- tries ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failed", "longest"),
    # 0.5 doubles: 0.5, 1, 2, 4, 8, 16, then 30 instead of 32, and so for ever.
    [(0, 0.5), (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 30), (8, 30), (5000, 30)],
)
def test_waits_double_up_to_a_half_minute_and_are_spread(failed: int, longest: float) -> None:
    backoff, same, other = Backoff(1), Backoff(1), Backoff(2)
    waits = [backoff.wait(failed) for _ in range(200)]
    assert waits[:5] == [same.wait(failed) for _ in range(5)]
    assert waits[:5] != [other.wait(failed) for _ in range(5)]
    assert longest / 4 <= min(waits) < 0.3 * longest
    assert 0.95 * longest < max(waits) <= longest


@pytest.mark.parametrize("failure", [TransientError, RateLimited])
@pytest.mark.parametrize(
    ("said", "shortest", "longest"),
    # Hours are too long, and to come back at once, or before, is no answer.
    [
        (0.25, 0.25, 0.25),
        (90.0, 90.0, 90.0),
        (3600.0, 120.0, 120.0),
        (0.0, 0.125, 0.5),
        (-5.0, 0.125, 0.5),
    ],
)
def test_what_the_server_asks_for_is_waited_for(
    failure: Any, said: float, shortest: float, longest: float
) -> None:
    judge = FakeJudge(lambda _, number: failure("HTTP 503", said) if number == 1 else YES)
    assert ends(calls_of(judge).ask(question(1))) == [CachedReply(YES)]
    assert shortest <= judge.at[1] <= longest


@pytest.mark.parametrize(("retries", "told"), [(2, "3 tries"), (0, "1 try")])
def test_after_all_tries_there_is_no_answer(retries: int, told: str) -> None:
    judge = FakeJudge(lambda *_: TransientError("HTTP 500: oops"))
    calls = calls_of(judge, max_retries=retries)
    # Else the judge could not be reached at all.
    calls._tries.known()
    [failure] = ends(calls.ask(question(1)))
    assert isinstance(failure, NoAnswer)
    assert str(failure) == f"fake: HTTP 500: oops, {told}"
    assert len(judge.asked) == retries + 1


def test_a_reply_that_does_not_come_in_time_is_a_failure() -> None:
    judge = FakeJudge(lambda _, number: (100.0, YES) if number == 1 else (59.0, YES))
    assert ends(calls_of(judge).ask(question(1))) == [CachedReply(YES)]
    assert judge.dropped == 1
    assert 60.125 <= judge.at[1] <= 60.5

    calls = calls_of(FakeJudge(lambda *_: (100.0, YES)), max_retries=1)
    [failure] = ends(calls.ask(question(1)))
    assert str(failure) == "fake: no reply within 60 s, 2 tries"


def test_a_backend_that_cancels_itself_is_tried_again() -> None:
    judge = FakeJudge(lambda _, number: asyncio.CancelledError() if number == 1 else YES)
    assert ends(calls_of(judge).ask(question(1))) == [CachedReply(YES)]


def test_refusals_count_only_while_nothing_else_is_answered() -> None:
    # "slow" is refused ten times while "other" requests are answered; then it is answered.
    def tell(request: Request, number: int) -> Any:
        if request == question("slow"):
            return RateLimited("HTTP 429", 10.0) if number <= 10 else YES
        return (1.0, YES)

    calls = calls_of(FakeJudge(tell), concurrency=2, max_retries=1)
    answered = ends(calls.ask(question("slow")), *(calls.ask(question(i)) for i in range(400)))
    assert all(isinstance(one, CachedReply) for one in answered)

    alone = calls_of(FakeJudge(tell), max_retries=1)
    [failure] = ends(alone.ask(question("slow")))
    assert str(failure) == "fake: HTTP 429, 2 tries"


# --- judges that will never answer ----------------------------------------------------------


def test_a_wrong_key_stops_everything_and_one_asker_is_told() -> None:
    wrong = JudgeError(Problem("judge fake", "the key is refused"))
    judge = FakeJudge(lambda *_: (1.0, wrong))
    stop = Stop()
    calls = calls_of(judge, stop, concurrency=2)
    first, *others = ends(*(calls.ask(question(i)) for i in range(5)))
    assert first is wrong
    assert calls.fatal is wrong
    assert [type(one) for one in others] == [Stopped] * 4
    assert len(judge.asked) == 2
    assert (stop.kind, stop.reason) == ("failed", "judge fake: the key is refused")


def test_of_two_who_asked_the_same_one_is_told() -> None:
    judge = FakeJudge(lambda *_: (1.0, JudgeError(Problem("", "no such model"))))
    calls = calls_of(judge)
    told = ends(calls.ask(question(1)), calls.ask(question(1)))
    assert sorted(type(one).__name__ for one in told) == ["JudgeError", "Stopped"]


def test_a_dead_server_is_told_after_a_few_requests() -> None:
    judge = FakeJudge(lambda *_: TransientError("connection refused"))
    calls = calls_of(judge, concurrency=8)
    told = ends(*(calls.ask(question(i)) for i in range(1000)))
    kinds = [type(one) for one in told]
    assert kinds.count(JudgeError) == 1
    assert kinds.count(NoAnswer) == 4
    assert kinds.count(Stopped) == 995
    assert str(calls.fatal).startswith(
        "the judge fake cannot be reached: connection refused, 6 tries\n"
    )
    # Eight begin before the first has failed, and one when four have used up their tries.
    assert len({request.key for request in judge.asked}) == 9
    # Five waits of at most 0.5, 1, 2, 4 and 8 s.
    assert judge.at[-1] <= 16


def test_a_dead_server_is_told_where_few_are_asked() -> None:
    calls = calls_of(FakeJudge(lambda *_: TransientError("connection refused")))
    told = ends(calls.ask(question(1)), calls.ask(question(2)))
    assert sorted(type(one).__name__ for one in told) == ["JudgeError", "NoAnswer"]
    assert isinstance(calls.fatal, JudgeError)
    assert calls.fatal.exit_code == 3


def test_a_used_up_quota_is_told_as_such() -> None:
    calls = calls_of(FakeJudge(lambda *_: RateLimited("HTTP 429: no quota")))
    ends(*(calls.ask(question(i)) for i in range(50)))
    assert str(calls.fatal).startswith("the judge fake refuses all requests: HTTP 429: no quota")


def test_a_judge_that_is_back_in_hours_is_not_waited_for() -> None:
    judge = FakeJudge(lambda *_: RateLimited("HTTP 429", 5400.0))
    calls = calls_of(judge)
    told = ends(*(calls.ask(question(i)) for i in range(50)))
    assert sorted({type(one).__name__ for one in told}) == ["JudgeError", "Stopped"]
    assert str(calls.fatal).startswith("the judge fake has not answered for 90 minutes: HTTP 429")
    assert judge.at[-1] <= 300
    assert len(judge.asked) < 20


def test_a_long_wait_is_no_quota_while_something_is_under_way() -> None:
    def tell(request: Request, number: int) -> Any:
        if request == question("slow"):
            return (50.0, YES)
        return RateLimited("HTTP 429", 5400.0) if number < 3 else YES

    judge = FakeJudge(tell)
    calls = calls_of(judge)

    async def slow() -> CachedReply:
        # Refused at 0 and at 120 s, "it" is alone at 0 only.
        await asyncio.sleep(100)
        return await calls.ask(question("slow"))

    async def main() -> list[Any]:
        return await asyncio.gather(calls.ask(question("it")), slow())

    assert run_at_once(main()) == [CachedReply(YES), CachedReply(YES)]


def test_requests_that_cannot_be_answered_do_not_end_a_run_that_is_nearly_over() -> None:
    judge = FakeJudge(lambda *_: TransientError("HTTP 500"))
    calls = calls_of(judge, concurrency=4)
    calls._tries.known()
    told = ends(*(calls.ask(question(i)) for i in range(8)))
    assert [type(one) for one in told] == [NoAnswer] * 8
    assert calls.fatal is None


def test_a_judge_that_stays_away_ends_the_run_in_minutes() -> None:
    judge = FakeJudge()
    judge.tell = lambda *_: TransientError("gone") if judge.at[-1] > 10 else (1.0, YES)
    calls = calls_of(judge, concurrency=4)
    ends(*(calls.ask(question(i)) for i in range(1000)))
    assert str(calls.fatal).startswith("the judge fake has stopped answering: gone, 6 tries")
    assert 120 <= judge.at[-1] <= 180


# --- the run's stop -------------------------------------------------------------------------


def test_who_asks_after_the_stop_is_told_at_once() -> None:
    stop, judge, kept = Stop(), FakeJudge(), Kept()
    kept.replies[cache_key(judge, question(1))] = YES
    stop.now("interrupted", "interrupted")
    [told] = ends(calls_of(judge, stop, store=kept).ask(question(1)))
    assert isinstance(told, Stopped)
    assert str(told) == "interrupted"
    assert judge.asked == []


def test_those_under_way_end_and_are_kept_those_who_wait_are_woken() -> None:
    # "soon" is under way for 10 s, "later" waits for its slot, "again" to be tried again.
    def tell(request: Request, number: int) -> Any:
        return TransientError("HTTP 500", 100.0) if request == question("again") else (10.0, YES)

    judge, kept, stop = FakeJudge(tell), Kept(), Stop()
    calls = calls_of(judge, stop, store=kept, concurrency=1)
    ended: dict[str, tuple[float, Any]] = {}

    async def asker(name: str) -> None:
        try:
            said: Any = await calls.ask(question(name))
        except Stopped as stopped:
            said = str(stopped)
        ended[name] = (asyncio.get_running_loop().time(), said)

    async def main() -> None:
        asyncio.get_running_loop().call_later(2.0, stop.now, "interrupted", "interrupted")
        await asyncio.gather(*map(asker, ("again", "soon", "later")))

    run_at_once(main())
    assert ended == {
        "again": (2.0, "interrupted"),
        "later": (2.0, "interrupted"),
        "soon": (10.0, CachedReply(YES)),
    }
    assert list(kept.replies.values()) == [YES]
    # What the stop left is not counted.
    assert calls.usage["m", ""].calls == 1


def test_one_stop_ends_the_waits_of_all_judges() -> None:
    stop = Stop()
    slow = calls_of(FakeJudge(lambda *_: TransientError("HTTP 500", 100.0)), stop)
    wrong = calls_of(FakeJudge(lambda *_: (1.0, ValorError(Problem("", "no")))), stop)
    stopped, error = ends(slow.ask(question(1)), wrong.ask(question(1)))
    assert isinstance(stopped, Stopped)
    assert isinstance(error, ValorError)


# --- cancellation ---------------------------------------------------------------------------


def test_who_gives_up_waiting_does_not_take_the_reply_from_others() -> None:
    judge = FakeJudge(lambda *_: (10.0, YES))
    calls = calls_of(judge)

    async def main() -> Any:
        first = asyncio.create_task(calls.ask(question(1)))
        second = asyncio.create_task(calls.ask(question(1)))
        await asyncio.sleep(1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert run_at_once(main()) == CachedReply(YES, cached=True)
    assert len(judge.asked) == 1
    assert judge.dropped == 0


@pytest.mark.parametrize("moment", [0.0, 1.0, 5.0, 15.0])
def test_the_last_who_gives_up_ends_the_work_and_leaves_nothing_taken(moment: float) -> None:
    # Cancelled before it begins, under way (until 2), waiting for the next try, under way again.
    def tell(request: Request, number: int) -> Any:
        if request == question("other"):
            return (1.0, YES)
        return (2.0, TransientError("HTTP 500", 10.0)) if number == 1 else (100.0, YES)

    judge = FakeJudge(tell, price=Price(1.0, 1.0))
    calls = calls_of(judge, concurrency=1, budget_usd=1.0, max_tokens=100)

    async def main() -> CachedReply:
        asking = asyncio.create_task(calls.ask(question("it")))
        await asyncio.sleep(moment)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert judge.under_way == 0
        return await calls.ask(question("other"))

    assert run_at_once(main()) == CachedReply(YES)
    assert calls._tries._limiter.in_flight == 0
    assert calls._tries._breaker.open == 0
    assert calls._budget.reserved == 0
    assert calls._budget.idle


def test_a_request_that_was_given_up_is_asked_anew() -> None:
    judge = FakeJudge(lambda *_: (10.0, YES))
    calls = calls_of(judge)

    async def main() -> CachedReply:
        first = asyncio.create_task(calls.ask(question(1)))
        await asyncio.sleep(1)
        first.cancel()
        await asyncio.sleep(0)
        return await calls.ask(question(1))

    assert run_at_once(main()) == CachedReply(YES)
    assert len(judge.asked) == 2


def test_one_cancelled_in_front_of_the_line_lets_the_others_go() -> None:
    # 100 $ for a million tokens of a prompt. "question 0" has 10 bytes and 24 around it: 14
    # tokens, 0.0014 $. The long one has 1,033: 414 tokens, 0.0414 $, too much beside three others.
    judge = FakeJudge(lambda *_: (10.0, Reply("", cost_usd=0.0)), price=Price(100.0, 0.0))
    calls = calls_of(judge, budget_usd=0.045)

    async def main() -> list[float]:
        tasks = [asyncio.create_task(calls.ask(question(i))) for i in range(3)]
        waiting = asyncio.create_task(calls.ask(question("x" * 1000)))
        behind = asyncio.create_task(calls.ask(question(4)))
        await asyncio.sleep(2)
        assert judge.at == [0, 0, 0]
        waiting.cancel()
        await asyncio.wait({*tasks, waiting, behind})
        return judge.at

    assert run_at_once(main()) == [0, 0, 0, 2]


def test_a_fault_of_a_backend_is_seen_and_leaves_nothing_taken() -> None:
    def tell(request: Request, number: int) -> Any:
        return ZeroDivisionError("a bug") if request == question(0) else YES

    calls = calls_of(FakeJudge(tell), concurrency=1)
    bug, answered = ends(calls.ask(question(0)), calls.ask(question(1)))
    assert isinstance(bug, ZeroDivisionError)
    assert answered == CachedReply(YES)


def test_failures_nobody_waits_for_are_not_complained_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Converting(FakeJudge):
        async def answer(self, request: Request) -> Reply:
            try:
                return await super().answer(request)
            except asyncio.CancelledError:
                raise PermanentError("cancelled") from None

    calls = calls_of(Converting(lambda *_: (10.0, YES)))

    async def main() -> None:
        asking = asyncio.create_task(calls.ask(question(1)))
        await asyncio.sleep(1.0)
        asking.cancel()
        await asyncio.wait({asking})

    run_at_once(main())
    gc.collect()
    assert caplog.text == ""


# --- the budget -----------------------------------------------------------------------------

# A reply of 100 tokens at 10 $ a million costs 0.001 $; prompts cost nothing.
DEAR = Price(0.0, 10.0)


def test_the_budget_stops_before_the_request_that_would_pass_it() -> None:
    judge = FakeJudge(lambda *_: (1.0, Reply("", cost_usd=0.001)), price=DEAR)
    stop = Stop()
    # A run that is resumed has spent some of it.
    calls = calls_of(judge, stop, budget_usd=0.0075, max_tokens=100, spent_before=0.003)
    told = ends(*(calls.ask(question(i)) for i in range(10)))
    assert [type(one) for one in told] == [CachedReply] * 4 + [Stopped] * 6
    assert (stop.kind, stop.reason) == ("budget", "the budget of 0.0075 US dollars is reached")
    assert calls._budget.spent == pytest.approx(0.007)


def test_where_those_under_way_stand_in_the_way_they_are_waited_for() -> None:
    # Each may cost 0.001, and costs a tenth of that: two at a time, and all ten in the end:
    # before the last, 0.0009 + 0.001 < 0.002.
    judge = FakeJudge(lambda *_: (1.0, Reply("", cost_usd=0.0001)), price=DEAR)
    calls = calls_of(judge, budget_usd=0.002, max_tokens=100)
    told = ends(*(calls.ask(question(i)) for i in range(10)))
    assert [type(one) for one in told] == [CachedReply] * 10
    # The first two leave room for one with 0.0002 spent, and so on: never a third.
    assert judge.most == 2


def test_replies_without_a_cost_are_priced_by_their_tokens() -> None:
    judge, kept = FakeJudge(lambda *_: Reply("", tokens_in=50, tokens_out=50), price=DEAR), Kept()
    calls = calls_of(judge, store=kept)
    ends(calls.ask(question(1)))
    # 50 tokens at 10e-6 $.
    assert calls.usage["m", ""].cost_usd == pytest.approx(0.0005)
    assert [reply.cost_usd for reply in kept.replies.values()] == [pytest.approx(0.0005)]


def test_a_try_that_was_given_up_counts_in_full() -> None:
    judge = FakeJudge(lambda *_: (100.0, YES), price=DEAR)
    stop = Stop()
    calls = calls_of(judge, stop, budget_usd=0.0025, max_tokens=100)
    [told] = ends(calls.ask(question(1)))
    assert isinstance(told, Stopped)
    # Two tries at 0.001 may have been charged; a third does not fit.
    assert len(judge.asked) == 2
    assert calls._budget.spent + calls._budget.unsure == pytest.approx(0.002)


def test_a_failed_try_counts_for_its_prompt_a_refused_one_for_nothing() -> None:
    failures: dict[int, Any] = {1: TransientError("HTTP 500"), 2: RateLimited("HTTP 429"), 3: YES}
    price = Price(1e6, 0.0)
    judge = FakeJudge(lambda _, number: failures[number], price=price)
    calls = calls_of(judge, budget_usd=1e9)
    request = question(1)
    ends(calls.ask(request))
    prompt = calls_of(FakeJudge(price=price), budget_usd=1e9)._budget.highest(request).prompt_usd
    assert prompt > 0
    assert calls._budget.spent + calls._budget.unsure == pytest.approx(prompt + 0.5)


# --- usage ----------------------------------------------------------------------------------


def test_usage_is_counted_by_metric_and_model() -> None:
    def tell(request: Request, number: int) -> Any:
        if request == question("bad"):
            return PermanentError("too long")
        return TransientError("HTTP 500") if number == 1 else (1.0, YES)

    judge, kept = FakeJudge(tell), Kept()
    kept.replies[cache_key(judge, question("old"))] = YES
    calls = calls_of(judge, store=kept)
    ends(
        calls.ask(question(1, "bias", "a")),
        calls.ask(question(2, "bias", "a")),
        calls.ask(question("old", "bias", "a")),
        calls.ask(question("bad", "bias", "a")),
        calls.ask(question(1, "bias", "b")),
        calls.ask(question(3, "toxicity", "a")),
    )
    assert calls.usage == {
        # 1 and 2 were paid, each at the second try; "old" kept: 0.5 saved.
        ("bias", "a"): Usage(6, 1, 1, 20, 4, True, 1.0, 0.5, True),
        # The reply to 1 was shared.
        ("bias", "b"): Usage(1, 1, 0, 0, 0, True, 0.0, 0.5, True),
        ("toxicity", "a"): Usage(2, 0, 0, 10, 2, True, 0.5, 0.0, True),
    }


def test_unknown_tokens_and_costs_are_told() -> None:
    calls = calls_of(FakeJudge(lambda *_: Reply("yes", cost_usd=0.5)))
    ends(calls.ask(question(1)))
    assert calls.usage["m", ""] == Usage(1, counted=False, cost_usd=0.5)
    calls = calls_of(FakeJudge(lambda *_: Reply("yes", tokens_in=1, tokens_out=2)))
    ends(calls.ask(question(1)))
    assert calls.usage["m", ""] == Usage(1, tokens_in=1, tokens_out=2, priced=False)
