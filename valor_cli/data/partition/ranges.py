"""Divide units into ranges of ids with about equally many rows, from samples of their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from valor_cli.results import InputFile

SAMPLED: Final = 256
"""Ids of a piece that are known before its rows are: ranges of them are about equally long."""

NUMBERED: Final = 1 << 32
"""Numbers that the rows of a range may have."""


class SampledIds(NamedTuple):
    """Some ids of a piece.

    Attributes:
        ids: Evenly spaced, ascending, the first and the last among them.
        rows: How many rows the piece has.
    """

    ids: Sequence[Any]
    rows: int


class IdRange(NamedTuple):
    """The units from an id to below another, None if open; the `number`th range."""

    number: int
    low: Any
    high: Any

    def within(self, ids: NDArray[Any]) -> tuple[int, int]:
        """The first of ascending ids that is in the range, and the first behind it."""
        # An edge may be longer than all of these ids: it is compared as it is.
        edges = (None if edge is None else np.array(edge) for edge in (self.low, self.high))
        low, high = (None if edge is None else int(ids.searchsorted(edge)) for edge in edges)
        return low or 0, len(ids) if high is None else high

    def meets(self, piece: SampledIds) -> bool:
        """Whether a piece may have units in the range."""
        if not piece.ids:
            return False
        above = self.low is None or piece.ids[-1] >= self.low
        return above and (self.high is None or piece.ids[0] < self.high)


def sampled(ids: NDArray[Any]) -> SampledIds:
    """Some of ascending ids."""
    at = np.linspace(0, max(len(ids) - 1, 0), min(len(ids), SAMPLED)).astype(np.int64)
    return SampledIds(ids[at].tolist(), len(ids))


def edges_of(pieces: Sequence[SampledIds], count: int) -> list[Any]:
    """Ids that divide all units into at most so many ranges, ascending."""
    marks = sorted((one, piece.rows / len(piece.ids)) for piece in pieces for one in piece.ids)
    total = sum(weight for _, weight in marks)
    edges: list[Any] = []
    seen = 0.0
    for one, weight in marks:
        if seen >= total * (len(edges) + 1) / count and (not edges or one > edges[-1]):
            edges.append(one)
        seen += weight
    return edges


def ranges_between(edges: Sequence[Any]) -> list[IdRange]:
    """The ranges that ids divide; the first and the last are open."""
    bounds = [None, *edges, None]
    return [IdRange(at, bounds[at], bounds[at + 1]) for at in range(len(bounds) - 1)]


def before_each(counts: Sequence[int], groups: Sequence[str]) -> list[int]:
    """The sum of the counts of the same group before each."""
    seen: dict[str, int] = {}
    before = []
    for count, group in zip(counts, groups, strict=True):
        before.append(seen.get(group, 0))
        seen[group] = before[-1] + count
    return before


def whole_files(pieces: Sequence[InputFile]) -> list[InputFile]:
    """The files of pieces, each once."""
    found: dict[str, InputFile] = {}
    for one in pieces:
        known = found.get(one.path)
        found[one.path] = (
            one
            if known is None
            else structs.replace(
                known,
                rows=(known.rows or 0) + (one.rows or 0),
                skipped=known.skipped + one.skipped,
            )
        )
    return list(found.values())
