"""Resample the stored evidence of two runs so that they can be compared.

A run without `interval:` resamples nothing; its evidence is stored instead, and both runs are
resampled in the same way when they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from valor_cli.errors import DataError, Problem
from valor_cli.metric import Call, Evidence, Wing
from valor_cli.pipeline.compare.paired_rows import Sides
from valor_cli.pipeline.intervals.intervals import Around
from valor_cli.pipeline.intervals.resamples import Draws
from valor_cli.pipeline.intervals.resampling import columns_of, findings_of, resampled
from valor_cli.pipeline.result_rows import LabelMeasure, metric_row, resampled_row
from valor_cli.pipeline.stored_evidence import put_together
from valor_cli.reports.files.sample_lines import NEXT
from valor_cli.reports.writer import EVIDENCE
from valor_cli.results import EvidenceResult, Findings, MetricResult, ResampledResult, RunResult
from valor_cli.results.identity import RowKey, row_key

_ROUNDING = 1e-9
_DAMAGED = (LookupError, TypeError, ValueError, AttributeError)
"""Exceptions raised for arrays that are not evidence."""


def with_resamples(
    first: RunResult, second: RunResult, pairs: Sequence[tuple[str, str]]
) -> tuple[RunResult, RunResult]:
    """Both runs with resampled values where evidence is stored.

    Args:
        first, second: The runs; they may be one.
        pairs: (model of the second, model of the first) to compare.

    Raises:
        DataError: A file is not evidence, or belongs to another run.
    """
    if second is first:
        found = _joined(first, first, {name for pair in pairs for name in pair})
        return found, found
    # Of two runs, one of which has intervals, both are drawn as these were.
    settings = first if second.intervals is None else second
    return (
        _joined(first, settings, {other for _, other in pairs}),
        _joined(second, settings, {model for model, _ in pairs}),
    )


def _joined(run: RunResult, settings: RunResult, models: set[str]) -> RunResult:
    """The run with the resamples of some models."""
    found = [row for one in run.evidence if one.model in models for row in _of(run, settings, one)]
    return replace(run, resamples=(*run.resamples, *found)) if found else run


def _of(run: RunResult, settings: RunResult, one: EvidenceResult) -> Iterator[ResampledResult]:
    """The values computed from some evidence, of all data and of labels, at every resample."""
    wing, evidence, rows_of = _restored(run, one)
    sides = Sides(settings, "", settings, "")
    draws = Draws.of(one.unit_ids, sides.resamples, sides.seed, one.groups)
    drawn = draws.digest(one.unit_ids)
    weights = np.array([draws.weights(number) for number in range(sides.resamples)])
    for call, found, rows in rows_of:
        batch = resampled([call], [found], evidence, wing.parts, weights)
        columns = columns_of([call], [found], [batch])
        for at, row in rows.items():
            yield resampled_row(row, drawn, columns[at])


def _restored(
    run: RunResult, one: EvidenceResult
) -> tuple[Wing[Any, Any], Evidence, Sequence[tuple[Call, Findings, Mapping[int, MetricResult]]]]:
    """The restored evidence; and each call on it, with its findings and the rows of its values.

    Raises:
        DataError: It is not evidence, or belongs to other results.
    """
    # What there is to compute is imported where something is.
    from valor_cli import catalogue

    judged = {row_key(row): row for row in run.metrics if _is_judged(row, one.model)}
    try:
        wing = catalogue.task(run.task).wings[one.wing]
        metrics = {metric.name: metric for metric in wing.metrics}
        classes = {kind.__name__: kind for kind in wing.stored}
        evidence: Evidence = put_together(one.tree, classes, one.arrays)
        found, of_labels = [], LabelMeasure()
        for name, parameters in one.calls:
            call = Call(metrics[name], parameters)
            values = Findings(findings_of(call, evidence, wing.parts).values)
            found.append((call, values, _rows_of(call, one.model, values, judged, of_labels)))
        fits = evidence.unit_count == len(one.unit_ids)
    except _DAMAGED:
        fits = False
    if not fits:
        message = f"not the evidence of {one.model!r:.60} in results.json; is it from another run?"
        raise DataError(Problem(EVIDENCE, message), hint=NEXT)
    return wing, evidence, found


def _rows_of(
    call: Call,
    model: str,
    found: Findings,
    judged: Mapping[RowKey, MetricResult],
    of_labels: LabelMeasure,
) -> Mapping[int, MetricResult]:
    """The rows of a call's values, by the index of the value among its findings.

    Raises:
        ValueError: A row has another value.
    """
    rows = {}
    for at, value in enumerate(found.values):
        row = judged.get(row_key(metric_row(call, model, None, value, Around(), 0)))
        if row is not None and (value.label is None or of_labels.has(row, found)):
            if not _is_close(value.value, row.value):
                raise ValueError(row)
            rows[at] = row
    return rows


def _is_judged(row: MetricResult, model: str) -> bool:
    return row.model == model and row.slice is None and row.direction is not None


def _is_close(found: float | None, told: float | None) -> bool:
    if found is None or told is None:
        return found is told
    return abs(found - told) <= _ROUNDING * max(abs(told), 1.0)
