"""Result rows: values with everything that identifies them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import field

from valor_cli.results.findings import Direction, JudgeCalls, Number, Parameters, Scalar, Status
from valor_cli.results.record import ADDED, Record

IntervalMethod: TypeAlias = Literal["bootstrap", "wilson"]
Caution: TypeAlias = Literal["small_n"]

FEW = 30
"""Samples, images or groups below which a value is marked as resting on few."""


class MetricResult(Record, frozen=True):
    """A row of the result: a value with everything that identifies it.

    Attributes:
        interval: (low, high) of the value at the run's level.
        method: How that was found.
        caution: "small_n": the value rests on fewer than `FEW` units, and may well be otherwise.
    """

    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    value: Number | None
    unit: str
    direction: Direction
    n: int | None
    interval: tuple[Number, Number] | None
    undefined: str | None
    method: Annotated[IntervalMethod | None, ADDED] = None
    caution: Annotated[Caution | None, ADDED] = None


class CurveResult(Record, frozen=True):
    """A curve with everything that identifies it."""

    metric: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    points: Mapping[str, Sequence[Number | None]]


class TableResult(Record, frozen=True):
    """A table of counts with everything that identifies it; columns as in `MetricTable`."""

    metric: str
    model: str
    slice: str | None
    parameters: Parameters
    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    unmatched_ground_truths: Sequence[int]
    unmatched_predictions: Sequence[int]
    ious: Annotated[Sequence[Sequence[Number | None]] | None, ADDED] = None
    unmatched_ground_truth_ratios: Annotated[Sequence[Number | None] | None, ADDED] = None
    unmatched_prediction_ratios: Annotated[Sequence[Number | None] | None, ADDED] = None


class SamplesResult(Record, frozen=True):
    """Values of single samples, with everything that identifies them; see `MetricSamples`.

    `groups` are the clusters that the samples belong to; None: each stands alone.
    """

    metric: str
    model: str
    parameters: Parameters
    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[Number | None]]
    undefined: Sequence[str | None]
    statuses: Sequence[Status] | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    asked: Sequence[JudgeCalls] | None = None
    groups: Sequence[Scalar] | None = None


class ResampledResult(Record, frozen=True):
    """A value at every resample of a run, with everything that identifies it.

    Attributes:
        drawn: SHA-256 of which units were drawn how often: two columns with the same are paired.
        values: By resample; None where it has no value.
    """

    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    drawn: str
    values: Sequence[Number | None]


class EvidenceResult(Record, frozen=True):
    """Evidence behind some values of a model, unit by unit, for resampling in a later comparison.

    Attributes:
        wing: The number of the wing among those of the task.
        calls: The metrics that rest on it, with their parameters.
        unit_ids: (units,) of the images or samples.
        groups: (units,) the cluster of each; None: each stands alone.
        tree: The evidence with its arrays numbered, as JSON has it.
        arrays: These, of any kind and shape.
    """

    model: str
    wing: int
    calls: Sequence[tuple[str, Parameters]]
    unit_ids: Sequence[Scalar]
    groups: Sequence[Scalar] | None
    tree: Any
    arrays: Sequence[Any]


class TextsResult(Record, frozen=True):
    """Texts of a model's samples, for comparisons; shortened, with secrets masked.

    Attributes:
        columns: By field ("user_input", "response", "references[0]"), the text of each sample.
    """

    model: str
    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[str | None]]


class IntervalsResult(Record, frozen=True):
    """How the intervals of a run were computed.

    Attributes:
        level: The part of such intervals that hold what they estimate.
        resamples, seed: Of the bootstrap.
        group: The column whose units are drawn together; None: each unit by itself.
    """

    level: Number
    resamples: int
    seed: int
    group: str | None


class AgreementResult(Record, frozen=True):
    """An agreement with everything that identifies it; see `MetricAgreement`."""

    metric: str
    model: str
    parameters: Parameters
    kind: Literal["judges", "repeats"]
    judge: str | None
    raters: Sequence[str]
    values: Sequence[Number | None]
    n: int
    agreement: Number | None
    coefficient: Number | None
    statistic: str
    spread: Number | None
    disagreements: Sequence[Scalar]
    disagreeing: int


class CalibrationResult(Record, frozen=True):
    """Agreement of a judge with human labels of the same samples.

    Attributes:
        model: Whose answers; None: those of all models together.
        judge: Its name; None: all judges and repeats together.
        column: Where the people's word stands.
        scale: What is compared: "verdicts", "ratings", "classes", "values" by their side of
            `threshold`.
        labels: The categories, in their order.
        matrix: (labels, labels) people in rows, the judge in columns.
        n: Samples that both judged.
        unjudged: Samples that people judged and the judge could not.
        agreement: The part of the n on which both say the same.
        kappa: Cohen's; None with one category alone.
        kappa_interval: Its 95 % interval, by the bootstrap over samples.
        weighted_kappa: With quadratic weights, of ratings.
        correlation: Spearman's, of ratings and values.
        human_mean, judge_mean: Of ratings and values; of verdicts the part that passes; of
            classes none.
        disagreements: Samples on which they differ, the widest first; bounded.
        self_agreement: The part of the judge's own repeats that agree with each other; None
            without repeats.
    """

    metric: str
    model: str | None
    parameters: Parameters
    judge: str | None
    column: str
    scale: str
    threshold: Number | None
    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    n: int
    unjudged: int
    agreement: Number | None
    kappa: Number | None
    kappa_interval: tuple[Number, Number] | None
    weighted_kappa: Number | None
    correlation: Number | None
    human_mean: Number | None
    judge_mean: Number | None
    disagreements: Sequence[Scalar]
    self_agreement: Number | None


class CoverageResult(Record, frozen=True):
    """How many samples have a value of a metric, with everything that identifies it.

    Attributes:
        samples: How many there are.
        statuses: By status, how many; they add up to `samples`.
        coverage: Those that are "ok" among those that are not "not_applicable"; None without any.
    """

    metric: str
    model: str
    slice: str | None
    parameters: Parameters
    samples: int
    statuses: Mapping[str, int]
    coverage: Number | None


Severity: TypeAlias = Literal["low", "medium", "high"]

ProblemKind: TypeAlias = Literal["threshold", "flip", "coverage", "data"]


class ProblemResult(Record, frozen=True):
    """A problem of a model that should be looked at.

    Attributes:
        kind: A mean on the wrong side of its threshold; a perturbed sample on the other side than
            its original; many samples without a value; something odd about the data.
        value: What was found; of a flip that of the perturbed sample, of all flips of a metric
            their part of the perturbed samples.
        threshold: What it was held against.
        severity: None where it cannot be told whether the threshold is passed.
        sample_ids: The samples concerned; of a flip the original and its perturbed copy.
        message: All of it in words.
    """

    kind: ProblemKind
    metric: str | None
    output: str | None
    model: str
    value: Number | None
    threshold: Number | None
    severity: Severity | None
    sample_ids: Sequence[Scalar]
    message: str
    parameters: Parameters = field(default_factory=dict)


class InsightResult(Record, frozen=True):
    """A noteworthy finding, in words.

    Attributes:
        kind: "best_model", "worst_model", "hardest_sample", "fastest_model", "slowest_model",
            "cheapest_model", "best_retrieval", "worst_retrieval", "worst_sentence", "worst_slice",
            "no_best_model" where the tests do not tell the first from others, "usual_limit" …
        models: Those concerned, all of them where they tie.
    """

    kind: str
    metric: str | None
    models: Sequence[str]
    sample_ids: Sequence[Scalar]
    value: Number | None
    message: str


GateStatus: TypeAlias = Literal["passed", "failed", "not checked"]


COVERAGE = "coverage"
"""The rule of a gate that asks how many samples have a value."""

NOT_WORSE = "not_worse"
"""The rule of a gate that asks whether a value is worse than the baseline's."""


class GateResult(Record, frozen=True):
    """The result of one gate for one row.

    Attributes:
        rule: "min", "max", "max_drop", "not_worse" or "coverage".
        value: The row's value; of max_drop how far it fell below the baseline, of not_worse the
            adjusted p of being worse.
        gate: Which gate of the config it is, from 0.
    """

    metric: str
    output: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    rule: str
    limit: Number
    value: Number | None
    status: GateStatus
    reason: str | None
    gate: Annotated[int | None, ADDED] = None
