"""Confidence intervals: by bootstrap, and Wilson's for proportions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.metric import Call, Evidence
from valor_cli.pipeline.executor.executor import Workers
from valor_cli.pipeline.intervals.resamples import Draws
from valor_cli.pipeline.intervals.resampling import TOGETHER, Parts, columns_of, resampled
from valor_cli.results import Findings, IntervalMethod, MetricValue, Resampled
from valor_cli.statistics.bootstrap import percentile_intervals
from valor_cli.statistics.proportions import wilson_interval


class Around(NamedTuple):
    """The uncertainty of a value.

    Attributes:
        interval: (low, high); None: there is none.
        method: How the interval was computed.
        column: The value at every resample, NaN where it has none; None: it was not resampled.
    """

    interval: tuple[float, float] | None = None
    method: IntervalMethod | None = None
    column: NDArray[np.float64] | None = None


_NONE = Around()


def intervals(
    calls: Sequence[Call],
    findings: Sequence[Findings],
    evidence: Evidence,
    parts: Parts,
    draws: Draws,
    *,
    level: float,
    workers: Workers,
    told: Callable[[int], None],
) -> list[list[Around]]:
    """For each call, the interval of each of its values, in order.

    Args:
        calls: The metrics.
        findings: What each finds.
        evidence: What they are computed from.
        parts: Its independent parts.
        draws: The resamples.
        level: Of the intervals.
        workers: What to spread the resamples over.
        told: Called with the number of resamples done.
    """
    alone = draws.clusters is None
    counted = [
        len(found.values) if _is_resampled(call, found, alone=alone) else 0
        for call, found in zip(calls, findings, strict=True)
    ]
    with_values = [
        # What else is found in all data stays here: others need the values alone.
        (call, Findings(found.values))
        for call, found, count in zip(calls, findings, counted, strict=True)
        if count
    ]
    columns = np.zeros((0, draws.resamples))
    # Resamples of one unit are that unit again: their interval would say that nothing varies.
    if draws.drawn_count > 1 and with_values:
        columns = _columns(with_values, evidence, parts, draws, workers, told)
    bootstrapped = iter(_around(columns, level))
    around = []
    for found, count in zip(findings, counted, strict=True):
        resampled_too = count and len(columns)
        own = list(islice(bootstrapped, count)) if resampled_too else [_NONE] * len(found.values)
        around.append(
            [
                _proportion(value, one, level) if value.proportion and alone else one
                for value, one in zip(found.values, own, strict=True)
            ]
        )
    return around


def _around(columns: NDArray[np.float64], level: float) -> list[Around]:
    """(values, resamples) to the interval of each value."""
    found = percentile_intervals(columns.T, level)
    return [
        Around(interval, None if interval is None else "bootstrap", column)
        for interval, column in zip(found, columns, strict=True)
    ]


def _is_resampled(call: Call, found: Findings, *, alone: bool) -> bool:
    """Whether values are resampled; not proportions of samples, that have an interval without."""
    known = alone and found.samples is not None and all(one.proportion for one in found.values)
    return call.metric.resampled and bool(found.values) and not known


def _proportion(value: MetricValue, around: Around, level: float) -> Around:
    if value.value is None or not value.n:
        return around
    found = wilson_interval(value.value * value.n, value.n, level)
    return around._replace(interval=found, method="wilson")


def _columns(
    calls: Sequence[tuple[Call, Findings]],
    evidence: Evidence,
    parts: Parts,
    draws: Draws,
    workers: Workers,
    on_progress: Callable[[int], None],
) -> NDArray[np.float64]:
    """(values, resamples) of all calls, one after the other."""
    last = draws.resamples
    # Every task prepares the evidence anew, but for those of this process: one for each worker.
    at_once = TOGETHER if workers.count == 1 else -(-last // workers.count)
    shared = workers.share((calls, evidence, parts, draws))
    tasks = [(first, min(first + at_once, last), shared) for first in range(0, last, at_once)]
    batches: list[Resampled] = []
    on_progress(0)
    for batch in workers.map(_resampled, tasks):
        batches.append(batch)
        on_progress(sum(len(one.values) for one in batches))
    shared.drop()
    metrics, findings = zip(*calls, strict=True)
    return columns_of(metrics, findings, batches)


def _resampled(
    first: int,
    last: int,
    shared: tuple[Sequence[tuple[Call, Findings]], Evidence, Parts, Draws],
) -> Resampled:
    """The values of all calls in the resamples from one number to below another."""
    calls, evidence, parts, draws = shared
    weights = np.array([draws.weights(number) for number in range(first, last)])
    metrics, findings = zip(*calls, strict=True)
    return resampled(metrics, findings, evidence, parts, weights)
