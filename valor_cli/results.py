"""What an evaluation found: values, curves, tables and examples, and the run that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

Scalar: TypeAlias = str | int | float | bool | None
Direction: TypeAlias = Literal["higher", "lower"] | None
ParameterValue: TypeAlias = Scalar | Sequence[Any] | Mapping[str, Any]
"""What a parameter may be: all that JSON has."""

Parameters: TypeAlias = Mapping[str, ParameterValue]

SCHEMA_VERSION = 1

THRESHOLD = "threshold"
"""The key, beside any metric's parameters in a config, of what its value is held against."""


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
class MetricTable:
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
    at: Mapping[str, Scalar] = field(default_factory=dict)
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

TOO_LOW = "coverage too low"
"""Why a run is incomplete where no model is missing and no judge was silent."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text that a metric points at.

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of one thing it was shown.

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a metric asked of judges about one sample.

    Attributes:
        calls: Requests, those asked again included.
        cached: How many of them were answered by replies kept from before.
        replies: What was replied, in the order of the requests.
    """

    calls: int = 0
    cached: int = 0
    replies: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object of the dataset by its number there, and what became of it ("true_positive")."""

    role: Role
    number: int
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class MetricExample:
    """One case that belongs to a count.

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
    at: Mapping[str, Scalar | Sequence[Scalar]] = field(default_factory=dict)
    marks: Sequence[Mark] = ()
    reason: str | None = None
    verdicts: Sequence[Verdict] = ()
    replies: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MetricSamples:
    """A value of each sample; columns of equal length.

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
    asked: Sequence[Asked] | None = None


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How far those who judged the same samples say the same.

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


@dataclass(frozen=True, slots=True)
class MetricInsight:
    """What a metric tells in words beside its values.

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


@dataclass(frozen=True, slots=True)
class Findings:
    """All a metric says of one evidence, when that is more than one value.

    `warnings` say what it left out, and why; `statuses` how many samples have which status;
    `agreements` how far its judges agree; `insights` what is worth telling in words.
    """

    values: Sequence[MetricValue] = ()
    curves: Sequence[MetricCurve] = ()
    tables: Sequence[MetricTable] = ()
    examples: Sequence[MetricExample] = ()
    samples: MetricSamples | None = None
    warnings: Sequence[str] = ()
    statuses: Mapping[Status, int] = field(default_factory=dict)
    agreements: Sequence[MetricAgreement] = ()
    insights: Sequence[MetricInsight] = ()


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


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table of counts with everything that identifies it; columns as in `MetricTable`."""

    metric: str
    model: str
    slice: str | None
    parameters: Parameters
    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    unmatched_ground_truths: Sequence[int]
    unmatched_predictions: Sequence[int]
    ious: Sequence[Sequence[float | None]] | None = None
    unmatched_ground_truth_ratios: Sequence[float | None] | None = None
    unmatched_prediction_ratios: Sequence[float | None] | None = None


@dataclass(frozen=True, slots=True)
class ExampleObject:
    """An object of an example.

    Attributes:
        id: As in its file; the position in it, from 0, for a detection without one.
        outcome: What became of it, such as "true_positive" or "duplicate"; empty if unsaid.
        geometry: As GeoJSON, in pixels; None if it has no extent.
    """

    role: Role
    id: Scalar
    label: str
    score: float | None
    outcome: str
    geometry: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Picture:
    """The image a sample is: its file as the ground truth names it, width and height in pixels."""

    file: str | None
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of an example as reports show it: cut to a bounded length, what is secret masked.

    Attributes:
        field: As in `Mark`, or "judge_replies[0]".
        text: The characters.
        marks: (start, end, kind) in `text`, ascending, none inside another.
        left_out: Characters of the whole text that are not shown.
    """

    field: str
    text: str
    marks: Sequence[tuple[int, int, str]] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Pictures:
    """Images that a report embeds; they stand beside the results, not in them.

    Attributes:
        photos: JPEG or PNG bytes of the images themselves, by `Picture.file`.
        overlays: The same, of what one model made of an image, by model and `Picture.file`.
        colours: What stands for a label in the overlays, "#rrggbb".
    """

    photos: Mapping[str, bytes] = field(default_factory=dict)
    overlays: Mapping[tuple[str, str], bytes] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)


