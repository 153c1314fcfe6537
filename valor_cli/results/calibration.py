"""What a calibration finds: of judges, of annotators, of thresholds, of samples that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from valor_cli.results.findings import Number, Parameters, Scalar
from valor_cli.results.record import Record
from valor_cli.results.rows import CalibrationResult
from valor_cli.results.run import UsageResult

Interval = tuple[Number, Number]


class Agreement(Record, frozen=True):
    """How far two sides agree.

    Attributes:
        n: Number of pairs of labels that are compared.
        agreement, agreement_interval: Share of them that are equal, and its 95 % interval.
        kappa, kappa_interval: Cohen's kappa.
        weighted_kappa: With quadratic weights, for ratings.
        undefined: Why there is no kappa.
    """

    n: int
    agreement: Number | None
    agreement_interval: Interval | None
    kappa: Number | None
    kappa_interval: Interval | None
    weighted_kappa: Number | None
    undefined: str | None


class AnnotatorPair(Record, frozen=True):
    """Two annotators, on the samples that both labelled."""

    first: str
    second: str
    agreement: Agreement


class AnnotatorRow(Record, frozen=True):
    """An annotator.

    Attributes:
        column: Where the labels are.
        labels: Number of samples that the annotator labelled.
        judge: The judge compared with this annotator.
        others: The annotator compared with the majority of the others.
        ties: Number of labelled samples on which the others have labels, but no majority.
    """

    annotator: str
    column: str
    labels: int
    judge: Agreement
    others: Agreement
    ties: int


class AnnotatorsResult(Record, frozen=True):
    """Agreement of several annotators with each other, and of a judge with them.

    Attributes:
        model, judge, scale, threshold: As in `CalibrationResult`.
        annotators: Each with its own agreement.
        samples: Number of samples with a label.
        shared: Number of those with labels of two annotators or more.
        ties: Number of samples without a majority, which are not compared with it.
        agreement, agreement_interval: Share of pairs of labels of one sample that are equal.
        alpha, alpha_interval: Krippendorff's alpha.
        alpha_level: Of classes and verdicts nominal, of ratings and values interval.
        undefined: Why there is no alpha.
        pairs: All pairs of annotators.
        people: Labels compared with the majority of the other annotators: the human ceiling.
        judge_among_people: The judge compared with the same majorities, as often as they count
            in `people`.
        difference, difference_interval: Agreement of the judge minus that of people.
    """

    metric: str
    model: str | None
    parameters: Parameters
    judge: str | None
    scale: str
    threshold: Number | None
    annotators: Sequence[AnnotatorRow]
    samples: int
    shared: int
    ties: int
    agreement: Number | None
    agreement_interval: Interval | None
    alpha: Number | None
    alpha_interval: Interval | None
    alpha_level: Literal["nominal", "interval"]
    undefined: str | None
    pairs: Sequence[AnnotatorPair]
    people: Agreement
    judge_among_people: Agreement
    difference: Number | None
    difference_interval: Interval | None


class ThresholdResult(Record, frozen=True):
    """The threshold of a judge's value that agrees best with human labels.

    It is chosen on the samples that it is compared on, so that its kappa is an optimistic one.

    Attributes:
        output: The judge's output: at the threshold and above, or below.
        n: Number of samples with a human label and a judge's value.
        threshold, kappa, agreement: The one that the config has; None where it names none.
        best, best_kappa, best_agreement: The one with the largest kappa; where several have it,
            the nearest to the config's.
        best_interval: Its 95 % interval: the best ones of samples drawn with replacement.
        undefined: Why there is none.
    """

    metric: str
    model: str | None
    parameters: Parameters
    judge: str | None
    output: str
    n: int
    threshold: Number | None
    kappa: Number | None
    agreement: Number | None
    best: Number | None
    best_interval: Interval | None
    best_kappa: Number | None
    best_agreement: Number | None
    undefined: str | None


class DifferenceResult(Record, frozen=True):
    """A sample on which judge and people differ.

    Attributes:
        human: The human label, of several annotators that of most.
        verdict: The judge's.
        labels: By annotator, where there are several.
        reasons: Why, as the judge said.
    """

    metric: str
    model: str
    parameters: Parameters
    judge: str | None
    sample_id: Scalar
    human: Scalar
    verdict: Scalar
    labels: Mapping[str, Scalar]
    reasons: Sequence[str]


class Calibrated(Struct, frozen=True):
    """Rows of a calibration, with usage and warnings.

    Attributes:
        rows: By metric in the order of the config; all models together, then each; all judges
            together, then each. Of several annotators it is their majority that is compared.
        annotators: Of metrics with several annotators, in the same order.
        thresholds: Of metrics that compare a judge's value with a threshold, likewise.
        differences: The samples on which judge and people differ, each under its model.
        usage: As `RunInfo.usage`.
        warnings: Problems of the data.
        stopped: Why the calibration was stopped, as a keyword and in words; None if it was not.
        unanswered: Number of values without a judge's reply, over the compared metrics.
    """

    rows: Sequence[CalibrationResult]
    annotators: Sequence[AnnotatorsResult]
    thresholds: Sequence[ThresholdResult]
    differences: Sequence[DifferenceResult]
    usage: Sequence[UsageResult]
    warnings: Sequence[str]
    stopped: tuple[str, str] | None
    unanswered: int = 0
