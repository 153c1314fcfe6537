"""What a metric returns: values, curves, tables, examples and per-sample values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from valor_cli.results.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number: TypeAlias = int | float
"""A number of a file; integers stay integers."""

Scalar: TypeAlias = str | int | float | bool | None

Direction: TypeAlias = Literal["higher", "lower"] | None

ParameterValue: TypeAlias = Scalar | Sequence[Any] | Mapping[str, Any]
"""The type of a parameter: any JSON value."""

Parameters: TypeAlias = Mapping[str, ParameterValue]

OWN_SPACE = "own."
"""What names of metrics begin with that the user names."""

THRESHOLD = "threshold"
"""The config key of a metric's threshold, beside its parameters."""

WHEN = "when"
"""The parameter that says which samples an own metric is for: "passes" or "fails", by metric."""


class LabelMean(Record, frozen=True, eq=False):
    """The per-label values behind an unweighted mean over labels.

    Attributes:
        values: (labels,) or (replicas, labels) the value of each label; NaN if it is left out of
            the mean.
        present: Of that shape, whether the evidence has the data it needs: ground truth, or for
            precision predictions.
    """

    values: NDArray[np.float64]
    present: NDArray[np.bool_]


class Resampled(NamedTuple):
    """Metric values on resamples.

    Attributes:
        values: (resamples, values); NaN where undefined.
        shifts: (resamples, values) the part of each due to missing labels; 0 if none is
            missing, or if the value is not a mean over labels.
    """

    values: NDArray[np.float64]
    shifts: NDArray[np.float64]


