"""The complete record of a run, read by reports and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Annotated, Final, Literal

from msgspec.structs import force_setattr

from valor_cli.masking import without_secrets
from valor_cli.results.comparisons import ComparisonResult, SliceSearchResult
from valor_cli.results.findings import Number, Scalar
from valor_cli.results.illustrations import ExampleResult
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
    TableResult,
    TextsResult,
)

SCHEMA_VERSION: Final = 1

LISTED = 3
"""Gates, and reasons, that are named where several could not be checked."""

TOO_LOW = "coverage too low"
"""Why a run is incomplete where no model is missing and no judge was silent."""


class UsageResult(Record, frozen=True):
    """Calls of one metric to one judge for one model; shared calls count for the first metric.

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
    cost_usd: Number | None
    saved_usd: Number | None


def totals(rows: Sequence[UsageResult]) -> UsageResult:
    """The sums of these; None where a part of one is not known."""
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
    """The sum, whatever the order."""
    known = [value for value in values if value is not None]
    return fsum(known) if len(known) == len(values) else None


class PromptUsed(Record, frozen=True):
    """A prompt used by judges; `own` if it is from the config."""

    name: str
    version: int
    sha256: str
    own: bool = False


REDIRECTED: dict[str, str] = {}
"""Where servers sent whoever read a URL, by the URL: of the readers of this process."""


class InputFile(Record, frozen=True):
    """An input file, read or skipped, with the reason in `left_out`.

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


class RunInfo(Record, frozen=True, kw_only=True):
    """What may differ between two runs on the same inputs.

    Attributes:
        models_used: The judges and embedders that were asked.
        calls, tokens, cost_usd, saved_usd: Sums of `usage`.
        usage: What that took.
        stopped: Why not everything was asked, in words; None: it was.
        stopped_by: That as a word: "budget", "interrupted", "terminated".
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
        data: Sizes of what was evaluated, by words such as "images" or "ground truths".
        settings: How, by words such as "matching" or "geometry": what changes every number.
        prompts: What judges were asked with, by name.
        intervals: How intervals were found; None: there are none.
        comparisons: The models held against each other, and against those of a baseline.
        searches: Where parts of the data were looked for that a model does worst at.
        agreements: How far several judges, or several askings of one, say the same.
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
    """What every report and every comparison reads: results.json, and the files beside it.

    Attributes:
        samples: Values of single samples; they stand in a file of their own, samples.jsonl.
        resamples: Values at every resample; they stand in a file of their own, resamples.jsonl.
        texts: What the samples say; they stand in samples.jsonl.
        evidence: What values rest on that were not resampled; it stands in evidence.bin.
    """

    samples: Sequence[SamplesResult] = ()
    resamples: Sequence[ResampledResult] = ()
    texts: Sequence[TextsResult] = ()
    evidence: Sequence[EvidenceResult] = ()

    @property
    def passed(self) -> bool:
        """Whether every gate was checked and passed."""
        return all(gate.status == "passed" for gate in self.gates)

    @property
    def incomplete(self) -> str | None:
        """Why there is no verdict, and what to do; None if there is one.

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