class Illustration(NamedTuple):
    """What reports show of an example: the picture and the objects in it, or the texts."""

    picture: Picture | None = None
    objects: Sequence[ExampleObject] = ()
    texts: Sequence[ShownText] = ()


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """One case that belongs to a count, with everything needed to find and to draw it."""

    metric: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    kind: str
    sample_id: Scalar
    value: float | None
    picture: Picture | None
    objects: Sequence[ExampleObject]
    texts: Sequence[ShownText] = ()
    reason: str | None = None
    verdicts: Sequence[Verdict] = ()


@dataclass(frozen=True, slots=True)
class SamplesResult:
    """Values of single samples, with everything that identifies them; see `MetricSamples`."""

    metric: str
    model: str
    parameters: Parameters
    sample_ids: Sequence[Scalar]
    columns: Mapping[str, Sequence[float | None]]
    undefined: Sequence[str | None]
    statuses: Sequence[Status] | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    asked: Sequence[Asked] | None = None


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """An agreement with everything that identifies it; see `MetricAgreement`."""

    metric: str
    model: str
    parameters: Parameters
    kind: Literal["judges", "repeats"]
    judge: str | None
    raters: Sequence[str]
    values: Sequence[float | None]
    n: int
    agreement: float | None
    coefficient: float | None
    statistic: str
    spread: float | None
    disagreements: Sequence[Scalar]
    disagreeing: int


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """How far a judge says what people said of the same samples.

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
    threshold: float | None
    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    n: int
    unjudged: int
    agreement: float | None
    kappa: float | None
    kappa_interval: tuple[float, float] | None
    weighted_kappa: float | None
    correlation: float | None
    human_mean: float | None
    judge_mean: float | None
    disagreements: Sequence[Scalar]
    self_agreement: float | None


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


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """How many samples a metric could judge, with everything that identifies it.

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
    coverage: float | None


Severity: TypeAlias = Literal["low", "medium", "high"]
ProblemKind: TypeAlias = Literal["threshold", "flip", "coverage", "data"]


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """Something of a model that wants looking at.

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
    value: float | None
    threshold: float | None
    severity: Severity | None
    sample_ids: Sequence[Scalar]
    message: str
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InsightResult:
    """Something worth knowing, in words.

    Attributes:
        kind: "best_model", "worst_model", "hardest_sample", "fastest_model", "slowest_model",
            "cheapest_model", "best_retrieval", "worst_retrieval", "worst_sentence" …
        models: Those concerned, all of them where they tie.
    """

    kind: str
    metric: str | None
    models: Sequence[str]
    sample_ids: Sequence[Scalar]
    value: float | None
    message: str


GateStatus: TypeAlias = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate held against one row: `rule` is "min", "max", "max_drop" or "coverage".

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

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return all(gate.status != "failed" for gate in self.gates)

    @property
    def incomplete(self) -> str | None:
        """Why too few samples have a value, and what to do; None: every metric could do its work.

        Where no gate says how many samples that takes, no judge may have failed to reply; and no
        model that was to be asked may be missing.
        """
        absent = {row.metric for row in self.coverage if row.statuses.get("model_unavailable", 0)}
        if absent:
            return f"the model of {', '.join(sorted(absent))} is not on this machine"
        limits = [gate for gate in self.gates if gate.rule == "coverage"]
        limited = {(gate.metric, gate.model) for gate in limits}
        if any(
            row.statuses.get("judge_error", 0)
            for row in self.coverage
            if (row.metric, row.model) not in limited
        ):
            embedding = "embedder" in self.settings and "judge" not in self.settings
            who = "the embedder" if embedding else "judges"
            return f"{who} did not always reply: run again"
        return TOO_LOW if any(gate.status == "failed" for gate in limits) else None
