"""Compare judge verdicts with human labels of the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.metric import Call
from valor_cli.pipeline.calibration.annotators import Values, annotated, majority
from valor_cli.pipeline.calibration.labels import Labels
from valor_cli.pipeline.calibration.scales import RATING, Scale, read_human_labels, scale_of
from valor_cli.pipeline.calibration.thresholds import at_threshold, best_threshold
from valor_cli.results import CalibrationResult, SamplesResult, Scalar
from valor_cli.results.calibration import AnnotatorsResult, DifferenceResult, ThresholdResult
from valor_cli.statistics.agreement import cohen_kappa, confusion, kappa_interval, spearman

Raters = Mapping[tuple[str, int], Values]
"""By judge and number of the repeat, the value of each sample."""

SHOWN = 20
"""Disagreements that are listed, where one column has the labels."""


class Answers(Struct, frozen=True):
    """Answers about some samples; columns of equal length, None where there is none.

    Attributes:
        sample_ids: Of what.
        each: By each annotator.
        people: By the majority of annotators.
        judges: By all judges together.
        raters: By each judge and repeat; empty where one was asked once.
        ratings: The number that judges gave beside a verdict.
        details: What else they said.
    """

    sample_ids: Sequence[Scalar]
    each: Sequence[Values]
    people: Values
    judges: Values
    raters: Raters
    ratings: Values
    details: Sequence[Mapping[str, Any] | None]


class Compared(Struct, frozen=True):
    """What is found of a model and a judge, or of all of them together.

    Attributes:
        annotators: None unless there are several.
        threshold: None where the judge gives no number.
        differences: None of all models together, whose samples are those of each.
    """

    row: CalibrationResult
    annotators: AnnotatorsResult | None
    threshold: ThresholdResult | None
    differences: Sequence[DifferenceResult]


def compared(call: Call, found: Sequence[SamplesResult], labels: Labels) -> Iterator[Compared]:
    """Comparisons of all models together and each, and of all judges together and each.

    The judges together are what an evaluation reports. A judge alone is the mean of its repeats,
    verdicts and classes by majority.

    Args:
        call: The metric and its parameters.
        found: Judge values by model.
        labels: Human labels by model; models without labels have no row.

    Raises:
        DataError: A human label is outside the judge's scale.
    """
    scale = scale_of(call, [value for own in found for value in labels.of(own.model)], found)
    said = {own.model: _said(scale, own, labels) for own in found}
    parts = {
        model: own
        for model, own in said.items()
        if any(one is not None for values in own.each for one in values)
    }
    if len(parts) > 1:
        yield from _comparisons(call, None, labels, scale, _together(parts))
    for model, own in parts.items():
        yield from _comparisons(call, model, labels, scale, own)


def _said(scale: Scale, own: SamplesResult, labels: Labels) -> Answers:
    count = len(own.sample_ids)
    told = own.details or [None] * count
    raters: dict[tuple[str, int], list[float | None]] = {}
    for at, details in enumerate(told):
        for one in (details or {}).get("raters", ()):
            values = raters.setdefault((one["judge"], one["repeat"]), [None] * count)
            values[at] = scale.found(one["values"], one)
    each = [
        read_human_labels(scale, own, one.column, one.by_model[own.model])
        for one in labels.annotators
    ]
    people = [majority(scale, said) for said in zip(*each, strict=True)]
    ratings = own.columns.get(RATING, [None] * count)
    if scale.kind == "classes" and raters:
        # Evaluations report who passes, and no class of all judges.
        judges: Values = _voices(scale, raters)
    else:
        judges = [
            scale.found({name: values[at] for name, values in own.columns.items()}, details)
            for at, details in enumerate(told)
        ]
    return Answers(own.sample_ids, each, people, judges, raters, ratings, told)


def _voices(scale: Scale, raters: Raters) -> list[float | None]:
    """The majority, or mean, of all judges, each counted once."""
    voices = [_alone(scale, raters, judge) for judge in dict.fromkeys(name for name, _ in raters)]
    return [scale.one(said) for said in zip(*voices, strict=True)]


def _alone(scale: Scale, raters: Raters, judge: str) -> list[float | None]:
    """A judge's value for each sample, combined over its repeats."""
    repeats = [values for (name, _), values in raters.items() if name == judge]
    return [scale.one(said) for said in zip(*repeats, strict=True)]


