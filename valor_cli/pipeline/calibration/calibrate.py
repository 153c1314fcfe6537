"""Run the judges of a plan on samples with human labels and measure their agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import Call, Loaded, RunTerms
from valor_cli.pipeline.calibration.rows import compared
from valor_cli.pipeline.calibration.scales import is_blank
from valor_cli.pipeline.estimate import judges_part
from valor_cli.pipeline.executor.executor import Progress, ThisProcess
from valor_cli.pipeline.offline import refuse_urls
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.record import run_identity, usage_of
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.run import selection_of, session_of
from valor_cli.results import OWN_SPACE, CalibrationResult, SamplesResult, UsageResult

HUMAN = "human_"
"""Prefix of columns with human labels."""

NAMED = "--human METRIC=COLUMN names another"

Held = Sequence[tuple[Call, str]]
"""The compared judge metrics, with the column of human labels for each."""


class Calibrated(Struct, frozen=True):
    """Rows of a calibration, with usage and warnings.

    Attributes:
        rows: By metric in the order of the config; all models together, then each; all judges
            together, then each.
        usage: As `RunInfo.usage`.
        warnings: Problems of the data.
        stopped: Why the calibration was stopped, as a keyword and in words; None if it was not.
        unanswered: Number of values without a judge's reply, over the compared metrics.
    """

    rows: Sequence[CalibrationResult]
    usage: Sequence[UsageResult]
    warnings: Sequence[str]
    stopped: tuple[str, str] | None
    unanswered: int = 0


def calibrate(
    plan: Plan,
    columns: Mapping[str, str],
    *,
    limit: int | None = None,
    offline: bool = False,
    resume: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> Calibrated:
    """Run the judges and compare their verdicts with human labels.

    All judge metrics of the plan are run, also those without human labels, so that a
    scripted judge keeps its order and a later evaluation finds every reply in the cache.

    Args:
        plan: From `make_plan`.
        columns: Metric, or its `name` in the config, to the column of human labels;
            omitted: `human_<name>`, else `human_<metric>`.
        limit: Number of samples to use, from the first.
        offline, resume, progress: As in `evaluate`.

    Raises:
        ConfigError: No metric asks a judge, or none has a column.
        DataError: An input cannot be used, or a column has values outside the judge's scale.
    """
    if offline:
        refuse_urls(plan.config)
    progress("reading", 0, 0)
    judged = judges_part(plan)
    calls = [call for part in judged.wings for call in part.calls]
    _check_names(columns, calls)
    loaded = _loaded(judged, calls, columns, limit)
    held, warnings = _held(judged, calls, columns, loaded)
    terms = RunTerms(
        run_identity(plan, loaded, limit),
        offline=offline,
        resume=resume,
        on_progress=progress,
    )
    with session_of(judged, terms) as session:
        found = Computation(
            judged, loaded, (), ThisProcess(), progress, illustrated=False, session=session
        )
    said = [(call, column, _of(call, found.samples)) for call, column in held]
    return Calibrated(
        [
            row
            for call, column, own in said
            for row in compared(call, own, column, _humans(loaded, column))
        ],
        usage_of(session, judged, loaded),
        [
            *loaded.warnings,
            *found.warnings,
            *warnings,
            *(() if session is None else session.warnings),
        ],
        None if session is None else session.stopped,
        sum((one.statuses or ()).count("judge_error") for _, _, own in said for one in own),
    )


def _loaded(
    judged: Plan, calls: Sequence[Call], columns: Mapping[str, str], limit: int | None
) -> Loaded[Any]:
    """The data, with every column that may hold human labels."""
    selection = selection_of(judged, limit)
    optional = [column for call in calls for column in _columns(call, columns)]
    required = list(dict.fromkeys([*selection.metadata, *columns.values()]))
    return judged.task.load(
        judged.config.data,
        judged.config.options,
        replace(
            selection,
            metadata=required,
            optional=[one for one in dict.fromkeys(optional) if one not in required],
            # What people said of one model's answers says nothing of another's.
            of_answers=list(dict.fromkeys(optional)),
        ),
    )


def _held(
    judged: Plan, calls: Sequence[Call], columns: Mapping[str, str], loaded: Loaded[Any]
) -> tuple[Held, list[str]]:
    """The compared metrics, and warnings.

    Raises:
        ConfigError: Nothing is.
    """
    told = {
        column
        for own in loaded.metadata.values()
        for column, values in own.items()
        if not _says_nothing(values)
    }
    held = []
    left: dict[str, None] = {}
    for call in calls:
        candidates = _columns(call, columns)
        column = next((one for one in candidates if one in told), None)
        if column is None:
            left |= dict.fromkeys(candidates)
        else:
            held.append((call, column))
    if not held:
        problem = Problem(str(judged.config.path), f"the data have no labels in {', '.join(left)}")
        hint = f"such a column holds what people said of each answer; {NAMED}"
        raise ConfigError(problem, hint=hint)
    warnings = (
        [f"not compared, because the data have no labels in {', '.join(left)}"] if left else []
    )
    for column in dict.fromkeys(column for _, column in held):
        silent = [model for model, own in _humans(loaded, column).items() if _says_nothing(own)]
        if silent:
            warnings.append(f"{column} says nothing of the answers of {', '.join(silent)}")
    return held, warnings


def _says_nothing(values: Sequence[Any]) -> bool:
    return all(map(is_blank, values))


def _humans(loaded: Loaded[Any], column: str) -> dict[str, Sequence[Any]]:
    """Human labels by model."""
    return {model: own[column] for model, own in loaded.metadata.items()}


def _of(call: Call, found: Sequence[SamplesResult]) -> list[SamplesResult]:
    return [
        own for own in found if own.metric == call.metric.name and own.parameters == call.parameters
    ]


def _columns(call: Call, columns: Mapping[str, str]) -> list[str]:
    """Possible columns of human labels for a metric, likeliest first."""
    names = list(_names(call))
    named = [columns[name] for name in names if name in columns]
    return named[:1] or [HUMAN + name for name in names if not name.startswith(OWN_SPACE)]


def _names(call: Call) -> Iterator[str]:
    """What the metric is called: as the config names it, if it does; then its own name."""
    usual = {one.name: one.default for one in call.metric.parameters}
    own = call.parameters.get("name")
    if isinstance(own, str) and own != usual.get("name"):
        yield own
    yield call.metric.name
    if call.metric.name.startswith(OWN_SPACE):
        yield from call.metric.aliases


def _check_names(columns: Mapping[str, str], calls: Sequence[Call]) -> None:
    """Check that the names in `columns` are judge metrics of the config.

    Raises:
        ConfigError: There is no such judge metric.
    """
    names = dict.fromkeys(name for call in calls for name in _names(call))
    problems = [
        Problem(
            "--human",
            f"the config has no judge metric {name!r}{did_you_mean(name, names)}; it has "
            + ", ".join(names),
        )
        for name in columns
        if name not in names
    ]
    if problems:
        raise ConfigError(problems)
