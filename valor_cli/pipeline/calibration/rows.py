"""Compare judge verdicts with human labels of the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.metric import Call
from valor_cli.pipeline.calibration.scales import Scale, read_human_labels, scale_of
from valor_cli.results import CalibrationResult, SamplesResult, Scalar
from valor_cli.statistics.agreement import cohen_kappa, confusion, kappa_interval, spearman

Values = Sequence[float | None]
Raters = Mapping[tuple[str, int], Values]
"""By judge and number of the repeat, the value of each sample."""

SHOWN = 20
"""Disagreements that are listed."""


class Answers(Struct, frozen=True):
    """Answers about some samples; columns of equal length, None where there is none.

    Attributes:
        sample_ids: Of what.
        people: By people.
        judges: By all judges together.
        raters: By each judge and repeat; empty where one was asked once.
    """

    sample_ids: Sequence[Scalar]
    people: Values
    judges: Values
    raters: Raters


def compared(
    call: Call, found: Sequence[SamplesResult], column: str, humans: Mapping[str, Sequence[Scalar]]
) -> Iterator[CalibrationResult]:
    """Rows for all models together and each, and for all judges together and each.

    The judges together are what an evaluation reports. A judge alone is the mean of its repeats,
    verdicts and classes by majority.

    Args:
        call: The metric and its parameters.
        found: Judge values by model.
        column: The column of human labels.
        humans: Human labels by model; models without labels have no row.

    Raises:
        DataError: A human label is outside the judge's scale.
    """
    scale = scale_of(call, [value for own in found for value in humans[own.model]], found)
    said = {own.model: _said(scale, own, column, humans[own.model]) for own in found}
    parts = {
        model: own for model, own in said.items() if any(one is not None for one in own.people)
    }
    if len(parts) > 1:
        yield from _rows(call, None, column, scale, _together(parts))
    for model, own in parts.items():
        yield from _rows(call, model, column, scale, own)


def _said(scale: Scale, own: SamplesResult, column: str, humans: Sequence[Scalar]) -> Answers:
    count = len(own.sample_ids)
    told = own.details or [None] * count
    raters: dict[tuple[str, int], list[float | None]] = {}
    for at, details in enumerate(told):
        for one in (details or {}).get("raters", ()):
            values = raters.setdefault((one["judge"], one["repeat"]), [None] * count)
            values[at] = scale.found(one["values"], one)
    people = read_human_labels(scale, own, column, humans)
    if scale.kind == "classes" and raters:
        # Evaluations report who passes, and no class of all judges.
        return Answers(own.sample_ids, people, _voices(scale, raters), raters)
    judges = [
        scale.found({name: values[at] for name, values in own.columns.items()}, details)
        for at, details in enumerate(told)
    ]
    return Answers(own.sample_ids, people, judges, raters)


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
    return Answers(
        [f"{model}: {one}" for model, said in parts.items() for one in said.sample_ids],
        [one for said in parts.values() for one in said.people],
        [one for said in parts.values() for one in said.judges],
        {rater: [one for said in parts.values() for one in said.raters[rater]] for rater in raters},
    )


def _rows(
    call: Call, model: str | None, column: str, scale: Scale, said: Answers
) -> Iterator[CalibrationResult]:
    yield _row(call, model, column, scale, said, None)
    judges = dict.fromkeys(judge for judge, _ in said.raters)
    for judge in judges if len(judges) > 1 else ():
        own = {rater: values for rater, values in said.raters.items() if rater[0] == judge}
        alone = Answers(said.sample_ids, said.people, _alone(scale, own, judge), own)
        yield _row(call, model, column, scale, alone, judge)


def _row(
    call: Call, model: str | None, column: str, scale: Scale, said: Answers, judge: str | None
) -> CalibrationResult:
    both = [
        at
        for at, (human, value) in enumerate(zip(said.people, said.judges, strict=True))
        if human is not None and value is not None
    ]
    human = np.array([said.people[at] for at in both], np.float64)
    found = np.array([said.judges[at] for at in both], np.float64)
    first, second = _categories(scale, human), _categories(scale, found)
    matrix = confusion(first, second, len(scale.labels))
    ordered = scale.kind in ("ratings", "values")
    apart = np.abs(human - found) if ordered else (first != second).astype(np.float64)
    differ = sorted(np.flatnonzero(first != second).tolist(), key=lambda at: -apart[at])
    return CalibrationResult(
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
        disagreements=[said.sample_ids[both[at]] for at in differ[:SHOWN]],
        self_agreement=_self_agreement(scale, said.raters),
    )


def _categories(scale: Scale, values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.array([scale.category(value) for value in values.tolist()], np.int64)


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
