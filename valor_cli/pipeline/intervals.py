"""Intervals of values by resampling the units of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.metric import Call, Evidence
from valor_cli.pipeline.workers import Workers
from valor_cli.results import (
    Findings,
    MetricCurve,
    MetricExample,
    MetricTable,
    MetricValue,
    Scalar,
)
from valor_cli.statistics.bootstrap import percentile_intervals, resample_weights

Interval = tuple[float, float] | None
Parts = Callable[[Any], Sequence[tuple[Mapping[str, Scalar], Any]]]
R = TypeVar("R", MetricValue, MetricCurve, MetricTable, MetricExample)

RESAMPLES_AT_ONCE = 25


def findings_of(call: Call, evidence: Evidence, parts: Parts) -> Findings:
    """What a metric says of evidence, part by part (`Wing.parts`), always as `Findings`.

    Values of single samples are those of evidence in one part.
    """
    found = [(at, _found(call, part)) for at, part in parts(evidence)]
    if len(found) == 1 and not found[0][0]:
        return found[0][1]
    return Findings(
        [_under(at, one) for at, part in found for one in part.values],
        [_under(at, one) for at, part in found for one in part.curves],
        [_under(at, one) for at, part in found for one in part.tables],
        [_under(at, one) for at, part in found for one in part.examples],
        warnings=[one for _, part in found for one in part.warnings],
        statuses={name: count for _, part in found for name, count in part.statuses.items()},
    )


def _found(call: Call, part: Any) -> Findings:
    found = call.found(part)
    return Findings([found]) if isinstance(found, MetricValue) else found


def _under(at: Mapping[str, Scalar], one: R) -> R:
    return replace(one, at={**at, **one.at})


def intervals(
    calls: Sequence[Call],
    counts: Sequence[int],
    evidence: Evidence,
    parts: Parts,
    *,
    resamples: int,
    level: float,
    seed: int,
    workers: Workers,
    told: Callable[[int], None],
) -> list[list[Interval]]:
    """For each call the interval of each of its values, in their order.

    Args:
        calls: The metrics.
        counts: How many values each finds.
        evidence: What they are computed from.
        parts: Its independent parts.
        resamples, level, seed: As the config has them.
        workers: What to spread the resamples over.
        told: Hears how many resamples are done.
    """
    counted = [
        count if call.metric.resampled else 0 for call, count in zip(calls, counts, strict=True)
    ]
    with_values = [call for call, count in zip(calls, counted, strict=True) if count]
    if not evidence.unit_count or not with_values:
        return [[None] * count for count in counts]
    tasks = [
        (with_values, evidence, parts, seed, first, min(first + RESAMPLES_AT_ONCE, resamples))
        for first in range(0, resamples, RESAMPLES_AT_ONCE)
    ]
    batches: list[NDArray[np.float64]] = []
    for batch in workers.map(_resampled, tasks):
        batches.append(batch)
        told(sum(map(len, batches)))
    found = percentile_intervals(np.concatenate(batches), level)
    ends = np.cumsum(counted).tolist()
    ranges = [found[end - count : end] for end, count in zip(ends, counted, strict=True)]
    return [around or [None] * count for around, count in zip(ranges, counts, strict=True)]


def _resampled(
    task: tuple[Sequence[Call], Evidence, Parts, int, int, int],
) -> NDArray[np.float64]:
    """(resamples, values) of all calls, one after the other; NaN for no value."""
    calls, evidence, parts, seed, first, last = task
    weights = [resample_weights(evidence.unit_count, seed, n) for n in range(first, last)]
    rows = [
        [value.value for call in calls for value in findings_of(call, again, parts).values]
        for again in evidence.resamples(np.array(weights))
    ]
    return np.array(rows, np.float64)
