"""Compute metric values on bootstrap resamples of evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.metric import Call, Evidence
from valor_cli.results import (
    Findings,
    MetricCurve,
    MetricExample,
    MetricTable,
    MetricValue,
    Resampled,
    Scalar,
)
from valor_cli.statistics.label_means import centred, joined, shifted

Parts = Callable[[Any], Sequence[tuple[Mapping[str, Scalar], Any]]]

TOGETHER = 48
"""Resamples whose values evidence may find at once."""

R = TypeVar("R", MetricValue, MetricCurve, MetricTable, MetricExample)


def findings_of(call: Call, evidence: Evidence, parts: Parts) -> Findings:
    """Compute a metric on evidence, part by part (`Wing.parts`), always as `Findings`.

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
    found = call.findings(part)
    return Findings([found]) if isinstance(found, MetricValue) else found


def _under(at: Mapping[str, Scalar], one: R) -> R:
    return replace(one, at={**at, **one.at})


def resampled(
    calls: Sequence[Call],
    findings: Sequence[Findings],
    evidence: Evidence,
    parts: Parts,
    weights: NDArray[np.int64],
) -> Resampled:
    """The values of all calls on each resample, concatenated.

    Args:
        calls: The metrics.
        findings: What each finds in all data.
        evidence: What they are computed from.
        parts: Its independent parts.
        weights: (resamples, units) how often each unit is in each resample.
    """
    batches = [
        _together(calls, findings, evidence, parts, weights[first : first + TOGETHER])
        for first in range(0, len(weights), TOGETHER)
    ]
    return joined(batches, axis=0)


def columns_of(
    calls: Sequence[Call], findings: Sequence[Findings], batches: Sequence[Resampled]
) -> NDArray[np.float64]:
    """(values, resamples) from all batches of `resampled`; NaN where undefined."""
    bounds = [
        call.metric.output(one.output).bounds
        for call, found in zip(calls, findings, strict=True)
        for one in found.values
    ]
    return centred(joined(batches, axis=0), bounds)


def values_of(found: Findings, whole: Findings) -> Resampled:
    """The values of the replicas of evidence, a row each; `whole` is from all data."""
    columns = [
        shifted(_column(one), one.over, every.over)
        for one, every in zip(found.values, whole.values, strict=True)
    ]
    return Resampled(*(np.stack(own, axis=1) for own in zip(*columns, strict=True)))


def _column(value: MetricValue) -> NDArray[np.float64]:
    """(replicas,) the value in each; NaN where it is undefined."""
    if value.replicas is not None:
        return value.replicas
    return np.array([np.nan if value.value is None else value.value], np.float64)


def _together(
    calls: Sequence[Call],
    findings: Sequence[Findings],
    evidence: Evidence,
    parts: Parts,
    weights: NDArray[np.int64],
) -> Resampled:
    """`resampled` of neighbouring resamples."""
    pairs = [one for one in zip(calls, findings, strict=True) if one[1].values]
    if not pairs:
        return Resampled(*np.zeros((2, len(weights), 0)))
    blocks = [
        joined([values_of(findings_of(call, again, parts), whole) for call, whole in pairs], axis=1)
        for again in evidence.resamples(weights)
    ]
    return joined(blocks, axis=0)
