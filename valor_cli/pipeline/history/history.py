"""Follow the values of many runs of one config, and find the first bad run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from valor_cli.pipeline.history.paired import PairedTests
from valor_cli.pipeline.history.regressions import regressions
from valor_cli.pipeline.history.runs import Progress, Run, runs_of
from valor_cli.pipeline.history.values import Chosen, check_names, followed, keys_of
from valor_cli.results.history import History, HistoryRow, HistoryRun


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
        regressions=regressions(runs, chosen),
        first_bad=next((one.run for one in shown if one.bad or one.failed_gates), None),
        warnings=warnings,
    )
