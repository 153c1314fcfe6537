"""Slice search results in words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.sections.comparison.rows import probability
from valor_cli.reports.sections.formatting import clean, number
from valor_cli.reports.sections.naming import Names, output_name
from valor_cli.results import FoundSlice, RunResult, SliceSearchResult

FOUND = 10
"""Parts told of each search."""


class SearchText(Struct, frozen=True):
    """A search in words; untrusted text is cleaned but not escaped.

    Attributes:
        where: What was searched, and for what.
        found: Of each part its name, and how much worse it is.
        left_out: How many parts are not told.
    """

    where: str
    found: tuple[tuple[str, str], ...]
    left_out: int


def search_texts(result: RunResult, unit: str) -> tuple[SearchText, ...]:
    """All searches, in their order.

    Args:
        result: The run.
        unit: What a single sample is called.
    """
    names = Names((one.metric, one.parameters) for one in result.searches)
    units = {(row.metric, row.output): row.unit for row in result.metrics}
    several = len(result.models) > 1
    return tuple(
        _told(one, names, units.get((one.metric, one.output), "fraction"), unit, several)
        for one in result.searches
    )


def _told(one: SliceSearchResult, names: Names, unit: str, thing: str, several: bool) -> SearchText:
    value = clean(output_name(one.metric, one.output))
    detail = names.detail(one.metric, one.parameters)
    subject = f"{value} ({detail})" if detail else value
    who = f"{clean(one.model, 60)}, {subject}" if several else subject
    columns = ", ".join(clean(name, 40) for name in one.columns)
    parts = "1 part" if one.searched == 1 else f"{one.searched:,} parts"
    verb = "was" if one.searched == 1 else "were"
    searched = (
        f"{parts} of the data (by {columns}; {one.min_size:,} {thing}s or more) {verb} held "
        f"against the rest"
    )
    return SearchText(
        f"{who}: {searched}; {_result(one.found)}",
        tuple((clean(part.slice, 120), _worse(part, unit)) for part in one.found[:FOUND]),
        len(one.found) - len(one.found[:FOUND]),
    )


def _worse(part: FoundSlice, unit: str) -> str:
    values = f"{number(part.value, unit)} against {number(part.rest, unit)} of the rest"
    return f"{values}, n {part.n:,}, adjusted p {probability(part.p_adjusted)}"


def _result(found: Sequence[FoundSlice]) -> str:
    if not found:
        return "none is worse beyond chance."
    return f"{len(found):,} {'is' if len(found) == 1 else 'are'} worse beyond chance:"
