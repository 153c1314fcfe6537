"""A thousand requests to simulated servers: none lost, none asked twice, the server kept busy."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

import pytest

from tests.oracles.model_server import ModelServer, limits, question
from tests.oracles.virtual_time import run_at_once
from valor_cli.models.requests import Reply, Request, Stop
from valor_cli.models.scheduler.calls import CachedReply, Calls

N = 1000


def slow(*values: object) -> Any:
    """A case for the slow tests."""
    return pytest.param(*values, marks=pytest.mark.slow)


def crossed(*axes: Sequence[Any], quick: Collection[tuple[Any, ...]]) -> list[Any]:
    """Every value with every value of the other axes; those that are not quick are slow tests."""
    assert {*quick} <= {*product(*axes)}, "a quick case that is none"
    return [pytest.param(*one) if one in quick else slow(*one) for one in product(*axes)]


def ask_all(server: ModelServer, concurrency: int, timeout_s: float = 60.0) -> float:
    """Ask, as a session does, and see that each is answered once; seconds that took."""
    calls = Calls(server, limits(concurrency=concurrency, timeout_s=timeout_s), Stop())

    async def main() -> tuple[list[Any], float]:
        todo, answered = iter(range(N)), []

        async def worker() -> None:
            for i in todo:
                answered.append(await calls.ask(question(i)))

        await asyncio.gather(*(worker() for _ in range(2 * concurrency + 4)))
        seconds = asyncio.get_running_loop().time()
        # What the server works on when nobody waits ends too.
        await asyncio.sleep(1.0)
        return answered, seconds

    answered, seconds = run_at_once(main())
    assert [type(one) for one in answered] == [CachedReply] * N
    assert sorted(server.answered.values()) == [1] * N
    assert server.under_way == 0
    return seconds


@pytest.mark.parametrize(
    ("at_a_time", "concurrency", "retry_after"),
    crossed(
        [1, 3, 8],
        [8, 32],
        [None, 5.0],
        quick=[(1, 8, 5.0), (1, 32, None), (3, 8, None), (3, 32, 5.0), (8, 32, None)],
    ),
)
def test_a_server_that_serves_few_at_a_time_is_kept_busy_and_seldom_refuses(
    at_a_time: int, concurrency: int, retry_after: float | None
) -> None:
    server = ModelServer(at_a_time, retry_after=retry_after, seed=at_a_time)
    ask_all(server, concurrency)
    assert server.in_use(*server.steady()) >= 0.95 * at_a_time
    # All that are too many at first, and a few trials later.
    assert server.refused <= concurrency - at_a_time + 20


@pytest.mark.parametrize(
    "latency",
    [
        lambda chance: 1.0,
        lambda chance: chance.expovariate(1.0),
        lambda chance: chance.choice([0.1, 0.1, 0.1, 5.0]),
    ],
)
def test_whatever_the_latencies(latency: Any) -> None:
    server = ModelServer(3, latency, refusal_s=0.3, retry_after=1.0)
    ask_all(server, 12)
    assert server.in_use(*server.steady()) >= 0.95 * 3
    assert server.refused <= 45


@pytest.mark.parametrize(
    ("rate", "burst", "concurrency"),
    [(5.0, 10, 8), (20.0, 20, 8), (20.0, 20, 32), (0.5, 5, 32), slow(5.0, 10, 32), slow(0.5, 5, 8)],
)
def test_a_server_that_serves_so_many_a_second(rate: float, burst: int, concurrency: int) -> None:
    server = ModelServer(rate=rate, burst=burst)
    seconds = ask_all(server, concurrency)
    # What it could have served; or what so many at a time with 1.25 s each can ask for.
    possible = min(rate, concurrency / 1.25)
    assert (N - burst) / seconds >= 0.9 * possible
    # A refusal is a request that waits its turn: never a storm of them.
    assert server.refused <= N + concurrency


@pytest.mark.parametrize(
    ("at_a_time", "concurrency"),
    crossed([1, 3, 8, 1000], [8, 32], quick=[(1, 8), (3, 32), (8, 8), (1000, 32)]),
)
def test_a_server_that_fails_one_in_ten(at_a_time: int, concurrency: int) -> None:
    server = ModelServer(at_a_time, failing=0.1)
    ask_all(server, concurrency)
    assert server.in_use(*server.steady()) >= 0.95 * min(at_a_time, concurrency)
    assert 50 <= server.failed <= 200
    assert server.refused <= concurrency + 20


@pytest.mark.parametrize(
    ("at_a_time", "times", "stray", "seed"),
    crossed(
        [8, 24],
        [1, 2, 4],
        [0.0, 0.03, 0.1],
        [0, 1],
        quick=[(8, 1, 0.1, 0), (8, 2, 0.0, 0), (8, 2, 0.1, 0), (8, 4, 0.03, 0)],
    ),
)
def test_a_server_with_all_faults_at_once(
    at_a_time: int, times: int, stray: float, seed: int
) -> None:
    server = ModelServer(at_a_time, failing=0.05, stray=stray, stalled=0.02, cut=0.03, seed=seed)
    ask_all(server, times * at_a_time, timeout_s=5.0)
    assert server.in_use(*server.steady()) >= 0.95 * at_a_time
    assert server.strays >= 800 * stray
    assert server.failed >= 50
    assert server.refused <= (times - 1) * at_a_time + 30


@pytest.mark.parametrize(
    ("at_a_time", "concurrency", "stray"),
    [
        *((3, 12, 0.1), (8, 32, 0.0)),
        *(slow(3, 12, 0.0), slow(8, 32, 0.1), slow(24, 48, 0.0), slow(24, 48, 0.1)),
    ],
)
def test_a_server_that_is_far_away(at_a_time: int, concurrency: int, stray: float) -> None:
    server = FarServer(at_a_time, stray=stray)
    ask_all(server, concurrency)
    # 1.25 s of work, and 0.11 s on the way there and back that the server does not see.
    assert server.in_use(*server.steady()) >= 0.95 * at_a_time * 1.25 / 1.36
    assert server.refused <= 0.3 * N


@pytest.mark.parametrize(
    ("at_a_time", "times", "stray"), crossed([8, 24], [1, 2, 4], [0.0, 0.1], quick=[(8, 2, 0.1)])
)
def test_a_server_that_works_on_when_nobody_waits(at_a_time: int, times: int, stray: float) -> None:
    used = []
    for seed in range(3):
        server = SlowToTell(at_a_time, failing=0.05, stray=stray, stalled=0.02, cut=0.03, seed=seed)
        ask_all(server, times * at_a_time, timeout_s=4.0)
        used.append(server.in_use(*server.steady()))
    assert sum(used) / 3 >= 0.95 * at_a_time


class SlowToTell(ModelServer):
    """A request's place is taken for a second after who asked has hung up."""

    async def answer(self, request: Request) -> Reply:
        try:
            return await super().answer(request)
        except asyncio.CancelledError:
            self._now(+1)
            asyncio.get_running_loop().call_later(1.0, self._now, -1)
            raise


