"""Results: the headline values of a run, and how its models compare with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from valor_cli.reports.charts.bars import barred, group_of
from valor_cli.reports.digests import grids
from valor_cli.reports.digests.compared_values import (
    OF_BOTH,
    UNADJUSTED,
    ComparedValue,
    compared_values,
    tested,
)
from valor_cli.reports.digests.digest import SIDE_BY_SIDE, Digest, difference, ranking
from valor_cli.reports.digests.formatting import plural, signed
from valor_cli.reports.digests.grids import (
    ARROWS,
    FEW_MARK,
    Measure,
    few_of,
    interval_text,
    small_n_note,
)
from valor_cli.reports.document import Block, Cell, Chart, Charts, Column, Note, Section, Table
from valor_cli.reports.sections.tables import (
    change_cell,
    measure_column,
    p_cell,
    value_cell,
    verdict_cell,
)
from valor_cli.results import ComparedVerdict, ComparisonResult
from valor_cli.results.identity import ValueKey, value_key

PARTIAL = "a percentage beside a value is the share of samples that have one"
"""Said below values where some samples have none."""

RANKED = 6
"""Measures beside each model where models are ranked; the others are folded."""

DRAWN = 12
"""Measures drawn as bars."""

REASONS = 2
"""Reasons told why there is no verdict."""

_TURNED: dict[ComparedVerdict, ComparedVerdict] = {"better": "worse", "worse": "better"}

Row = tuple[Measure, Sequence[grids.Cell]]


def headline(d: Digest) -> Section:
    """The headline values first; the others are folded."""
    if not d.headline.measures:
        blocks: tuple[Block, ...] = (
            Note("No overall values; the labels below have what was found.", screen=(1, 1)),
        )
        return Section("Results", "results", blocks, plain=True)
    rows = list(zip(d.headline.measures, d.headline.lines[0].cells, strict=True))
    compared = changes(d)
    many = len(d.models) > SIDE_BY_SIDE
    leading = min(d.leading or len(rows), RANKED if many else len(rows))
    table = _ranked if many else _beside
    first = table(rows[:leading], d, compared)
    blocks = (replace(first, screen=(6, 12), caption="Results"), *_notes(d, rows, compared))
    rest = rows[leading:]
    if rest:
        folded = plural(len(rest), "further value")
        blocks += (replace(table(rest, d, compared), folded=folded, left_out=d.unlisted),)
    if len(d.models) > 1:
        blocks += (Charts([_bars(rows[: min(leading, DRAWN)], d)], folded="As bars"),)
    return Section("Results", "results", blocks, plain=True)


def changes(d: Digest) -> dict[ValueKey, ComparedValue]:
    """By measure: the second of two models against the first, or one model against the baseline."""
    models = d.result.models
    whole = [row for row in d.result.comparisons if row.label is None and row.slice is None]
    if len(models) == 2:
        found = [forward(row, models) for row in whole if not row.baseline]
    elif len(models) == 1:
        found = [row for row in whole if row.baseline]
    else:
        found = []
    return {value_key(one.row): one for one in compared_values(found)}


def forward(row: ComparisonResult, models: Sequence[str]) -> ComparisonResult:
    """The comparison with the later model as candidate."""
    if row.other not in models or models.index(row.model) > models.index(row.other):
        return row
    ends = None if row.interval is None else (-row.interval[1], -row.interval[0])
    return replace(
        row,
        model=row.other,
        other=row.model,
        value=row.other_value,
        other_value=row.value,
        difference=None if row.difference is None else -row.difference,
        interval=ends,
        wins=row.losses,
        losses=row.wins,
        effect=None if row.effect is None else -row.effect,
        verdict=_TURNED.get(row.verdict, row.verdict),
    )


def _beside(rows: Sequence[Row], d: Digest, compared: Mapping[ValueKey, ComparedValue]) -> Table:
    """A row for each measure, models side by side, with the change between two of them."""
    two = len(d.models) == 2
    held = bool(compared) and not two
    columns = [Column("", "text")]
    if held:
        columns.append(Column("baseline", drop=3))
    spare = two and bool(compared)
    columns += [
        Column(model, drop=_late(d, at), model=True, spare=spare)
        for at, model in enumerate(d.models)
    ]
    if two or held:
        columns.append(Column("difference" if two else "change", drop=20))
    if compared:
        says = f"{d.models[1]} is" if two else "now it is"
        columns += [Column("p", detail=_adjusted(compared), drop=2), Column(says, "text", drop=19)]
    lines = []
    for measure, cells in rows:
        one = compared.get(measure.key)
        line = [Cell(_named(measure))]
        if held:
            line.append(Cell(one.other if one else ""))
        line += [value_cell(cell, measure) for cell in cells]
        if two or held:
            line.append(change_cell(one) if one else plain_change(cells, measure))
        if compared:
            line += [p_cell(one), verdict_cell(one)]
        lines.append(line)
    return Table(columns, lines)


def _adjusted(compared: Mapping[ValueKey, ComparedValue]) -> str:
    """How p is adjusted: "Holm"; empty if it is not."""
    return "Holm" if any(one.row.p_adjusted is not None for one in compared.values()) else ""


def _late(d: Digest, at: int) -> int:
    """The order in which models are left out where there is no room: the last first."""
    return 0 if at == 0 else 10 + len(d.models) - at if len(d.models) > 2 else 18


def _named(measure: Measure) -> str:
    return f"{measure} {ARROWS[measure.direction]}".rstrip()


def plain_change(cells: Sequence[grids.Cell], measure: Measure) -> Cell:
    """The difference of two models, without a test."""
    change = difference(cells)
    good = change is not None and (change > 0) == (measure.direction == "higher")
    tone = "" if not change or measure.direction is None else "good" if good else "bad"
    return Cell(signed(change, measure.unit), tone)  # type: ignore[arg-type]


def _ranked(rows: Sequence[Row], d: Digest, compared: Mapping[ValueKey, ComparedValue]) -> Table:
    """A row for each model, best first."""
    columns = [
        measure_column(measure, drop=0 if not at else len(rows) - at)
        for at, (measure, _) in enumerate(rows)
    ]
    lines = [
        [Cell(d.models[model]), *(value_cell(cells[model], measure) for measure, cells in rows)]
        for model in ranking(d.headline, len(d.models))
    ]
    return Table([Column("model, best first", "text"), *columns], lines)


def _notes(
    d: Digest, rows: Sequence[Row], compared: Mapping[ValueKey, ComparedValue]
) -> list[Note]:
    """How the numbers came about: a few words on a terminal, more on a page."""
    few = few_of(d.headline.lines)
    marks = [f"{FEW_MARK} {small_n_note(few)}"] if few else []
    both = [OF_BOTH] if any(one.row.unpaired and one.row.n for one in compared.values()) else []
    partial = [PARTIAL] if d.partial else []
    short = [*marks, *both, *partial]
    notes = [Note(" · ".join(short), screen=(1, 1))] if short else []
    told = []
    if any(cell.interval for _, cells in rows for cell in cells):
        told.append(interval_text(d.result, d.unit))
    if compared:
        level = f"{1 - next(iter(compared.values())).row.level:.2g}"
        found = tested(list(compared.values()))
        told.append(f"better or worse where p is below {level}" + (f"; {found}" if found else ""))
        if _adjusted(compared):
            told.append("p adjusted by Holm's method over the headline values")
        if any(one.p.endswith(UNADJUSTED) for one in compared.values()):
            told.append(f"{UNADJUSTED} not adjusted")
        told += why(compared.values())
    told = [one for one in told if one]
    return [*notes, *([Note("; ".join(told) + ".")] if told else [])]


def why(values: Iterable[ComparedValue]) -> Iterator[str]:
    """Why differences have no verdict, the most frequent reasons first."""
    unclear = Counter(
        (one.outcome, one.reason)
        for one in values
        if one.reason and one.outcome in ("cannot tell", "not tested")
    )
    for (outcome, reason), _ in unclear.most_common(REASONS):
        yield f"{outcome}: {reason}"


def _bars(rows: Sequence[Row], d: Digest) -> Chart:
    """The values as bars with their intervals."""
    shown = range(len(d.models))
    groups = [group_of(measure, cells, shown) for measure, cells in rows]
    return replace(barred(groups, d.models), title="Results", kind="leaderboard")
