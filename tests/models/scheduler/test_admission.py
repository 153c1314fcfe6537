"""Whether a request may begin: the breaker, the budget, and the queue that asks both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.oracles.model_server import FakeJudge
from tests.oracles.virtual_time import run_at_once
from valor_cli.errors import ConfigError
from valor_cli.models.requests import Price, Reply, Request, Stop, Stopped, conversation
from valor_cli.models.scheduler.breaker import Breaker
from valor_cli.models.scheduler.budget import Budget, Highest, budget_of, cost_of
from valor_cli.models.scheduler.concurrency import Limiter, Slot
from valor_cli.models.scheduler.request_queue import RequestQueue


def replied(open_: int = 20) -> Breaker:
    """One that was answered, with so many requests begun."""
    breaker = Breaker()
    breaker.answered(sent=0)
    for _ in range(open_):
        breaker.begin()
    return breaker


def fail(breaker: Breaker, now: float, *tickets: int, limit: int = 8) -> list[bool]:
    """These requests fail; of each, whether the outage is to blame."""
    return [breaker.failed(now, ticket, limit, refused=False) for ticket in tickets]


def test_a_judge_that_never_replied_is_given_up_after_five_requests() -> None:
    breaker = Breaker()
    assert [breaker.exhausted(0, 1, alone=False) for _ in range(5)] == [False] * 4 + [True]


def test_where_nothing_else_is_asked_fewer_do_if_they_tried_often_enough() -> None:
    assert Breaker().exhausted(0, 6, alone=True)
    assert not Breaker().exhausted(0, 4, alone=True)
    assert not Breaker().exhausted(0, 6, alone=False)


def test_after_a_reply_it_takes_25_in_a_row_and_two_minutes() -> None:
    breaker = replied(0)
    fail(breaker, 10, 1)
    assert not any(breaker.exhausted(129.9, 6, alone=True) for _ in range(30))
    assert breaker.exhausted(130, 6, alone=False)
    breaker.answered(sent=130)
    fail(breaker, 200, 1)
    assert not any(breaker.exhausted(1000, 6, alone=False) for _ in range(24))
    assert breaker.exhausted(1000, 6, alone=False)


def test_after_a_failure_no_more_than_five_begin_until_the_first_reply() -> None:
    breaker = Breaker()
    for _ in range(8):
        assert breaker.may_begin(32)
        breaker.begin()
    fail(breaker, 0, 1)
    assert not breaker.may_begin(32)
    for _ in range(4):
        breaker.end()
    # Four are left of eight.
    assert breaker.may_begin(32)
    breaker.begin()
    assert not breaker.may_begin(32)
    breaker.answered(sent=0)
    assert breaker.may_begin(32)


def test_a_judge_that_replied_may_fail_as_often_in_a_row_as_requests_are_under_way() -> None:
    breaker = replied(8)
    for _ in range(7):
        fail(breaker, 0, 1)
        assert breaker.may_begin(8)
    fail(breaker, 0, 1)
    assert not breaker.may_begin(8)


def test_when_as_many_fail_as_may_be_under_way_it_is_no_fault_of_theirs() -> None:
    breaker = replied()
    # The same ones again say nothing new.
    assert not any(fail(breaker, 1, *range(7), *range(7)))
    assert breaker.held_until == 0
    assert fail(breaker, 2, 7, 0) == [True, True]
    assert breaker.held_until == 2.5


def test_one_by_one_it_is_tried_again_more_and_more_rarely() -> None:
    breaker = replied()
    fail(breaker, 0, *range(8))
    now, waits = breaker.held_until, []
    for _ in range(6):
        breaker.sent(now)
        waits.append(breaker.held_until - now)
        now = breaker.held_until
    assert waits == [1, 2, 4, 5, 5, 5]


def test_the_first_reply_ends_an_outage_but_none_that_was_under_way_before() -> None:
    breaker = replied()
    fail(breaker, 10, *range(8))
    breaker.answered(sent=9)
    assert breaker.held_until == 10.5
    assert fail(breaker, 11, 1) == [True]
    breaker.answered(sent=10.5)
    assert breaker.held_until == 0
    assert fail(breaker, 12, *range(7)) == [False] * 7


def test_refusals_are_forgotten_at_any_reply() -> None:
    # At first a server refuses all that are too many for it; it is well.
    breaker = replied()
    for ticket in range(7):
        breaker.failed(1, ticket, 8, refused=True)
    breaker.answered(sent=0)
    assert fail(breaker, 2, 7) == [False]


def test_where_few_are_left_all_of_them_and_no_fewer_than_five() -> None:
    breaker = replied(open_=6)
    assert fail(breaker, 1, *range(6)) == [False] * 5 + [True]
    assert fail(replied(open_=4), 1, *range(4)) == [False] * 4


def test_a_judge_that_never_replied_has_no_outage() -> None:
    breaker = Breaker()
    assert not any(fail(breaker, 1, *range(30)))


def test_after_two_minutes_of_an_outage_tries_count_again() -> None:
    breaker = replied(open_=5)
    assert fail(breaker, 10, *range(5)) == [False] * 4 + [True]
    assert not breaker.may_begin(5)
    assert fail(breaker, 129, 1) == [True]
    assert fail(breaker, 130, 1) == [False]
    assert breaker.held_until == 0
    # As many may find out as it takes to give it up.
    assert breaker.may_begin(5)
    breaker.sent(131)
    assert breaker.held_until == 0


# A dollar for a million tokens of a prompt, ten for a million of a reply.
PRICE = Price(1.0, 10.0)


def asked(text: str, **more: object) -> Request:
    return Request(conversation(("user", text)), **more)  # type: ignore[arg-type]


def purse_of(limit: float = 1.0, spent_before: float = 0.0) -> Budget:
    return Budget(limit, PRICE, max_tokens=100, spent_before=spent_before)


def test_the_highest_cost_is_the_prompt_at_two_and_a_half_bytes_a_token_and_the_longest_reply() -> (
    None
):
    # 76 bytes + 12 for the message + 12 for the conversation = 100 bytes, 40 tokens, 40e-6 $;
    # the reply 100 tokens at 10e-6 $.
    highest = purse_of().highest(asked("x" * 76))
    assert highest.size == 100
    assert highest.prompt_usd == pytest.approx(40e-6)
    assert highest.usd == pytest.approx(1040e-6)


def test_bytes_are_counted_not_characters() -> None:
    # "語" has three bytes in UTF-8; lone surrogates have three as well.
    plain = purse_of().highest(asked("x" * 6)).size
    assert purse_of().highest(asked("語語")).size == plain
    assert purse_of().highest(asked("\ud800\ud800")).size == plain


def test_schemas_and_tools_are_part_of_the_prompt() -> None:
    plain = purse_of().highest(asked("x")).size
    # {"type": "object"} has 18 bytes; in a list, 20.
    assert purse_of().highest(asked("x", schema={"type": "object"})).size == plain + 18
    assert purse_of().highest(asked("x", tools=({"type": "object"},))).size == plain + 20


def test_the_estimate_is_learnt_from_the_worst_of_the_last_replies() -> None:
    purse = purse_of()
    request = asked("x" * 76)
    for tokens in [20] * 8 + [30]:
        highest = purse.highest(request)
        assert highest.prompt_usd == pytest.approx(40e-6), "ten replies before it may fall"
        purse.reserve(highest)
        purse.settle(highest, Reply("", tokens_in=tokens, tokens_out=0))
    purse.reserve(highest)
    purse.settle(highest, Reply("", tokens_in=20, tokens_out=0))
    # 30 tokens of 100 bytes is the worst; a tenth more, 33.
    assert purse.highest(request).prompt_usd == pytest.approx(33e-6, abs=1.1e-6)
    # A prompt longer than estimated raises it at once: 80, and a tenth more.
    purse = purse_of()
    purse.reserve(highest)
    purse.settle(highest, Reply("", tokens_in=80, tokens_out=0))
    assert purse.highest(request).prompt_usd == pytest.approx(88e-6, abs=1.1e-6)


def test_what_is_spent_and_reserved_counts() -> None:
    purse = Budget(1.0, PRICE, 100, spent_before=0.5)
    a = Highest(100, 0.1, 0.25)
    assert purse.fits(a)
    purse.reserve(a)
    assert purse.fits(a)
    purse.reserve(a)
    assert not purse.fits(Highest(1, 0.0, 0.001))
    purse.settle(a, Reply("", cost_usd=0.125))
    assert purse.spent == 0.625
    assert not purse.idle
    assert purse.fits(Highest(100, 0.1, 0.125))
    assert not purse.fits(Highest(100, 0.1, 0.126))


def test_a_cost_that_nobody_says_counts_in_full_and_a_refused_try_nothing() -> None:
    purse = purse_of()
    a = Highest(100, 0.125, 0.5)
    purse.reserve(a)
    purse.settle(a, Reply(""))
    assert (purse.spent, purse.unsure, purse.reserved) == (0, 0.5, 0)
    purse.reserve(a)
    purse.lose(a, a.prompt_usd)
    assert purse.unsure == 0.625
    purse.reserve(a)
    purse.lose(a, 0.0)
    assert purse.unsure == 0.625
    assert purse.idle


def test_sums_of_floats_leave_nothing_reserved() -> None:
    purse = purse_of()
    costs = [Highest(1, 0.0, each) for each in (0.1, 0.2, 0.3)]
    for one in costs:
        purse.reserve(one)
    for one in costs:
        purse.lose(one, 0.0)
    assert purse.reserved == 0.0


def test_what_a_reply_cost() -> None:
    assert cost_of(Reply("", cost_usd=0.0, tokens_in=5, tokens_out=5), PRICE) == 0.0
    # 1,000 at 1e-6 and 100 at 10e-6.
    assert cost_of(Reply("", tokens_in=1000, tokens_out=100), PRICE) == pytest.approx(0.002)
    assert cost_of(Reply("", tokens_in=1000), PRICE) is None
    assert cost_of(Reply("", tokens_in=1000, tokens_out=100), None) is None


def test_without_a_budget_all_fits() -> None:
    free = Budget(None, None, 100)
    assert free.highest(asked("x")) == Highest()
    assert free.fits(Highest(1, 1e9, 1e9))


def test_a_budget_needs_a_price() -> None:
    with pytest.raises(ConfigError) as caught:
        budget_of(FakeJudge(name="gpt"), 2.0, 100)
    assert str(caught.value).startswith("judge (gpt): `budget_usd:` cannot be kept")
    assert "price:" in caught.value.hint
    assert budget_of(FakeJudge(), None, 100).limit_usd is None
    assert budget_of(FakeJudge(price=PRICE), 2.0, 100).limit_usd == 2.0


@pytest.mark.parametrize(
    ("limit", "unsure", "words"),
    [
        (1234.5, 0.0, "1234.50 US dollars is reached"),
        (0.005, 0.001, "0.005 US dollars is reached"),
        (2.0, 0.25, "2.00 US dollars is reached (0.25 of it for failed calls, which may have been"),
    ],
)
def test_the_words_tell_what_is_unsure(limit: float, unsure: float, words: str) -> None:
    purse = purse_of(limit)
    purse.reserve(Highest())
    purse.lose(Highest(), unsure)
    assert purse.reached.removesuffix(" charged)") == f"the budget of {words}"


HIGHEST = Highest(1, 0.125, 0.25)


class Desk:
    """Turns for one at a time."""

    def __init__(self) -> None:
        self.stop = Stop()
        self.limiter = Limiter(1)
        self.breaker = Breaker()
        self.budget = Budget(1.0, Price(1.0, 1.0), 1)
        self.slots: list[Slot] = []
        self.turns = RequestQueue(self.limiter, self.breaker, self.budget, self.stop)

    async def take(self, ticket: int, *, begun: bool = False) -> None:
        self.slots.append(await self.turns.take(ticket, HIGHEST, begun=begun))

    def end(self) -> None:
        self.limiter.replied(self.slots.pop(0))
        self.budget.lose(HIGHEST, 0.0)
        self.breaker.end()
        self.turns.next()

    @property
    def taken(self) -> tuple[int, float, int]:
        return self.limiter.in_flight, self.budget.reserved, self.breaker.open


def given_and_not_used(spoil: Callable[[Desk, asyncio.Task[None]], object], error: type) -> Desk:
    async def main() -> Desk:
        desk = Desk()
        await desk.take(1)
        waiting = asyncio.create_task(desk.take(2))
        await asyncio.sleep(0)
        desk.end()
        assert desk.taken == (1, 0.25, 1), "it is the turn of the second"
        spoil(desk, waiting)
        with pytest.raises(error):
            await waiting
        return desk

    return run_at_once(main())


def test_a_turn_given_as_the_run_stops_is_given_back() -> None:
    desk = given_and_not_used(lambda desk, _: desk.stop.now("interrupted", "interrupted"), Stopped)
    assert desk.taken == (0, 0.0, 0)


def test_a_turn_given_as_its_taker_is_cancelled_is_given_back() -> None:
    desk = given_and_not_used(lambda _, waiting: waiting.cancel(), asyncio.CancelledError)
    assert desk.taken == (0, 0.0, 0)


def test_those_who_have_begun_come_first_then_who_asked_first() -> None:
    order: list[int] = []

    async def main() -> None:
        desk = Desk()
        await desk.take(0)

        async def taker(ticket: int, begun: bool) -> None:
            await desk.take(ticket, begun=begun)
            order.append(ticket)
            desk.end()

        waits = [(4, False), (3, False), (2, True), (5, True)]
        tasks = [asyncio.create_task(taker(*each)) for each in waits]
        await asyncio.sleep(0)
        desk.end()
        await asyncio.wait(tasks)

    run_at_once(main())
    assert order == [2, 5, 3, 4]


def test_a_pause_that_is_made_longer_lasts_longer() -> None:
    async def main() -> float:
        desk = Desk()
        loop = asyncio.get_running_loop()
        desk.limiter.paused_until = 5.0
        waiting = asyncio.create_task(desk.take(1))
        await asyncio.sleep(1.0)
        desk.limiter.paused_until = 9.0
        await waiting
        return loop.time()

    assert run_at_once(main()) == 9.0


def test_an_outage_holds_all_until_the_next_may_be_tried() -> None:
    async def main() -> list[float]:
        desk = Desk()
        desk.limiter.most = desk.limiter.limit = 9
        loop = asyncio.get_running_loop()
        desk.breaker.answered(0.0)
        for ticket in range(5):
            desk.breaker.failed(0.0, ticket, 5, refused=False)
        out = []

        async def taker(ticket: int) -> None:
            await desk.take(ticket)
            out.append(loop.time())

        await asyncio.gather(*map(taker, range(4)))
        return out

    # The first after 0.5 s; each next after twice as long as the one before.
    assert run_at_once(main()) == [0.5, 1.5, 3.5, 7.5]


def test_a_stop_told_from_a_thread_wakes_who_waits() -> None:
    async def main() -> None:
        desk = Desk()
        await desk.take(1)
        waiting = asyncio.create_task(desk.take(2))
        await asyncio.sleep(0)
        await asyncio.to_thread(desk.stop.now, "interrupted", "interrupted")
        with pytest.raises(Stopped, match="interrupted"):
            await waiting

    asyncio.run(main())
