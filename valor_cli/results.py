"""What an evaluation found: values and curves of metrics, and the run that holds them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
Direction: TypeAlias = Literal["higher", "lower"] | None
Parameters: TypeAlias = Mapping[str, Scalar | Sequence[Scalar]]

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number a metric found, or why there is none.

    Attributes:
        value: The number; None when undefined.
        undefined: Why there is no value. Beside a value: why it is a stand-in (a 0/0 that
            follows `zero_division`).
        output: Which of the metric's outputs this is.
        label: The class it belongs to; None for all labels together.
        n: How many ground truths (or samples) it rests on.
        at: The element of each list parameter it was computed at, as
            `{"iou_threshold": 0.5}` for `iou_thresholds=(0.5, 0.75)`.
    """

    value: float | None
    undefined: str | None = None
    output: str = "value"
    label: str | None = None
    n: int | None = None
    at: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricCurve:
    """Columns of equal length, drawn as lines; `at` as in `MetricValue`."""

    points: Mapping[str, Sequence[float | None]]
    label: str | None = None
    at: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    """All a metric says of one evidence, when that is more than one value."""

    values: Sequence[MetricValue] = ()
    curves: Sequence[MetricCurve] = ()


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A row of the result: a value with everything that identifies it."""

    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    value: float | None
    unit: str
    direction: Direction
    n: int | None
    interval: tuple[float, float] | None
    undefined: str | None


@dataclass(frozen=True, slots=True)
class CurveResult:
    """A curve with everything that identifies it."""

    metric: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    points: Mapping[str, Sequence[float | None]]


GateStatus: TypeAlias = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate held against one row: `rule` is "min", "max" or "max_drop".

    `value` is the row's value, for max_drop how far it fell below the baseline.
    """

    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    rule: str
    limit: float
    value: float | None
    status: GateStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read. `rows` counts its records, `skipped` those left out as invalid."""

    path: str
    sha256: str
    rows: int
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What may differ between two runs on the same inputs."""

    valor_version: str
    started_at: str
    duration_s: float
    command: str
    config: str
    config_sha256: str
    inputs: Sequence[InputFile]
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunResult:
    """One evaluation, complete: what every report and every comparison reads.

    Attributes:
        task: Name of the task.
        models: Names of the evaluated models, in the order of the config.
        primary: (metric, output) of the headline values, most important first.
        data: Sizes of what was evaluated, by words such as "images" or "ground truths".
        missing_prediction_labels: By model, labels with ground truth and no prediction.
        ignored_prediction_labels: By model, labels with predictions and no ground truth.
    """

    task: str
    models: Sequence[str]
    primary: Sequence[tuple[str, str]]
    data: Mapping[str, int]
    run: RunInfo
    metrics: Sequence[MetricResult]
    curves: Sequence[CurveResult]
    gates: Sequence[GateResult]
    warnings: Sequence[str]
    missing_prediction_labels: Mapping[str, Sequence[str]]
    ignored_prediction_labels: Mapping[str, Sequence[str]]

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return all(gate.status != "failed" for gate in self.gates)