def _together(parts: Mapping[str, Answers]) -> Answers:
    """The samples of all models, each named with its model."""
    raters = dict.fromkeys(rater for said in parts.values() for rater in said.raters)
    own = list(parts.values())
    return Answers(
        [f"{model}: {one}" for model, said in parts.items() for one in said.sample_ids],
        [
            [one for values in said for one in values]
            for said in zip(*(x.each for x in own), strict=True)
        ],
        [one for said in own for one in said.people],
        [one for said in own for one in said.judges],
        {rater: [one for said in own for one in said.raters[rater]] for rater in raters},
        [one for said in own for one in said.ratings],
        [one for said in own for one in said.details],
    )


def _comparisons(
    call: Call, model: str | None, labels: Labels, scale: Scale, said: Answers
) -> Iterator[Compared]:
    yield _compared(call, model, labels, scale, said, None)
    judges = dict.fromkeys(judge for judge, _ in said.raters)
    for judge in judges if len(judges) > 1 else ():
        own = {rater: values for rater, values in said.raters.items() if rater[0] == judge}
        nothing = [None] * len(said.sample_ids)
        alone = replace(said, judges=_alone(scale, own, judge), raters=own, ratings=nothing)
        yield _compared(call, model, labels, scale, alone, judge)


def _compared(
    call: Call, model: str | None, labels: Labels, scale: Scale, said: Answers, judge: str | None
) -> Compared:
    several = len(labels.annotators) > 1
    row, differ = _row(call, model, labels.column, scale, said, judge, whole=several)
    people = None
    if several:
        people = annotated(call, model, judge, scale, labels, said.each, said.people, said.judges)
    names = [one.name for one in labels.annotators]
    differences = [
        DifferenceResult(
            metric=call.metric.name,
            model=model,
            parameters=call.parameters,
            judge=judge,
            sample_id=said.sample_ids[at],
            human=scale.shown(said.people[at]),
            verdict=scale.shown(said.judges[at]),
            labels={
                name: scale.shown(values[at])
                for name, values in zip(names, said.each, strict=True)
                if several and values[at] is not None
            },
            reasons=list(_reasons(said.details[at], judge)),
        )
        for at in differ
        if model is not None
    ]
    return Compared(row, people, _threshold(call, model, scale, said, judge), differences)


def _reasons(details: Mapping[str, Any] | None, judge: str | None) -> Iterator[str]:
    """Why, as all judges said, or one of them."""
    raters = (details or {}).get("raters")
    if not raters:
        yield from _reasons_in(details)
        return
    for one in raters:
        if judge in (None, one["judge"]):
            before = f"{one['judge']}: " if judge is None else ""
            yield from (before + reason for reason in _reasons_in(one))


