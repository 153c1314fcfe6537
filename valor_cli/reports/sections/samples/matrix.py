"""Tables of each model's worst samples, one column per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.reports.sections.formatting import clean, number, words
from valor_cli.reports.sections.naming import Names, output_name
from valor_cli.reports.sections.samples.places import sample_order
from valor_cli.results import MetricResult, RunResult, SamplesResult, Scalar

ROWS = 100
"""Samples listed of each model."""

CELLS = 12_000
"""Cells of all tables together, about 500 kB."""


class MatrixCell(Struct, frozen=True):
    """A sample's value, or its status in words.

    Attributes:
        reason: What else is to be said.
        judged: Whether it has a value.
        part: The value, where it is a fraction and not a mere yes or no.
    """

    text: str
    reason: str
    judged: bool
    part: float | None = None


class SampleMatrix(Struct, frozen=True):
    """The worst samples of one model, by mean distance from the best values.

    Attributes:
        model: Its position in the run.
        headings: The metrics' names.
        rows: The sample's name and a cell for each metric.
        sample_ids: Their ids.
        left_out: How many samples have no row.
    """

    model: int
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MatrixCell, ...]], ...]
    left_out: int
    sample_ids: tuple[Scalar, ...]


def sample_matrices(result: RunResult) -> tuple[SampleMatrix, ...]:
    """One matrix per model whose metrics have per-sample status."""
    told = [one for one in result.samples if one.statuses is not None and one.sample_ids]
    by_model = [[one for one in told if one.model == model] for model in result.models]
    names = Names((one.metric, one.parameters) for one in told)
    rows = {(row.metric, row.output): row for row in reversed(result.metrics)}
    width = sum(map(len, by_model))
    most = min(ROWS, max(CELLS // max(width, 1), 1))
    return tuple(
        _matrix(index, columns, names, rows, most)
        for index, columns in enumerate(by_model)
        if columns
    )


def _matrix(
    model: int,
    columns: Sequence[SamplesResult],
    names: Names,
    rows: Mapping[tuple[str, str], MetricResult],
    most: int,
) -> SampleMatrix:
    ids, where = sample_order(columns)
    declared = [rows.get((one.metric, next(iter(one.columns)))) for one in columns]
    worst = _worst_first(columns, where, declared, len(ids))[:most]
    cells: list[dict[int, MatrixCell]] = []
    kept = set(worst)
    for one, at, row in zip(columns, where, declared, strict=True):
        unit = row.unit if row else "fraction"
        if {*next(iter(one.columns.values()))} <= {0, 1, None}:
            unit = "count"
        cells.append(
            {line: _cell(one, index, unit) for index, line in enumerate(at) if line in kept}
        )
    absent = MatrixCell("", "", judged=False)
    return SampleMatrix(
        model,
        tuple(_heading(one, names) for one in columns),
        tuple(
            (clean(str(ids[line]), 80), tuple(column.get(line, absent) for column in cells))
            for line in worst
        ),
        len(ids) - len(worst),
        tuple(ids[line] for line in worst),
    )


def _worst_first(
    columns: Sequence[SamplesResult],
    where: Sequence[Sequence[int]],
    declared: Sequence[MetricResult | None],
    lines: int,
) -> list[int]:
    """The lines by their mean distance from the best; those without a fraction last."""
    far: NDArray[np.float64] = np.zeros(lines)
    times: NDArray[np.int64] = np.zeros(lines, np.int64)
    for one, at, row in zip(columns, where, declared, strict=True):
        if row is None or row.direction is None or row.unit != "fraction":
            continue
        values = np.array(next(iter(one.columns.values())), np.float64)
        known = ~np.isnan(values)
        spots = np.array(at)[known]
        far[spots] += values[known] if row.direction == "lower" else 1 - values[known]
        times[spots] += 1
    mean = np.where(times > 0, far / np.maximum(times, 1), -np.inf)
    return [int(line) for line in np.argsort(-mean, kind="stable")]


def _heading(one: SamplesResult, names: Names) -> str:
    detail, output = names.detail(one.metric, one.parameters), next(iter(one.columns))
    name = clean(output_name(one.metric, output))
    return f"{name} ({detail})" if detail else name


def _cell(one: SamplesResult, index: int, unit: str) -> MatrixCell:
    value = next(iter(one.columns.values()))[index]
    status = one.statuses[index] if one.statuses is not None else "ok"
    told = one.undefined[index]
    reason = clean(told, 200) if told else ""
    if value is None or status != "ok":
        return MatrixCell(words(status) if status != "ok" else "–", reason, judged=False)
    part = value if unit == "fraction" and 0 <= value <= 1 else None
    return MatrixCell(number(value, unit), reason, judged=True, part=part)
