"""Shards of any size, merged in any order and any tree, are the whole: every wing, to the bit."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from tests.evaluators.wing_data import (
    calls_of,
    data_names,
    data_set,
    evidence_of,
    merged,
    shards_of,
)
from tests.same_bytes import exact
from valor_cli import catalogue
from valor_cli.evaluators import overlap
from valor_cli.metric import Call, Wing
from valor_cli.pipeline.intervals.resampling import findings_of, resampled

SPLITS = 2
RESAMPLES = 3

Place = tuple[str, int, str]

PLACES: list[Place] = [
    (task.name, at, name)
    for task in map(catalogue.task, catalogue.TASKS)
    for at, wing in enumerate(task.wings)
    for name in data_names(task.name, wing)
]
"""Of every wing: its task, where it stands there, and a data set for it."""


def wing_of(place: Place) -> Wing[Any, Any]:
    """The wing."""
    return catalogue.task(place[0]).wings[place[1]]


def called(place: Place) -> str:
    """What a test of a place is called: task, first metric, data set."""
    return f"{place[0]}-{wing_of(place).metrics[0].name}-{place[2]}"


CONDENSED = [place for place in PLACES if wing_of(place).condense is not None]

every_place = pytest.mark.parametrize("place", PLACES, ids=called)

IN_WHOLE_GROUPS = (overlap.GROUPS,)
"""Wings that compare samples with each other: what is compared stays in one shard."""


class Whole:
    """The evidence of a data set in one pass, in shards and merged; some of its units."""

    def __init__(self, place: Place) -> None:
        self.wing = wing = wing_of(place)
        self.data = data_set(place[0], wing, place[2])
        self.calls = calls_of(wing)
        self.evidence = evidence_of(wing, self.calls, self.data)
        # Every place is cut, merged and selected from in a way of its own.
        self.seed = PLACES.index(place)
        rng = np.random.default_rng(self.seed)
        self.units = rng.random(self.data.unit_count) < 0.4
        self.units[rng.integers(len(self.units))] = True

    @cached_property
    def again(self) -> Any:
        """The evidence of shards, merged."""
        rng = np.random.default_rng(self.seed)
        return merged(self.wing, self.parts(rng), rng)

    @cached_property
    def said(self) -> list[dict[str, Any]]:
        """All that it says in one pass."""
        return all_told(self.wing, self.calls, self.evidence)

    @cached_property
    def selected(self) -> Any:
        """Some units of what was found in one pass."""
        return self.evidence.select(self.units)

    @cached_property
    def said_of_selected(self) -> list[dict[str, Any]]:
        """All that these say."""
        return all_told(self.wing, self.calls, self.selected)

    def parts(self, rng: np.random.Generator) -> list[Any]:
        """The evidence of shards, as it comes from other processes."""
        whole_groups = self.wing in IN_WHOLE_GROUPS
        shards = shards_of(self.data, rng, whole_groups=whole_groups)
        return pickled([evidence_of(self.wing, self.calls, shard) for shard in shards])


def pickled(parts: list[Any]) -> list[Any]:
    """The parts as another process has them."""
    again: list[Any] = pickle.loads(pickle.dumps(parts))  # noqa: S301 - made just now
    return again


@cache
def whole_of(place: Place) -> Whole:
    """That of a place, made once."""
    return Whole(place)


def told(wing: Wing[Any, Any], calls: Sequence[Call], evidence: Any) -> dict[str, Any]:
    """By metric, everything that it says of some evidence."""
    return {call.metric.name: exact(findings_of(call, evidence, wing.parts)) for call in calls}


def all_told(wing: Wing[Any, Any], calls: Sequence[Call], evidence: Any) -> list[dict[str, Any]]:
    """The same of the evidence as a whole, and of every slice."""
    cuts = [cut(evidence, value) for values, cut in wing.slices.values() for value in values]
    return [told(wing, calls, one) for one in (evidence, *cuts)]


def units_of(evidence: Any) -> Any:
    """What the units of some evidence are called."""
    for name in ("image_ids", "sample_ids"):
        if hasattr(evidence, name):
            return exact(list(getattr(evidence, name)))
    return None


def assert_alike(whole: Whole, one: Any, other: Any, said: Sequence[dict[str, Any]]) -> None:
    """Two evidences say the same under every metric, as a whole and in every slice.

    Args:
        whole: What they are made of.
        one: An evidence.
        other: Another one.
        said: What the first one says.
    """
    wing = whole.wing
    assert one.unit_count == other.unit_count
    assert units_of(one) == units_of(other)
    if wing.one_sided is not None:
        assert exact(wing.one_sided(one)) == exact(wing.one_sided(other))
    for expected, found in zip(said, all_told(wing, whole.calls, other), strict=True):
        # Which metric differs is the first thing to know.
        assert [name for name in expected if expected[name] != found[name]] == []


@every_place
def test_shards_merged_in_any_tree_are_the_whole(place: Place) -> None:
    whole = whole_of(place)
    assert_alike(whole, whole.evidence, whole.again, whole.said)


@every_place
def test_some_units_of_what_was_merged(place: Place) -> None:
    whole = whole_of(place)
    found = whole.again.select(whole.units)
    assert_alike(whole, whole.selected, found, whole.said_of_selected)


@every_place
def test_selected_parts_are_merged_to_the_selection(place: Place) -> None:
    whole = whole_of(place)
    low = np.arange(whole.data.unit_count) < whole.data.unit_count // 3
    parts = [whole.evidence.select(whole.units & part) for part in (~low, low)]
    found = merged(whole.wing, parts, np.random.default_rng(12))
    assert_alike(whole, whole.selected, found, whole.said_of_selected)


@every_place
def test_resamples_of_what_was_merged(place: Place) -> None:
    whole = whole_of(place)
    wing = whole.wing
    rng = np.random.default_rng(13)
    calls = [call for call in whole.calls if call.metric.resampled and call.metric.outputs]
    units = np.arange(whole.data.unit_count)
    drawn = rng.choice(units, (RESAMPLES, len(units)))
    weights = np.array([np.bincount(row, minlength=len(units)) for row in drawn])
    for call in calls:
        expected, found = (
            resampled([call], [findings_of(call, one, wing.parts)], one, wing.parts, weights)
            for one in (whole.evidence, whole.again)
        )
        assert exact(expected) == exact(found), call.metric.name


@pytest.mark.parametrize("place", CONDENSED, ids=called)
def test_condensed_shards_say_what_the_whole_says(place: Place) -> None:
    whole = whole_of(place)
    wing = whole.wing
    assert wing.condense is not None
    calls = [call for call in whole.calls if call.metric.condensed]
    assert calls
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        shards = whole.parts(rng)
        # By themselves and all together: what one asks of the rows must not serve another.
        for some in ([calls[seed % len(calls)]], calls):
            expected = told(wing, some, whole.evidence)
            parts = pickled([wing.condense(part, some) for part in shards])
            found = told(wing, some, merged(wing, parts, rng))
            assert [one for one in expected if expected[one] != found[one]] == []


def test_every_metric_of_the_catalogue_is_merged() -> None:
    found = {(place[0], call.metric.name) for place in PLACES for call in calls_of(wing_of(place))}
    tasks = map(catalogue.task, catalogue.TASKS)
    assert found == {(task.name, metric.name) for task in tasks for metric in task.metrics}
