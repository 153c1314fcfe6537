"""Judge usage and its totals, for reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from msgspec import Struct

from valor_cli.reports.digests.formatting import NO_VALUE, UNKNOWN, clean, money
from valor_cli.results import RunResult, UsageResult, totals

TOTAL = "total"


class UsageLine(Struct, frozen=True):
    """Usage of one judge, as text; `metric` and `model` are empty if combined.

    Sums with an unknown summand are shown as lower bounds, "≥ $0.50".
    """

    judge: str
    metric: str
    model: str
    calls: str
    cached: str
    failed: str
    tokens_in: str
    tokens_out: str
    cost: str
    saved: str


class UsageTable(Struct, frozen=True):
    """Judge usage.

    Attributes:
        judges: Their names.
        lines: By judge and, unless that were too many, by metric and by model.
        total: All of it; None where one line is all.
        by_metric, by_model: Whether each has lines of its own.
        left_out: Lines that are not listed.
    """

    judges: tuple[str, ...]
    lines: tuple[UsageLine, ...]
    total: UsageLine | None
    by_metric: bool
    by_model: bool
    left_out: int


def usage_table(
    result: RunResult, most: int, *, by_metric: bool = True, by_model: bool = True
) -> UsageTable | None:
    """At most so many lines; models, then metrics, are merged if there are more.

    None where nobody was asked. Of one judge alone metrics are never together.
    """
    rows = result.run.usage
    if not rows:
        return None
    judges = list(dict.fromkeys(row.judge for row in rows))
    by_model = by_model and len(result.models) > 1
    by_metric = by_metric or len(judges) == 1
    groups = _grouped(rows, by_metric, by_model)
    if by_model and len(groups) > most:
        by_model = False
        groups = _grouped(rows, by_metric, by_model)
    if len(judges) > 1 and len(groups) > most:
        by_metric = False
        groups = _grouped(rows, by_metric, by_model)
    ordered = sorted(groups, key=lambda names: judges.index(names[0]))
    return UsageTable(
        tuple(clean(judge, 60) for judge in judges),
        tuple(_line(*names, groups[names]) for names in ordered[:most]),
        _line("", TOTAL, "", rows) if len(groups) > 1 else None,
        by_metric,
        by_model,
        max(len(groups) - most, 0),
    )


def _grouped(
    rows: Sequence[UsageResult], by_metric: bool, by_model: bool
) -> dict[tuple[str, str, str], list[UsageResult]]:
    groups: dict[tuple[str, str, str], list[UsageResult]] = {}
    for row in rows:
        names = (row.judge, row.metric if by_metric else "", row.model if by_model else "")
        groups.setdefault(names, []).append(row)
    return groups


def _line(judge: str, metric: str, model: str, rows: Sequence[UsageResult]) -> UsageLine:
    whole = totals(rows)
    return UsageLine(
        clean(judge, 60) if judge else "",
        clean(metric, 60) if metric else "",
        clean(model, 60) if model else "",
        f"{whole.calls:,}",
        _count(whole.cached),
        _count(whole.failed),
        _tokens([row.tokens_in for row in rows]),
        _tokens([row.tokens_out for row in rows]),
        _dollars([row.cost_usd for row in rows]),
        _dollars([row.saved_usd for row in rows]) if whole.cached else NO_VALUE,
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else NO_VALUE


def _tokens(values: Iterable[int | None]) -> str:
    values = list(values)
    known = [value for value in values if value is not None]
    return _at_least(f"{sum(known):,}", len(known), len(values))


def _dollars(values: Iterable[float | None]) -> str:
    values = list(values)
    known = [value for value in values if value is not None]
    return _at_least(money(fsum(known)), len(known), len(values))


def _at_least(text: str, known: int, count: int) -> str:
    """The sum of the known parts, which is not the whole where there are others."""
    if known == count:
        return text
    return f"≥ {text}" if known else UNKNOWN


def stopped(result: RunResult) -> str:
    """Why requests were stopped, how far the run got and how to resume; empty if complete."""
    if not result.run.stopped:
        return ""
    parts = [clean(result.run.stopped, 200)]
    samples, reached = _reached(result)
    if samples:
        parts.append(f"the judges got to {reached:,} of {samples:,} samples")
    if not result.run.usage and "judge" not in result.settings:
        # No ledger knows of models of this machine; of them vectors alone are kept.
        kept = ": vectors that were made are kept" if "embedder" in result.settings else ""
        return "; ".join([*parts, f"run it again{kept}"])
    of_money = result.run.stopped_by == "budget"
    return "; ".join([*parts, "raise budget_usd, and " * of_money + "--resume goes on"])


def _reached(result: RunResult) -> tuple[int, int]:
    """How many samples there are, and how many some metric that asks judges was computed of."""
    asked = {row.metric for row in result.run.usage}
    samples = reached = 0
    for model in result.models:
        rows = [
            row
            for row in result.coverage
            if row.model == model and row.slice is None and row.metric in asked
        ]
        samples += max((row.samples for row in rows), default=0)
        reached += max((row.samples - row.statuses.get("skipped", 0) for row in rows), default=0)
    return samples, reached
