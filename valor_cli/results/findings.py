"""What a metric returns: values, curves, tables, examples and per-sample values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from valor_cli.results.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number: TypeAlias = int | float
"""A number of a file; a whole one is written as it was read."""

Scalar: TypeAlias = str | int | float | bool | None

Direction: TypeAlias = Literal["higher", "lower"] | None

ParameterValue: TypeAlias = Scalar | Sequence[Any] | Mapping[str, Any]
"""What a parameter may be: all that JSON has."""

Parameters: TypeAlias = Mapping[str, ParameterValue]

THRESHOLD = "threshold"
"""The key, beside any metric's parameters in a config, of what its value is held against."""


class LabelMean(Record, frozen=True, eq=False):
    """The per-label values behind an unweighted mean over labels.

    Attributes:
        values: (labels,) the value of each; NaN: it does not enter the mean.
        present: (labels,) whether the evidence has what that rests on: ground truth, and of a
            precision predictions.
    """

    values: NDArray[np.float64]
    present: NDArray[np.bool_]


class Resampled(NamedTuple):
    """Metric values on resamples.

    Attributes:
        values: (resamples, values); NaN for no value.
        shifts: (resamples, values) the part of each that is due to missing labels; 0 where all are
            there, or where the value is no mean over labels.
    """

    values: NDArray[np.float64]
    shifts: NDArray[np.float64]


class MetricValue(Record, frozen=True):
    """One value of a metric, or why it is undefined.

    Attributes:
        value: The number; None when undefined.
        undefined: Why there is no value. Beside a value: why it is a stand-in (a 0/0 that
            follows `zero_division`).
        output: Which of the metric's outputs this is.
        label: The class it belongs to; None for all labels together.
        n: How many ground truths (or samples) it rests on.
        at: The element of each list parameter it was computed at, as
            `{"iou_threshold": 0.5}` for `iou_thresholds=(0.5, 0.75)`.
        proportion: Whether it is the part of `n` units, each counted once, that are so: what
            Wilson's interval holds for.
        over: What it is the mean of, if it is a plain mean over labels: resamples are held to the
            labels of all data.
    """

    value: float | None
    undefined: str | None = None
    output: str = "value"
    label: str | None = None
    n: int | None = None
    at: Mapping[str, Scalar] = {}
    proportion: bool = False
    over: LabelMean | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all fields but `over` are equal, which has arrays."""
        if type(other) is not MetricValue:
            return NotImplemented
        return _compared(self) == _compared(other)

    __hash__ = None  # type: ignore[assignment]


def _compared(value: MetricValue) -> tuple[object, ...]:
    return tuple(getattr(value, name) for name in _COMPARED)


_COMPARED = tuple(name for name in MetricValue.__struct_fields__ if name != "over")


class MetricCurve(Record, frozen=True):
    """Columns of equal length, drawn as lines; `at` as in `MetricValue`."""

    points: Mapping[str, Sequence[float | None]]
    label: str | None = None
    at: Mapping[str, Scalar] = {}


class MetricTable(Record, frozen=True):
    """Counts of pairs of labels, ground truth in rows; `at` as in `MetricValue`.

    Attributes:
        labels: Names of the rows and of the columns.
        matrix: (labels, labels) how often a prediction of the column met that ground truth.
        unmatched_ground_truths: (labels,) those that no prediction met.
        unmatched_predictions: (labels,) those that met no ground truth.
        ious: (labels, labels) intersection over union of each pair, where counts are of pixels.
        unmatched_ground_truth_ratios: (labels,) their part of the label's ground truth, likewise.
        unmatched_prediction_ratios: (labels,) their part of the label's predictions, likewise.
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
"""What became of one sample under one metric; only "ok" enters a mean."""

STATUSES: tuple[Status, ...] = get_args(Status)


class Mark(Record, frozen=True):
    """A span of text that a metric marks.

    Attributes:
        field: The text: "user_input", "response", "references[0]", "retrieved_contexts[2]".
        start, end: Characters, the end not included.
        kind: What was found there ("US_SSN", "repeated").
        secret: Whether the characters themselves are shown nowhere.
    """

    field: str
    start: int
    end: int
    kind: str
    secret: bool = False


class Verdict(Record, frozen=True):
    """A judge's answer about one item.

    Attributes:
        text: The claim, the context, the opinion …; empty where it judged the response itself.
        verdict: Its word for it: "supported", "irrelevant", "4", "present".
        good: Whether that speaks for the sample; None: neither way.
        reason: Why, in its words.
    """

    text: str
    verdict: str
    good: bool | None = None
    reason: str = ""


class JudgeCalls(Record, frozen=True):
    """The judge calls of a metric for one sample.

    Attributes:
        calls: Requests, those asked again included.
        cached: How many of them were answered by replies kept from before.
        replies: What was replied, in the order of the requests.
    """

    calls: int = 0
    cached: int = 0
    replies: Sequence[str] = ()


class ObjectRef(Record, frozen=True):
    """An object by its number in the dataset, and its outcome ("true_positive").

    `label` and `score` are what is shown of it where the dataset is not asked.
    """

    role: Role
    number: int
    outcome: str = ""
    label: str | None = None
    score: float | None = None


class MetricExample(Record, frozen=True):
    """An example of a count.

    Attributes:
        kind: What it is an example of ("misclassification", "hallucination" …).
        sample_id: The image or sample.
        label: The label under which it is counted.
        objects: The objects concerned; none for a whole sample.
        value: The sample's own value, where it has one.
        at: As in `MetricValue`; a list names several elements.
        marks: The places in its texts that are concerned.
        reason: What the metric says of it.
        verdicts: What judges said of it.
        replies: That in their own words, in the order of the requests.
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
        columns: By output, a value of each; the first output is the primary one.
        undefined: Why a sample has no primary value, or what else is to be said of it.
        statuses: What became of each; None: "ok" with a primary value, else "not_applicable".
        details: What each value rests on; None where there is nothing to tell.
        asked: What judges were asked; None where there are none.
    """

    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[float | None]]
    undefined: Sequence[str | None]
    statuses: Sequence[Status] | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    asked: Sequence[JudgeCalls] | None = None


class MetricAgreement(Record, frozen=True):
    """Agreement between the judges of the same samples.

    Attributes:
        kind: "judges", several of them; or "repeats" of one.
        judge: Whose repeats; None of several judges.
        raters: The names of the judges, or the numbers of the repeats.
        values: The mean value that each of them found; None: none.
        n: Samples that all of them judged.
        agreement: The part of these on which all say the same.
        coefficient: Fleiss' kappa of verdicts, Krippendorff's alpha of values; None: undefined.
        statistic: Which of the two.
        spread: Mean over samples of the largest difference between two raters.
        disagreements: Samples on which they differ, the widest first; bounded.
        disagreeing: How many there are.
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
        message: The words.
        value: The number that it is about.
        sample_ids: The samples that it is about.
    """

    kind: str
    message: str
    value: float | None = None
    sample_ids: Sequence[Scalar] = ()


class Findings(Record, frozen=True):
    """All findings of a metric on one evidence, if more than one value.

    `warnings` say what it left out, and why; `statuses` how many samples have which status;
    `agreements` how far its judges agree; `insights` what is worth telling in words.
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
