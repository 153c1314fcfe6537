"""Every value and curve of a plan, in the order that results have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from valor_cli.metric import Call, Loaded, Wing
from valor_cli.pipeline.intervals import findings_of, intervals
from valor_cli.pipeline.plan import Plan, WingPlan
from valor_cli.pipeline.slices import Slice
from valor_cli.pipeline.workers import Progress, Workers
from valor_cli.results import (
    CurveResult,
    Findings,
    MetricResult,
    MetricValue,
    Parameters,
    Scalar,
)

Interval = tuple[float, float] | None


class Rows:
    """The rows and curves of one run, filled by `compute`."""

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
        self.resampled = 0
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
                (model, None if cut is None else cut.name): self._findings(part, one)
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

    def _findings(self, part: WingPlan, evidence: Any) -> list[tuple[Findings, list[Interval]]]:
        """Findings of every call, and the interval of each value."""
        if self.plan.config.interval is None:
            self.progress("computing", 0, 0)
        findings = [findings_of(call, evidence) for call in part.calls]
        asked = self.plan.config.interval
        if asked is None:
            return [(found, [None] * len(found.values)) for found in findings]
        total = asked.resamples * len(self.loaded.datasets) * (1 + len(self.slices))
        ranges = intervals(
            part.calls,
            evidence,
            resamples=asked.resamples,
            level=asked.level,
            seed=asked.seed,
            workers=self.pool,
            told=lambda done: self.progress("resampling", self.resampled + done, total),
        )
        self.resampled += asked.resamples
        return list(zip(findings, ranges, strict=True))

    def _add(
        self,
        call: Call,
        model: str,
        cut: str | None,
        found: Findings,
        ranges: Sequence[Interval],
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
