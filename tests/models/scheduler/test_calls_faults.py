"""Whatever goes wrong, in whatever mix: each ask ends in one way, and no cent too much is spent."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

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
from valor_cli.models.scheduler.calls import CachedReply, Calls, cache_key

# A token of a prompt costs a dollar, and one of a reply; 20 at most.
PRICE = Price(1e6, 1e6)
MAX_TOKENS = 20

SECONDS = st.sampled_from([0.0, 0.1, 1.0, 5.0, 100.0])
FAULTS = st.sampled_from(
    ["yes", "yes", "yes", "cheap", "busy", "later", "quota", "500", "503", "never", "cancelled"]
)
TRIES = st.lists(st.tuples(SECONDS, FAULTS), min_size=1, max_size=8)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    in_order = draw(st.booleans())
    return {
        "tries": draw(st.lists(TRIES, min_size=1, max_size=12)),
        # Of each ask: which request, when, and when the asker gives up.
        "asks": draw(
            st.lists(
                st.tuples(
                    st.integers(0, 11), SECONDS, st.sampled_from([None, None, 0.0, 0.5, 3.0])
                ),
                max_size=25,
            )
        ),
        "wrong_key_at": draw(st.sampled_from([None, None, None, 0, 5])),
        "stop_at": draw(st.sampled_from([None, None, 0.05, 2.0, 30.0])),
        "budget_usd": draw(st.sampled_from([None, 70.0, 200.0, 2000.0])),
        "concurrency": draw(st.integers(1, 4)),
        "max_retries": draw(st.integers(0, 3)),
        "in_order": in_order,
        "keeps": not in_order and draw(st.booleans()),
    }


def said(fault: str) -> Any:
    failures = {
        "busy": RateLimited("HTTP 429"),
        "later": RateLimited("HTTP 429", 3.0),
        "quota": RateLimited("HTTP 429", 5000.0),
        "500": TransientError("HTTP 500"),
        "503": TransientError("HTTP 503", 4.0),
        "never": PermanentError("too long"),
        "cancelled": asyncio.CancelledError(),
        "wrong key": JudgeError(Problem("judge fake", "the key is refused")),
        "cheap": Reply("yes", tokens_in=3, tokens_out=1),
        "yes": Reply("yes", tokens_in=10, tokens_out=MAX_TOKENS),
    }
    return failures[fault]


class Counting(FakeJudge):
    """Counts what each try was charged, as a provider would: to the last token, if in doubt."""

    charged = 0.0

    async def answer(self, request: Request) -> Reply:
        try:
            reply = await super().answer(request)
        except asyncio.CancelledError:
            self.charged += PRICE.of(10, MAX_TOKENS)
            raise
        except (TransientError, PermanentError):
            self.charged += PRICE.of(10, 0)
            raise
        self.charged += PRICE.of(reply.tokens_in or 0, reply.tokens_out or 0)
        return reply


@given(plans())
def test_each_ask_ends_in_one_way(plan: dict[str, Any]) -> None:
    answered: Counter[str] = Counter()

    def tell(request: Request, number: int) -> Any:
        if len(judge.asked) - 1 == plan["wrong_key_at"]:
            return (0.1, said("wrong key"))
        which = int(request.messages[0].content.split()[1])
        tries = plan["tries"][which % len(plan["tries"])]
        seconds, fault = tries[min(number, len(tries)) - 1]
        if fault in ("yes", "cheap") and seconds < 60:
            answered[request.key] += 1
        return (seconds, said(fault))

    judge = Counting(tell, in_order=plan["in_order"], keeps=plan["keeps"], price=PRICE)
    kept, stop = Kept(), Stop()
    asked = {name: plan[name] for name in ("concurrency", "max_retries", "budget_usd")}
    calls = Calls(judge, limits(max_tokens=MAX_TOKENS, **asked), stop, store=kept, recorder=kept)

    async def asker(which: int, when: float, patience: float | None) -> Any:
        await asyncio.sleep(when)
        asking = asyncio.create_task(calls.ask(question(which)))
        if patience is not None:
            asyncio.get_running_loop().call_later(patience, asking.cancel)
        await asyncio.wait({asking})
        return None if asking.cancelled() else (asking.exception() or asking.result())

    async def main() -> list[Any]:
        if plan["stop_at"] is not None:
            at = plan["stop_at"]
            asyncio.get_running_loop().call_later(at, stop.now, "interrupted", "interrupted")
        return await asyncio.gather(*(asker(*ask) for ask in plan["asks"]))

    # Within this, no task may be left over, and nobody waits for ever.
    ended = run_at_once(main())

    for one, (which, _, patience) in zip(ended, plan["asks"], strict=True):
        assert isinstance(one, CachedReply | NoAnswer | Stopped | ValorError) or (
            one is None and patience is not None
        )
        if isinstance(one, CachedReply) and plan["keeps"]:
            assert kept.replies[cache_key(judge, question(which))] == one.reply
    assert sum(isinstance(one, ValorError) for one in ended) <= 1
    assert (calls.fatal is not None) >= any(isinstance(one, ValorError) for one in ended)

    limiter, budget = calls._tries._limiter, calls._budget
    assert (limiter.in_flight, budget.reserved, calls._tries._breaker.open) == (0, 0, 0)
    assert budget.idle
    assert judge.most <= (1 if plan["in_order"] else plan["concurrency"])
    if plan["budget_usd"] is not None:
        assert judge.charged <= budget.spent + budget.unsure + 1e-9 <= plan["budget_usd"] + 2e-9

    usage = calls.usage.get(("m", ""))
    if usage is not None:
        counted = Counter(type(one).__name__ for one in ended)
        assert usage.failed == counted["NoAnswer"] + counted["JudgeError"]
        tries = sum(
            one.reply.tries if isinstance(one, CachedReply) else getattr(one, "tries", 1)
            for one in ended
            if isinstance(one, CachedReply | NoAnswer | JudgeError)
        )
        assert usage.calls == tries >= usage.failed + counted["CachedReply"]
        assert usage.cached == sum(isinstance(one, CachedReply) and one.cached for one in ended)
    if plan["keeps"] and all(ask[2] is None for ask in plan["asks"]):
        # Nobody gave up: whatever was answered was asked once. (`Kept` sees to it, too.)
        assert all(times == 1 for times in answered.values())