class MetricValue(Record, frozen=True):
    """One value of a metric, or why it is undefined.

    Attributes:
        value: The number; None when undefined.
        undefined: Why there is no value; next to a value, why it is a substitute (0/0 that
            follows `zero_division`).
        output: The name of the metric's output.
        label: The class it belongs to; None for all labels together.
        n: Number of ground truths, or samples, that it is computed from.
        at: The element of each list parameter that it was computed for, as
            `{"iou_threshold": 0.5}` for `iou_thresholds=(0.5, 0.75)`.
        proportion: Whether it is a share of `n` units, each counted once, so that
            Wilson's interval applies.
        over: The values it averages, if it is a plain mean over labels: resamples use the
            labels of all data. None too where no replica lacks any of these.
        replicas: (replicas,) the value in each replica of the evidence, NaN for none, where it has
            several; `value` and `n` are those of the first.
    """

    value: float | None
    undefined: str | None = None
    output: str = "value"
    label: str | None = None
    n: int | None = None
    at: Mapping[str, Scalar] = {}
    proportion: bool = False
    over: LabelMean | None = None
    replicas: NDArray[np.float64] | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal but those with arrays."""
        if type(other) is not MetricValue:
            return NotImplemented
        return _compared(self) == _compared(other)

    __hash__ = None  # type: ignore[assignment]


def _compared(value: MetricValue) -> tuple[object, ...]:
    return tuple(getattr(value, name) for name in _COMPARED)


_COMPARED = tuple(
    name for name in MetricValue.__struct_fields__ if name not in ("over", "replicas")
)


class MetricCurve(Record, frozen=True):
    """Columns of equal length, drawn as lines; `at` as in `MetricValue`."""

    points: Mapping[str, Sequence[float | None]]
    label: str | None = None
    at: Mapping[str, Scalar] = {}


class MetricTable(Record, frozen=True):
    """Counts of pairs of labels, ground truth in rows; `at` as in `MetricValue`.

    Attributes:
        labels: Names of the rows and of the columns.
        matrix: (labels, labels) number of predictions of the column for ground truth of the row.
        unmatched_ground_truths: (labels,) ground truths without a prediction.
        unmatched_predictions: (labels,) predictions without a ground truth.
        ious: (labels, labels) intersection over union of each pair, where counts are of pixels.
        unmatched_ground_truth_ratios: (labels,) their share of the label's ground truth.
        unmatched_prediction_ratios: (labels,) their share of the label's predictions.
    """

    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    unmatched_ground_truths: Sequence[int]
    unmatched_predictions: Sequence[int]
    at: Mapping[str, Scalar] = {}
    ious: Sequence[Sequence[float | None]] | None = None
    unmatched_ground_truth_ratios: Sequence[float | None] | None = None
    unmatched_prediction_ratios: Sequence[float | None] | None = None


Role: TypeAlias = Literal["ground_truth", "prediction"]

Status: TypeAlias = Literal[
    "ok",
    "parse_failure",
    "judge_error",
    "missing_input",
    "not_applicable",
    "skipped",
    "model_unavailable",
]
"""Status of a sample under a metric; only "ok" samples enter a mean."""

STATUSES: tuple[Status, ...] = get_args(Status)


class Mark(Record, frozen=True):
    """A span of text that a metric marks.

    Attributes:
        field: The text: "user_input", "response", "references[0]", "retrieved_contexts[2]".
        start, end: Character offsets; `end` is exclusive.
        kind: What was detected ("US_SSN", "repeated").
        secret: Whether the characters must never be shown.
    """

    field: str
    start: int
    end: int
    kind: str
    secret: bool = False


class Verdict(Record, frozen=True):
    """A judge's answer about one item.

    Attributes:
        text: The claim, the context, the opinion …; empty if the whole response was judged.
        verdict: The judge's verdict: "supported", "irrelevant", "4", "present".
        good: Whether the verdict is favourable; None if neutral.
        reason: The judge's reason.
    """

    text: str
    verdict: str
    good: bool | None = None
    reason: str = ""


class JudgeCalls(Record, frozen=True):
    """The judge calls of a metric for one sample.

    Attributes:
        calls: Number of requests, retries included.
        cached: Number of requests answered from the cache.
        replies: The replies, in the order of the requests.
        prompts: What each of these was asked; empty unless the judge's `keep_prompts` is set.
    """

    calls: int = 0
    cached: int = 0
    replies: Sequence[str] = ()
    prompts: Sequence[str] = ()


class ObjectRef(Record, frozen=True):
    """An object by its number in the dataset, and its outcome ("true_positive").

    `label` and `score` are shown if the dataset is not available.
    """

    role: Role
    number: int
    outcome: str = ""
    label: str | None = None
    score: float | None = None


class MetricExample(Record, frozen=True):
    """An example of a count.

    Attributes:
        kind: The outcome it illustrates ("misclassification", "hallucination" …).
        sample_id: The image or sample.
        label: The label that it is counted for.
        objects: The objects concerned; none for a whole sample.
        value: The sample's value, if any.
        at: As in `MetricValue`; a list names several elements.
        marks: The spans of its texts concerned.
        reason: The metric's reason.
        verdicts: The verdicts of the judges.
        replies: The judges' raw replies, in the order of the requests.
    """

    kind: str
    sample_id: Scalar
    label: str | None = None
    objects: Sequence[ObjectRef] = ()
    value: float | None = None
    at: Mapping[str, Scalar | Sequence[Scalar]] = {}
    marks: Sequence[Mark] = ()
    reason: str | None = None
    verdicts: Sequence[Verdict] = ()
    replies: Sequence[str] = ()


class MetricSamples(Record, frozen=True):
    """Per-sample values; columns of equal length.

    Attributes:
        sample_ids: The images or samples.
        columns: A value per sample by output; the first output is the primary one.
        undefined: Why a sample has no primary value, or another remark on it.
        statuses: Status of each; None: "ok" with a primary value, else "not_applicable".
        details: The data behind each value; None if there is none.
        asked: The judge calls of each; None without judges.
        texts: What reports show of each sample, by field; empty if its dataset has its texts.
    """

    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[float | None]]
    undefined: Sequence[str | None]
    statuses: Sequence[Status] | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    asked: Sequence[JudgeCalls] | None = None
    texts: Mapping[str, Sequence[str | None]] = {}


class MetricAgreement(Record, frozen=True):
    """Agreement between the judges of the same samples.

    Attributes:
        kind: "judges" for several judges, "repeats" for repeated calls of one.
        judge: The judge that was repeated; None for several judges.
        raters: The names of the judges, or the numbers of the repeats.
        values: Mean value of each rater; None if undefined.
        n: Number of samples that all raters judged.
        agreement: Share of these on which all raters agree.
        coefficient: Fleiss' kappa of verdicts, Krippendorff's alpha of values; None if undefined.
        statistic: The name of the coefficient.
        spread: Mean over samples of the largest difference between two raters.
        disagreements: Samples on which they disagree, largest difference first, up to a limit.
        disagreeing: Number of samples on which they disagree.
    """

    kind: Literal["judges", "repeats"]
    judge: str | None
    raters: Sequence[str]
    values: Sequence[float | None]
    n: int
    agreement: float | None
    coefficient: float | None
    statistic: str
    spread: float | None
    disagreements: Sequence[Scalar] = ()
    disagreeing: int = 0


class MetricInsight(Record, frozen=True):
    """A remark of a metric about its values.

    Attributes:
        kind: As in `InsightResult`.
        message: The text.
        value: The value concerned.
        sample_ids: The samples concerned.
    """

    kind: str
    message: str
    value: float | None = None
    sample_ids: Sequence[Scalar] = ()


class Findings(Record, frozen=True):
    """All findings of a metric on one evidence, if more than one value.

    `warnings` say what was left out, and why; `statuses` is the number of samples by status;
    `agreements` is the agreement of judges; `insights` are noteworthy findings in words.
    """

    values: Sequence[MetricValue] = ()
    curves: Sequence[MetricCurve] = ()
    tables: Sequence[MetricTable] = ()
    examples: Sequence[MetricExample] = ()
    samples: MetricSamples | None = None
    warnings: Sequence[str] = ()
    statuses: Mapping[Status, int] = {}
    agreements: Sequence[MetricAgreement] = ()
    insights: Sequence[MetricInsight] = ()
