"""Assign each sample of a model a line in the joint table of all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from valor_cli.results import SamplesResult, Scalar

Key: TypeAlias = tuple[type, Scalar]
"""A sample's id; Python takes 1 and true for one key."""


def sample_order(columns: Sequence[SamplesResult]) -> tuple[list[Scalar], list[Sequence[int]]]:
    """All sample ids in order of first appearance, and for each metric the lines of its samples.

    Metrics that have the same samples in the same order share their lines.
    """
    places: dict[Key, int] = {}
    where: list[Sequence[int]] = []
    for at, one in enumerate(columns):
        if at and same_samples(one.sample_ids, columns[at - 1].sample_ids):
            where.append(where[-1])
            continue
        keys = ((type(name), name) for name in one.sample_ids)
        where.append([places.setdefault(key, len(places)) for key in keys])
    return [name for _, name in places], where


def same_samples(one: Sequence[Scalar], other: Sequence[Scalar]) -> bool:
    """Whether the ids are equal, in the same order."""
    return one is other or (one == other and [*map(type, one)] == [*map(type, other)])
