"""Labels and texts of two models, and of a run and its baseline, compared by one measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from valor_cli import api
from valor_cli.pipeline.compare.pairing import comparisons_of
from valor_cli.results import ComparisonResult, RunResult
from valor_cli.statistics.bootstrap import percentile_intervals
from valor_cli.statistics.corrections import holm
from valor_cli.statistics.paired import bootstrap_p

DATA = Path(__file__).parents[2] / "sample_data"
MODELS = {
    "object_detection": ("ground_truth.json", {"a": "small.json", "b": "large.json"}),
    "classification": (
        "ground_truth.csv",
        {"a": "naive_bayes.csv", "b": "random_forest.csv"},
    ),
}


def _run(task: str, models: dict[str, str], **more: Any) -> RunResult:
    return api.evaluate(_config(task, models, **more), jobs=1)


def _config(task: str, models: dict[str, str], **more: Any) -> dict[str, Any]:
    truth = MODELS[task][0]
    found = {name: str(DATA / task / file) for name, file in models.items()}
    data = {"ground_truth": str(DATA / task / truth), "predictions": found}
    interval = {"resamples": 60, "seed": 0}
    return {"task": task, "data": data, "interval": interval, **more}


def _labels(run: RunResult) -> list[ComparisonResult]:
    return [row for row in run.comparisons if row.label is not None]


@pytest.mark.parametrize("task", MODELS)
def test_two_models_of_a_run(task: str) -> None:
    run = _run(task, MODELS[task][1])
    rows = _labels(run)
    assert len({(row.metric, row.output) for row in rows}) == 1
    values = {(row.model, row.label): row for row in run.metrics
              if (row.metric, row.output) == (rows[0].metric, rows[0].output)
              and row.slice is None and row.parameters == rows[0].parameters}  # fmt: skip
    draws = {(one.model, one.label): np.array(one.values, float) for one in run.resamples}
    assert len(rows) == len({label for _, label in values if label is not None})
    p = []
    for row in rows:
        pair = values["b", row.label], values["a", row.label]
        assert (row.value, row.other_value) == (pair[0].value, pair[1].value)
        differences = draws["b", row.label] - draws["a", row.label]
        assert row.interval == percentile_intervals(differences[:, None], row.level)[0]
        p.append(bootstrap_p(differences, row.difference or 0.0))
        assert row.p == p[-1]
        assert row.n is None or row.n > 0
    assert [row.p_adjusted for row in rows] == holm(p)


def test_a_run_and_its_baseline() -> None:
    """A digit that fell far is worse, whatever a gate on all data says."""
    before = _run("classification", {"m": "random_forest.csv"})
    now = _run("classification", {"m": "naive_bayes.csv"}, gates=[{"metric": "f1", "min": 0.8}])
    fallen = api.evaluate(_config("classification", {"m": "naive_bayes.csv"}), baseline=before)
    rows = _labels(fallen)
    assert {row.label for row in rows} == {str(digit) for digit in range(10)}
    assert all(row.baseline and row.other == "m" for row in rows)
    worst = min(rows, key=lambda row: row.difference or 0.0)
    assert worst.label == "8"
    assert (worst.difference or 0.0) < -0.2
    assert (worst.p or 1.0) < 0.05
    assert now.passed
    assert not _labels(now)


def test_texts_of_runs_made_apart_and_read_from_their_files(tmp_path: Path) -> None:
    """They are compared as the same models of one run are."""
    answers = (DATA / "text_generation/answers.jsonl").read_text()
    lines = [json.loads(line) for line in answers.splitlines()]

    def run(name: str, *models: str) -> RunResult:
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(json.dumps(line) for line in lines if line["model"] in models))
        metrics = ["rouge_l", "exact_match", "corpus_bleu", "ter"]
        config = {"task": "text_generation", "data": {"samples": str(file)}, "metrics": metrics}
        out = tmp_path / name
        api.evaluate({**config, "interval": {"resamples": 50}}, out=out, formats=["json"], jobs=1)
        return api.read_run(out)

    fid, gpt, both = run("fid", "fid"), run("gpt4", "gpt4"), run("both", "fid", "gpt4")
    expected = comparisons_of(both)
    tests = {(row.metric, row.output): row.test for row in expected}
    assert tests["rouge_l", "f1"] == "sign_permutation"
    assert tests["exact_match", "value"] == "mcnemar"
    # Of a corpus, though its sentences have values, too.
    assert tests["corpus_bleu", "value"] == tests["ter", "value"] == "paired_bootstrap"
    found = api.compare(fid, gpt)
    assert [replace(row, baseline=False) for row in found.comparisons] == expected
    assert found.warnings == ()
    one = found.changed[0]
    assert {text.field for text in one.shared} == {"user_input", "references[0]"}
    assert [text.field for text in one.texts] == ["response"]
