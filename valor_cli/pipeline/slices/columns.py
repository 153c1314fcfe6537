"""Build the metadata columns that slices are searched in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.metric import METADATA, written
from valor_cli.pipeline.slices.slices import (
    MOST_VALUES,
    Column,
    Condition,
    Metadata,
    Range,
    distinct,
    number_of,
    quartile_ranges,
)
from valor_cli.results import Scalar

Codes: TypeAlias = NDArray[np.int64]

LONGEST = 200
"""Characters of a value; a column with longer ones holds texts, and no kinds of samples."""


class SliceColumn(Struct, frozen=True):
    """A metadata column with its conditions, of which a unit fulfils at most one."""

    key: str
    conditions: tuple[Condition, ...]

    def codes(self, metadata: Metadata) -> Codes:
        """(units,) the position of the condition that each unit fulfils; -1 for none."""
        column = Column.of(metadata.get(self.key.removeprefix(METADATA), ()))
        if self.conditions and isinstance(self.conditions[0].value, Range):
            found = self._between(column.values)
        else:
            number = {written(_plain(one)): at for at, one in enumerate(self.conditions)}
            texts = (None if one is None else written(one) for one in column.values)
            found = np.array(
                [-1 if one is None else number.get(one, -1) for one in texts], np.int64
            )
        return found[column.codes]

    def _between(self, values: Sequence[Scalar]) -> Codes:
        edges = [one.value.low for one in self.conditions if isinstance(one.value, Range)]
        numbers = [number_of(value) for value in values]
        known = np.array([one is not None for one in numbers], bool)
        floats = np.array([0.0 if one is None else one for one in numbers])
        at = np.searchsorted(np.array(edges), floats, side="right") - 1
        return np.where(known & (at >= 0), at, -1).astype(np.int64)


def slice_columns(
    metadata: Mapping[str, Metadata], keys: Sequence[str] | None, but: str | None = None
) -> list[SliceColumn]:
    """The columns in which slices are searched.

    A column of more values than make sensible slices is cut at the quartiles of its numbers; left
    out is one of other values.

    Args:
        metadata: Of each model.
        keys: The columns to look at ("metadata.camera"), in their order; None: all, by name.
        but: One to leave out of these: what units are drawn together by is no kind of unit.
    """
    if keys is None:
        names = sorted({name for own in metadata.values() for name in own})
        keys = [METADATA + name for name in names if METADATA + name != but]
    return [column for key in keys if (column := _column(metadata, key)) is not None]


def _column(metadata: Mapping[str, Metadata], key: str) -> SliceColumn | None:
    name = key.removeprefix(METADATA)
    values = [value for own in metadata.values() for value in own.get(name, ())]
    present = distinct(values)
    if len(present) > MOST_VALUES:
        numbers = [number_of(value) for value in values if value is not None]
        known = [one for one in numbers if one is not None]
        if len(known) < len(numbers):
            return None
        return SliceColumn(key, tuple(Condition(key, one) for one in quartile_ranges(known)))
    if not present or any(len(written(value)) > LONGEST for value in present):
        return None
    return SliceColumn(key, tuple(Condition(key, value) for value in present))


def _plain(condition: Condition) -> Scalar:
    value = condition.value
    return None if isinstance(value, Range) else value
