"""Intervals go to the values they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from valor_cli.metric import Call, Metric, in_one_part
from valor_cli.pipeline.intervals import findings_of, intervals
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
        in_one_part,
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
    nothing, three = Numbers(np.zeros(0)), Numbers(np.ones(3))
    found = intervals(CALLS, [0, 2, 1], nothing, in_one_part, **options)
    assert found == [[], [None] * 2, [None]]
    assert intervals(CALLS[:1], [0], three, in_one_part, **options) == [[]]


def halves(numbers: Numbers) -> list[tuple[dict[str, str], Numbers]]:
    """The even and the odd ones apart."""
    return [
        ({"half": "even"}, Numbers(numbers.values[::2])),
        ({"half": "odd"}, Numbers(numbers.values[1::2])),
    ]


def test_each_part_has_its_own_values_and_says_which_it_is() -> None:
    numbers = Numbers(np.arange(5.0))
    found = findings_of(CALLS[1], numbers, halves)
    assert [(value.at, value.label, value.value) for value in found.values] == [
        ({"half": "even"}, "same", 7),
        ({"half": "even"}, "mean", 2),
        ({"half": "odd"}, "same", 7),
        ({"half": "odd"}, "mean", 2),
    ]
    curves = findings_of(CALLS[0], numbers, halves).curves
    assert [(curve.at, curve.points["x"]) for curve in curves] == [
        ({"half": "even"}, [0, 2, 4]),
        ({"half": "odd"}, [1, 3]),
    ]
