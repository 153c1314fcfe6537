"""Run all judges of a config in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, MutableSequence, Sequence
from contextlib import ExitStack

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.backends import open_judge, refuse_remote
from valor_cli.models.embedders.vectors import ProgressCallback, Vectors
from valor_cli.models.judge.dry_run import simulated_calls
from valor_cli.models.judge.prompts import Prompt, Prompts
from valor_cli.models.requests import Judge, Request
from valor_cli.models.scheduler.budget import budget_of
from valor_cli.models.scheduler.calls import CachedReply, Calls, Limits
from valor_cli.models.scheduler.cassette import CassetteWriter
from valor_cli.models.scheduler.event_loop import Interrupts, run_async
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings import JudgeSettings
from valor_cli.models.store import RunStore, Store
from valor_cli.results import Scalar, UsageResult

NEAR = """\
ask a server of this machine (api_base: http://127.0.0.1:…), or use backend: local or replay"""

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


class Panel:
    """All judges of a run.

    Attributes:
        members: The judges, once they are open.
    """

    def __init__(
        self,
        prompts: Prompts,
        stop: Stop,
        warnings: MutableSequence[str],
        *,
        identity: str,
        offline: bool,
        resume: bool,
        dry_run: bool,
        on_progress: ProgressCallback,
    ) -> None:
        """Nobody is asked yet.

        Args:
            prompts: What they are asked with.
            stop: Says whether the run goes on.
            warnings: Is told what was odd.
            identity, offline, resume, dry_run, on_progress: As of the `Session`.
        """
        self.members: tuple[Member, ...] = ()
        self._warnings = warnings
        self._prompts = prompts
        self._stop = stop
        self._identity = identity
        self._offline = offline
        self._resume = resume
        self._dry_run = dry_run
        self._on_progress = on_progress
        self._store: Store | None = None
        self._recorders: list[CassetteWriter] = []

    def open(
        self, judges: Sequence[JudgeSettings], vectors: Vectors | None, held: ExitStack
    ) -> None:
        """Open the judges; `held` closes their resources.

        Raises:
            ValorError: One cannot be asked.
        """
        self.members = tuple(self._member(one, vectors, held) for one in judges)

    def _member(self, settings: JudgeSettings, vectors: Vectors | None, held: ExitStack) -> Member:
        if self._dry_run:
            if settings.backend != "local":
                # What is wrong with its file, its parameters or its budget shows before the run.
                judge = open_judge(settings)
                budget_of(judge, settings.budget_usd, settings.max_tokens)
            calls = simulated_calls(settings, self._stop)
            return Member(settings, calls, self._prompts, vectors)
        judge = open_judge(settings)
        refuse_remote(judge, "judge", offline=self._offline, hint=NEAR)
        recorder: CassetteWriter | None = None
        if settings.record is not None:
            recorder = held.enter_context(CassetteWriter(settings.record, judge.name))
            self._recorders.append(recorder)
        kept = self._kept(settings, judge, held) if judge.keeps else None
        calls = Calls(
            judge,
            Limits(
                settings.concurrency,
                settings.timeout_s,
                settings.max_retries,
                settings.budget_usd,
                settings.max_tokens,
            ),
            self._stop,
            store=kept,
            recorder=recorder,
            spent_before=0.0 if kept is None else kept.spent_before,
        )
        return Member(settings, calls, self._prompts, vectors)

    def _kept(self, settings: JudgeSettings, judge: Judge, held: ExitStack) -> RunStore:
        """What is kept of the judge's replies."""
        if self._store is None:
            self._store = held.enter_context(Store())
        kept = self._store.run(
            self._identity, resume=self._resume, reuse=settings.cache, judge=judge.name
        )
        if self._resume and not kept.known:
            self._warnings.append(f"--resume: no earlier run of this config with {judge.name}")
        return kept

    def end(self, *, failed: bool) -> None:
        """Record how the run ended.

        Args:
            failed: Whether an error ended it.
        """
        if self._stop.reason is not None:
            # What a stopped run recorded is no whole cassette: it stays beside the old one.
            for recorder in self._recorders:
                recorder.abort()
        if self._store is not None:
            self._store.finish("failed" if failed else self._stop.kind or "finished")

    def run(self, work: Work) -> None:
        """Run the calls of every juror concurrently.

        A first Ctrl-C, or SIGTERM, lets requests under way end; a second one drops them.

        Raises:
            ValorError: A judge will never answer.
        """
        run_async(self._run(work))

    async def _run(self, work: Work) -> None:
        total = sum(count for count, _ in work)
        done = 0

        async def worker(pieces: Iterator[Callable[[], Awaitable[None]]]) -> None:
            nonlocal done
            for piece in pieces:
                if self._stop.reason is not None:
                    return
                await piece()
                done += 1
                self._on_progress(ASKING, done, total)

        self._on_progress(ASKING, 0, total)
        tasks = [
            asyncio.create_task(worker(pieces))
            for member, (count, pieces) in zip(self.members, work, strict=True)
            for _ in range(min(count, _at_a_time(member)))
        ]
        with Interrupts(self._stop, tasks):
            try:
                await _first_error(tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self._close()
        for member in self.members:
            check = getattr(member.calls.judge, "check", None)
            if check is not None and self._stop.reason is None and (told := check()):
                self._warnings.append(told)

    async def _close(self) -> None:
        for member in self.members:
            await member.calls.judge.close()
            if member.vectors is not None:
                await member.vectors.embedder.close()

    @property
    def usage(self) -> list[UsageResult]:
        """Usage by metric, model and judge."""
        return [
            UsageResult(
                metric,
                model,
                member.name,
                one.calls,
                one.cached,
                one.failed,
                one.tokens_in if one.counted else None,
                one.tokens_out if one.counted else None,
                one.cost_usd if one.priced else None,
                one.saved_usd if one.valued else None,
            )
            for member in self.members
            for (metric, model), one in member.calls.usage.items()
        ]

    @property
    def settings(self) -> dict[str, Scalar]:
        """The judges and their settings."""
        told: dict[str, Scalar] = {}
        if self.members:
            told["judge"] = ", ".join(member.name for member in self.members)
        if any(member.repeats > 1 for member in self.members):
            told["repeat"] = max(member.repeats for member in self.members)
        return told


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
