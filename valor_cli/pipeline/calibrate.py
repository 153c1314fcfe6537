"""A plan whose data hold what people said of samples; how far judges say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from valor_cli.errors import ConfigError, Problem
from valor_cli.metric import Call, Terms
from valor_cli.pipeline.calibration_rows import compared
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.run import run_identity, selection_of, session_of
from valor_cli.pipeline.workers import Progress, ThisProcess
from valor_cli.results import CalibrationResult, SamplesResult, UsageResult

HUMAN = "human_"
"""What the columns begin with that hold what people said."""


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
    # Those that nobody's word is held against are asked too: so a scripted judge keeps its order,
    # and an evaluation afterwards finds every reply.
    judged = replace(judged, config=_bare(plan))
    terms = Terms(
        run_identity(plan, loaded, limit),
        offline=offline,
        resume=resume,
        told=lambda done, total: progress("asking judges", done, total),
    )
    with session_of(judged, terms) as session:
        found = Computation(judged, loaded, (), ThisProcess(), progress, session=session)
    rows = [
        row
        for call in calls
        if call.metric.name in present
        for row in compared(
            call,
            [own for own in found.samples if _of(call, own)],
            present[call.metric.name],
            {model: own[present[call.metric.name]] for model, own in loaded.metadata.items()},
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


def _of(call: Call, own: SamplesResult) -> bool:
    return own.metric == call.metric.name and own.parameters == call.parameters


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
