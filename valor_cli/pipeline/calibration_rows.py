"""What judges and people said of the same samples in; how far they agree out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valor_cli.metric import Call
from valor_cli.pipeline.calibration_scales import RATING, Scale, read_people, scale_of
from valor_cli.results import CalibrationResult, SamplesResult, Scalar
from valor_cli.statistics.agreement import cohen_kappa, confusion, kappa_interval, spearman

Values = Sequence[float | None]
Raters = Mapping[tuple[str, int], Values]
"""By judge and number of the repeat, the value of each sample."""

SHOWN = 20
"""Disagreements that are listed."""


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of some samples; columns of equal length, None where nothing was.

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
    """All models together, then each; the judges together, then each alone.

    Args:
        call: The metric and its parameters.
        found: What the judges said, by model.
        column: Where people's word stands.
        humans: By model, what they wrote.

    Raises:
        DataError: They wrote what no judge can say.
    """
    scale = scale_of(call, [value for own in found for value in humans[own.model]])
    parts = {own.model: _said(scale, own, column, humans[own.model]) for own in found}
    if len(parts) > 1:
        yield from _rows(call, None, column, scale, _together(parts))
    for model, said in parts.items():
        yield from _rows(call, model, column, scale, said)


def _said(scale: Scale, own: SamplesResult, column: str, humans: Sequence[Scalar]) -> Said:
    primary = next(iter(own.columns))
    output = RATING if scale.kind == "ratings" and RATING in own.columns else primary
    raters: dict[tuple[str, int], list[float | None]] = {}
    for at, details in enumerate(own.details or ()):
        for one in (details or {}).get("raters", ()):
            values = raters.setdefault((one["judge"], one["repeat"]), [None] * len(own.sample_ids))
            values[at] = one["values"].get(output)
    people = read_people(scale, own, column, humans)
    return Said(own.sample_ids, people, own.columns[output], raters)


def _together(parts: Mapping[str, Said]) -> Said:
    """The samples of all models, each named with its model."""
    first = next(iter(parts.values()))
    return Said(
        [f"{model}: {one}" for model, said in parts.items() for one in said.sample_ids],
        [one for said in parts.values() for one in said.people],
        [one for said in parts.values() for one in said.judges],
        {
            rater: [one for said in parts.values() for one in said.raters[rater]]
            for rater in first.raters
        },
    )


def _rows(
    call: Call, model: str | None, column: str, scale: Scale, said: Said
) -> Iterator[CalibrationResult]:
    yield _row(call, model, column, scale, said, None)
    judges = dict.fromkeys(judge for judge, _ in said.raters)
    for judge in judges if len(judges) > 1 else ():
        own = {rater: values for rater, values in said.raters.items() if rater[0] == judge}
        alone = Said(said.sample_ids, said.people, _mean(scale, list(own.values())), own)
        yield _row(call, model, column, scale, alone, judge)


def _row(
    call: Call, model: str | None, column: str, scale: Scale, said: Said, judge: str | None
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
    apart = np.abs(human - found)
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
        correlation=spearman(human, found) if scale.kind != "verdicts" else None,
        human_mean=float(human.mean()) if both else None,
        judge_mean=float(found.mean()) if both else None,
        disagreements=[said.sample_ids[both[at]] for at in differ[:SHOWN]],
        self_agreement=_self_agreement(scale, said.raters),
    )


def _categories(scale: Scale, values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.array([scale.category(value) for value in values.tolist()], np.int64)


def _mean(scale: Scale, columns: Sequence[Values]) -> list[float | None]:
    """Of each sample, the mean of what a judge's repeats found; verdicts by majority."""
    means: list[float | None] = []
    for said in zip(*columns, strict=True):
        known = [value for value in said if value is not None]
        mean = sum(known) / len(known) if known else None
        means.append(float(mean > 0.5) if mean is not None and scale.kind == "verdicts" else mean)
    return means


def _self_agreement(scale: Scale, raters: Raters) -> float | None:
    """The part of the pairs of one judge's repeats of one sample that say the same."""
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
