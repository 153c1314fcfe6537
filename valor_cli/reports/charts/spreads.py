"""Values of single samples in; charts of how they spread out: lines along their order."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.reports.charts.lines import lined, listed
from valor_cli.reports.distribution import MARKS, Distribution
from valor_cli.reports.plots import Drawing, path

_MEDIAN = [name for _, name in MARKS].index("median")


def spread(part: Distribution, models: Sequence[str], unit: str) -> Drawing:
    """The values in their order, lowest first, of each model."""
    lines = [(one.model, path(one.quantiles, one.values)) for one in part.spreads]
    told = (
        f"{models[one.model]}: lowest {one.marks[0]}, median {one.marks[_MEDIAN]}, "
        f"highest {one.marks[-1]}"
        for one in part.spreads
    )
    return lined("spread", lines, listed(told), (f"part of the {unit}s →", part.title))
