"""A run, complete: what every report and every comparison reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valor_cli.masking import without_secrets
from valor_cli.results.comparisons import ComparisonResult, SliceSearchResult
from valor_cli.results.found import Scalar
from valor_cli.results.rows import (
    COVERAGE,
    AgreementResult,
    CoverageResult,
    CurveResult,
    EvidenceResult,
    GateResult,
    InsightResult,
    IntervalsResult,
    MetricResult,
    ProblemResult,
    ResampledResult,
    SamplesResult,
    TableResult,
    TextsResult,
)
from valor_cli.results.shown import ExampleResult

SCHEMA_VERSION = 1

LISTED = 3
"""Gates, and reasons, that are named where several could not be checked."""

TOO_LOW = "coverage too low"
"""Why a run is incomplete where no model is missing and no judge was silent."""


@dataclass(frozen=True, slots=True)
class UsageResult:
    """What one metric asked of one judge about one model; what metrics share, the first paid.

    Attributes:
        calls: Requests, those asked again included.
        cached: How many of them replies kept from before answered.
        failed: Requests that got no reply after all tries.
        tokens_in, tokens_out: Of the requests that were sent; None: the judge does not count.
        cost_usd: What these cost; None: the price is not known.
        saved_usd: What the cached ones had cost.
    """

    metric: str
    model: str
    judge: str
    calls: int
    cached: int
    failed: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    saved_usd: float | None


@dataclass(frozen=True, slots=True)
class PromptUsed:
    """A prompt that judges were asked with; `own` where the config brought it."""

    name: str
    version: int
    sha256: str
    own: bool = False


REDIRECTED: dict[str, str] = {}
"""Where servers sent whoever read a URL, by the URL: of the readers of this process."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, or left out whole, as `left_out` says why.

    Attributes:
        sha256: Of its stored bytes; None: they cannot be read.
        rows: How many records it has; None: it could not be read to its end.
        skipped: How many of them were left out as invalid.
        left_out: What is wrong with a file of which nothing was used; None: it was used.
        final_url: Where the server sent whoever read it; None: nowhere else.
    """

    path: str
    sha256: str | None
    rows: int | None
    skipped: int = 0
    left_out: str | None = None
    final_url: str | None = None

    def __post_init__(self) -> None:
        final = self.final_url or REDIRECTED.get(self.path)
        if final is not None:
            object.__setattr__(self, "final_url", without_secrets(final))
        # A record is what is shown of a file: the URL that opens it may hold a password.
        object.__setattr__(self, "path", without_secrets(self.path))
        if self.left_out is not None:
            object.__setattr__(self, "left_out", without_secrets(self.left_out))


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What may differ between two runs on the same inputs.

    Attributes:
        models_used: The judges and embedders that were asked.
        usage: What that took.
        stopped: Why not everything was asked, in words; None: it was.
        stopped_by: That as a word: "budget", "interrupted", "terminated".
    """

    valor_version: str
    started_at: str
    duration_s: float
    command: str
    config: str
    config_sha256: str
    inputs: Sequence[InputFile]
    packages: Mapping[str, str]
    models_used: Sequence[str] = ()
    usage: Sequence[UsageResult] = ()
    stopped: str | None = None
    stopped_by: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", without_secrets(self.command))


