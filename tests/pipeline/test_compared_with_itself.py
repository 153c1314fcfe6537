"""A run compared with itself: every value of the catalogue is equal, and tested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evaluators.test_every_metric import ENTRIES, called, problem
from tests.oracles.imagining import needs_of
from tests.oracles.paired_runs import INFO
from valor_cli.pipeline.found_rows import metric_row, samples_row
from valor_cli.pipeline.intervals import Around
from valor_cli.pipeline.pairing import against_baseline
from valor_cli.pipeline.resampling import findings_of
from valor_cli.reports.compared_rows import outcome_of
from valor_cli.results import RunResult

NO_VALUES = {"pr_curve", "detailed_pr_curve", "confusion_matrix"}
"""Metrics that draw or count, and have no value that could be better."""


def run_of(task: Any, wing: Any, metric: Any) -> RunResult:
    """What a run without intervals finds with the default parameters of one metric."""
    dataset = problem(task.name, metric.name)
    call = called(metric)
    evidence = wing.evidence(dataset, needs_of(wing, [call], dataset))
    found = findings_of(call, evidence, wing.parts)
    rows = [
        metric_row(call, "m", None, value, Around(), dataset.unit_count) for value in found.values
    ]
    samples = [] if found.samples is None else [samples_row(call, "m", found.samples, None)]
    return RunResult(
        task=task.name,
        models=("m",),
        primary=((metric.name, metric.outputs[0].name),) if metric.outputs else (),
        data={},
        settings={},
        run=INFO,
        metrics=tuple(rows),
        curves=(),
        tables=(),
        examples=(),
        gates=(),
        warnings=(),
        missing_prediction_labels={},
        ignored_prediction_labels={},
        samples=tuple(samples),
    )


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_it_is_equal_and_tested(task: Any, wing: Any, metric: Any) -> None:
    result = run_of(task, wing, metric)
    rows = against_baseline(replace(result), result)
    judged = [one for one in rows if one.value is not None]
    assert (
        judged or metric.name in NO_VALUES or all(one.direction is None for one in result.metrics)
    )
    for one in judged:
        assert (one.difference, one.p, outcome_of(one)) == (0.0, 1.0, "equal"), one
