"""Ask all judges of a run in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.judge.prompts import Prompt, Prompts
from valor_cli.models.requests import ProgressCallback, Request, Stop
from valor_cli.models.scheduler.calls import CachedReply, Calls
from valor_cli.models.scheduler.event_loop import Interrupts, run_async
from valor_cli.models.settings import JudgeSettings
from valor_cli.results import UsageResult

Work = Sequence[tuple[int, Iterator[Callable[[], Awaitable[None]]]]]

ASKING = "asking judges"
"""What the run is at, for those who watch it."""


class Member(Struct, frozen=True):
    """A judge of the panel, as used by metrics."""

    settings: JudgeSettings
    calls: Calls
    prompts: Prompts
    vectors: Vectors | None

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return self.settings.repeat

    @property
    def name(self) -> str:
        """Name used in results."""
        return self.calls.judge.name

    @property
    def judge_retries(self) -> int:
        """Retries after unparsable replies."""
        return self.settings.judge_retries

    @property
    def keep_prompts(self) -> bool:
        """Whether results keep what it was asked."""
        return self.settings.keep_prompts

    def prompt(self, name: str) -> Prompt:
        """The prompt of that name."""
        return self.prompts.of(name)

    async def reply(self, request: Request) -> CachedReply:
        """Get a reply. Raises `NoAnswer`, `Stopped`, `ValorError`."""
        return await self.calls.ask(request)

    def forget(self, request: Request) -> None:
        """Remove the reply to a request from the cache. Raises `ValorError`."""
        self.calls.forget(request)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) vectors of texts. Raises as `reply`."""
        if self.vectors is None:
            raise ConfigError(Problem("embedder", "none is configured"))
        return await self.vectors.embed(texts, quiet=True)


def ask_panel(
    members: Sequence[Member], work: Work, stop: Stop, on_progress: ProgressCallback
) -> list[str]:
    """Run the calls of every juror concurrently, and return what is to be warned of.

    A first Ctrl-C, or SIGTERM, lets requests under way end; a second one drops them.

    Raises:
        ValorError: A judge will never answer.
    """
    return run_async(_asked(members, work, stop, on_progress))


async def _asked(
    members: Sequence[Member], work: Work, stop: Stop, on_progress: ProgressCallback
) -> list[str]:
    total = sum(count for count, _ in work)
    done = 0

    async def worker(pieces: Iterator[Callable[[], Awaitable[None]]]) -> None:
        nonlocal done
        for piece in pieces:
            if stop.reason is not None:
                return
            await piece()
            done += 1
            on_progress(ASKING, done, total)

    on_progress(ASKING, 0, total)
    tasks = [
        asyncio.create_task(worker(pieces))
        for member, (count, pieces) in zip(members, work, strict=True)
        for _ in range(min(count, _at_a_time(member)))
    ]
    with Interrupts(stop, tasks):
        try:
            await _first_error(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await _close(members)
    checks = [getattr(member.calls.judge, "check", None) for member in members]
    return [
        told for check in checks if check is not None and stop.reason is None and (told := check())
    ]


async def _close(members: Sequence[Member]) -> None:
    for member in members:
        await member.calls.judge.close()
        if member.vectors is not None:
            await member.vectors.embedder.close()


def usage_of(asked: Sequence[Calls]) -> list[UsageResult]:
    """Usage by metric, model and who was asked."""
    return [
        UsageResult(
            metric,
            model,
            calls.judge.name,
            one.calls,
            one.cached,
            one.failed,
            one.tokens_in if one.counted else None,
            one.tokens_out if one.counted else None,
            one.cost_usd if one.priced else None,
            one.saved_usd if one.valued else None,
        )
        for calls in asked
        for (metric, model), one in calls.usage.items()
    ]


def _at_a_time(member: Member) -> int:
    """Number of samples in work: more than requests, since some wait to retry."""
    return 1 if member.calls.judge.in_order else 2 * member.settings.concurrency + 4


async def _first_error(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all; the first that fails fails all."""
    if not tasks:
        return
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
