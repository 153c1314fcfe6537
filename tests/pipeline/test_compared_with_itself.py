"""A run compared with itself: every value of the catalogue is equal, and tested."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.evaluators.test_every_metric import ENTRIES, called, problem
from tests.oracles.imagining import needs_of
from tests.oracles.paired_runs import INFO
from valor_cli.pipeline.compare import paired_rows
from valor_cli.pipeline.compare.pairing import against_baseline
from valor_cli.pipeline.gates import check_not_worse_gates
from valor_cli.pipeline.intervals.intervals import Around
from valor_cli.pipeline.intervals.resampling import findings_of
from valor_cli.pipeline.result_rows import metric_row, row_of
from valor_cli.pipeline.stored_evidence import stored
from valor_cli.reports.digests.compared_values import outcome_of
from valor_cli.reports.files.evidence_bin import from_bytes, to_blocks
from valor_cli.results import NOT_WORSE, GateResult, RunResult, SamplesResult


def run_of(task: Any, wing: Any, metric: Any) -> RunResult:
    """What a run without intervals finds with the default parameters of one metric."""
    dataset = problem(task.name, metric.name)
    call = called(metric)
    evidence = wing.evidence(dataset, needs_of(wing, [call], dataset))
    found = findings_of(call, evidence, wing.parts)
    rows = [
        metric_row(call, "m", None, value, Around(), dataset.unit_count) for value in found.values
    ]
    kept = stored(
        "m", task.wings.index(wing), [call], evidence, wing.stored, dataset.unit_ids, None
    )
    samples = [] if found.samples is None else [row_of(SamplesResult, call, "m", found.samples)]
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
        evidence=() if kept is None else (kept,),
    )


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_it_is_equal_and_tested(
    task: Any, wing: Any, metric: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At any number of resamples the differences are 0.
    monkeypatch.setattr(paired_rows, "RESAMPLES", 40)
    result = run_of(task, wing, metric)
    content = b"".join(to_blocks(result))
    read = from_bytes(content, "evidence.bin", result)
    assert b"".join(to_blocks(replace(result, evidence=read))) == content
    result = replace(result, evidence=read)
    rows = against_baseline(replace(result), result)
    judged = [one for one in rows if one.value is not None and one.label is None]
    whole = [one for one in result.metrics if one.label is None and one.direction]
    assert len(judged) == sum(one.value is not None for one in whole)
    for one in rows:
        if one.value is None:
            continue
        assert (one.difference, one.p, outcome_of(one)) == (0.0, 1.0, "equal"), one
    gates = [
        GateResult(
            metric=one.metric,
            output=one.output,
            model="m",
            label=None,
            slice=None,
            parameters=one.parameters,
            rule=NOT_WORSE,
            limit=0.05,
            value=None,
            status="not checked",
            reason=None,
        )
        for one in judged
    ]
    assert {gate.status for gate in check_not_worse_gates(gates, rows)} <= {"passed"}
