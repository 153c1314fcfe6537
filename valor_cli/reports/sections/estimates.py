"""Judge cost estimates as a terminal table or JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.digests.formatting import NO_VALUE, UNKNOWN, clean, money
from valor_cli.results import UsageResult, totals
from valor_cli.results.document import dumps


def estimated(usage: Sequence[UsageResult], samples: int) -> RenderableType:
    """The calls, tokens and cost of each metric and judge, and of all."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("metric", "judge"):
        table.add_column(heading, overflow="fold")
    for heading in ("calls", "of them kept", "tokens in", "tokens out", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    groups: dict[tuple[str, str], list[UsageResult]] = {}
    for row in usage:
        groups.setdefault((row.metric, row.judge), []).append(row)
    for (metric, judge), rows in groups.items():
        table.add_row(clean(metric), clean(judge), *_cells(rows))
    if len(groups) > 1:
        table.add_row("total", "", *_cells(usage), style="bold")
    noun = "sample" if samples == 1 else "samples"
    title = Text(f"Estimate for {samples:,} {noun}; nothing was asked", style="bold")
    note = Text(
        "Replies of likely length, none asked for twice; four bytes a token. What several metrics "
        "need is counted with the first; the same request costs nothing again. Vectors of texts, "
        "and what earlier runs have kept, are not counted.",
        style="dim",
    )
    return Group(title, table, note)


def _cells(rows: Sequence[UsageResult]) -> tuple[str, ...]:
    whole = totals(rows)
    return (
        f"{whole.calls:,}",
        f"{whole.cached:,}" if whole.cached else NO_VALUE,
        f"{whole.tokens_in or 0:,}",
        f"{whole.tokens_out or 0:,}",
        UNKNOWN if whole.cost_usd is None else money(whole.cost_usd),
    )


def as_json(usage: Sequence[UsageResult], samples: int) -> bytes:
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
