"""Table data of reports: measures, cells and lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import BY_LABEL, THRESHOLD, Names, short_name
from valor_cli.results import FEW, CoverageResult, Direction, MetricResult, Parameters, RunResult
from valor_cli.results.identity import Kind, ValueKey, frozen, value_key

ARROWS: Mapping[Direction, str] = {"higher": "↑", "lower": "↓", None: ""}
"""The sign of the better direction."""

FEW_MARK = "°"
"""Mark of a value computed from few samples."""


class Measure(Struct, frozen=True):
    """A column of numbers: a metric's output at one setting of its parameters.

    `detail` names the parameters in which it differs from its siblings, if it has any; `key` is
    what its rows have in common.
    """

    name: str
    detail: str
    unit: str
    direction: Direction
    metric: str = ""
    key: ValueKey = ("", "", ())

    def __str__(self) -> str:
        return f"{self.name} ({self.detail})" if self.detail else self.name


class Cell(Struct, frozen=True):
    """One model's value of a measure.

    Attributes:
        best: Whether no other model's is better.
        coverage: The share of samples it is computed from, if not all.
        few: What it rests on too few of to be sure ("images"); empty: it does not.
    """

    value: float | None
    undefined: str | None
    interval: tuple[float, float] | None = None
    best: bool = False
    coverage: float | None = None
    few: str = ""


class Line(Struct, frozen=True):
    """Cells of a label, a slice or the whole, by measure and model."""

    name: str
    n: int | None
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def all_few(self) -> bool:
        """Whether all of its values are of few units, so that its n is marked."""
        valued = [cell.few for cells in self.cells for cell in cells if cell.value is not None]
        return bool(valued) and all(valued)


class Grid(Struct, frozen=True):
    """Lines that share their measures."""

    measures: tuple[Measure, ...]
    lines: tuple[Line, ...]


def few_of(lines: Iterable[Line]) -> tuple[str, ...]:
    """The units of which any value of some lines has few."""
    cells = (cell for line in lines for cells in line.cells for cell in cells)
    return tuple(dict.fromkeys(cell.few for cell in cells if cell.few and cell.value is not None))


class Scopes:
    """Names of measures, for labels and for the whole separately."""

    def __init__(self, placed: Iterable[MetricResult]) -> None:
        rows: tuple[list[MetricResult], list[MetricResult]] = ([], [])
        for row in placed:
            rows[row.label is not None].append(row)
        self._names = [Names((row.metric, row.parameters) for row in some) for some in rows]

    def detail(self, metric: str, label: str | None, parameters: Parameters) -> str:
        """The parameters that distinguish a measure from the metric's others in its scope."""
        detail = self._names[label is not None].detail(metric, parameters)
        own = parameters.get(THRESHOLD) == BY_LABEL and BY_LABEL not in detail
        return ", ".join(filter(None, (detail, "thresholds by label" if own else "")))


class Covered:
    """Coverage of each row."""

    def __init__(self, rows: Iterable[CoverageResult]) -> None:
        self._of_calls: dict[tuple[str, str, str | None], list[tuple[Kind, CoverageResult]]] = {}
        for row in rows:
            of_calls = self._of_calls.setdefault((row.metric, row.model, row.slice), [])
            of_calls.append((frozen(row.parameters), row))

    def stopped_apart(self, rows: Iterable[MetricResult]) -> bool:
        """Whether the run stopped with more requests made for one model than for another."""
        found = [self._of(row) for row in rows]
        return len({one.statuses.get("skipped", 0) for one in found if one is not None}) > 1

    def part(self, row: MetricResult) -> float | None:
        """The share of samples with a value; None if complete or unknown."""
        covered = self._of(row)
        if covered is None:
            return None
        ok = covered.statuses.get("ok", 0)
        judged = ok + covered.statuses.get("parse_failure", 0)
        # More samples may have an output than the primary one, whose coverage this is; or none.
        if covered.coverage == 1 or (row.n or 0) > judged or (row.value is None and ok):
            return None
        return covered.coverage

    def _of(self, row: MetricResult) -> CoverageResult | None:
        """Of the call that made a row of samples."""
        if row.label is not None or not self._of_calls:
            return None
        of_calls = self._of_calls.get((row.metric, row.model, row.slice), [])
        if len(of_calls) > 1:
            # A row may say more than the parameters of its call, as a signature.
            own = set(frozen(row.parameters))
            of_calls = [(call, one) for call, one in of_calls if own.issuperset(call)]
        if len(of_calls) != 1:
            return None
        return of_calls[0][1]


Counted: TypeAlias = Callable[[MetricResult], str]
"""What a row that rests on few rests on few of."""


class RowIndex:
    """Rows by label, slice and measure."""

    def __init__(
        self,
        models: Sequence[str],
        placed: Iterable[MetricResult],
        names: Scopes,
        coverage: Iterable[CoverageResult] = (),
        counted: Counted = lambda row: "samples",
    ) -> None:
        self._counted = counted
        self.models = {model: index for index, model in enumerate(models)}
        self._covered = Covered(coverage)
        self.measures: dict[ValueKey, Measure] = {}
        self.found: dict[tuple[str | None, str | None, ValueKey], dict[int, MetricResult]] = {}
        for row in placed:
            key = value_key(row)
            if key not in self.measures:
                name = short_name(row.metric, row.output, row.parameters)
                detail = names.detail(row.metric, row.label, row.parameters)
                self.measures[key] = Measure(name, detail, row.unit, row.direction, row.metric, key)
            if row.model in self.models:
                place = (row.label, row.slice, key)
                self.found.setdefault(place, {})[self.models[row.model]] = row

    def grid(
        self, keys: Iterable[ValueKey], places: Sequence[tuple[str | None, str | None]]
    ) -> Grid:
        """Lines for (label, slice) pairs, with the measures that have a row for any."""
        kept = [key for key in keys if any((*place, key) in self.found for place in places)]
        lines = tuple(self._line(kept, label, name) for label, name in places) if kept else ()
        return Grid(tuple(self.measures[key] for key in kept), lines)

    def _line(self, keys: Sequence[ValueKey], label: str | None, name: str | None) -> Line:
        rows = [self.found.get((label, name, key), {}) for key in keys]
        counts = ([row.n for row in at.values() if row.n is not None] for at in rows)
        # Models may have samples of their own: the most that any of them has.
        n = next((max(one) for one in counts if one), None)
        cells = tuple(
            self._cells(at, self.measures[key].direction)
            for at, key in zip(rows, keys, strict=True)
        )
        return Line(
            clean(name if label is None and name is not None else label or "", 120), n, cells
        )

    def _cells(self, at: Mapping[int, MetricResult], direction: Direction) -> tuple[Cell, ...]:
        best = _best([row.value for row in at.values()], direction)
        if self._covered.stopped_apart(at.values()):
            best = None
        return tuple(
            self._cell(at[index], best) if index in at else Cell(None, "not computed")
            for index in self.models.values()
        )

    def _cell(self, row: MetricResult, best: float | None) -> Cell:
        reason = clean(row.undefined, 200) if row.undefined else None
        leads = best is not None and row.value == best
        few = self._counted(row) if row.caution == "small_n" else ""
        return Cell(row.value, reason, row.interval, leads, self._covered.part(row), few)


def _best(values: Iterable[float | None], direction: Direction) -> float | None:
    defined = [value for value in values if value is not None]
    if len(defined) < 2 or direction is None:
        return None
    return max(defined) if direction == "higher" else min(defined)


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
