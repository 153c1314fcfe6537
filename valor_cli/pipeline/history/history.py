"""Follow the values of many runs of one config, and find the first bad run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from valor_cli.pipeline.history.paired import PairedTests
from valor_cli.pipeline.history.runs import Progress, Run, runs_of
from valor_cli.pipeline.history.values import Chosen, check_names, followed, is_asked, keys_of
from valor_cli.results import MetricResult
from valor_cli.results.history import History, HistoryRow, HistoryRun, LabelRegression


def history_of(
    paths: Sequence[str],
    *,
    chosen: Chosen | None = None,
    last: int | None = None,
    as_given: bool = False,
    on_progress: Progress | None = None,
) -> History:
    """The history of a config: its headline values over many runs, with paired tests.

    Args:
        paths: Results, their folders, or folders of such folders.
        chosen: Which values; None: the headline values, and those with gates.
        last: How many of the latest runs; None: all.
        as_given: Whether the runs are in the order of `paths`, not of their start.
        on_progress: Is called with the stage, how much of it is done, and of how much.

    Raises:
        DataError: A run cannot be read, or has no time by which to order it.
        ConfigError: The runs are of several tasks.
        UnknownNameError: No run has a metric or model of that name.
    """
    chosen = chosen or Chosen()
    told: Progress = on_progress or (lambda stage, done, total: None)
    runs = runs_of(paths, last=last, as_given=as_given, on_progress=told)
    check_names(runs, chosen)
    tests = PairedTests(runs, chosen, told)
    keys = keys_of(runs, chosen)
    rows = tests.tested(
        [row for key, trend in keys.items() for row in followed(runs, key, trend=trend)]
    )
    return _history(runs, rows, chosen, tests.warnings())


def _history(
    runs: Sequence[Run], rows: Sequence[HistoryRow], chosen: Chosen, warnings: Sequence[str]
) -> History:
    bad = Counter(row.run for row in rows if row.trend and row.bad)
    shown = [
        HistoryRun(
            run=at,
            path=run.path,
            started_at=run.info.started_at,
            commit=run.info.commit,
            valor_version=run.info.valor_version,
            config_sha256=run.info.config_sha256,
            models=run.models,
            verdict=run.verdict,
            bad=bad[at],
            failed_gates=run.failed_gates,
        )
        for at, run in enumerate(runs)
    ]
    return History(
        task=runs[-1].task,
        level=runs[-1].level,
        runs=shown,
        rows=rows,
        regressions=_regressions(runs, chosen),
        first_bad=next((one.run for one in shown if one.bad or one.failed_gates), None),
        warnings=warnings,
    )


def _regressions(runs: Sequence[Run], chosen: Chosen) -> list[LabelRegression]:
    """Labels that got worse between the last two runs, largest drop first; counts left out."""
    if len(runs) < 2:
        return []
    before, now = runs[-2:]
    primary = {tuple(name) for name in now.primary}
    found: list[LabelRegression] = []
    further: list[LabelRegression] = []
    for key, row in now.rows.items():
        other = before.rows.get(key)
        if other is None or row.label is None or row.slice is not None or row.direction is None:
            continue
        if row.value is None or other.value is None or row.unit == "count":
            continue
        if chosen.models and row.model not in chosen.models:
            continue
        if chosen.metrics and not is_asked(row, chosen, ()):
            continue
        change = row.value - other.value
        if (change < 0) == (row.direction == "higher") and change:
            # The further outputs of a metric, as recall at the threshold of the best F1, may fall
            # where nothing got worse.
            name = row.metric, row.output
            leads = bool(chosen.metrics) or row.output == "value" or name in primary
            one = _regression(row, row.label, other.value, row.value)
            (found if leads else further).append(one)
    return sorted(found or further, key=_drop, reverse=True)


def _regression(row: MetricResult, label: str, before: float, value: float) -> LabelRegression:
    return LabelRegression(
        label=label,
        metric=row.metric,
        output=row.output,
        model=row.model,
        parameters=row.parameters,
        unit=row.unit,
        direction=row.direction,
        before=before,
        value=value,
        change=value - before,
        n=row.n,
    )


def _drop(one: LabelRegression) -> float:
    """The size of a drop; of values beyond 1 as a share of the larger."""
    return abs(one.change) / max(abs(one.before), abs(one.value), 1.0)
