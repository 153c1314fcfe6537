"""The models of a run, from the first request to the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from valor_cli.models.backends import check_embedder, open_embedder, open_judge, refuse_remote
from valor_cli.models.embedders.vector_store import VectorStore
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.judge.dry_run import SimulatedEmbedder, simulated_calls
from valor_cli.models.judge.prompts import Prompts
from valor_cli.models.panel import Member, Work, ask_panel, usage_of
from valor_cli.models.protocols import Embedder, Unavailable
from valor_cli.models.requests import Judge, ProgressCallback, Stop
from valor_cli.models.scheduler.budget import budget_of
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.scheduler.cassette import CassetteWriter
from valor_cli.models.settings import (
    Combine,
    Device,
    EmbedderSettings,
    JudgeSettings,
    LanguageModelSettings,
)
from valor_cli.models.store import RunStore, Store
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels
from valor_cli.results import PromptUsed, Scalar, UsageResult

_OTHER_JUDGES = """\
ask a server of this machine (api_base: http://127.0.0.1:…), or use backend: local or replay"""
_OTHER_EMBEDDERS = """\
ask a server of this machine (api_base: http://127.0.0.1:…), or leave `embedder:` out: the packaged
model is on this machine"""


class Settings(Struct, frozen=True):
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
    combine: Combine | None = None
    embedder: EmbedderSettings | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    language_model: LanguageModelSettings | None = None
    device: Device = "auto"
    named: Mapping[str, str] = field(default_factory=dict)
    reduces: str | None = None


class AbsentEmbedder(SimulatedEmbedder):
    """In place of an embedder that cannot be had; `reason` says in words why."""

    def __init__(self, settings: EmbedderSettings, reason: str) -> None:
        super().__init__(settings)
        self.reason = reason

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Nothing.

        Raises:
            Unavailable: Always.
        """
        raise Unavailable(self.reason)


class Session:
    """The models of a run: its judges, and those that measure texts; a context manager.

    Attributes:
        jurors: The judges, once they are open.
        told: What metrics add to the settings: the steps that a judge made.
    """

    def __init__(
        self,
        wanted: Settings,
        identity: str,
        *,
        offline: bool = False,
        resume: bool = False,
        dry_run: bool = False,
        on_progress: ProgressCallback = lambda stage, done, total: None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            wanted: Whom to ask.
            identity: SHA-256 of what the run is: config and inputs.
            offline: Whether nothing may leave this machine.
            resume: Whether to go on with the run of that identity.
            dry_run: Whether replies are only simulated, to estimate what the calls would cost.
            on_progress: Called with a stage, how much of it is done, and how much there is.
        """
        self.wanted = wanted
        self.offline = offline
        self.dry_run = dry_run
        self.on_progress = on_progress
        self.stop = Stop()
        self.prompts = Prompts(wanted.prompts)
        self.warnings: list[str] = []
        self.told: dict[str, str] = {}
        self.jurors: tuple[Member, ...] = ()
        self._identity = identity
        self._resume = resume
        self._store: Store | None = None
        self._recorders: list[CassetteWriter] = []
        self.vectors: Vectors | None = None
        self.models = self._text_models()
        self._held = ExitStack()

    @property
    def combine(self) -> Combine | None:
        """How several values become one."""
        return self.wanted.combine

    def __enter__(self) -> Self:
        with self._held as held:
            if self.wanted.embedder is not None:
                self.vectors = self._vectors(self.wanted.embedder)
            self.models = self._text_models()
            if self.vectors is not None and isinstance(self.vectors.embedder, AbsentEmbedder):
                self.models.missing[self.vectors.embedder.reason] = None
            self.jurors = tuple(self._juror(one) for one in self.wanted.judges)
            self._held = held.pop_all()
        return self

    def _text_models(self) -> TextModels:
        wanted = self.wanted
        return TextModels(
            wanted.embedder or EmbedderSettings(),
            wanted.language_model,
            Runtime(wanted.device, self.stop, self.on_progress),
            self.vectors,
        )

    def _vectors(self, settings: EmbedderSettings) -> Vectors:
        if self.dry_run:
            return Vectors(SimulatedEmbedder(settings), self.stop, self.on_progress)
        embedder: Embedder
        try:
            embedder = open_embedder(settings, self.wanted.device, self.stop)
        except Unavailable as lack:
            embedder = AbsentEmbedder(settings, str(lack))
        refuse_remote(embedder, "embedder", offline=self.offline, hint=_OTHER_EMBEDDERS)
        kept = None
        if settings.cache and embedder.keeps is not None:
            kept = self._held.enter_context(VectorStore(embedder.keeps))
        return Vectors(embedder, self.stop, self.on_progress, kept)

    def _juror(self, settings: JudgeSettings) -> Member:
        if self.dry_run:
            if settings.backend != "local":
                # What is wrong with its file, its parameters or its budget shows before the run.
                budget_of(open_judge(settings), settings.budget_usd, settings.max_tokens)
            calls = simulated_calls(settings, self.stop)
            return Member(settings, calls, self.prompts, self.vectors)
        judge = open_judge(settings)
        refuse_remote(judge, "judge", offline=self.offline, hint=_OTHER_JUDGES)
        recorder: CassetteWriter | None = None
        if settings.record is not None:
            recorder = self._held.enter_context(CassetteWriter(settings.record, judge.name))
            self._recorders.append(recorder)
        kept = self._kept(settings, judge) if judge.keeps else None
        calls = Calls(
            judge,
            settings,
            self.stop,
            store=kept,
            recorder=recorder,
            spent_before=0.0 if kept is None else kept.spent_before,
        )
        return Member(settings, calls, self.prompts, self.vectors)

    def _kept(self, settings: JudgeSettings, judge: Judge) -> RunStore:
        """What is kept of the judge's replies."""
        if self._store is None:
            self._store = self._held.enter_context(Store())
        kept = self._store.run(
            self._identity, resume=self._resume, reuse=settings.cache, judge=judge.name
        )
        if self._resume and not kept.known:
            self.warnings.append(f"--resume: no earlier run of this config with {judge.name}")
        return kept

    def look(self) -> None:
        """See that the models of this machine are there, before anything is computed.

        Those that are not are `lacking`, and no error.

        Raises:
            ValorError: One can be told to be of no use, or its package is not installed.
        """
        wanted = self.wanted
        if self.dry_run and wanted.embedder is not None:
            try:
                check_embedder(wanted.embedder, self.stop)
            except Unavailable as lack:
                self.models.missing[str(lack)] = None
        asked = dict(wanted.named)
        if wanted.language_model is not None:
            asked[wanted.language_model.model] = "language_model"
        self.models.look(asked)
        if wanted.reduces is not None:
            self.models.look_for_reduction(wanted.reduces)

    @property
    def missing_models(self) -> list[str]:
        """What is said of models that are not on this machine, with what fetches each."""
        return list(self.models.missing)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.warnings += self.models.troubles
        try:
            if self.stop.reason is not None:
                # What a stopped run recorded is no whole cassette: it stays beside the old one.
                for recorder in self._recorders:
                    recorder.abort()
            if self._store is not None:
                self._store.finish("failed" if kind is not None else self.stop.kind or "finished")
        finally:
            self._held.__exit__(kind, error, traceback)

    def run(self, work: Work) -> None:
        """Ask every juror all that is to be asked of it. Raises as `ask_panel`."""
        self.warnings += ask_panel(self.jurors, work, self.stop, self.on_progress)

    @property
    def usage(self) -> list[UsageResult]:
        """What was asked, by metric, model and judge; of a remote embedder too."""
        asked = [juror.calls for juror in self.jurors]
        embedding = getattr(self.vectors and self.vectors.embedder, "calls", None)
        return usage_of(asked if embedding is None else [*asked, embedding])

    @property
    def settings(self) -> dict[str, Scalar]:
        """Who judged, and how; what changes every number."""
        told: dict[str, Scalar] = {}
        if self.jurors:
            told["judge"] = ", ".join(juror.name for juror in self.jurors)
        if any(juror.repeats > 1 for juror in self.jurors):
            told["repeat"] = max(juror.repeats for juror in self.jurors)
        if self.combine is not None:
            told["combine"] = self.combine
        if self.vectors is not None:
            told["embedder"] = self.vectors.embedder.identity.shown
        return {**told, **self.told}

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
