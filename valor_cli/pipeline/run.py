"""A plan to a result: read the data, compute the rows, judge the gates."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from valor_cli import __version__
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import METADATA, Loaded, Selection
from valor_cli.pipeline.gates import check_gates, judge_gates
from valor_cli.pipeline.insights import insights_of
from valor_cli.pipeline.plan import Plan, is_optional, without
from valor_cli.pipeline.problems import problems_of
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.slices import Slice, metadata_names, resolve_slices
from valor_cli.pipeline.workers import Progress, ThisProcess, workers
from valor_cli.results import THRESHOLD, MetricResult, Pictures, RunInfo, RunResult

HELPERS = ("jsonschema", "py3langid", "rapidfuzz", "regex", "sacrebleu", "sentencex")
"""Packages that some metrics rest on, imported where one of them is computed."""


def check(plan: Plan) -> None:
    """Read every input of a plan and hold the config against it, without evaluating.

    Raises:
        DataError: An input cannot be used.
        ConfigError: The config names something that the data does not have.
    """
    _, loaded, _ = _load(plan, None)
    for dataset in loaded.datasets.values():
        dataset.verify()


def _load(plan: Plan, limit: int | None) -> tuple[Plan, Loaded[Any], list[Slice]]:
    """What is evaluated: the plan, less default metrics that the files cannot serve; the data."""
    config = plan.config
    loaded = plan.task.load(config.data, config.options, _selection(plan, limit))
    if loaded.lacking:
        plan, loaded = _served(plan, loaded)
    _check_thresholds(plan, loaded)
    slices = resolve_slices(config, [part.wing for part in plan.wings], loaded)
    if config.gates:
        check_gates(config, plan.task, loaded, slices, _shape(plan, loaded))
    return plan, loaded, slices


def _served(plan: Plan, loaded: Loaded[Any]) -> tuple[Plan, Loaded[Any]]:
    """The plan that the files can serve, and what to warn of.

    Raises:
        ConfigError: They serve no metric.
    """
    served = without(plan, loaded.lacking)
    kept = {call.metric.name for part in served.wings for call in part.calls}
    out = [call.metric.name for part in plan.wings for call in part.calls]
    left_out = [name for name in out if name not in kept]
    if not left_out:
        return plan, loaded
    words = " and ".join(sorted(name.replace("_", " ") for name in loaded.lacking))
    if not kept:
        message = f"the data has no {words}, which every default metric needs"
        problem = Problem(plan.config.place("data"), message)
        raise ConfigError(problem, hint="name the columns with `columns:`, or list `metrics:`")
    told = f"the data has no {words}; left out of the default metrics: {', '.join(left_out)}"
    return served, replace(loaded, warnings=[*loaded.warnings, told])


def _selection(plan: Plan, limit: int | None) -> Selection:
    config = plan.config
    calls = [call for part in plan.wings for call in part.calls]
    needs = frozenset(need for call in calls for need in call.needs)
    wanted = needs.difference(
        *(call.needs for call in calls if not is_optional(plan, call)),
    )
    return Selection(config.label_map, config.filter, metadata_names(config), limit, needs, wanted)


def _check_thresholds(plan: Plan, loaded: Loaded[Any]) -> None:
    """Parameters with a number for each of some labels name labels that there are.

    Raises:
        ConfigError: A label does not occur, or no value can reach what it is held against.
    """
    known = dict.fromkeys([*loaded.labels, *loaded.known_labels])
    problems = [
        Problem(
            plan.config.place("metrics", request.index, name),
            f"no label '{label}'{did_you_mean(label, known)}",
        )
        for request in plan.config.metrics or ()
        for name, value in request.parameters.items()
        if name == "score_threshold" and isinstance(value, Mapping)
        for label in value
        if label not in known
    ]
    outputs = {metric.name: metric.outputs[0] for metric in plan.task.metrics if metric.outputs}
    for request in plan.config.metrics or ():
        if request.threshold is None:
            continue
        low, high = outputs[request.name].bounds
        if request.threshold < low or (high is not None and request.threshold > high):
            top = "" if high is None else f" to {high:g}"
            told = f"values of {request.name} go from {low:g}{top}, never to {request.threshold:g}"
            problems.append(Problem(plan.config.place("metrics", request.index, THRESHOLD), told))
    if problems:
        raise ConfigError(problems)


def _shape(plan: Plan, loaded: Loaded[Any]) -> list[MetricResult]:
    """Which rows the plan gives: those of the first unit alone, found at next to no cost."""
    first = {
        model: dataset.shard(np.arange(dataset.unit_count) < 1)
        for model, dataset in loaded.datasets.items()
    }
    values_only = replace(plan, config=plan.config.model_copy(update={"interval": None}))
    one = replace(loaded, datasets=first)
    return Computation(
        values_only, one, (), ThisProcess(), lambda stage, done, total: None, illustrated=False
    ).metrics


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
    plan, loaded, slices = _load(plan, limit)
    with workers(jobs) as pool:
        found = Computation(plan, loaded, slices, pool, progress)
    before = None if baseline is None else baseline.metrics
    warnings = [
        *loaded.warnings,
        *found.warnings,
        *_unsliced(plan),
        *_unlike(baseline, plan, loaded),
    ]
    gates = judge_gates(config, plan.task, found.metrics, before, found.coverage)
    return RunResult(
        task=plan.task.name,
        models=tuple(loaded.datasets),
        primary=plan.task.primary,
        data=loaded.sizes,
        settings=loaded.settings,
        run=RunInfo(
            valor_version=__version__,
            started_at=started.isoformat(timespec="seconds"),
            duration_s=round(time.perf_counter() - clock, 3),
            command=command,
            config=str(config.path),
            config_sha256=config.sha256,
            inputs=tuple(loaded.files),
            packages={"python": platform.python_version(), "numpy": np.__version__, **_helpers()},
        ),
        metrics=tuple(found.metrics),
        curves=tuple(found.curves),
        tables=tuple(found.tables),
        examples=tuple(found.examples),
        gates=tuple(gates),
        warnings=tuple(warnings),
        missing_prediction_labels={name: found.one_sided[name].missing for name in loaded.datasets},
        ignored_prediction_labels={name: found.one_sided[name].ignored for name in loaded.datasets},
        samples=tuple(found.samples),
        coverage=tuple(found.coverage),
        problems=tuple(problems_of(plan, loaded, found)),
        insights=tuple(insights_of(plan, loaded, found)),
    )


def _helpers() -> dict[str, str]:
    """Versions of the packages that had a part in the numbers."""
    return {name: _version(name) for name in HELPERS if name in sys.modules}


def _version(package: str) -> str:
    said = vars(sys.modules[package]).get("__version__")
    if said is None:
        # To read what is installed imports email, sockets and zip: 10 ms.
        from importlib.metadata import version

        said = version(package)
    return str(said)


def pictures(plan: Plan, result: RunResult) -> tuple[Pictures, Sequence[str]]:
    """What a report shows of the images that examples stand in, and what to warn of."""
    return plan.task.pictures(plan.config.data, _selection(plan, None), result.examples)


def _unsliced(plan: Plan) -> list[str]:
    """The metrics that a slice leaves out, since their evidence cannot be cut so."""
    told = []
    for request in plan.config.slices:
        if request.key.startswith(METADATA):
            continue
        names = [
            call.metric.name
            for part in plan.wings
            if request.key not in part.wing.slices
            for call in part.calls
        ]
        if names:
            told.append(f"slices by {request.key} leave out {', '.join(dict.fromkeys(names))}")
    return told


def _unlike(baseline: RunResult | None, plan: Plan, loaded: Loaded[Any]) -> list[str]:
    """Why a comparison with the baseline may say little."""
    if baseline is None:
        return []
    if baseline.task != plan.task.name:
        return [f"--baseline: a run of another task, {baseline.task}"]
    if dict(baseline.settings) != dict(loaded.settings):
        there, here = (
            ", ".join(f"{name}: {value}" for name, value in settings.items())
            for settings in (baseline.settings, loaded.settings)
        )
        message = f"evaluated in another way ({there}; here {here})"
        if any(gate.max_drop is not None for gate in plan.config.gates):
            hint = "compare with a run of the same settings, or leave max_drop out"
            raise ConfigError([Problem("--baseline", message)], hint=hint)
        return [f"--baseline: {message}"]
    if dict(baseline.data) != dict(loaded.sizes):
        there, here = (
            ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in sizes.items())
            for sizes in (baseline.data, loaded.sizes)
        )
        return [f"--baseline: made from other data ({there}; here {here})"]
    return []
