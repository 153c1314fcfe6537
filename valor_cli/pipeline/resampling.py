"""Evidence and weights in; the values of every metric at each resample out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.metric import Call, Evidence
from valor_cli.results import (
    Findings,
    MetricCurve,
    MetricExample,
    MetricTable,
    MetricValue,
    Scalar,
)

Parts = Callable[[Any], Sequence[tuple[Mapping[str, Scalar], Any]]]
R = TypeVar("R", MetricValue, MetricCurve, MetricTable, MetricExample)


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


def resampled(
    calls: Sequence[Call], evidence: Evidence, parts: Parts, weights: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The values of all calls, one after the other, at each resample.

    Args:
        calls: The metrics.
        evidence: What they are computed from.
        parts: Its independent parts.
        weights: (resamples, units) how often each unit stands in each.

    Returns:
        (resamples, values); NaN for no value.
    """
    rows = [
        [value.value for call in calls for value in findings_of(call, again, parts).values]
        for again in evidence.resamples(weights)
    ]
    return np.array(rows, np.float64)
