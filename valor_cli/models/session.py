"""Settings in; the judges of one run, asked in one loop; what that took out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.absent_embedder import AbsentEmbedder
from valor_cli.models.backends import look_for_embedder, open_embedder, open_judge
from valor_cli.models.budget import budget_of
from valor_cli.models.calls import Answered, Calls, Limits
from valor_cli.models.cassette import CassetteWriter
from valor_cli.models.embedder import Embedder
from valor_cli.models.embedder_settings import Device, EmbedderSettings, LanguageModelSettings
from valor_cli.models.identity import Unavailable
from valor_cli.models.imagined import ImaginedEmbedder, imagined_calls
from valor_cli.models.interrupts import Interrupts
from valor_cli.models.judge import Judge, Request
from valor_cli.models.prompts import Prompt, Prompts
from valor_cli.models.settings import JudgeSettings
from valor_cli.models.stop import Stop
from valor_cli.models.store import RunStore, Store
from valor_cli.models.text_models import TextModels, Told
from valor_cli.models.vector_store import VectorStore
from valor_cli.models.vectors import Vectors
from valor_cli.results import PromptUsed, Scalar, UsageResult

NEAR = """\
ask a server of this machine (api_base: http://127.0.0.1:…), or use backend: local or replay"""
NEAR_EMBEDDER = """\
ask a server of this machine (api_base: http://127.0.0.1:…), or leave `embedder:` out: the packaged
model is on this machine"""

Work = Sequence[tuple[int, Iterator[Callable[[], Awaitable[None]]]]]
ASKING = "asking judges"
"""What the run is at, for those who watch it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Whom to ask; as in the config.

    Attributes:
        judges: Those of the panel.
        combine: How several values become one.
        embedder: Who makes vectors; None: no metric asks for any.
        prompts: Own prompts: name to file.
        language_model: Who says how likely texts are.
        device: Where models of this machine compute.
        named: From models that metrics themselves name to a metric that does.
        reduces: A metric that lays vectors out in a few dimensions; None: none does.
    """

    judges: tuple[JudgeSettings, ...]
    combine: str | None = None
    embedder: EmbedderSettings | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    language_model: LanguageModelSettings | None = None
    device: Device = "auto"
    named: Mapping[str, str] = field(default_factory=dict)
    reduces: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A judge of the panel, as metrics ask it."""

    settings: JudgeSettings
    calls: Calls
    prompts: Prompts
    vectors: Vectors | None

    @property
    def repeats(self) -> int:
        """How often it is asked everything."""
        return self.settings.repeat

    @property
    def name(self) -> str:
        """As results call it."""
        return self.calls.judge.name

    @property
    def judge_retries(self) -> int:
        """Tries after replies that do not fit."""
        return self.settings.judge_retries

    def prompt(self, name: str) -> Prompt:
        """The prompt of that name."""
        return self.prompts.of(name)

    async def reply(self, request: Request) -> Answered:
        """What the judge says. Raises `NoAnswer`, `Stopped`, `ValorError`."""
        return await self.calls.ask(request)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) their vectors. Raises as `reply`."""
        if self.vectors is None:
            raise ConfigError(Problem("embedder", "none is configured"))
        return await self.vectors.embed(texts, quiet=True)


class Session:
    """The judges of a run, from the first request to the last; a context manager."""

    def __init__(
        self,
        wanted: Settings,
        identity: str,
        *,
        offline: bool = False,
        resume: bool = False,
        imagined: bool = False,
        told: Told = lambda stage, done, total: None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            wanted: Whom to ask.
            identity: SHA-256 of what the run is: config and inputs.
            offline: Whether nothing may leave this machine.
            resume: Whether to go on with the run of that identity.
            imagined: Whether replies are only imagined, to see what asking would take.
            told: Told a stage, and how much of it is done.
        """
        self.wanted = wanted
        self.identity = identity
        self.offline = offline
        self.resume = resume
        self.imagined = imagined
        self.told = told
        self.stop = Stop()
        self.prompts = Prompts(wanted.prompts)
        self.warnings: list[str] = []
        self.jurors: tuple[Member, ...] = ()
        self.vectors: Vectors | None = None
        self.models = self._text_models()
        self._held = ExitStack()
        self._store: Store | None = None
        self._recorders: list[CassetteWriter] = []

    @property
    def combine(self) -> str | None:
        """How several values become one."""
        return self.wanted.combine

    def __enter__(self) -> Self:
        with self._held as held:
            if self.wanted.embedder is not None:
                self.vectors = self._vectors(self.wanted.embedder)
            self.models = self._text_models()
            if self.vectors is not None and isinstance(self.vectors.embedder, AbsentEmbedder):
                self.models.lacking[self.vectors.embedder.reason] = None
            self.jurors = tuple(map(self._member, self.wanted.judges))
            self._held = held.pop_all()
        return self

    def _text_models(self) -> TextModels:
        wanted = self.wanted
        return TextModels(
            wanted.embedder or EmbedderSettings(),
            wanted.language_model,
            wanted.device,
            self.stop,
            self.told,
            self.vectors,
        )

    def _vectors(self, settings: EmbedderSettings) -> Vectors:
        if self.imagined:
            return Vectors(ImaginedEmbedder(settings), self.stop, self.told)
        embedder: Embedder
        try:
            embedder = open_embedder(settings, self.wanted.device, self.stop)
        except Unavailable as lack:
            embedder = AbsentEmbedder(settings, str(lack))
        _refuse_remote(embedder, "embedder", self.offline, NEAR_EMBEDDER)
        kept = None
        if settings.cache and embedder.keeps is not None:
            kept = self._held.enter_context(VectorStore.open(embedder.keeps))
        return Vectors(embedder, self.stop, self.told, kept)

    def _member(self, settings: JudgeSettings) -> Member:
        if self.imagined:
            if settings.backend != "local":
                # What is wrong with its file, its parameters or its budget shows before the run.
                judge = open_judge(settings)
                budget_of(judge, settings.budget_usd, settings.max_tokens)
            calls = imagined_calls(settings, self.stop)
            return Member(settings, calls, self.prompts, self.vectors)
        judge = open_judge(settings)
        _refuse_remote(judge, "judge", self.offline)
        recorder: CassetteWriter | None = None
        if settings.record is not None:
            recorder = self._held.enter_context(CassetteWriter(settings.record, judge.name))
            self._recorders.append(recorder)
        kept = self._kept(settings, judge) if judge.keeps else None
        calls = Calls(
            judge,
            Limits(
                settings.concurrency,
                settings.timeout_s,
                settings.max_retries,
                settings.budget_usd,
                settings.max_tokens,
            ),
            self.stop,
            store=kept,
            recorder=recorder,
            spent_before=0.0 if kept is None else kept.spent_before,
        )
        return Member(settings, calls, self.prompts, self.vectors)

    def _kept(self, settings: JudgeSettings, judge: Judge) -> RunStore:
        """What is kept of the judge's replies."""
        if self._store is None:
            self._store = self._held.enter_context(Store.open())
        kept = self._store.run(
            self.identity, resume=self.resume, reuse=settings.cache, judge=judge.name
        )
        if self.resume and not kept.known:
            self.warnings.append(f"--resume: no earlier run of this config with {judge.name}")
        return kept

    def look(self) -> None:
        """See that the models of this machine are there, before anything is computed.

        Those that are not are `lacking`, and no error.

        Raises:
            ValorError: One can be told to be of no use, or its package is not installed.
        """
        wanted = self.wanted
        if self.imagined and wanted.embedder is not None:
            try:
                look_for_embedder(wanted.embedder, self.stop)
            except Unavailable as lack:
                self.models.lacking[str(lack)] = None
        asked = dict(wanted.named)
        if wanted.language_model is not None:
            asked[wanted.language_model.model] = "language_model"
        self.models.look(asked)
        if wanted.reduces is not None:
            self.models.look_for_reduction(wanted.reduces)

    @property
    def lacking(self) -> list[str]:
        """What is said of models that are not on this machine, with what fetches each."""
        return list(self.models.lacking)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.warnings += self.models.troubles
        state = "failed" if kind is not None else self.stop.kind or "finished"
        if self.stop.reason is not None:
            # What a stopped run recorded is no whole cassette: it stays beside the old one.
            for recorder in self._recorders:
                recorder.leave()
        try:
            if self._store is not None:
                self._store.finish(state)
        finally:
            self._held.__exit__(kind, error, traceback)

    def run(self, work: Work) -> None:
        """Ask every juror all that is to be asked of it, several requests at a time.

        A first Ctrl-C, or SIGTERM, lets requests under way end; a second one drops them.

        Raises:
            ValorError: A judge will never answer.
        """
        asyncio.run(self._run(work))

    async def _run(self, work: Work) -> None:
        total = sum(count for count, _ in work)
        done = 0

        async def worker(pieces: Iterator[Callable[[], Awaitable[None]]]) -> None:
            nonlocal done
            for piece in pieces:
                if self.stop.reason is not None:
                    return
                await piece()
                done += 1
                self.told(ASKING, done, total)

        self.told(ASKING, 0, total)
        tasks = [
            asyncio.create_task(worker(pieces))
            for member, (count, pieces) in zip(self.jurors, work, strict=True)
            for _ in range(min(count, _at_a_time(member)))
        ]
        with Interrupts(self.stop, tasks):
            try:
                await _first_error(tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self._close()
        for member in self.jurors:
            check = getattr(member.calls.judge, "check", None)
            if check is not None and self.stop.reason is None and (told := check()):
                self.warnings.append(told)

    async def _close(self) -> None:
        for member in self.jurors:
            await member.calls.judge.close()
        if self.vectors is not None:
            await self.vectors.embedder.close()

    @property
    def usage(self) -> list[UsageResult]:
        """What was asked, by metric, model and judge."""
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
            for member in self.jurors
            for (metric, model), one in member.calls.usage.items()
        ]

    @property
    def settings(self) -> dict[str, Scalar]:
        """Who judged, and how; what changes every number."""
        told: dict[str, Scalar] = {}
        if self.jurors:
            told["judge"] = ", ".join(member.name for member in self.jurors)
        if any(member.repeats > 1 for member in self.jurors):
            told["repeat"] = max(member.repeats for member in self.jurors)
        if self.combine is not None:
            told["combine"] = self.combine
        if self.vectors is not None:
            told["embedder"] = self.vectors.embedder.identity.shown
        return told

    @property
    def stopped(self) -> tuple[str, str] | None:
        """Why not everything was asked, as a word and in words; None: it was."""
        return None if self.stop.reason is None else (self.stop.kind, self.stop.reason)

    @property
    def models_used(self) -> list[str]:
        """The judges, the embedder, and every other model that was asked."""
        used = [*self.models.used]
        if self.vectors is not None and not isinstance(self.vectors.embedder, AbsentEmbedder):
            used.insert(0, self.vectors.embedder.identity)
        names = [*(member.name for member in self.jurors), *(one.shown for one in used)]
        return list(dict.fromkeys(names))

    @property
    def prompts_used(self) -> tuple[PromptUsed, ...]:
        """The prompts that were asked with."""
        return self.prompts.used


def _at_a_time(member: Member) -> int:
    """Samples in work: more than requests, for some wait for their turn to be asked again."""
    return 1 if member.calls.judge.in_order else 2 * member.settings.concurrency + 4


def _refuse_remote(asked: Judge | Embedder, what: str, offline: bool, hint: str = NEAR) -> None:
    """Hold `--offline` against a model.

    Raises:
        ConfigError: Asking it leaves this machine.
    """
    if offline and asked.remote:
        problem = Problem(what, f"{asked.name} is not on this machine, and --offline forbids that")
        raise ConfigError(problem, hint=hint)


async def _first_error(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all; the first that fails fails all."""
    if not tasks:
        return
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
