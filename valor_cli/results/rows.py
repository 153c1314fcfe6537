"""Result rows: values with everything that identifies them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import field

from valor_cli.results.findings import Direction, JudgeCalls, Number, Parameters, Scalar, Status
from valor_cli.results.record import ADDED, Record

IntervalMethod: TypeAlias = Literal["bootstrap", "wilson"]
Caution: TypeAlias = Literal["small_n"]

FEW = 30
"""Number of samples, images or groups below which a value is marked as "small_n"."""


class MetricResult(Record, frozen=True):
    """A row of the result: a value with everything that identifies it.

    Attributes:
        interval: Confidence interval (low, high) at the run's level.
        method: How the interval was computed.
        caution: "small_n": the value is computed from fewer than `FEW` units and is uncertain.
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
    """Per-sample values with everything that identifies them; see `MetricSamples`.

    `groups` are the clusters that the samples belong to; None if there are none.
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


class SlicesResult(Record, frozen=True):
    """Which samples of a model are in which slices.

    Attributes:
        names: Of the slices, as rows have them.
        members: (slices, samples) whether a slice has a sample. Flags.
    """

    model: str
    names: Sequence[str]
    sample_ids: Sequence[Scalar]
    members: Any


class ResampledResult(Record, frozen=True):
    """A value at every resample of a run, with everything that identifies it.

    Attributes:
        drawn: SHA-256 of how often each unit was drawn: columns with equal hashes are paired.
        values: The value at each resample; None where undefined.
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
        calls: The metrics computed from it, with their parameters.
        unit_ids: (units,) of the images or samples; an array of UTF-8 where they are many texts.
        groups: (units,) the cluster of each; None if there are none.
        tree: The evidence as JSON, with its arrays replaced by their numbers.
        arrays: The arrays, of any type and shape.
    """

    model: str
    wing: int
    calls: Sequence[tuple[str, Parameters]]
    unit_ids: Sequence[Scalar]
    groups: Sequence[Scalar] | None
    tree: Any
    arrays: Sequence[Any]


LONG_TEXTS: Final = 2_000
"""Samples of a model, the first ones, whose contexts are kept, and whose texts are cut late."""

TEXT, SHORT_TEXT = 2_000, 500
"""Characters kept of each text of these samples, and of those of all others."""

CONTEXTS: Final = 5
"""Contexts kept of a sample, the first ones."""


class TextsResult(Record, frozen=True):
    """Texts of a model's samples, for comparisons; shortened, with secrets masked.

    Attributes:
        columns: By field ("user_input", "response", "references[0]",
            "retrieved_contexts[0]"), the text of each sample; "perturbed_from" is the id of the
            sample that it is a changed copy of.
    """

    model: str
    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[str | None]]


class IntervalsResult(Record, frozen=True):
    """How the intervals of a run were computed.

    Attributes:
        level: Confidence level.
        resamples, seed: Number of bootstrap resamples, and the random seed.
        group: The column whose units are drawn together; None: each unit separately.
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
        model: The model that answered; None: all models together.
        judge: Name of the judge; None: all judges and repeats together.
        column: The column of the human labels.
        scale: What is compared: "verdicts", "ratings", "classes", or "values" by their side of
            `threshold`.
        labels: The categories, in their order.
        matrix: (labels, labels) human labels in rows, the judge in columns.
        n: Number of samples with a human label and a judge's value.
        unjudged: Number of samples with a human label only.
        agreement: Share of the n samples on which both agree.
        kappa: Cohen's kappa; None with a single category.
        kappa_interval: Its 95 % confidence interval, by bootstrap over samples.
        weighted_kappa: Cohen's kappa with quadratic weights, for ratings.
        correlation: Spearman's correlation, for ratings and values.
        human_mean, judge_mean: Mean of ratings and values; pass rate of verdicts; None for
            classes.
        disagreements: Samples on which they disagree, largest difference first, up to a limit.
        self_agreement: Share of pairs of the judge's repeats that agree; None
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
        samples: Number of samples.
        statuses: Number of samples by status; they add up to `samples`.
        coverage: Share of "ok" among samples that are not "not_applicable"; None without any.
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
        kind: A mean on the wrong side of its threshold; a perturbed sample on the other side from
            its original; many samples without a value; a data problem.
        value: The value found; for a flip, of the perturbed sample; for all flips of a metric,
            their share of the perturbed samples.
        threshold: The threshold that it was compared with.
        severity: None if it is unclear whether the threshold is passed.
        sample_ids: The samples concerned; for a flip, the original and its perturbed copy.
        message: The problem in words.
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
            "no_best_model" if the tests do not separate the first from others, "usual_limit" …
        models: The models concerned; all of them if they tie.
    """

    kind: str
    metric: str | None
    models: Sequence[str]
    sample_ids: Sequence[Scalar]
    value: Number | None
    message: str


GateStatus: TypeAlias = Literal["passed", "failed", "not checked"]


COVERAGE = "coverage"
"""The rule of a gate on coverage."""

NOT_WORSE = "not_worse"
"""The rule of a gate that tests whether a value is worse than the baseline's."""


class GateResult(Record, frozen=True):
    """The result of one gate for one row.

    Attributes:
        rule: "min", "max", "max_drop", "not_worse" or "coverage".
        value: The row's value; for max_drop, the drop from the baseline; for not_worse, the
            adjusted p-value of being worse.
        gate: Index of the gate in the config, from 0.
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
