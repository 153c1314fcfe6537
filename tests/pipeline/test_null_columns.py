"""A column that is there and says nothing of any sample leaves metrics without a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evaluators.test_every_metric import REQUIRED
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.data.shapes.samples.schema import COLUMNS
from valor_cli.metric import Metric
from valor_cli.results import RunResult

ROW: dict[str, Any] = {
    "user_input": "What is it?",
    "response": "It is a lamp.",
    "references": ["A lamp."],
    "retrieved_contexts": ["Lamps shine."],
    "condition": '"lamp"',
    "categories": ["c"],
}

NULLS = [
    pytest.param(metric, need, id=f"{metric.name}-{need}")
    for wing in catalogue.task("text_generation").wings
    for metric in wing.metrics
    for need in sorted(metric.needs)
    # What needs an extra is not there to be asked.
    if need in COLUMNS and set(metric.asks) <= {"judge", "embedder"} and metric.name != "perplexity"
]


def evaluated(folder: Path, metrics: list[Any], rows: list[dict[str, Any]]) -> RunResult:
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "replies.jsonl").write_text("")
    document = {
        "task": "text_generation",
        "data": {"samples": "samples.jsonl"},
        "judge": {"backend": "scripted", "replies": "replies.jsonl"},
        "metrics": metrics,
    }
    (folder / "run.yaml").write_text(json.dumps(document))
    plan = pipeline.make_plan(load_config(folder / "run.yaml", catalogue))
    return pipeline.evaluate(plan, command="valor")


@pytest.mark.parametrize(("metric", "need"), NULLS)
def test_a_column_of_nulls_is_no_value(tmp_path: Path, metric: Metric[Any], need: str) -> None:
    rows = [{"sample_id": f"s{at}", **ROW, need: None} for at in range(2)]
    result = evaluated(tmp_path, [{metric.name: REQUIRED.get(metric.name, {})}], rows)
    assert result.metrics
    assert all(row.value is None and row.undefined for row in result.metrics)
    assert [row.coverage for row in result.coverage] == [0.0] * len(result.coverage)
    assert f"samples.jsonl: no row has a value of '{need}'" in "\n".join(result.warnings)


@pytest.mark.parametrize("shared", [True, False])
def test_a_model_without_any_response_leaves_the_others_theirs(
    tmp_path: Path, shared: bool
) -> None:
    rows = [
        {"sample_id": f"{'s' if shared else model}{at}", "model": model, **ROW}
        for model in ("m", "silent")
        for at in range(2)
    ]
    for row in rows[2:]:
        row["response"] = None
    result = evaluated(tmp_path, ["rouge_l", "pii_leakage"], rows)
    values = {(row.metric, row.output, row.model): row for row in result.metrics}
    assert values["rouge_l", "f1", "m"].value == pytest.approx(2 / 3)
    nothing = values["rouge_l", "f1", "silent"]
    assert (nothing.value, nothing.undefined) == (None, "no sample has one: 2 × no response")
    assert values["pii_leakage", "parse_failures", "silent"].value is None
    assert {(row.model, row.coverage) for row in result.coverage} == {("m", 1.0), ("silent", 0.0)}
