"""Intervals go to the values they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from valor_cli.metric import Call, Metric, in_one_part
from valor_cli.pipeline.executor.executor import ThisProcess
from valor_cli.pipeline.intervals.intervals import intervals
from valor_cli.pipeline.intervals.resamples import Draws, clusters_of
from valor_cli.pipeline.intervals.resampling import findings_of
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
    Call(Metric(name="line", compute=line, reference="-", outputs=(), draws="curves"), {}),
    Call(Metric(name="both", compute=both, reference="-"), {}),
    Call(Metric(name="size", compute=size, reference="-"), {}),
]


def found_by(calls: list[Call], numbers: Numbers) -> list[Findings]:
    return [findings_of(call, numbers, in_one_part) for call in calls]


def test_each_value_gets_its_own() -> None:
    told: list[int] = []
    values = np.random.default_rng(0).normal(10, 1, 400)
    numbers = Numbers(values)
    found = intervals(
        CALLS,
        found_by(CALLS, numbers),
        numbers,
        in_one_part,
        Draws(400, 60, 0),
        level=0.9,
        workers=ThisProcess(),
        told=told.append,
    )
    none, (same, mean), (count,) = found
    assert none == []
    assert same.interval == (7, 7)
    assert count.interval == (400, 400)
    assert mean.interval is not None
    assert mean.column is not None
    # The standard error is 1 / 20; 90 % of the means lie within 1.64 of them, give or take.
    low, high = mean.interval
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.64 / 20, rel=0.25)
    assert mean.method == "bootstrap"
    assert len(mean.column) == 60
    assert told == [0, 48, 60]


def test_without_units_or_values_there_is_nothing_to_resample() -> None:
    options = {"level": 0.9, "workers": ThisProcess(), "told": print}
    nothing, three = Numbers(np.zeros(0)), Numbers(np.ones(3))
    found = intervals(
        CALLS, found_by(CALLS, nothing), nothing, in_one_part, Draws(0, 60, 0), **options
    )
    assert [[one.interval for one in each] for each in found] == [[], [None] * 2, [None]]
    lines = found_by(CALLS[:1], three)
    assert intervals(CALLS[:1], lines, three, in_one_part, Draws(3, 60, 0), **options) == [[]]
    # One thing to draw says nothing of how values vary.
    together = Draws(3, 60, 0, np.zeros(3, np.int64))
    for numbers, draws in ((Numbers(np.ones(1)), Draws(1, 60, 0)), (three, together)):
        found = intervals(CALLS, found_by(CALLS, numbers), numbers, in_one_part, draws, **options)
        assert [[one.interval for one in each] for each in found] == [[], [None] * 2, [None]]


def share(numbers: Numbers) -> MetricValue:
    """The part that is above 10."""
    above = numbers.values > 10
    return MetricValue(float(above.mean()), n=len(above), proportion=True)


def test_a_proportion_has_wilson_s_interval_where_units_are_drawn_by_themselves() -> None:
    calls = [Call(Metric(name="share", compute=share, reference="-"), {})]
    numbers = Numbers(np.r_[np.full(15, 9.0), np.full(5, 11.0)])
    options = {"level": 0.95, "workers": ThisProcess(), "told": lambda done: None}
    found = found_by(calls, numbers)
    ((alone,),) = intervals(calls, found, numbers, in_one_part, Draws(20, 40, 0), **options)
    # Wilson for 5 of 20: (0.25 + z²/40 ± z √(0.25 · 0.75 / 20 + z² / 1600)) / (1 + z² / 20)
    assert alone.method == "wilson"
    assert alone.interval == pytest.approx((0.11187, 0.46870), abs=1e-4)
    # The resamples are kept all the same: another run may be compared by them.
    assert alone.column is not None
    pairs = clusters_of([str(at // 2) for at in range(20)])
    ((paired,),) = intervals(calls, found, numbers, in_one_part, Draws(20, 40, 0, pairs), **options)
    assert paired.method == "bootstrap"


def test_clusters_are_drawn_whole_and_those_without_a_group_alone() -> None:
    clusters = clusters_of(["a", None, "a", None, "b"])
    assert clusters.tolist() == [0, 1, 0, 2, 3]
    draws = Draws(5, 10, 3, clusters)
    assert draws.drawn_count == 4
    for number in range(10):
        weights = draws.weights(number)
        assert weights[0] == weights[2]
        assert weights[[0, 1, 3, 4]].sum() == 4
    within = draws.within(np.array([True, False, True, False, True]))
    assert within.clusters is not None
    assert within.clusters.tolist() == [0, 0, 1]
    # Of units that stand alone they are the plain bootstrap.
    alone = Draws(5, 10, 3, clusters_of([None] * 5))
    assert all((alone.weights(n) == Draws(5, 10, 3).weights(n)).all() for n in range(10))


def test_draws_are_known_by_their_units_seed_and_clusters() -> None:
    plain = Draws(2, 10, 0).digest(["a", "b"])
    assert plain == Draws(2, 10, 0).digest([b"a", b"b"])
    others = [
        Draws(2, 10, 0).digest(["b", "a"]),
        Draws(2, 10, 1).digest(["a", "b"]),
        Draws(2, 20, 0).digest(["a", "b"]),
        Draws(2, 10, 0, np.zeros(2, np.int64)).digest(["a", "b"]),
    ]
    assert len({plain, *others}) == 5


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
