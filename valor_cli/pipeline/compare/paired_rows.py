"""Pair the values of two models."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from valor_cli.pipeline.compare.paired_samples import (
    Aligned,
    Floats,
    judged,
    known,
    means,
    same_samples,
    samples_of,
    samples_of_metric,
)
from valor_cli.results import MetricResult, ResampledResult, RunResult, SamplesResult
from valor_cli.results.identity import row_key, value_key
from valor_cli.statistics.bootstrap import percentile_intervals

LEVEL, RESAMPLES, SEED = 0.95, 1000, 0
"""Default confidence level of differences, if the run has none."""

_NEXT = "evaluate both with the same `interval:` on the same data"
_SAME = "evaluate both on the same samples"
_FOREIGN = (
    "do not give its interval: resamples.jsonl is not the one that was written with its "
    "results.json; evaluate again"
)


class Sides(Struct, frozen=True):
    """The candidate and the baseline of a comparison.

    Attributes:
        result, model: The candidate.
        before, other: The baseline; `before` may be the same run.
    """

    result: RunResult
    model: str
    before: RunResult
    other: str

    @property
    def earlier(self) -> bool:
        """Whether the baseline is in another run."""
        return self.before is not self.result

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return LEVEL if self.result.intervals is None else self.result.intervals.level

    @property
    def chance(self) -> float:
        """Significance level: a smaller p-value means a difference."""
        return round(1 - self.level, 12)

    @property
    def resamples(self) -> int:
        """Number of bootstrap resamples for mean differences."""
        return RESAMPLES if self.result.intervals is None else self.result.intervals.resamples

    @property
    def seed(self) -> int:
        """Random seed."""
        return SEED if self.result.intervals is None else self.result.intervals.seed

    @property
    def where(self) -> str:
        """How reasons refer to the baseline."""
        return "the earlier run" if self.earlier else self.other


class PairedRow(Struct, frozen=True):
    """A value that both models have.

    Attributes:
        row, other: The rows of the candidate and the baseline.
        columns: (2, n) the per-sample values of both, in one order; NaN where there is
            none. None if the value is not a mean of samples.
        resampled: (resamples,) differences at the same resamples; NaN where either has no value.
        n, unpaired: Number of samples behind it in both, and in only one of the two; None if
            there are no per-sample values.
        reason: Why it has neither columns nor resamples.
    """

    row: MetricResult
    other: MetricResult
    columns: Floats | None = None
    resampled: Floats | None = None
    n: int | None = None
    unpaired: int | None = None
    reason: str | None = None


def paired_rows(sides: Sides) -> tuple[list[PairedRow], Aligned]:
    """Overall values that have a direction, in run order.

    Returns:
        The rows; the samples that their columns are of.
    """
    there = {value_key(row): row for row in judged_rows(sides.before, sides.other)}
    own, their = _samples(sides.result, sides.model), _samples(sides.before, sides.other)
    aligned = Aligned.of([*own, *their])
    rows = [
        _paired(sides, row, there[value_key(row)], aligned)
        for row in judged_rows(sides.result, sides.model)
        if value_key(row) in there
    ]
    return rows, aligned


def judged_rows(result: RunResult, model: str) -> list[MetricResult]:
    """A model's overall values that have a direction."""
    return [
        row
        for row in result.metrics
        if row.model == model and row.label is None and row.slice is None and row.direction
    ]


def _samples(result: RunResult, model: str) -> list[SamplesResult]:
    return [one for one in result.samples if one.model == model]


def paired_labels(sides: Sides) -> list[PairedRow]:
    """The labels of which both models have resamples of one measure, in run order."""
    own, their = _of_labels(sides.result, sides.model), _of_labels(sides.before, sides.other)
    return [
        _by_resamples(sides, row, their[key], (None, None))
        for key, row in own.items()
        if key in their and row.value is not None and their[key].value is not None
    ]


def _of_labels(result: RunResult, model: str) -> dict[object, MetricResult]:
    """A model's values of labels that have resamples."""
    kept = {
        row_key(one) for one in result.resamples if one.model == model and one.label is not None
    }
    rows = (row for row in result.metrics if row.model == model and row.label is not None)
    return {row_key(row)[1:]: row for row in rows if row.slice is None and row_key(row) in kept}


