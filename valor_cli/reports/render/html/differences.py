"""Model comparisons shown in the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.sections.comparison.rows import (
    UNADJUSTED,
    ComparedValue,
    compared_values,
    headline_of,
    tested,
)
from valor_cli.reports.sections.formatting import clean
from valor_cli.reports.sections.grids import Key
from valor_cli.reports.sections.naming import frozen
from valor_cli.results import ComparedVerdict, ComparisonResult, RunResult

PAIRS = 66
"""Pairs of models compared in the report: those of twelve models."""

ACROSS = 6
"""Maximum number of pairs side by side; more become rows."""

BASELINE = 100
"""Further values listed of a baseline, beside the headline ones."""

_TURNED: dict[ComparedVerdict, ComparedVerdict] = {
    "better": "worse",
    "worse": "better",
    "cannot tell": "cannot tell",
    "not tested": "not tested",
}


class Differences(Struct, frozen=True):
    """The shown part of a run's comparisons.

    Attributes:
        of_two: By measure, the second of two models against the first; no others.
        pairs: The table of the pairs of more models; None where there are none.
        baseline: The models against those of an earlier run; None where there is none.
        bare: Whether any p-value of two models is unadjusted.
        tests: Which tests were made of how many, in words; empty where none was.
        level: The significance level, in words; empty if there were no tests.
    """

    of_two: dict[Key, ComparedValue]
    pairs: dict[str, Any] | None
    baseline: dict[str, Any] | None
    bare: bool
    tests: str
    level: str


def differences(result: RunResult) -> Differences:
    """The comparisons of whole runs; those of labels and slices are in results.json."""
    whole = [row for row in result.comparisons if row.label is None and row.slice is None]
    whole = [row for row in whole if row.model in result.models]
    within = [row for row in whole if not row.baseline and row.other in result.models]
    told = compared_values([_forward(row, result.models) for row in within])
    few = len(result.models) == 2
    against = [row for row in whole if row.baseline]
    return Differences(
        of_two={_key(one.row): one for one in told} if few else {},
        pairs=None if few or not told else _pairs(told, result),
        baseline=_baseline(against, result) if against else None,
        bare=_bare(told),
        tests=tested(told),
        level=f"{1 - told[0].row.level:.2g}" if told else "",
    )


def _key(row: ComparisonResult) -> Key:
    return row.metric, row.output, frozen(row.parameters)


def _forward(row: ComparisonResult, models: Sequence[str]) -> ComparisonResult:
    """The comparison with the later model as candidate."""
    if models.index(row.model) > models.index(row.other):
        return row
    low, high = row.interval or (0.0, 0.0)
    return replace(
        row,
        model=row.other,
        other=row.model,
        value=row.other_value,
        other_value=row.value,
        difference=None if row.difference is None else -row.difference,
        interval=None if row.interval is None else (-high, -low),
        wins=row.losses,
        losses=row.wins,
        effect=None if row.effect is None else -row.effect,
        verdict=_TURNED[row.verdict],
    )


def _pairs(told: Sequence[ComparedValue], result: RunResult) -> dict[str, Any]:
    """A table of pairs and headline values; of a run without those, of all values."""
    first, _ = headline_of([one.row for one in told], result.primary)
    wanted = {_key(row) for row in first} or {_key(one.row) for one in told}
    cells = {(_pair(one.row), _key(one.row)): one for one in told if _key(one.row) in wanted}
    pairs = list(dict.fromkeys(pair for pair, _ in cells))
    measures = {key: cells[pair, key].name for pair, key in cells}
    heads = [_heading(*pair) for pair in pairs[:PAIRS]]
    rows = [[cells.get((pair, key)) for pair in pairs[:PAIRS]] for key in measures]
    names = list(measures.values())
    across = len(heads) <= ACROSS
    if not across:
        rows = [list(column) for column in zip(*rows, strict=True)]
    return {
        "first": "Value" if across else "Models",
        "heads": heads if across else names,
        "rows": list(zip(names if across else heads, rows, strict=True)),
        "left_out": len(pairs) - len(heads),
        "unadjusted": _bare([one for row in rows for one in row if one]),
    }


def _bare(values: Sequence[ComparedValue]) -> bool:
    return any(one.p.endswith(UNADJUSTED) for one in values)


def _pair(row: ComparisonResult) -> tuple[str, str]:
    return row.model, row.other


def _heading(model: str, other: str) -> str:
    return f"{clean(model, 60)} against {clean(other, 60)}"


def _baseline(rows: Sequence[ComparisonResult], result: RunResult) -> dict[str, Any]:
    """The headline values first; the others, bounded, are folded."""
    told = {id(one.row): one for one in compared_values(rows)}
    first, others = headline_of(rows, result.primary)
    shown = others[: BASELINE if first else None]
    values = [told[id(row)] for row in rows]
    return {
        "leading": [told[id(row)] for row in first or others[:BASELINE]],
        "further": [told[id(row)] for row in shown] if first else [],
        "left_out": max(len(others) - BASELINE, 0),
        "renamed": any(row.model != row.other for row in rows),
        "unadjusted": _bare(values),
        "tests": tested(values),
        "level": f"{1 - rows[0].level:.2g}",
    }
