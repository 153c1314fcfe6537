"""Agreement of judges with human labels, as terminal tables or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.digests.formatting import NO_VALUE, clean, number
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import CalibrationResult, UsageResult
from valor_cli.results.document import dumps

LISTED = 5
"""Disagreements that are named."""

LARGEST = 11
"""Categories of a matrix that is drawn, at most."""

_WORDS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"))
"""Landis and Koch, The measurement of observer agreement for categorical data, 1977."""


def calibrated(rows: Sequence[CalibrationResult]) -> RenderableType:
    """A table of all metrics, then one per metric: human labels against all judges together."""
    names = Names((row.metric, row.parameters) for row in rows)
    wholes: dict[object, CalibrationResult] = {}
    for row in rows:
        # The whole of a metric comes first.
        wholes.setdefault((row.metric, frozen(row.parameters), row.threshold), row)
    blocks = (part for row in wholes.values() for part in _block(row, _name(row, names)))
    return Group(_table(rows, names), *blocks)


def _table(rows: Sequence[CalibrationResult], names: Names) -> RenderableType:
    several = any(row.judge is not None for row in rows)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("metric", "answers of", *(("judge",) if several else ())):
        table.add_column(heading, overflow="fold")
    for heading in ("n", "agreement", "kappa", "95 %", "weighted", "Spearman"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            _name(row, names),
            "all models" if row.model is None else clean(row.model),
            *(("together" if row.judge is None else clean(row.judge),) if several else ()),
            f"{row.n:,}",
            number(row.agreement),
            number(row.kappa),
            NO_VALUE if row.kappa_interval is None else _span(row.kappa_interval),
            number(row.weighted_kappa),
            number(row.correlation),
        )
    return table


def _name(row: CalibrationResult, names: Names) -> str:
    """The name in the config; otherwise the metric with its distinguishing parameters."""
    own = row.parameters.get("name")
    told = own if isinstance(own, str) else names.detail(row.metric, row.parameters)
    return clean(f"{row.metric} {told}".rstrip(), 120)


def _span(around: tuple[float, float]) -> str:
    return f"{number(around[0])} … {number(around[1])}"


def _block(row: CalibrationResult, name: str) -> Iterator[RenderableType]:
    yield Text()
    yield Text(f"{name} against {clean(row.column)}", "bold")
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column()
    facts.add_column(overflow="fold")
    for name, said in _facts(row):
        facts.add_row(Text(f"  {name}"), Text(said))
    yield facts
    if row.n and len(row.labels) <= LARGEST:
        yield _matrix(row)


def _facts(row: CalibrationResult) -> Iterator[tuple[str, str]]:
    missing = f", {row.unjudged:,} more without a verdict of the judge" if row.unjudged else ""
    yield "samples", f"{row.n:,} that both judged{missing}"
    if not row.n:
        return
    yield "Cohen's kappa", _kappa(row)
    if row.human_mean is not None:
        what = "pass" if row.scale == "verdicts" else "mean"
        yield what, f"people {number(row.human_mean)}, judge {number(row.judge_mean)}"
    if row.self_agreement is not None:
        yield "with itself", f"{number(row.self_agreement)} of pairs of its own repeats agree"
    if row.disagreements:
        count = row.n - round((row.agreement or 0) * row.n)
        named = ", ".join(clean(str(one), 40) for one in row.disagreements[:LISTED])
        more = f" … {count:,} in all" if count > LISTED else ""
        yield "differ on", named + more


def _kappa(row: CalibrationResult) -> str:
    if row.kappa is None:
        return f"{NO_VALUE} (all say the same one category)"
    word = next((word for least, word in _WORDS if row.kappa > least), "slight or none")
    return f"{number(row.kappa)}, {word}"


def _matrix(row: CalibrationResult) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("  people ↓  judge →", style="dim", no_wrap=True)
    for label in row.labels:
        table.add_column(clean(label, 20), justify="right", no_wrap=True)
    for at, (label, counts) in enumerate(zip(row.labels, row.matrix, strict=True)):
        cells = [
            Text(f"{count:,}", "green" if at == other else "" if count else "dim")
            for other, count in enumerate(counts)
        ]
        table.add_row(f"  {clean(label, 20)}", *cells)
    return table


def as_json(rows: Sequence[CalibrationResult], usage: Sequence[UsageResult]) -> bytes:
    """The same as JSON.

    `{"calibrations": […], "usage": […]}`: a `CalibrationResult` each, in the order of the table,
    with all its fields by their names (`model` null: all models together; `judge` null: all judges
    together); and a `UsageResult` for each metric, model and judge.
    """
    return dumps({"calibrations": rows, "usage": usage})
