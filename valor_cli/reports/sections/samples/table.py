"""Tables of the worst samples by metric for the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest

from msgspec import Struct

from valor_cli.reports.sections.formatting import clean, number, words
from valor_cli.reports.sections.naming import Names
from valor_cli.results import Direction, RunResult, SamplesResult, Scalar

ROWS = 100
"""Samples listed of each model."""

ALL_ROWS = 1_000
"""Samples listed of all models together."""

_SPOKEN = {
    "f1": "F1",
    "iou": "IoU",
    "mean_iou": "mean IoU",
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "tn": "true negatives",
}


def output_words(output: str) -> str:
    """An output's name in words."""
    return _SPOKEN.get(output, words(output))


def whole(column: Sequence[float | None]) -> bool:
    """Whether a column is a count."""
    return all(isinstance(value, int) for value in column)


class SampleTable(Struct, frozen=True):
    """The worst samples of one model by one metric, worst first.

    Attributes:
        title: Model and metric.
        headings: The metric's outputs in words, the primary one first.
        rows: The sample's name and its values as texts.
        sample_ids: Their ids.
        left_out: How many samples have no row.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: int
    sample_ids: tuple[Scalar, ...] = ()


def sample_tables(result: RunResult) -> tuple[SampleTable, ...]:
    """One table per model and metric with per-sample values but no status."""
    shown = [one for one in result.samples if one.model in result.models and one.sample_ids]
    shown = [one for one in shown if one.statuses is None]
    names = Names((one.metric, one.parameters) for one in shown)
    several = len({one.metric for one in shown}) > 1
    most = min(ROWS, max(ALL_ROWS // max(len(shown), 1), 1))
    better = {(row.metric, row.output): row.direction for row in result.metrics}
    return tuple(_table(one, names, several, most, better) for one in shown)


def _table(
    one: SamplesResult,
    names: Names,
    several: bool,
    most: int,
    better: Mapping[tuple[str, str], Direction],
) -> SampleTable:
    primary = next(iter(one.columns))
    sign = -1.0 if better.get((one.metric, primary)) == "lower" else 1.0
    values = one.columns[primary]
    defined = [index for index, value in enumerate(values) if value is not None]
    worst = nsmallest(most, defined, key=lambda index: (sign * (values[index] or 0.0), index))
    details = [clean(one.metric)] if several else []
    details += [detail for detail in [names.detail(one.metric, one.parameters)] if detail]
    model = clean(one.model, 60)
    return SampleTable(
        title=f"{model} ({', '.join(details)})" if details else model,
        headings=tuple(map(output_words, one.columns)),
        rows=tuple(_row(one, index, units) for units in [_units(one)] for index in worst),
        left_out=len(values) - len(worst),
        sample_ids=tuple(one.sample_ids[index] for index in worst),
    )


def _row(one: SamplesResult, index: int, units: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    columns = zip(one.columns.values(), units, strict=True)
    values = tuple(number(column[index], unit) for column, unit in columns)
    return clean(str(one.sample_ids[index]), 80), values


def _units(one: SamplesResult) -> list[str]:
    return ["count" if whole(column) else "fraction" for column in one.columns.values()]