class FarServer(ModelServer):
    """What goes there, and back, is 10 to 100 ms on its way."""

    async def answer(self, request: Request) -> Reply:
        await asyncio.sleep(self.chance.uniform(0.01, 0.1))
        try:
            return await super().answer(request)
        finally:
            await asyncio.sleep(self.chance.uniform(0.01, 0.1))


@pytest.mark.parametrize("stray", [0.0, 0.1])
@pytest.mark.parametrize(("before", "after"), [(24, 6), (24, 3), (2, 8)])
def test_a_server_that_serves_fewer_or_more_from_now_on(
    before: int, after: int, stray: float
) -> None:
    server = ModelServer(before, stray=stray)

    def latency(chance: Any) -> float:
        if sum(server.answered.values()) == 200:
            server.at_a_time = after
        return chance.uniform(0.5, 1.5)

    server.latency = latency
    ask_all(server, max(before, after))
    ends = sorted(server.ends)
    assert server.in_use(ends[300 if before > after else 700], ends[950]) >= 0.95 * after
    assert server.refused <= 120


@pytest.mark.parametrize(
    ("seconds", "concurrency", "faults"),
    crossed(
        [5.0, 20.0, 60.0, 110.0],
        [1, 4, 24],
        [0.0, 0.05],
        quick=[(20.0, 1, 0.05), (20.0, 24, 0.0), (110.0, 1, 0.0), (110.0, 4, 0.05)],
    ),
)
def test_a_server_that_is_down_for_a_while(seconds: float, concurrency: int, faults: float) -> None:
    server = ModelServer(
        concurrency, down=(10.0, 10.0 + seconds), failing=faults, cut=faults, stray=faults
    )
    ask_all(server, concurrency)
    assert server.refused_while_down <= max(8, concurrency) + 30
