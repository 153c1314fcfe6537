"""Describe how intervals were computed."""

from __future__ import annotations

from collections.abc import Iterable

from valor_cli.reports.digests.formatting import clean
from valor_cli.results import FEW, MetricResult, RunResult


def interval_text(result: RunResult, unit: str) -> str:
    """How intervals were computed: "95% intervals by the bootstrap over images (200 resamples, seed
    0)".

    Args:
        result: The run.
        unit: What a single sample is called.
    """
    how = result.intervals
    if how is None:
        return ""
    methods = {row.method for row in result.metrics if row.interval is not None}
    over = f"groups of {clean(how.group, 40)}" if how.group else f"{unit}s"
    drawn = f"the bootstrap over {over} ({how.resamples:,} resamples, seed {how.seed})"
    level = f"{how.level * 100:g}% intervals"
    if methods == {"wilson"}:
        return f"{level} by Wilson's method"
    return f"{level} by {drawn}" + (", of proportions by Wilson's" if "wilson" in methods else "")


def small_n_unit(result: RunResult, row: MetricResult, n_name: str, unit: str) -> str:
    """The unit of which a row has few: that of its n, or the resampled one.

    Args:
        result: The run.
        row: The row.
        n_name: What the n of values counts that are not means over samples.
        unit: What a single sample is called.
    """
    of_samples = any(one.metric == row.metric for one in result.samples)
    if row.n is not None and row.n < FEW and n_name != "n" and not of_samples:
        return n_name
    grouped = result.intervals is not None and result.intervals.group
    return "groups" if grouped or any(one.groups for one in result.samples) else f"{unit}s"


def small_n_note(counted: Iterable[str]) -> str:
    """The explanation of the small-n mark."""
    return f"rests on fewer than {FEW} {' or '.join(counted)}"
