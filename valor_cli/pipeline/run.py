"""A plan to a result: read the data, compute the rows, judge the gates."""

from __future__ import annotations

import platform
import time
from datetime import UTC, datetime
from typing import Any

import numpy as np

from valor_cli import __version__
from valor_cli.metric import Loaded, Selection
from valor_cli.pipeline.gates import check_gates, judge_gates
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.slices import Slice, metadata_names, resolve_slices
from valor_cli.pipeline.workers import Progress, workers
from valor_cli.results import RunInfo, RunResult


def check(plan: Plan) -> None:
    """Read every input of a plan and hold the config against it, without evaluating.

    Raises:
        DataError: An input cannot be used.
        ConfigError: The config names something that the data does not have.
    """
    _load(plan, None)


def _load(plan: Plan, limit: int | None) -> tuple[Loaded[Any], list[Slice]]:
    config = plan.config
    selection = Selection(config.label_map, config.filter, metadata_names(config), limit)
    loaded = plan.task.load(config.data, selection)
    slices = resolve_slices(config, [part.wing for part in plan.wings], loaded)
    check_gates(config, plan.task, loaded, slices)
    return loaded, slices


def evaluate(
    plan: Plan,
    *,
    command: str,
    jobs: int = 1,
    limit: int | None = None,
    baseline: RunResult | None = None,
    progress: Progress = lambda stage, done, total: None,
) -> RunResult:
    """Carry out a plan.

    Args:
        plan: From `make_plan`.
        command: How the run was called, for the record.
        jobs: Processes to use; the result is the same for any number.
        limit: Evaluate the first so many images or samples only.
        baseline: An earlier result, for gates with `max_drop`.
        progress: Told how far the run has come.

    Raises:
        DataError: An input cannot be used.
        ConfigError: The config names something that the data does not have.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    config = plan.config
    progress("reading", 0, 0)
    loaded, slices = _load(plan, limit)
    with workers(jobs) as pool:
        found = Computation(plan, loaded, slices, pool, progress)
    before = None if baseline is None else baseline.metrics
    gates = judge_gates(config, plan.task, found.metrics, before)
    return RunResult(
        task=plan.task.name,
        models=tuple(loaded.datasets),
        primary=plan.task.primary,
        data=loaded.sizes,
        run=RunInfo(
            valor_version=__version__,
            started_at=started.isoformat(timespec="seconds"),
            duration_s=round(time.perf_counter() - clock, 3),
            command=command,
            config=str(config.path),
            config_sha256=config.sha256,
            inputs=tuple(loaded.files),
            packages={"python": platform.python_version(), "numpy": np.__version__},
        ),
        metrics=tuple(found.metrics),
        curves=tuple(found.curves),
        gates=tuple(gates),
        warnings=tuple(loaded.warnings),
        missing_prediction_labels=loaded.missing_prediction_labels,
        ignored_prediction_labels=loaded.ignored_prediction_labels,
    )
