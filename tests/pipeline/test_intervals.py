"""Intervals go to the values they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from valor_cli.metric import Call, Metric
from valor_cli.pipeline.intervals import intervals
from valor_cli.pipeline.workers import ThisProcess
from valor_cli.results import Findings, MetricCurve, MetricValue


@dataclass(frozen=True)
class Numbers:
    """Evidence of one number per unit."""

    values: np.ndarray

    @property
    def unit_count(self) -> int:
        return len(self.values)

    def select(self, units: np.ndarray) -> Numbers:
        return Numbers(self.values[units])

    def resamples(self, weights: np.ndarray) -> Iterator[Numbers]:
        for row in weights:
            yield replace(self, values=np.repeat(self.values, row))


def both(numbers: Numbers) -> Findings:
    """A value that never changes, and the mean."""
    mean = float(numbers.values.mean()) if len(numbers.values) else None
    return Findings([MetricValue(7.0, label="same"), MetricValue(mean, label="mean")])


def size(numbers: Numbers) -> MetricValue:
    """How many there are."""
    return MetricValue(float(len(numbers.values)))


def line(numbers: Numbers) -> Findings:
    """A curve and no value."""
    return Findings(curves=[MetricCurve({"x": numbers.values.tolist()})])


CALLS = [
    Call(Metric(name="line", compute=line, reference="-", curve=True), {}),
    Call(Metric(name="both", compute=both, reference="-"), {}),
    Call(Metric(name="size", compute=size, reference="-"), {}),
]


def test_each_value_gets_its_own() -> None:
    told: list[int] = []
    values = np.random.default_rng(0).normal(10, 1, 400)
    found = intervals(
        CALLS,
        [0, 2, 1],
        Numbers(values),
        resamples=60,
        level=0.9,
        seed=0,
        workers=ThisProcess(),
        told=told.append,
    )
    none, (same, mean), (count,) = found
    assert none == []
    assert same == (7, 7)
    assert count == (400, 400)
    assert mean is not None
    # The standard error is 1 / 20; 90 % of the means lie within 1.64 of them, give or take.
    assert mean[0] < values.mean() < mean[1]
    assert mean[1] - mean[0] == pytest.approx(2 * 1.64 / 20, rel=0.25)
    assert told == [25, 50, 60]


def test_without_units_or_values_there_is_nothing_to_resample() -> None:
    options = {"resamples": 60, "level": 0.9, "seed": 0, "workers": ThisProcess(), "told": print}
    assert intervals(CALLS, [0, 2, 1], Numbers(np.zeros(0)), **options) == [[], [None] * 2, [None]]
    assert intervals(CALLS[:1], [0], Numbers(np.ones(3)), **options) == [[]]
