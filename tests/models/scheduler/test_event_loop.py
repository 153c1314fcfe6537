"""Work runs to its end beside a loop that runs already, and signals end it in order."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from valor_cli.models.requests import Stop
from valor_cli.models.scheduler.event_loop import Halting, run_async


def test_beside_a_running_loop_it_has_a_thread_of_its_own() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    async def cell() -> str:
        return run_async(work())

    assert run_async(work()) == threading.current_thread().name != asyncio.run(cell())


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C as a notebook has it: an exception in the main thread."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_cell_cancels_the_work_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def endless() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    def cell(*_: Any) -> None:
        with pytest.raises(KeyboardInterrupt):
            run_async(endless())
        ended.append("cell")

    loop = asyncio.new_event_loop()
    loop.call_soon(cell)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert ended == ["cancelled", "cell"]


def test_an_interrupt_while_the_thread_is_handed_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """It arrives before the pool has noted its thread, which it then does not wait for."""
    ended: list[str] = []
    begun = threading.Event()

    async def endless() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    adjusted = ThreadPoolExecutor._adjust_thread_count

    def interrupted(pool: ThreadPoolExecutor) -> None:
        adjusted(pool)
        pool._threads.clear()
        assert begun.wait(60)
        raise KeyboardInterrupt

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_async(endless())
        ended.append("cell")

    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", interrupted)
    asyncio.run(cell())
    assert ended == ["cancelled", "cell"]


def test_an_exception_in_a_callback_ends_the_work() -> None:
    """The loop would log it, and the work wait for what the callback should have done."""

    async def waiting() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(bytes.fromhex, "no digits")
        await loop.create_future()

    with pytest.raises(ValueError, match="non-hexadecimal"):
        run_async(waiting())


# --- signals while models compute -----------------------------------------------------------

SIGNALS = [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]


def sent(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_the_first_signal_stops_in_order(number: signal.Signals, kind: str) -> None:
    before = {one: signal.getsignal(one) for one, _ in SIGNALS}
    stop = Stop()
    told: list[str] = []
    stop.callbacks.append(lambda: told.append(stop.kind))
    with pytest.raises(ValueError, match="within"), Halting(stop):
        raise ValueError("within")
    with Halting(stop):
        sent(number)
    assert (stop.kind, stop.reason, told) == (kind, kind, [kind])
    assert {one: signal.getsignal(one) for one, _ in SIGNALS} == before


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_second_ends_the_program(second: signal.Signals) -> None:
    before = signal.getsignal(second)
    stop = Stop()
    with Halting(stop):
        sent(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            sent(second)
    assert stop.kind == "interrupted"
    assert signal.getsignal(second) == before


def test_a_run_that_stopped_for_another_reason_ends_at_once() -> None:
    stop = Stop()
    stop.now("budget", "the budget is reached")
    with pytest.raises(KeyboardInterrupt), Halting(stop):
        sent(signal.SIGINT)
    assert stop.kind == "budget"


def test_other_threads_get_no_signals_and_compute_all_the_same() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[bool] = []

    def compute() -> None:
        stop = Stop()
        with Halting(stop):
            done.append(signal.getsignal(signal.SIGINT) == before and stop.reason is None)

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    assert done == [True]
