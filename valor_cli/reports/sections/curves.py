"""Curves of the run and of its labels, for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from valor_cli.reports.charts.curves import COUNTS, ROC, choices, counted, figures
from valor_cli.reports.charts.plots import PLOT, Column
from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.document import Curves, Section

COUNTED = 4
"""Models whose counts are drawn; the table has all of them."""

LIMIT = 150_000
"""Numbers embedded at most, about 1 MB; the page says how many curves it left out."""

STATIC = 3
"""Labels whose charts are drawn without the script."""

Lines = Sequence[Sequence[Sequence[int | float | None]]]


def curve_section(d: Digest) -> Section | None:
    """Precision and recall, F1, ROC, and counts by score threshold.

    The data are JSON made of numbers alone: {"plot", "columns", "curves", "counts", "rocs"}. The
    lists hold, for each title, a list by model: of curves [model, thresholds, recall, precision,
    f1], of counts [model, *`COUNTS`], of rocs [model, area or null, *`ROC`]; all but the model and
    the area are indexes into the columns, -1 for a column that there is not.
    """
    found = choices(d.result)
    if not found:
        return None
    columns = Columns()
    lines: list[list[list[int]]] = []
    counts: list[list[list[int]]] = []
    rocs: list[list[list[int | float | None]]] = []
    for choice in found:
        if columns.size > LIMIT:
            break
        lines.append([[model, *columns.indexes(line)] for model, line in choice.lines])
        counts.append(
            [
                [model, *columns.indexes([one.points.get(name, ()) for name in COUNTS])]
                for model, one in choice.counts
            ]
        )
        rocs.append(
            [
                [model, choice.areas[model], *columns.indexes([one.points[name] for name in ROC])]
                for model, one in choice.rocs
            ]
        )
    first, *more = [figures(choice, d.models) for choice in found[: min(STATIC, len(lines))]]
    models = sorted({line[0] for own in counts for line in own})
    block = Curves(
        titles=[choice.title for choice in found[: len(lines)]],
        charts=first,
        counted=counted(found[0], models[:COUNTED], d.models),
        counts=models,
        reasons=any(line[-1] >= 0 for own in counts for line in own),
        more=more,
        data=columns.data({"curves": lines, "counts": counts, "rocs": rocs}),
        left_out=len(found) - len(lines),
    )
    return Section("Curves", "curves", (block,))


class Columns:
    """Columns as JSON texts without duplicates, since thresholds are the same for every label."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self.size = 0

    def indexes(self, columns: Sequence[Column]) -> list[int]:
        """The index of each column; -1 for an empty one."""
        return [self._index(column) if column else -1 for column in columns]

    def _index(self, column: Column) -> int:
        text = ",".join(["null" if value is None else f"{value:.5g}" for value in column])
        if text not in self._known:
            self.size += len(column)
        return self._known.setdefault(text, len(self._known))

    def data(self, kinds: Mapping[str, Lines]) -> str:
        """The JSON for the page's script."""
        listed = "],[".join(self._known)
        plot = ",".join(f'"{name}":{value}' for name, value in PLOT.items())
        lines = ",".join(
            f'"{name}":{lists}'.replace(" ", "").replace("None", "null")
            for name, lists in kinds.items()
        )
        return f'{{"plot":{{{plot}}},"columns":[[{listed}]],{lines}}}'
