"""Content shared by all reports of a run: verdict, headline, gates, labels, slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean, number, parameter, words
from valor_cli.reports.digests.gates import Gate, Verdict, gates, stopped, verdict
from valor_cli.reports.digests.grids import Cell, Grid, Line, RowIndex, Scopes, small_n_unit
from valor_cli.reports.digests.naming import LabelRows
from valor_cli.results import Direction, RunResult, Scalar
from valor_cli.results.identity import ValueKey

HEADLINES = 60
"""Measures of the whole run that a report lists at most; it says how many it left out."""

SIDE_BY_SIDE = 4
"""Models shown as columns at most; more become rows, best first."""

_USUAL = {"matching": "coco", "geometry": "box"}
_NAMED = ("embedder", "judge")
"""Settings whose values are external names, shown unchanged."""
_SHAPES = {
    "box": "boxes",
    "rotated box": "rotated boxes",
    "polygon": "polygons",
    "mask": "masks",
}
_COUNTED = {"ground truths": "ground truths", "samples": "samples", "images": "pixels"}
"""By the first of these that the data consist of, what is counted of a label."""


class Digest(Struct, frozen=True):
    """Content shared by the sections of a report; strings are cleaned, not escaped.

    `stopped` says why not everything was asked of the judges, and is empty where all was.
    `headline` has the task's `leading` primary measures first; `unlisted` counts what it leaves
    out.
    `labels` and `slices` leave out what has no rows; `slices` holds primary measures if it can.
    `n_name` says what the n of a row counts, `unit` what a single sample is called.
    `partial`: some metrics have no value of some samples.
    """

    result: RunResult
    verdict: Verdict
    stopped: str
    task: str
    scope: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    models: tuple[str, ...]
    headline: Grid
    leading: int
    unlisted: int
    labels: Grid
    slices: Grid
    n_name: str
    unit: str
    gates: tuple[Gate, ...]
    partial: bool
    missing: tuple[str, ...]
    ignored: tuple[str, ...]


def digest(result: RunResult) -> Digest:
    """Prepare the content that all reports share."""
    keyed = LabelRows(result.metrics)
    placed = [keyed.placed(row) for row in result.metrics]
    names = Scopes(placed)
    counted = set(map(words, result.data))
    n_name = next((name for thing, name in _COUNTED.items() if thing in counted), "n")
    unit = "image" if "images" in counted else "sample"
    rows = RowIndex(
        *(result.models, placed, names, result.coverage),
        counted=lambda row: small_n_unit(result, row, n_name, unit),
    )
    overall = [key for key in rows.measures if rows.found.get((None, None, key))]
    leading = set(map(tuple, result.primary))
    primary = [key for key in overall if key[:2] in leading]
    first = set(primary)
    headline = [*primary, *(key for key in overall if key not in first)]
    slices = dict.fromkeys(row.slice for row in result.metrics if row.slice is not None)
    labels = dict.fromkeys(
        row.label for row in placed if row.label is not None and row.slice is None
    )
    return Digest(
        result=result,
        verdict=verdict(
            result.gates, incomplete=result.incomplete, stopped=bool(result.run.stopped)
        ),
        stopped=stopped(result),
        task=words(result.task),
        scope=(
            *(_counted(count, words(name)) for name, count in result.data.items()),
            *_unusual(result.settings),
        ),
        settings=tuple((words(name), parameter(value)) for name, value in result.settings.items()),
        models=tuple(clean(model, 60) for model in result.models),
        headline=rows.grid(headline[:HEADLINES], [(None, None)]),
        leading=len(primary[:HEADLINES]),
        unlisted=len(headline[HEADLINES:]),
        labels=rows.grid(rows.measures, [(label, None) for label in labels]),
        slices=_first_filled(rows, (primary, headline, list(rows.measures)), slices),
        n_name=n_name,
        unit=unit,
        gates=gates(result.gates, rows, names, keyed),
        partial=any(row.coverage is not None and row.coverage < 1 for row in result.coverage),
        missing=_by_model(result.missing_prediction_labels),
        ignored=_by_model(result.ignored_prediction_labels),
    )


def _counted(count: int, things: str) -> str:
    """1 image, 2 images: the names in `RunResult.data` are plurals."""
    return f"{count:,} {things.removesuffix('s') if count == 1 else things}"


def _unusual(settings: Mapping[str, Scalar]) -> Iterator[str]:
    """The settings that change every number, where they are not the usual ones."""
    for name, value in settings.items():
        if value is not None and value is not False and value != _USUAL.get(name):
            shown = parameter(value) if name in _NAMED else words(parameter(value))
            yield _SHAPES.get(shown, shown) if name == "geometry" else f"{words(name)}: {shown}"


def _first_filled(
    rows: RowIndex, choices: Iterable[Sequence[ValueKey]], slices: Iterable[str]
) -> Grid:
    """Slices by the first choice of measures that any slice has."""
    places = [(None, name) for name in slices]
    grids = (rows.grid(keys, places) for keys in choices)
    return next((grid for grid in grids if grid.measures), Grid((), ()))


def difference(cells: Sequence[Cell]) -> float | None:
    """The difference between the second of two models and the first."""
    if len(cells) != 2 or cells[0].value is None or cells[1].value is None:
        return None
    return cells[1].value - cells[0].value


def worst_key(direction: Direction) -> Callable[[Cell], float]:
    """A sort key with a measure's worst values first and undefined ones last."""
    sign = -1.0 if direction == "lower" else 1.0
    return lambda cell: float("inf") if cell.value is None else sign * cell.value


def worst_first(grid: Grid) -> tuple[Line, ...]:
    """Lines sorted by the worst model's value of the first measure."""
    if not grid.measures:
        return grid.lines
    key = worst_key(grid.measures[0].direction)
    return tuple(sorted(grid.lines, key=lambda line: min(map(key, line.cells[0]))))


def ranking(grid: Grid, models: int) -> list[int]:
    """Models sorted by the first headline measure, best first; unsorted without a direction."""
    order = list(range(models))
    if not grid.measures or grid.measures[0].direction is None:
        return order
    sign = 1.0 if grid.measures[0].direction == "lower" else -1.0
    values = [cell.value for cell in grid.lines[0].cells[0]]
    keys = [(value is None, sign * (value or 0.0)) for value in values]
    return sorted(order, key=keys.__getitem__)


def _by_model(labels: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A line such as "small: kite, toaster" for each model that has any."""
    return tuple(
        f"{clean(model, 60)}: {_listed(names)}" for model, names in labels.items() if names
    )


def _listed(names: Sequence[str], most: int = 40) -> str:
    more = f" … and {number(len(names) - most, 'count')} more" if len(names) > most else ""
    return ", ".join(clean(name, 40) for name in names[:most]) + more
