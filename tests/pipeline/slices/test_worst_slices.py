"""The parts of the data that a model does worst at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles import slice_searches
from valor_cli.config import SliceSearch
from valor_cli.pipeline.slices.columns import slice_columns
from valor_cli.pipeline.slices.worst_slices import WorstSlice, worst_slices

Floats = NDArray[np.float64]
Columns = Mapping[str, Sequence[Any]]


def search(
    values: Floats,
    metadata: Columns,
    *,
    lower: bool = False,
    clusters: NDArray[np.int64] | None = None,
    **asked: Any,
) -> tuple[int, list[WorstSlice]]:
    return worst_slices(
        np.asarray(values, np.float64),
        lower=lower,
        columns=slice_columns({"m": metadata}, None),
        metadata=metadata,
        clusters=clusters,
        asked=SliceSearch(**asked),
    )


def names(found: Sequence[WorstSlice]) -> list[str]:
    return [one.slice.name for one in found]


def random_columns(rng: np.random.Generator, n: int) -> dict[str, list[Any]]:
    return {
        "camera": rng.choice(["front", "rear", "left"], n).tolist(),
        "weather": rng.choice(["sun", "rain", "snow", "fog"], n).tolist(),
        "night": rng.choice(np.array([True, False, None], object), n).tolist(),
    }


def test_by_hand() -> None:
    # Ten samples: a has 0 0 0 1, b has 1 1 1 1 0 1. Both parts have at least 3 inside and outside,
    # so 2 are held against the rest. Welch's t of a is (1/4 - 5/6) / sqrt(1/4/4 + 1/6/6) = -1.9415
    # with 5.787 degrees of freedom (p 0.0512), Student's with the pooled variance
    # (3/4 + 5/6) / 8 is -2.0319 with 8 (p 0.0383): the larger of both, times 2 for two parts.
    values = np.array([0, 0, 0, 1, 1, 1, 1, 1, 0, 1.0])
    metadata = {"k": ["a"] * 4 + ["b"] * 6}
    searched, found = search(values, metadata, min_size=3, level=0.85)
    assert (searched, names(found)) == (2, ["metadata.k=a"])
    (one,) = found
    assert (one.n, one.value, one.rest) == (4, 0.25, pytest.approx(5 / 6))
    assert one.p == pytest.approx(0.0510, abs=2e-3)
    assert one.p_adjusted == pytest.approx(2 * one.p)
    # Two parts are too many for 95 %.
    assert search(values, metadata, min_size=3) == (2, [])


def test_where_lower_is_better_the_highest_part_is_the_worst() -> None:
    values = np.array([5, 6, 7, 6, 1, 2, 1, 2.0])
    metadata = {"k": ["a"] * 4 + ["b"] * 4}
    _, (one,) = search(values, metadata, min_size=2, lower=True)
    assert (one.slice.name, one.value, one.rest) == ("metadata.k=a", 6.0, 1.5)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_as_by_masks_one_by_one(seed: int, clustered: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    metadata = random_columns(rng, n)
    values = rng.normal(size=n)
    rain = np.array(metadata["weather"]) == "rain"
    values[rain & (np.array(metadata["camera"]) == "rear")] -= 1.5
    values[rng.random(n) < 0.1] = np.nan
    clusters = rng.integers(0, 120, n) if clustered else None
    searched, found = search(values, metadata, clusters=clusters, min_size=8, most=100)
    expected, worse = slice_searches.worse(values, metadata, min_size=8, clusters=clusters)
    assert searched == expected
    # What is told is some of what is worse, and each with its p-value.
    assert set(names(found)) <= set(worse)
    assert bool(found) == bool(worse)
    for one in found:
        assert one.p_adjusted == pytest.approx(worse[one.slice.name], rel=1e-8)


def test_a_planted_value_is_told_alone() -> None:
    rng = np.random.default_rng(1)
    metadata = random_columns(rng, 2000)
    values = rng.normal(size=2000)
    values[np.array(metadata["weather"]) == "fog"] -= 1
    _, found = search(values, metadata)
    # Not its halves: fog & night=true is as bad by the same cause.
    assert names(found) == ["metadata.weather=fog"]


def test_a_planted_pair_is_told_without_what_it_lies_in() -> None:
    rng = np.random.default_rng(2)
    metadata = random_columns(rng, 2000)
    values = rng.normal(size=2000)
    bad = (np.array(metadata["weather"]) == "rain") & (np.array(metadata["camera"]) == "rear")
    values[bad] -= 1.5
    _, found = search(values, metadata)
    assert names(found) == ["metadata.camera=rear & metadata.weather=rain"]
    assert found[0].n == bad.sum()
    assert found[0].value == pytest.approx(values[bad].mean())
    assert found[0].rest == pytest.approx(values[~bad].mean())
    # Of single conditions, both that it lies in are worse than the rest.
    _, single = search(values, metadata, depth=1)
    assert set(names(single)) == {"metadata.camera=rear", "metadata.weather=rain"}


def test_a_planted_range_of_numbers() -> None:
    rng = np.random.default_rng(3)
    age = rng.permutation(1000)
    values = rng.random(1000)
    values[age < 249] *= 0.5
    _, found = search(values, {"age": age.tolist()})
    assert names(found) == ["metadata.age=[0, 249)"]
    assert found[0].n == 249


def test_the_worst_come_first_and_no_more_than_asked() -> None:
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 6, 3000)
    values = rng.normal(size=3000) - np.array([0, 0, 0.5, 1, 1.5, 2])[kind]
    metadata = {"kind": kind.tolist()}
    worst = ["metadata.kind=5", "metadata.kind=4"]
    assert names(search(values, metadata)[1])[:2] == worst
    assert names(search(values, metadata, most=1)[1]) == worst[:1]


def test_columns_that_say_the_same_are_told_once() -> None:
    rng = np.random.default_rng(5)
    kind = rng.choice(["a", "b", "c"], 900).tolist()
    values = rng.normal(size=900) - np.array([one == "a" for one in kind])
    again = [f"_{one}" for one in kind]
    # Nearly the same: one sample in fifty is elsewhere.
    nearly = ["x" if rng.random() < 0.02 else one for one in kind]
    searched, found = search(values, {"k1": kind, "k2": again, "k3": nearly}, depth=1)
    assert names(found) in (["metadata.k1=a"], ["metadata.k3=a"])
    # k2 has no part of its own, and x of k3 is too small.
    assert searched == 6


def test_no_part_below_the_size_inside_or_outside() -> None:
    values = np.r_[np.zeros(29), np.ones(31)] + np.arange(60) / 1000
    metadata = {"k": ["a"] * 29 + ["b"] * 31}
    assert search(values, metadata) == (0, [])
    assert search(values, metadata, min_size=29)[0] == 2
    # A sample without a value counts for nothing.
    values[0] = np.nan
    assert search(values, metadata, min_size=29) == (0, [])
    assert search(np.full(60, np.nan), metadata) == (0, [])
    assert search(np.zeros(60), metadata, min_size=5) == (2, [])
    assert search(values, {}) == (0, [])


def test_units_without_a_value_of_a_column_are_outside() -> None:
    values = np.r_[np.zeros(20), np.ones(20)] + np.tile([0, 0.1], 20)
    searched, found = search(values, {"k": ["a"] * 20 + [None] * 20}, min_size=10)
    assert (searched, names(found)) == (1, ["metadata.k=a"])


def test_clusters_are_the_units_of_the_test() -> None:
    # One bad patient of 40 samples, beside 9 good ones: a single cluster says nothing of others.
    values = np.r_[np.zeros(40), np.ones(360)] + np.tile([0, 0.01], 200)
    ward = ["a"] * 40 + ["b"] * 360
    patients = np.repeat(np.arange(10), 40)
    assert names(search(values, {"ward": ward})[1]) == ["metadata.ward=a"]
    assert search(values, {"ward": ward}, clusters=patients) == (0, [])


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_the_samples_changes_no_bit(clustered: bool) -> None:
    rng = np.random.default_rng(6)
    metadata = random_columns(rng, 700)
    metadata["age"] = rng.normal(40, 10, 700).tolist()
    values = rng.random(700)
    values[np.array(metadata["weather"]) == "fog"] *= 0.7
    clusters = rng.integers(0, 300, 700) if clustered else None
    order = rng.permutation(700)
    shuffled = {name: [own[at] for at in order] for name, own in metadata.items()}
    mixed = None if clusters is None else rng.permutation(300)[clusters][order]
    first = search(values, metadata, clusters=clusters)
    assert first == search(values[order], shuffled, clusters=mixed)
    assert names(first[1]) == ["metadata.weather=fog"]


def test_chance_alone_finds_no_more_than_its_part() -> None:
    # 100 data sets without a worse part, at a level of 95 %: more than 11 with a find would be
    # less likely than 1 in 200 (scipy.stats.binom.sf(11, 100, 0.05) = 0.004).
    draws = {
        "normal": lambda rng: rng.normal(size=400),
        "seldom right": lambda rng: (rng.random(400) < 0.05) * 1.0,
        "seldom wrong": lambda rng: (rng.random(400) < 0.95) * 1.0,
        "half": lambda rng: (rng.random(400) < 0.5) * 1.0,
    }
    for draw in draws.values():
        told = 0
        for seed in range(100):
            rng = np.random.default_rng(seed)
            told += bool(search(draw(rng), random_columns(rng, 400), min_size=10)[1])
        assert told <= 11


@pytest.mark.parametrize("name", ["<b>", "a=b", "a & metadata.b", "\x1b[31m", "é\n"])
def test_hostile_names_are_names(name: str) -> None:
    values = np.r_[np.zeros(40), np.ones(40)] + np.tile([0, 0.1], 40)
    metadata = {name: [name] * 40 + ["x"] * 40}
    assert names(search(values, metadata)[1]) == [f"metadata.{name}={name}"]
