"""Turns that are given and not used: stopped or cancelled in the same step of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.oracles.virtual_time import run_at_once
from valor_cli.models.requests import Price, Stopped
from valor_cli.models.scheduler.breaker import Breaker
from valor_cli.models.scheduler.budget import Budget, Highest
from valor_cli.models.scheduler.concurrency import Limiter, Slot
from valor_cli.models.scheduler.request_queue import RequestQueue
from valor_cli.models.scheduler.stop import Stop

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