@dataclass(frozen=True, slots=True)
class RunResult:
    """One evaluation, complete: what every report and every comparison reads.

    Attributes:
        task: Name of the task.
        models: Names of the evaluated models, in the order of the config.
        primary: (metric, output) of the headline values, most important first.
        data: Sizes of what was evaluated, by words such as "images" or "ground truths".
        settings: How, by words such as "matching" or "geometry": what changes every number.
        missing_prediction_labels: By model, labels with ground truth and no prediction.
        ignored_prediction_labels: By model, labels with predictions and no ground truth.
        samples: Values of single samples; they stand in a file of their own, samples.jsonl.
        agreements: How far several judges, or several askings of one, say the same.
        prompts: What judges were asked with, by name.
        intervals: How intervals were found; None: there are none.
        comparisons: The models held against each other, and against those of a baseline.
        searches: Where parts of the data were looked for that a model does worst at.
        resamples: Values at every resample; they stand in a file of their own, resamples.jsonl.
        texts: What the samples say; they stand in samples.jsonl.
        evidence: What values rest on that were not resampled; it stands in evidence.bin.
    """

    task: str
    models: Sequence[str]
    primary: Sequence[tuple[str, str]]
    data: Mapping[str, int]
    settings: Mapping[str, Scalar]
    run: RunInfo
    metrics: Sequence[MetricResult]
    curves: Sequence[CurveResult]
    tables: Sequence[TableResult]
    examples: Sequence[ExampleResult]
    gates: Sequence[GateResult]
    warnings: Sequence[str]
    missing_prediction_labels: Mapping[str, Sequence[str]]
    ignored_prediction_labels: Mapping[str, Sequence[str]]
    samples: Sequence[SamplesResult] = ()
    coverage: Sequence[CoverageResult] = ()
    problems: Sequence[ProblemResult] = ()
    insights: Sequence[InsightResult] = ()
    agreements: Sequence[AgreementResult] = ()
    prompts: Sequence[PromptUsed] = ()
    intervals: IntervalsResult | None = None
    comparisons: Sequence[ComparisonResult] = ()
    searches: Sequence[SliceSearchResult] = ()
    resamples: Sequence[ResampledResult] = ()
    texts: Sequence[TextsResult] = ()
    evidence: Sequence[EvidenceResult] = ()

    def __post_init__(self) -> None:
        # Warnings name inputs, some of which are URLs; several steps may warn of one thing.
        warnings = tuple(dict.fromkeys(map(without_secrets, self.warnings)))
        object.__setattr__(self, "warnings", warnings)

    @property
    def passed(self) -> bool:
        """Whether every gate was checked, and none failed."""
        return all(gate.status == "passed" for gate in self.gates)

    @property
    def incomplete(self) -> str | None:
        """Why there is no verdict, and what to do; None: there is one.

        Too few samples have a value: where no gate says how many samples that takes, no judge may
        have failed to reply; and no model that was to be asked may be missing. Or a gate could not
        be checked, and none failed.
        """
        absent = {row.metric for row in self.coverage if row.statuses.get("model_unavailable", 0)}
        if absent:
            return f"the model of {', '.join(sorted(absent))} is not on this machine"
        limits = [gate for gate in self.gates if gate.rule == COVERAGE]
        limited = {(gate.metric, gate.model) for gate in limits}
        if any(
            row.statuses.get("judge_error", 0)
            for row in self.coverage
            if (row.metric, row.model) not in limited
        ):
            embedding = "embedder" in self.settings and "judge" not in self.settings
            who = "the embedder" if embedding else "judges"
            return f"{who} did not always reply: run again"
        if any(gate.status == "failed" for gate in limits):
            return TOO_LOW
        failed = any(gate.status == "failed" for gate in self.gates)
        return None if failed else _unchecked(self.gates)


def _unchecked(gates: Sequence[GateResult]) -> str | None:
    """Which gates could not be checked, by the reason why not."""
    reasons: dict[str, dict[str, None]] = {}
    for gate in gates:
        if gate.status == "not checked":
            name = f"{gate.metric} {gate.output}".removesuffix(" value")
            reasons.setdefault(gate.reason or "", {})[f"{gate.rule} of {name}"] = None
    if not reasons:
        return None
    count = sum(gate.status == "not checked" for gate in gates)
    told = [f"{_listed(list(names))}: {reason}" for reason, names in reasons.items()]
    of_all = f"{len(gates)} gate{'s' * (len(gates) != 1)}"
    return f"{count} of {of_all} could not be checked ({_listed(told, '; ')})"


def _listed(names: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return between.join(names[:LISTED]) + more
