"""Records of the history of a config: many runs, value by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from valor_cli.results.comparisons import ComparedVerdict
from valor_cli.results.findings import Direction, Number, Parameters
from valor_cli.results.record import Record
from valor_cli.results.rows import GateStatus
from valor_cli.results.run import SCHEMA_VERSION, RunVerdict

Bad: TypeAlias = Literal["gate", "previous", "best"]
"""Why a value is bad: a gate failed, or it tested worse than the run before, or than the best."""


class HistoryRun(Record, frozen=True):
    """A run of a history.

    Attributes:
        run: Its number, from 0, oldest first.
        path: Of its results, as it was named.
        commit: The git commit of the config's folder; None if the run records none.
        verdict: "done" if it has no gates.
        bad: Number of its values that are bad.
        failed_gates: Number of its gates that failed.
    """

    run: int
    path: str
    started_at: str
    commit: str | None
    valor_version: str
    config_sha256: str
    models: Sequence[str]
    verdict: RunVerdict
    bad: int
    failed_gates: int


class HistoryRow(Record, frozen=True):
    """A value of a run, with its gates and its changes; all that identifies it is in the row.

    Attributes:
        run: Number of the run.
        trend: Whether reports draw it: a headline value, a value with a gate, or one asked for.
        model: If every run has a single model, the name that it has in the last run.
        gate_min, gate_max: Limits of its gates in this run; the strictest ones.
        gate: "failed" if any gate of the row failed, whatever its rule; None without a gate.
        previous: The run before with a value, which the value is compared with; None if there is
            none.
        change: `value` minus the value of `previous`.
        verdict: By the paired test against `previous`; "not tested" if no test ran, with the
            `reason`; None without `previous`.
        p: Two-sided p-value that decided, adjusted as in `valor compare`; None if not tested.
        first_change: `value` minus the first value of the history.
        best: The run with the best value so far, if the value is below it and it is not `previous`.
        best_verdict, best_p: As `verdict` and `p`, against `best`.
        bad: Why the value is bad; empty if it is not.
    """

    run: int
    path: str
    started_at: str
    commit: str | None
    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    trend: bool
    value: Number | None
    unit: str
    direction: Direction
    n: int | None
    interval_low: Number | None
    interval_high: Number | None
    undefined: str | None
    gate_min: Number | None
    gate_max: Number | None
    gate: GateStatus | None
    previous: int | None = None
    change: Number | None = None
    verdict: ComparedVerdict | None = None
    p: Number | None = None
    reason: str | None = None
    first_change: Number | None = None
    best: int | None = None
    best_verdict: ComparedVerdict | None = None
    best_p: Number | None = None
    bad: Sequence[Bad] = ()


class LabelRegression(Record, frozen=True):
    """A value of a label that is worse in the last run than in the one before; not tested."""

    label: str
    metric: str
    output: str
    model: str
    parameters: Parameters
    unit: str
    direction: Direction
    before: Number
    value: Number
    change: Number
    n: int | None


class History(Record, frozen=True, kw_only=True):
    """Many runs of one config, as reports read them.

    Attributes:
        level: Confidence level of the paired tests; a p below 1 - level is significant.
        runs: Oldest first.
        rows: By value, then by run: those that are drawn, and the same of labels and slices.
        regressions: Labels that got worse between the last two runs, largest drop first.
        first_bad: The first run with a bad value or a failed gate; None if there is none.
        warnings: What else than the models changed between runs.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: str
    level: Number
    runs: Sequence[HistoryRun]
    rows: Sequence[HistoryRow]
    regressions: Sequence[LabelRegression]
    first_bad: int | None
    warnings: Sequence[str]