def _paired(sides: Sides, row: MetricResult, other: MetricResult, aligned: Aligned) -> PairedRow:
    if row.value is None:
        return PairedRow(row, other, reason=f"no value: {row.undefined}")
    if other.value is None:
        return PairedRow(row, other, reason=f"no value in {sides.where}: {other.undefined}")
    own, their = samples_of(sides.result, row), samples_of(sides.before, other)
    if own is not None and their is not None:
        readings = means(own, row.output, row.value)
        others = means(their, other.output, other.value)
        for reading in (name for name in readings if name in others):
            sides_by_side = [
                aligned.column(own, readings[reading]),
                aligned.column(their, others[reading]),
            ]
            return PairedRow(row, other, np.array(sides_by_side))
    found = _by_resamples(sides, row, other, _shared(sides, row, other, aligned))
    return _same(sides, found, aligned) if found.resampled is None else found


def _same(sides: Sides, found: PairedRow, aligned: Aligned) -> PairedRow:
    """A value without another test, if none of its samples differs."""
    row, other = found.row, found.other
    own, their = samples_of_metric(sides.result, row), samples_of_metric(sides.before, other)
    if row.value != other.value or own is None or their is None or not same_samples(own, their):
        return found
    output = row.output if row.output in own.columns else next(iter(own.columns))
    column = aligned.column(own, known(own, output))
    return found if np.isnan(column).all() else PairedRow(row, other, np.array([column, column]))


def _shared(
    sides: Sides, row: MetricResult, other: MetricResult, aligned: Aligned
) -> tuple[int | None, int | None]:
    """Number of samples behind a value that is no mean, in both models and in only one."""
    own, their = samples_of_metric(sides.result, row), samples_of_metric(sides.before, other)
    if own is None or their is None:
        return None, None
    here, there = (aligned.column(one, judged(one).astype(np.float64)) == 1 for one in (own, their))
    return int((here & there).sum()), int((here ^ there).sum())


def _by_resamples(
    sides: Sides, row: MetricResult, other: MetricResult, shared: tuple[int | None, int | None]
) -> PairedRow:
    n, unpaired = shared
    if unpaired:
        message = "sample is" if unpaired == 1 else "samples are"
        reason = f"{unpaired:,} {message} on one side only, and it is no mean of samples: {_SAME}"
        return PairedRow(row, other, unpaired=unpaired, reason=reason)
    own, their = _resampled(sides.result, row), _resampled(sides.before, other)
    if own is None or their is None:
        return PairedRow(row, other, reason=_why_unpaired(sides))
    for one, whose, result in ((own, row, sides.result), (their, other, sides.before)):
        if not _gives(one, whose, result):
            return PairedRow(row, other, reason=f"the resamples of {one.model} {_FOREIGN}")
    if len(own.values) != len(their.values):
        reason = f"{len(own.values):,} resamples, and {len(their.values):,} in {sides.where}"
        return PairedRow(row, other, reason=f"{reason}: {_NEXT}")
    if own.drawn != their.drawn:
        reason = f"other samples, or other resamples of them, than in {sides.where}"
        return PairedRow(row, other, reason=f"{reason}: {_NEXT}")
    differences = np.array(own.values, np.float64) - np.array(their.values, np.float64)
    return PairedRow(row, other, resampled=differences, n=n)


def _gives(one: ResampledResult, row: MetricResult, result: RunResult) -> bool:
    """Whether a value's interval matches its resamples, as in all files written by valor."""
    if row.interval is None or row.method != "bootstrap" or result.intervals is None:
        return True
    column = np.array(one.values, np.float64)[:, None]
    found = percentile_intervals(column, result.intervals.level)[0]
    return found is not None and bool(np.allclose(found, row.interval, rtol=1e-9, atol=1e-12))


def _resampled(result: RunResult, row: MetricResult) -> ResampledResult | None:
    whole = (one for one in result.resamples if one.slice is None)
    own = (one for one in whole if one.model == row.model and one.label == row.label)
    return next((one for one in own if value_key(one) == value_key(row)), None)


def _why_unpaired(sides: Sides) -> str:
    """Why a value that both have cannot be tested, and the next step."""
    before = sides.before
    if sides.earlier and not (before.samples or before.resamples or before.evidence):
        return (
            "the earlier run has values of neither samples nor resamples: keep samples.jsonl, "
            f"evidence.bin and resamples.jsonl beside its results.json; {_NEXT}"
        )
    if sides.result.intervals is None or sides.before.intervals is None:
        return f"no mean of samples, and not resampled: {_NEXT}"
    return "no mean of samples, and no resamples that both have"
