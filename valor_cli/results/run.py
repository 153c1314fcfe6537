"""The complete record of a run, read by reports and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Annotated, Final, Literal, TypeAlias

from msgspec.structs import force_setattr

from valor_cli.masking import without_secrets
from valor_cli.results.comparisons import ComparisonResult, SliceSearchResult
from valor_cli.results.findings import Number, Parameters, Scalar
from valor_cli.results.illustrations import ExampleResult
from valor_cli.results.objects import ObjectsResult
from valor_cli.results.record import ADDED, Record
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
    SlicesResult,
    TableResult,
    TextsResult,
)

SCHEMA_VERSION: Final = 1

LISTED = 3
"""Maximum number of gates, and of reasons, named if several could not be checked."""

TOO_LOW = "coverage too low"
"""Why a run is incomplete if no model is missing and all judges replied."""


EMBEDDINGS = "embeddings"
"""In place of a metric in the usage of an embedder: its vectors serve all metrics and models."""


RunVerdict: TypeAlias = Literal["passed", "failed", "incomplete", "done"]


class UsageResult(Record, frozen=True):
    """Calls of one metric to one judge for one model; shared calls count for the first metric.

    Of a remote embedder, `metric` is "embeddings", `model` is empty, and `judge` is the embedder.

    Attributes:
        calls: Number of requests, retries included.
        cached: Number of requests answered from the cache.
        failed: Number of requests without a reply after all retries.
        tokens_in, tokens_out: Of the requests that were sent; None if not reported.
        cost_usd: Cost of the requests that were sent; None if the price is unknown.
        saved_usd: Original cost of the cached requests.
    """

    metric: str
    model: str
    judge: str
    calls: int
    cached: int
    failed: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: Number | None
    saved_usd: Number | None


def totals(rows: Sequence[UsageResult]) -> UsageResult:
    """The sums; None where a summand is unknown."""
    return UsageResult(
        metric="",
        model="",
        judge="",
        calls=sum(row.calls for row in rows),
        cached=sum(row.cached for row in rows),
        failed=sum(row.failed for row in rows),
        tokens_in=_whole([row.tokens_in for row in rows]),
        tokens_out=_whole([row.tokens_out for row in rows]),
        cost_usd=_exact([row.cost_usd for row in rows]),
        saved_usd=_exact([row.saved_usd for row in rows]),
    )


def _whole(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _exact(values: Sequence[float | None]) -> float | None:
    """The sum, independent of the order."""
    known = [value for value in values if value is not None]
    return fsum(known) if len(known) == len(values) else None


class PromptUsed(Record, frozen=True):
    """A prompt used by judges; `own` if it is from the config."""

    name: str
    version: int
    sha256: str
    own: bool = False


REDIRECTED: dict[str, str] = {}
"""Redirect targets by URL, of the URLs read in this process."""


class InputFile(Record, frozen=True):
    """An input file, read or skipped, with the reason in `left_out`.

    Attributes:
        sha256: Hash of its stored bytes; None if they cannot be read.
        rows: Number of records; None if it could not be read completely.
        skipped: Number of invalid records left out.
        left_out: Why nothing of the file was used; None if it was used.
        final_url: The URL that the server redirected to; None without a redirect.
    """

    path: str
    sha256: str | None
    rows: int | None
    skipped: int = 0
    left_out: Annotated[str | None, ADDED] = None
    final_url: str | None = None

    def __post_init__(self) -> None:
        final = self.final_url or REDIRECTED.get(self.path)
        if final is not None:
            force_setattr(self, "final_url", without_secrets(final))
        # A record is what is shown of a file: the URL that opens it may hold a password.
        force_setattr(self, "path", without_secrets(self.path))
        if self.left_out is not None:
            force_setattr(self, "left_out", without_secrets(self.left_out))


class ThresholdUsed(Record, frozen=True):
    """The threshold of a metric.

    Attributes:
        threshold: What its primary value is compared with, that of all data and of each sample.
        given: Whether the config sets it; else it is the metric's own.
    """

    metric: str
    parameters: Parameters
    threshold: Number
    given: bool


class RunInfo(Record, frozen=True, kw_only=True):
    """What may differ between two runs on the same inputs.

    Attributes:
        models_used: The judges and embedders that were used.
        calls, tokens, cost_usd, saved_usd: Sums of `usage`.
        usage: Calls, tokens and cost by metric and judge.
        stopped: Why the run was stopped, in words; None if it was not.
        stopped_by: The reason as a keyword: "budget", "interrupted", "terminated".
        commit: The git commit that is checked out in the config's folder; None if there is none.
        thresholds: Those of the metrics that have one.
    """

    valor_version: str
    started_at: str
    duration_s: Number
    command: str
    config: str
    config_sha256: str
    inputs: Sequence[InputFile]
    models_used: Sequence[str] = ()
    calls: int = 0
    tokens: Mapping[str, int | None] = {}
    cost_usd: Number | None = None
    saved_usd: Annotated[Number | None, ADDED] = None
    usage: Annotated[Sequence[UsageResult], ADDED] = ()
    stopped: Annotated[str | None, ADDED] = None
    stopped_by: Annotated[str | None, ADDED] = None
    commit: Annotated[str | None, ADDED] = None
    thresholds: Annotated[Sequence[ThresholdUsed], ADDED] = ()
    packages: Mapping[str, str]

    def __post_init__(self) -> None:
        force_setattr(self, "command", without_secrets(self.command))
        whole = totals(self.usage)
        tokens = {"input": whole.tokens_in, "output": whole.tokens_out}
        force_setattr(self, "calls", whole.calls)
        force_setattr(self, "tokens", tokens if self.usage else {})
        force_setattr(self, "cost_usd", whole.cost_usd if self.usage else None)
        force_setattr(self, "saved_usd", whole.saved_usd if self.usage else None)


class Document(Record, frozen=True, kw_only=True):
    """One evaluation: a row per value, curves as columns of equal length.

    Attributes:
        task: Name of the task.
        models: Names of the evaluated models, in the order of the config.
        primary: (metric, output) of the headline values, most important first.
        data: Counts of evaluated items, by keys such as "images" or "ground truths".
        settings: Settings that affect all values, by keys such as "matching" or "geometry".
        prompts: The prompts sent to judges, by name.
        intervals: How intervals were computed; None if there are none.
        comparisons: Comparisons of the models with each other, and with a baseline.
        searches: Searches for the slices on which a model does worst.
        agreements: Agreement of several judges, or of repeated calls of one.
        missing_prediction_labels: By model, labels with ground truth and no prediction.
        ignored_prediction_labels: By model, labels with predictions and no ground truth.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: str
    models: Sequence[str]
    primary: Sequence[tuple[str, str]]
    data: Mapping[str, int]
    settings: Mapping[str, Scalar]
    prompts: Annotated[Sequence[PromptUsed], ADDED] = ()
    intervals: Annotated[IntervalsResult | None, ADDED] = None
    run: RunInfo
    metrics: Sequence[MetricResult]
    comparisons: Annotated[Sequence[ComparisonResult], ADDED] = ()
    searches: Annotated[Sequence[SliceSearchResult], ADDED] = ()
    coverage: Annotated[Sequence[CoverageResult], ADDED] = ()
    agreements: Annotated[Sequence[AgreementResult], ADDED] = ()
    curves: Sequence[CurveResult]
    tables: Sequence[TableResult]
    examples: Sequence[ExampleResult]
    problems: Sequence[ProblemResult] = ()
    insights: Sequence[InsightResult] = ()
    gates: Sequence[GateResult]
    warnings: Sequence[str]
    missing_prediction_labels: Mapping[str, Sequence[str]]
    ignored_prediction_labels: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        # Warnings name inputs, some of which are URLs; several steps may warn of one thing.
        force_setattr(self, "warnings", tuple(dict.fromkeys(map(without_secrets, self.warnings))))


