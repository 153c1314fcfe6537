"""Values of single samples as columns by metric and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import Kind, Names, frozen, output_name
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import LONGEST, Samples, Side
from valor_cli.results import STATUSES, RunResult, SamplesResult

PASS: Final = "pass"  # noqa: S105 - the output of metrics that pass or fail

_LIMITS: Final = ("min", "max")

Key = tuple[str, Kind]


class MetricOfSamples(Struct, frozen=True):
    """A metric with the values of each model, None where a model has none."""

    metric: str
    parameters: Kind
    detail: str
    models: Sequence[SamplesResult | None]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs listed; of a metric that passes or fails that one says it all."""
        names = dict.fromkeys(name for one in self.models if one for name in one.columns)
        return (PASS,) if PASS in names else tuple(names)


def metrics_of(sides: Sequence[Side]) -> list[MetricOfSamples]:
    """The metrics of all models, in the order of the runs."""
    found: dict[Key, dict[int, SamplesResult]] = {}
    for index, side in enumerate(sides):
        for one in side.result.samples:
            if one.model == side.model and one.sample_ids:
                key = one.metric, frozen(one.parameters)
                found.setdefault(key, {}).setdefault(index, one)
    names = Names(
        (metric, next(iter(own.values())).parameters) for (metric, _), own in found.items()
    )
    return [
        MetricOfSamples(
            metric,
            kind,
            names.detail(metric, next(iter(own.values())).parameters),
            [own.get(index) for index in range(len(sides))],
        )
        for (metric, kind), own in found.items()
    ]


def metric_columns(
    metrics: Sequence[MetricOfSamples], sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any]]:
    """A column by metric, output and model, with what says whether a value is good."""
    listed = []
    for number, one in enumerate(metrics):
        for position, output in enumerate(one.outputs):
            name = output_name(one.metric, output if output != PASS else "")
            unit, direction = _declared(one, output, sides)
            listed.append(
                {
                    "name": clean(f"{name} ({one.detail})" if one.detail else name, 80),
                    "metric": one.metric[:LONGEST],
                    "of": number,
                    "primary": position == 0,
                    "passes": output == PASS,
                    "unit": unit,
                    "better": direction,
                    "models": [
                        None
                        if own is None
                        else {
                            "values": _values(own, output, samples, blobs),
                            "status": _statuses(own, samples, blobs) if position == 0 else None,
                            "limit": _limit(own, output, side.result),
                        }
                        for own, side in zip(one.models, sides, strict=True)
                    ],
                }
            )
    return listed


def _declared(one: MetricOfSamples, output: str, sides: Sequence[Side]) -> tuple[str, str | None]:
    for side in sides:
        for row in side.result.metrics:
            if (row.metric, row.output) == (one.metric, output):
                return row.unit, row.direction
    columns = [own.columns[output] for own in one.models if own and output in own.columns]
    counted = all(isinstance(value, int | None) for column in columns for value in column)
    return "count" if counted else "fraction", None


def _values(own: SamplesResult, output: str, samples: Samples, blobs: Blobs) -> int | None:
    if output not in own.columns:
        return None
    column = np.full(len(samples), np.nan)
    column[samples.positions(own.sample_ids)] = np.array(own.columns[output], np.float64)
    return blobs.numbers(column)


def _statuses(own: SamplesResult, samples: Samples, blobs: Blobs) -> int | None:
    if own.statuses is None:
        return None
    places = {status: number for number, status in enumerate(STATUSES)}
    column = np.full(len(samples), -1, np.int64)
    column[samples.positions(own.sample_ids)] = [places[one] for one in own.statuses]
    return blobs.codes(column)


def _limit(own: SamplesResult, output: str, result: RunResult) -> float | None:
    """The threshold of the metric: of its problems, else of a gate on its whole value."""
    for problem in result.problems:
        if (
            (problem.kind, problem.metric, problem.model) == ("threshold", own.metric, own.model)
            and problem.threshold is not None
            and problem.output in (None, output)
        ):
            return float(problem.threshold)
    for gate in result.gates:
        whole = gate.label is None and gate.slice is None and gate.rule in _LIMITS
        if whole and (gate.metric, gate.output, gate.model) == (own.metric, output, own.model):
            return float(gate.limit)
    return None
