"""Coverage: how many samples have a value, by metric and model."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import NO_VALUE, capital, clean, covered, words
from valor_cli.reports.digests.naming import Names
from valor_cli.results import STATUSES, CoverageResult, RunResult

OK = "ok"

PARTIAL = "A percentage beside a value is the part of the samples that could be judged"
"""Said below values where some could not."""


class CoverageLine(Struct, frozen=True):
    """A metric and model: `counts` of samples by status, `share` with a value."""

    metric: str
    model: str
    counts: tuple[int, ...]
    share: str


class CoverageTable(Struct, frozen=True):
    """Samples without a value.

    Attributes:
        statuses: In words, those that occur, OK first.
        lines: Metrics and models that leave samples out, the most of them first.
        whole: How many metrics, models counted apart, leave none out.
    """

    statuses: tuple[str, ...]
    lines: tuple[CoverageLine, ...]
    whole: int

    @property
    def remark(self) -> str:
        """A remark on what the table omits."""
        if not self.lines:
            return "Every metric has a value of every sample."
        if not self.whole:
            return ""
        if self.whole == 1:
            return "The other metric and model has a value of every sample."
        return f"The other {self.whole:,} pairs of metric and model have a value of every sample."


def coverage_table(result: RunResult) -> CoverageTable:
    """Coverage of the whole run, without slices."""
    rows = [row for row in result.coverage if row.slice is None]
    names = Names((row.metric, row.parameters) for row in rows)
    partial = [row for row in rows if any(name != OK and n for name, n in row.statuses.items())]
    seen = {name for row in partial for name, count in row.statuses.items() if count}
    statuses = [name for name in STATUSES if name in seen or name == OK]
    partial.sort(key=lambda row: (row.coverage is None, row.coverage or 0.0))
    return CoverageTable(
        tuple("OK" if name == OK else capital(words(name)) for name in statuses),
        tuple(_line(row, statuses, names) for row in partial),
        len(rows) - len(partial),
    )


def _line(row: CoverageResult, statuses: Sequence[str], names: Names) -> CoverageLine:
    return CoverageLine(
        names.title(row.metric, "", row.parameters),
        clean(row.model, 60),
        tuple(row.statuses.get(name, 0) for name in statuses),
        NO_VALUE if row.coverage is None else covered(row.coverage),
    )
