"""What `valor calibrate` and `valor estimate` show: agreement of judges with people, and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.digests.formatting import (
    NO_VALUE,
    UNKNOWN,
    clean,
    money,
    number,
    plural,
    span,
)
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Note, Table
from valor_cli.results import CalibrationResult, UsageResult, totals
from valor_cli.results.document import dumps
from valor_cli.results.identity import frozen

LISTED = 5
"""Disagreements that are named."""

LARGEST = 11
"""Categories of a matrix that is drawn, at most."""

_WORDS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"))
"""Landis and Koch, The measurement of observer agreement for categorical data, 1977."""

_NOTE = (
    "Assumes replies of typical length, no retries, and four bytes per token. Calls that several "
    "metrics share are counted with the first. Embeddings, and replies cached by earlier runs, "
    "are not counted."
)


def of_metric(row: CalibrationResult) -> list[Block]:
    """The facts of a metric, and its matrix where that is small."""
    facts = Items([Item(told, name) for name, told in _facts(row)])
    return [facts, _matrix(row)] if row.n and len(row.labels) <= LARGEST else [facts]


def overview(rows: Sequence[CalibrationResult]) -> Table:
    """A row for each metric, model and judge."""
    names = Names((row.metric, row.parameters) for row in rows)
    several = any(row.judge is not None for row in rows)
    texts = ("metric", "model", *(("judge",) if several else ()))
    columns = [Column(name, "text") for name in texts]
    columns += map(Column, ("n", "agreement", "kappa", "weighted kappa", "Spearman"))
    lines = [
        [
            Cell(name_of(row, names)),
            Cell("all" if row.model is None else clean(row.model)),
            *([Cell("all" if row.judge is None else clean(row.judge))] if several else []),
            Cell(f"{row.n:,}"),
            Cell(number(row.agreement)),
            Cell(number(row.kappa), small=span(row.kappa_interval)),
            Cell(number(row.weighted_kappa)),
            Cell(number(row.correlation)),
        ]
        for row in rows
    ]
    return Table(columns, lines)


def wholes(rows: Sequence[CalibrationResult]) -> list[CalibrationResult]:
    """The row of each metric that has all models and judges together, which comes first."""
    found: dict[object, CalibrationResult] = {}
    for row in rows:
        found.setdefault((row.metric, frozen(row.parameters), row.threshold), row)
    return list(found.values())


def name_of(row: CalibrationResult, names: Names) -> str:
    """The judge's own name; otherwise the metric with its distinguishing parameters."""
    own = row.parameters.get("name")
    if isinstance(own, str):
        return clean(own, 120)
    return clean(f"{row.metric} {names.detail(row.metric, row.parameters)}".rstrip(), 120)


def _facts(row: CalibrationResult) -> Iterator[tuple[str, str]]:
    missing = f", {row.unjudged:,} more without a verdict of the judge" if row.unjudged else ""
    yield "samples", f"{row.n:,} that both judged{missing}"
    if not row.n:
        return
    yield "Cohen's kappa", _kappa(row)
    if row.human_mean is not None:
        what = "pass" if row.scale == "verdicts" else "mean"
        yield what, f"human {number(row.human_mean)}, judge {number(row.judge_mean)}"
    if row.self_agreement is not None:
        yield "self-agreement", f"{number(row.self_agreement)} of the pairs of its repeats agree"
    if row.disagreements:
        count = row.n - round((row.agreement or 0) * row.n)
        named = ", ".join(clean(str(one), 40) for one in row.disagreements[:LISTED])
        more = f" … {count:,} in all" if count > LISTED else ""
        yield "disagree on", named + more


def _kappa(row: CalibrationResult) -> str:
    if row.kappa is None:
        return f"{NO_VALUE} (all are in one category)"
    word = next((word for least, word in _WORDS if row.kappa > least), "slight or none")
    return f"{number(row.kappa)} {span(row.kappa_interval)}".rstrip() + f", {word}"


def _matrix(row: CalibrationResult) -> Table:
    columns = [Column("human ↓  judge →", "text")]
    columns += [Column(clean(label, 20)) for label in row.labels]
    rows = [
        [
            Cell(clean(label, 20), "quiet"),
            *(
                Cell(f"{count:,}", "good" if at == other else "" if count else "quiet")
                for other, count in enumerate(counts)
            ),
        ]
        for at, (label, counts) in enumerate(zip(row.labels, row.matrix, strict=True))
    ]
    return Table(columns, rows)


def estimated(usage: Sequence[UsageResult], samples: int) -> list[Block]:
    """The calls, tokens and cost of each metric and judge, and of all."""
    columns = [Column("metric", "text"), Column("judge", "text")]
    columns += map(Column, ("calls", "cached", "tokens in", "tokens out", "cost"))
    groups: dict[tuple[str, str], list[UsageResult]] = {}
    for row in usage:
        groups.setdefault((row.metric, row.judge), []).append(row)
    rows = [
        [Cell(clean(metric)), Cell(clean(judge)), *map(Cell, _costs(own))]
        for (metric, judge), own in groups.items()
    ]
    if len(groups) > 1:
        rows.append([Cell(told, "strong") for told in ("total", "", *_costs(usage))])
    title = Note(f"Estimate for {plural(samples, 'sample')}; nothing was sent", "strong")
    return [title, Table(columns, rows), Note(_NOTE)]


def _costs(rows: Sequence[UsageResult]) -> tuple[str, ...]:
    whole = totals(rows)
    return (
        f"{whole.calls:,}",
        f"{whole.cached:,}" if whole.cached else NO_VALUE,
        f"{whole.tokens_in or 0:,}",
        f"{whole.tokens_out or 0:,}",
        UNKNOWN if whole.cost_usd is None else money(whole.cost_usd),
    )


def estimated_json(usage: Sequence[UsageResult], samples: int) -> bytes:
    """The same for programs.

    `{"samples", "calls", "cached", "tokens_in", "tokens_out", "cost_usd", "usage": […]}`: sums, and
    the same by `metric`, `model` and `judge`. `calls` are all requests, `cached` those of them that
    an earlier one of the run has answered; `cost_usd` is null where a price is not known.
    """
    whole = totals(usage)
    kept = ("calls", "cached", "tokens_in", "tokens_out", "cost_usd")
    rows = [
        {name: getattr(row, name) for name in ("metric", "model", "judge", *kept)} for row in usage
    ]
    sums = {name: getattr(whole, name) for name in kept}
    return dumps({"samples": samples, **sums, "usage": rows})