class RunResult(Document, frozen=True, kw_only=True):
    """A complete run as reports and comparisons read it: results.json and the files beside it.

    Attributes:
        samples: Per-sample values; stored in samples.jsonl.
        resamples: Values at every resample; stored in resamples.jsonl.
        texts: Texts of the samples; stored in samples.jsonl.
        evidence: Evidence of values that were not resampled; stored in evidence.bin.
        objects: Every object with its outcome, by model; stored in objects.bin.
        slices: Which samples are in which slices, by model; stored in slices.bin.
        images: The image file of each sample, as in `Picture.file`; not stored, and there only if
            the config names the folder of images.
    """

    samples: Sequence[SamplesResult] = ()
    resamples: Sequence[ResampledResult] = ()
    texts: Sequence[TextsResult] = ()
    evidence: Sequence[EvidenceResult] = ()
    objects: Sequence[ObjectsResult] = ()
    slices: Sequence[SlicesResult] = ()
    images: Mapping[Scalar, str] = {}

    @property
    def passed(self) -> bool:
        """Whether every gate was checked and passed."""
        return all(gate.status == "passed" for gate in self.gates)

    @property
    def verdict(self) -> RunVerdict:
        """The verdict on all gates in a word; "done" if there are none."""
        if self.incomplete or self.run.stopped:
            return "incomplete"
        if not self.gates:
            return "done"
        return "passed" if self.passed else "failed"

    @property
    def incomplete(self) -> str | None:
        """Why there is no verdict, and what to do; None if there is one.

        There is none if too few samples have a value (without a gate on coverage: if any judge
        call failed), if a model of the config is missing, or if a gate could not
        be checked and none failed.
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
    """The gates that could not be checked, by reason."""
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
