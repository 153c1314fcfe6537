"""Comparisons and baseline in the terminal summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from valor_cli.reports.render.terminal.table_width import Fitting, one_line, table
from valor_cli.reports.render.terminal.tables import shown_lines
from valor_cli.reports.sections.comparison.rows import (
    MARKS,
    OF_BOTH,
    ComparedValue,
    compared_values,
    counts_of,
    headline_of,
    in_words,
    probability,
)
from valor_cli.reports.sections.digest import Digest
from valor_cli.reports.sections.formatting import clean, number
from valor_cli.reports.sections.grids import FEW_MARK, few_of
from valor_cli.reports.sections.intervals import small_n_note
from valor_cli.reports.sections.naming import output_name
from valor_cli.results import ComparisonResult, FoundSlice, RunResult, SliceSearchResult

SLICE = 60
"""Characters of a slice's name."""


def pair_lines(result: RunResult) -> list[str]:
    """Pairwise results of more than two models, in words; the clearest first.

    "large better than small on 9 of 11 headline values, worse on 1"; those without any clear
    difference stand together in the last line.
    """
    rows = [row for row in result.comparisons if not row.baseline]
    leading, others = headline_of(rows, result.primary)
    of_pair: dict[frozenset[str | None], list[ComparisonResult]] = {}
    for row in leading or others:
        of_pair.setdefault(frozenset((row.model, row.other)), []).append(row)
    what = "headline values" if leading else "values"
    found: list[tuple[int, str]] = []
    unclear: list[str] = []
    for first, second in combinations(result.models, 2) if len(result.models) > 2 else ():
        both = of_pair.get(frozenset((first, second)), [])
        wins, of = (_wins(both, second, first), _wins(both, first, second)), len(both)
        ahead, behind = (second, first) if wins[0] >= wins[1] else (first, second)
        names = clean(ahead, 24), clean(behind, 24)
        if not of:
            continue
        if not any(wins):
            unclear.append(" – ".join(reversed(names)))
            continue
        worse = f", worse on {min(wins)}" if min(wins) else ""
        line = f"{names[0]} better than {names[1]} on {max(wins)} of {of} {what}{worse}"
        found.append((min(wins) - max(wins), line))
    lines = [line for _, line in sorted(found, key=lambda one: one[0])]
    return lines + ([f"no clear difference: {', '.join(unclear)}"] if unclear else [])


def _wins(rows: Sequence[ComparisonResult], model: str, other: str) -> int:
    """The number of values on which a model is better than another, in either order."""
    return sum(
        (row.model, row.other, row.verdict) in ((model, other, "better"), (other, model, "worse"))
        for row in rows
    )


def pairs(lines: Sequence[str], most: int) -> Iterator[RenderableType]:
    """The first of these lines."""
    if lines:
        yield Text("Compared", style="bold")
        for line in lines[:most]:
            yield one_line(f"  {line}")
        if len(lines) > most:
            yield Text(f"  … {len(lines) - most} more", style="dim")


class Baseline(Struct, frozen=True):
    """The comparison of models with the baseline: `leading` values, and the outcome."""

    leading: Sequence[ComparedValue]
    counts: str


def against_baseline(result: RunResult) -> Baseline | None:
    """Headline values, otherwise all of the whole run, worse first; None without a baseline."""
    rows = [row for row in result.comparisons if row.baseline]
    if not rows:
        return None
    leading, others = headline_of(rows, result.primary)
    whole = [row for row in others if row.label is None and row.slice is None]
    shown = leading or whole or rows
    order = list(MARKS)
    told = sorted(compared_values(shown), key=lambda one: order.index(one.outcome))
    return Baseline(told, in_words(counts_of(shown)))


def baseline(held: Baseline | None, most: int, *, many: bool) -> Iterator[RenderableType]:
    """Difference, interval, p-value and verdict of each value."""
    if held is None:
        return
    yield Text.assemble(("Against the baseline", "bold"), f"  {held.counts}")
    shown = held.leading[:most]
    if shown:
        # What shows two runs is imported where there are two: 5 ms.
        from valor_cli.reports.render.terminal.compared import values_table

        yield values_table("baseline", "now", shown, named=many)
    if len(held.leading) > most:
        yield Text(f"  … {len(held.leading) - most} more", style="dim")


def found_slices(result: RunResult) -> list[tuple[SliceSearchResult, FoundSlice]]:
    """Slices reported by searches, the worst of each search first."""
    ranked = [(rank, one, part) for one in result.searches for rank, part in enumerate(one.found)]
    return [(one, part) for _, one, part in sorted(ranked, key=lambda found: found[0])]


def searched(
    result: RunResult, found: Sequence[tuple[SliceSearchResult, FoundSlice]], most: int
) -> Iterator[RenderableType]:
    """The worst slices, with their value and that of the rest."""
    if not result.searches:
        return
    parts = sum(one.searched for one in result.searches)
    of = f"{parts:,} part{'' if parts == 1 else 's'} searched"
    if not found:
        yield Text(f"No slice found that is worse than the rest ({of})", style="dim")
        return
    yield Text.assemble(("Worst slices found", "bold"), f"  {len(found):,} of {of}")
    units = {(row.metric, row.output): row.unit for row in result.metrics}
    metrics = {(one.metric, one.output) for one, _ in found}
    made = table("", "value", "rest", "p", "n", width=12)
    for one, part in found[:most]:
        unit = units.get((one.metric, one.output), "fraction")
        of_it = (
            [clean(output_name(one.metric, one.output), 40)]
            if len(metrics) > 1 or one is found[0][0]
            else []
        )
        of_it += [clean(one.model, 24)] if len(result.models) > 1 else []
        name = Text(clean(part.slice, SLICE))
        name.append("".join(f"  {word}" for word in of_it), style="dim")
        cells = number(part.value, unit), number(part.rest, unit), probability(part.p_adjusted)
        made.add_row(name, *map(Text, (*cells, f"{part.n:,}")))
    yield Fitting([[made]])
    if len(found) > most:
        yield Text(f"  … {len(found) - most:,} more", style="dim")


def legend(result: RunResult, digest: Digest, room: Mapping[str, int], *, compared: bool) -> str:
    """A line that explains marks and p-values; empty if there are none.

    Args:
        result, told: The run.
        room: How many lines of the headline, and of slices, are shown.
        compared: Whether values of two models are.
    """
    few = few_of(shown_lines(digest, room["headline"], room["slices"]))
    notes = [f"{FEW_MARK} {small_n_note(few)}"] if few else []
    if compared or any(row.baseline and row.p_adjusted is not None for row in result.comparisons):
        notes.append("p by Holm's method over the headline values")
    if any(row.unpaired and row.n for row in result.comparisons):
        notes.append(OF_BOTH)
    return " · ".join(notes)