def _reasons_in(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        reason = part.get("reason")
        if isinstance(reason, str) and reason.strip():
            yield reason
        part = list(part.values())
    if isinstance(part, list | tuple):
        for one in part:
            yield from _reasons_in(one)


def _threshold(
    call: Call, model: str | None, scale: Scale, said: Answers, judge: str | None
) -> ThresholdResult | None:
    """The best threshold of a number that the judge gave; None if it gave none."""
    rated = scale.kind == "verdicts" and any(one is not None for one in said.ratings)
    if not rated and scale.kind != "values":
        return None
    scores = said.ratings if rated else said.judges
    usual = scale.threshold
    lower = False
    if rated:
        outputs = {one.name: one for one in call.metric.outputs}
        lower = outputs[RATING].better == "lower"
        usual = next((one["cut"] for one in said.details if one and "cut" in one), None)
    both = [
        (value, scale.category(human))
        for human, value in zip(said.people, scores, strict=True)
        if human is not None and value is not None
    ]
    values = np.array([value for value, _ in both], np.float64)
    above = np.array([bool(side) is not lower for _, side in both], bool)
    best = best_threshold(values, above, usual)
    kappa, agreement = at_threshold(values, above, usual)
    best_kappa, best_agreement = at_threshold(values, above, best.threshold)
    return ThresholdResult(
        metric=call.metric.name,
        model=model,
        parameters=call.parameters,
        judge=judge,
        output=RATING if rated else scale.output,
        n=len(both),
        threshold=usual,
        kappa=kappa,
        agreement=agreement,
        best=best.threshold,
        best_interval=best.interval,
        best_kappa=best_kappa,
        best_agreement=best_agreement,
        undefined=best.undefined,
    )


def _row(
    call: Call,
    model: str | None,
    column: str,
    scale: Scale,
    said: Answers,
    judge: str | None,
    *,
    whole: bool,
) -> tuple[CalibrationResult, list[int]]:
    """The row, and the positions of all samples that differ, largest difference first."""
    both = [
        at
        for at, (human, value) in enumerate(zip(said.people, said.judges, strict=True))
        if human is not None and value is not None
    ]
    human = np.array([said.people[at] for at in both], np.float64)
    found = np.array([said.judges[at] for at in both], np.float64)
    first, second = scale.categories(human.tolist()), scale.categories(found.tolist())
    matrix = confusion(first, second, len(scale.labels))
    ordered = scale.kind in ("ratings", "values")
    apart = np.abs(human - found) if ordered else (first != second).astype(np.float64)
    order = sorted(np.flatnonzero(first != second).tolist(), key=lambda at: -apart[at])
    differ = [both[at] for at in order]
    row = CalibrationResult(
        metric=call.metric.name,
        model=model,
        parameters=call.parameters,
        judge=judge,
        column=column,
        scale=scale.kind,
        threshold=scale.threshold,
        labels=scale.labels,
        matrix=matrix.tolist(),
        n=len(both),
        unjudged=sum(one is not None for one in said.people) - len(both),
        agreement=float((first == second).mean()) if both else None,
        kappa=cohen_kappa(matrix),
        kappa_interval=kappa_interval(first, second, len(scale.labels)),
        weighted_kappa=cohen_kappa(matrix, "quadratic") if scale.kind == "ratings" else None,
        correlation=spearman(human, found) if ordered else None,
        human_mean=_mean(scale, human, first),
        judge_mean=_mean(scale, found, second),
        disagreements=[said.sample_ids[at] for at in (differ if whole else differ[:SHOWN])],
        self_agreement=_self_agreement(scale, said.raters),
    )
    return row, differ


def _mean(scale: Scale, values: NDArray[np.float64], categories: NDArray[np.int64]) -> float | None:
    """The mean, which for verdicts is the pass rate; None for classes."""
    if not len(values) or scale.kind == "classes":
        return None
    return float((categories if scale.kind == "verdicts" else values).mean())


def _self_agreement(scale: Scale, raters: Raters) -> float | None:
    """The share of pairs of a judge's repeats on one sample that agree."""
    same = pairs = 0
    for judge in {judge for judge, _ in raters}:
        columns = [values for (name, _), values in raters.items() if name == judge]
        for said in zip(*columns, strict=True):
            counts: dict[int, int] = {}
            for value in said:
                if value is not None:
                    category = scale.category(value)
                    counts[category] = counts.get(category, 0) + 1
            known = sum(counts.values())
            same += sum(count * (count - 1) for count in counts.values())
            pairs += known * (known - 1)
    return same / pairs if pairs else None
