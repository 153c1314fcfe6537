"""A plan whose data hold what people said of samples; how far judges say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.metric import Call, Terms
from valor_cli.pipeline.calibration_scales import RATING, Scale, read_people, scale_of
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.run import run_identity, selection_of, session_of
from valor_cli.pipeline.workers import Progress, ThisProcess
from valor_cli.results import CalibrationResult, SamplesResult, Scalar, UsageResult
from valor_cli.statistics.agreement import cohen_kappa, confusion, kappa_interval, spearman

HUMAN = "human_"
"""What the columns begin with that hold what people said."""

SHOWN = 20
"""Disagreements that are listed."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What was compared, what that took, and what was odd."""

    rows: Sequence[CalibrationResult]
    usage: Sequence[UsageResult]
    warnings: Sequence[str]
    stopped: tuple[str, str] | None


def calibrate(
    plan: Plan,
    columns: Mapping[str, str],
    *,
    limit: int | None = None,
    offline: bool = False,
    resume: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> Calibrated:
    """Ask the judges, and hold what they say against people's word.

    Args:
        plan: From `make_plan`.
        columns: Metric to the column of people's word; omitted: `human_<metric>`.
        limit: The first so many samples only.
        offline, resume, progress: As in `evaluate`.

    Raises:
        ConfigError: No metric asks a judge, or none has a column.
        DataError: An input cannot be used, or a column holds what no judge can say.
    """
    progress("reading", 0, 0)
    wings = [part for part in plan.wings if part.wing.gather is not None]
    calls = [call for part in wings for call in part.calls]
    if not calls:
        problem = Problem(str(plan.config.path), "none of its metrics asks a judge")
        raise ConfigError(problem, hint="valor metrics --task text_generation lists those that do")
    named = {call.metric.name: HUMAN + call.metric.name for call in calls}
    _check_names(columns, named)
    named |= columns
    judged = replace(plan, wings=tuple(wings))
    selection = selection_of(judged, limit)
    optional = [one for name, one in named.items() if name not in columns]
    required = [*selection.metadata, *columns.values()]
    loaded = plan.task.load(
        plan.config.data,
        plan.config.options,
        replace(selection, metadata=required, optional=optional),
    )
    present = {
        name: column
        for name, column in named.items()
        if any(value is not None for own in loaded.metadata.values() for value in own[column])
    }
    if not present:
        listed = ", ".join(named.values())
        problem = Problem(str(plan.config.path), f"the data has none of the columns {listed}")
        hint = "they hold what people said of each sample; --human METRIC=COLUMN names another"
        raise ConfigError(problem, hint=hint)
    judged = replace(judged, wings=tuple(_kept(wings, present)), config=_bare(plan))
    terms = Terms(
        run_identity(plan, loaded, limit),
        offline=offline,
        resume=resume,
        told=lambda done, total: progress("asking judges", done, total),
    )
    with session_of(judged, terms) as session:
        found = Computation(judged, loaded, (), ThisProcess(), progress, session=session)
    by_call = {(call.metric.name, repr(call.parameters)): call for call in calls}
    rows = [
        row
        for own in found.samples
        for row in _compared(
            by_call[own.metric, repr(own.parameters)],
            own,
            present[own.metric],
            loaded.metadata[own.model][present[own.metric]],
        )
    ]
    left = [named[name] for name in named if name not in present]
    told = [f"not compared, for the data has no column {', '.join(left)}"] if left else []
    return Calibrated(
        rows,
        () if session is None else session.usage,
        [*loaded.warnings, *told, *(() if session is None else session.warnings)],
        None if session is None else session.stopped,
    )


def _check_names(columns: Mapping[str, str], named: Mapping[str, str]) -> None:
    unknown = [name for name in columns if name not in named]
    if unknown:
        listed = ", ".join(named)
        problem = Problem(
            "--human", f"the config has no judge metric {unknown[0]!r}; it has {listed}"
        )
        raise ConfigError(problem)


def _bare(plan: Plan) -> Any:
    """The config without what a calibration does not do."""
    return plan.config.model_copy(update={"interval": None, "slices": (), "gates": ()})


def _kept(wings: Sequence[Any], present: Mapping[str, str]) -> Iterator[Any]:
    """The wings with the calls that people's word can be held against."""
    for part in wings:
        calls = tuple(call for call in part.calls if call.metric.name in present)
        if calls:
            yield replace(part, calls=calls, needs=part.wing.plan(calls, ()))


def _compared(
    call: Call, own: SamplesResult, column: str, humans: Sequence[Scalar]
) -> Iterator[CalibrationResult]:
    """The judges together, then each alone where there are several."""
    scale = scale_of(call, humans)
    people = read_people(scale, own, column, humans)
    primary = next(iter(own.columns))
    output = RATING if scale.kind == "ratings" and RATING in own.columns else primary
    together = own.columns[output]
    told = _of_raters(own, output)
    alone = list(dict.fromkeys(judge for judge, _ in told))
    yield _row(call, own, column, scale, people, together, None, told)
    if len(alone) > 1:
        for judge in alone:
            mine = {key: values for key, values in told.items() if key[0] == judge}
            values = _mean(scale, list(mine.values()))
            yield _row(call, own, column, scale, people, values, judge, mine)


def _row(
    call: Call,
    own: SamplesResult,
    column: str,
    scale: Scale,
    people: Sequence[float | None],
    values: Sequence[float | None],
    judge: str | None,
    told: Mapping[tuple[str, int], Sequence[float | None]],
) -> CalibrationResult:
    both = [
        at
        for at, (human, value) in enumerate(zip(people, values, strict=True))
        if human is not None and value is not None
    ]
    human = np.array([people[at] for at in both], np.float64)
    said = np.array([values[at] for at in both], np.float64)
    first = np.array([scale.category(value) for value in human.tolist()], np.int64)
    second = np.array([scale.category(value) for value in said.tolist()], np.int64)
    matrix = confusion(first, second, len(scale.labels))
    rated = scale.kind == "ratings"
    order = sorted(np.flatnonzero(first != second).tolist(), key=lambda i: -abs(human[i] - said[i]))
    return CalibrationResult(
        metric=own.metric,
        model=own.model,
        parameters=call.parameters,
        judge=judge,
        column=column,
        scale=scale.kind,
        threshold=scale.threshold,
        labels=scale.labels,
        matrix=matrix.tolist(),
        n=len(both),
        unjudged=sum(one is not None for one in people) - len(both),
        agreement=float((first == second).mean()) if both else None,
        kappa=cohen_kappa(matrix),
        kappa_interval=kappa_interval(first, second, len(scale.labels)),
        weighted_kappa=cohen_kappa(matrix, "quadratic") if rated else None,
        correlation=spearman(human, said) if scale.kind != "verdicts" else None,
        human_mean=float(human.mean()) if both else None,
        judge_mean=float(said.mean()) if both else None,
        disagreements=[own.sample_ids[both[at]] for at in order[:SHOWN]],
        self_agreement=_self_agreement(scale, told),
    )


def _of_raters(own: SamplesResult, output: str) -> dict[tuple[str, int], list[float | None]]:
    """By judge and repeat, an output of each sample; nothing where one was asked once."""
    told: dict[tuple[str, int], list[float | None]] = {}
    for at, details in enumerate(own.details or ()):
        for one in (details or {}).get("raters", ()):
            column = told.setdefault((one["judge"], one["repeat"]), [None] * len(own.sample_ids))
            column[at] = one["values"].get(output)
    return told


def _mean(scale: Scale, columns: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Of each sample, the mean of what a judge's repeats found; verdicts by majority."""
    means: list[float | None] = []
    for said in zip(*columns, strict=True):
        known = [value for value in said if value is not None]
        mean = sum(known) / len(known) if known else None
        means.append(float(mean > 0.5) if mean is not None and scale.kind == "verdicts" else mean)
    return means


def _self_agreement(
    scale: Scale, told: Mapping[tuple[str, int], Sequence[float | None]]
) -> float | None:
    """The part of the pairs of one judge's repeats of one sample that say the same."""
    same = pairs = 0
    for judge in {judge for judge, _ in told}:
        columns = [values for (name, _), values in told.items() if name == judge]
        for said in zip(*columns, strict=True):
            known: NDArray[np.int64] = np.array(
                [scale.category(value) for value in said if value is not None], np.int64
            )
            counts = np.bincount(known) if len(known) else np.zeros(1, np.int64)
            same += int((counts * (counts - 1)).sum())
            pairs += len(known) * (len(known) - 1)
    return same / pairs if pairs else None
