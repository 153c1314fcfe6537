"""A run in; how its intervals were found, in words, out."""

from __future__ import annotations

from valor_cli.reports.formatting import plain
from valor_cli.results import FEW, RunResult


def intervals_told(result: RunResult, unit: str) -> str:
    """One clause, such as "95% intervals by the bootstrap over images (200 resamples, seed 0)".

    Args:
        result: The run.
        unit: What a single sample is called.
    """
    how = result.intervals
    if how is None:
        return ""
    methods = {row.method for row in result.metrics if row.interval is not None}
    over = f"groups of {plain(how.group, 40)}" if how.group else f"{unit}s"
    drawn = f"the bootstrap over {over} ({how.resamples:,} resamples, seed {how.seed})"
    level = f"{how.level * 100:g}% intervals"
    if methods == {"wilson"}:
        return f"{level} by Wilson's method"
    return f"{level} by {drawn}" + (", of proportions by Wilson's" if "wilson" in methods else "")


def few_told(result: RunResult, unit: str) -> str:
    """What the mark of a small n means."""
    group = result.intervals.group if result.intervals else None
    return f"rests on fewer than {FEW} {'groups' if group else f'{unit}s'}"
