"""One evaluation: plan it from a config, carry it out, gather the rows."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from valor_cli import __version__, catalogue
from valor_cli.config import RunConfig
from valor_cli.metric import Call, Loaded, Selection, Task, Wing
from valor_cli.pipeline.gates import check_gates, judge_gates
from valor_cli.pipeline.intervals import findings_of, intervals
from valor_cli.pipeline.slices import Slice, metadata_names, resolve_slices
from valor_cli.pipeline.workers import Progress, Workers, workers
from valor_cli.results import (
    CurveResult,
    MetricResult,
    MetricValue,
    Parameters,
    RunInfo,
    RunResult,
    Scalar,
)


@dataclass(frozen=True, slots=True)
class WingPlan:
    """The calls one wing answers, and what its evidence must hold for them."""

    wing: Wing[Any, Any]
    calls: tuple[Call, ...]
    needs: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is ready to start."""

    config: RunConfig
    task: Task[Any]
    wings: tuple[WingPlan, ...]


def make_plan(config: RunConfig) -> Plan:
    """Decide what a config asks to compute, in the order of the catalogue.

    Metrics that only a gate names are computed with their defaults.
    """
    task = catalogue.task(config.task)
    asked = [(request.name, request.parameters) for request in config.metrics or ()]
    if config.metrics is None:
        asked = [(name, {}) for name in task.defaults]
    listed = {name for name, _ in asked}
    asked += [
        (name, {})
        for name in dict.fromkeys(gate.metric for gate in config.gates)
        if name not in listed
    ]
    keys = [request.key for request in config.slices]
    wings = []
    for wing in task.wings:
        calls = tuple(
            Call(metric, _complete(task, name, given))
            for metric in wing.metrics
            for name, given in asked
            if name == metric.name
        )
        if calls:
            wings.append(WingPlan(wing, calls, wing.plan(calls, keys)))
    return Plan(config, task, tuple(wings))


def _complete(task: Task[Any], metric: str, given: Any) -> dict[str, Any]:
    """Parameters with every default filled in."""
    return dict(catalogue.parameters(task.name, metric).model_validate(dict(given)))


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
        found = _Rows(plan, loaded, slices, pool, progress)
        found.compute()
    rows = tuple(found.rows)
    gates = judge_gates(config, plan.task, rows, None if baseline is None else baseline.metrics)
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
        metrics=rows,
        curves=tuple(found.curves),
        gates=tuple(gates),
        warnings=tuple(loaded.warnings),
        missing_prediction_labels=loaded.missing_prediction_labels,
        ignored_prediction_labels=loaded.ignored_prediction_labels,
    )


class _Rows:
    """Computes every value and curve of a plan, in the order that results have."""

    def __init__(
        self,
        plan: Plan,
        loaded: Loaded[Any],
        slices: Sequence[Slice],
        pool: Workers,
        progress: Progress,
    ) -> None:
        self.plan = plan
        self.loaded = loaded
        self.slices = slices
        self.pool = pool
        self.progress = progress
        self.rows: list[MetricResult] = []
        self.curves: list[CurveResult] = []

    def compute(self) -> None:
        """Metric by metric, then model, slice, label and parameters."""
        for part in self.plan.wings:
            evidence = {
                model: self._evidence(part, dataset)
                for model, dataset in self.loaded.datasets.items()
            }
            findings = {
                (model, None if cut is None else cut.name): self._findings(part, one, cut)
                for model, whole in evidence.items()
                for cut, one in self._cuts(part.wing, whole)
            }
            for at, call in enumerate(part.calls):
                for (model, name), found in findings.items():
                    self._add(call, model, name, *found[at])

    def _evidence(self, part: WingPlan, dataset: Any) -> Any:
        """Evidence built shard by shard where there are several workers, and merged."""
        self.progress("matching", 0, 0)
        count = min(self.pool.count, dataset.unit_count)
        if count <= 1:
            return part.wing.evidence(dataset, part.needs)
        edges = np.linspace(0, dataset.unit_count, count + 1).astype(int)
        number = np.arange(dataset.unit_count)
        shards = [
            (part.wing.evidence, dataset.shard((number >= low) & (number < high)), part.needs)
            for low, high in pairwise(edges.tolist())
        ]
        return part.wing.merge(list(self.pool.map(_build, shards)))

    def _cuts(self, wing: Wing[Any, Any], whole: Any) -> Iterator[tuple[Slice | None, Any]]:
        yield None, whole
        for cut in self.slices:
            part = cut.of(whole, wing, self.loaded.metadata)
            if part is not None:
                yield cut, part

    def _findings(
        self, part: WingPlan, evidence: Any, cut: Slice | None
    ) -> list[tuple[Any, list[tuple[float, float] | None]]]:
        """Findings of every call, and the interval of each value."""
        self.progress("computing", 0, 0)
        findings = [findings_of(call, evidence) for call in part.calls]
        asked = self.plan.config.interval
        if asked is None:
            return [(found, [None] * len(found.values)) for found in findings]
        ranges = intervals(
            part.calls,
            evidence,
            resamples=asked.resamples,
            level=asked.level,
            seed=asked.seed,
            workers=self.pool,
            progress=self.progress,
        )
        return list(zip(findings, ranges, strict=True))

    def _add(
        self,
        call: Call,
        model: str,
        cut: str | None,
        found: Any,
        ranges: Sequence[tuple[float, float] | None],
    ) -> None:
        metric = call.metric
        place = {label: at for at, label in enumerate(self.loaded.labels)}
        outputs = [output.name for output in metric.outputs]

        def order(entry: tuple[MetricValue, object]) -> tuple[object, ...]:
            value = entry[0]
            at = -1 if value.label is None else place[value.label]
            return at, tuple(value.at.values()), outputs.index(value.output)

        for value, interval in sorted(zip(found.values, ranges, strict=True), key=order):
            output = metric.output(value.output)
            self.rows.append(
                MetricResult(
                    metric=metric.name,
                    output=value.output,
                    model=model,
                    label=value.label,
                    slice=cut,
                    parameters=_narrowed(call.parameters, value.at),
                    value=value.value,
                    unit=output.unit,
                    direction=output.better,
                    n=value.n,
                    interval=None if value.value is None else interval,
                    undefined=value.undefined,
                )
            )
        self.curves += [
            CurveResult(
                metric.name,
                model,
                curve.label,
                cut,
                _narrowed(call.parameters, curve.at),
                curve.points,
            )
            for curve in found.curves
        ]


def _build(shard: tuple[Any, Any, Any]) -> Any:
    """Evidence of one shard, in whichever process."""
    make, dataset, needs = shard
    return make(dataset, needs)


def _narrowed(parameters: Parameters, at: Any) -> dict[str, Scalar | Sequence[Scalar]]:
    """All parameters, with the lists that `at` picks an element of replaced by it."""
    kept = {name: value for name, value in parameters.items() if name.removesuffix("s") not in at}
    return {**kept, **at}
