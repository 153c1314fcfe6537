"""Work runs to its end, beside a loop that runs already as well."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from valor_cli.models.scheduler.event_loop import run_async


async def work() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_alone_it_runs_in_this_thread() -> None:
    assert run_async(work()) == threading.current_thread().name


def test_beside_a_running_loop_it_has_a_thread_of_its_own() -> None:
    async def cell() -> str:
        return run_async(work())

    assert asyncio.run(cell()) != threading.current_thread().name


def test_what_it_raises_is_raised() -> None:
    async def broken() -> None:
        raise LookupError("gone")

    async def cell() -> None:
        run_async(broken())

    with pytest.raises(LookupError, match="gone"):
        asyncio.run(cell())


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
