"""Runs without intervals, compared by the evidence that lies beside them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from valor_cli import api
from valor_cli.errors import DataError
from valor_cli.pipeline.compare import paired_rows
from valor_cli.reports.sections.compared import compared_report
from valor_cli.results import ComparedRuns, RunResult

DATA = Path(__file__).parents[2] / "sample_data"

RUNS: dict[str, tuple[dict[str, Any], str, str]] = {
    "object_detection": ({"ground_truth": "ground_truth.json"}, "large.json", "small.json"),
    "instance_segmentation": (
        {"ground_truth": "ground_truth.json"}, "watershed.json", "shifted.json",
    ),
    "semantic_segmentation": (
        {"ground_truth": "ground_truth", "labels": "classes.json"}, "random_forest", "shifted",
    ),
    "classification": (
        {"ground_truth": "ground_truth.csv"}, "random_forest.csv", "naive_bayes.csv",
    ),
}  # fmt: skip
"""By task, its `data:` block, and the predictions of a better and of a worse model."""

INTERVAL = {"resamples": 100, "level": 0.95, "seed": 0}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many where none are asked for, so that the draws are the same."""
    monkeypatch.setattr(paired_rows, "RESAMPLES", INTERVAL["resamples"])


def _config(task: str, found: str, **more: Any) -> dict[str, Any]:
    data, _, _ = RUNS[task]
    named = {name: str(DATA / task / path) for name, path in data.items()}
    return {"task": task, "data": {**named, "predictions": {"m": str(DATA / task / found)}}, **more}


def _pair(task: str, folder: Path, **more: Any) -> tuple[RunResult, RunResult]:
    """The runs of both models, read back from disk."""
    both = []
    for name in RUNS[task][1:]:
        out = folder / Path(name).stem
        api.evaluate(_config(task, name, **more), out=out, formats=["json"], jobs=1)
        both.append(api.read_run(out))
    return both[0], both[1]


def _tests(compared: ComparedRuns) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {
        (row.metric, row.output): (row.test, row.p, row.interval, row.n, row.verdict)
        for row in compared.comparisons
        if row.label is None
    }


@pytest.mark.parametrize("task", RUNS)
def test_it_tests_as_intervals_do(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same draws of the same evidence: the same p-values, to the last digit."""
    interval = INTERVAL
    if task == "semantic_segmentation":
        # The quickest has as many as users have.
        monkeypatch.undo()
        interval = {**INTERVAL, "resamples": 1000}
    plain = _pair(task, tmp_path / "plain")
    assert all(run.evidence and not run.resamples for run in plain)
    asked = _pair(task, tmp_path / "asked", interval=interval)
    assert all(run.resamples and not run.evidence for run in asked)
    found, expected = api.compare(*plain), api.compare(*asked)
    assert not found.untested
    assert compared_report(found).word == compared_report(expected).word
    assert _tests(found) == _tests(expected)
    # One that has intervals is compared with one that has none.
    assert _tests(api.compare(asked[0], plain[1])) == _tests(expected)
    assert _tests(api.compare(plain[0], asked[1])) == _tests(expected)


def test_it_keeps_what_ranks_equal_scores(tmp_path: Path) -> None:
    runs = []
    for name, more in (("plain", {}), ("asked", {"interval": INTERVAL})):
        pair = []
        for model in RUNS["object_detection"][1:]:
            found = json.loads((DATA / "object_detection" / model).read_text())
            for one in found:
                one["score"] = round(one["score"], 1)
            (tmp_path / model).write_text(json.dumps(found))
            config = _config("object_detection", str(tmp_path / model), matching="valor", **more)
            pair.append(_evaluated(config, tmp_path / name / Path(model).stem))
        runs.append(pair)
    plain, asked = runs
    assert all(run.evidence for run in plain)
    assert _tests(api.compare(*plain)) == _tests(api.compare(*asked))


def _evaluated(config: dict[str, Any], out: Path) -> RunResult:
    api.evaluate(config, out=out, formats=["json"], jobs=1)
    return api.read_run(out)


@pytest.mark.parametrize("task", RUNS)
def test_results_are_the_same_with_and_without_it(task: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    config = _config(task, RUNS[task][1])
    api.evaluate(config, out=out, formats=["json"], jobs=1)
    kept = (out / "evidence.bin").read_bytes()
    assert "evidence" not in json.loads((out / "results.json").read_bytes())
    api.evaluate(config, out=out, formats=["json"], jobs=2)
    assert (out / "evidence.bin").read_bytes() == kept
    api.evaluate({**config, "interval": {"resamples": 20}}, out=out, formats=["json"], jobs=1)
    assert not (out / "evidence.bin").exists()


def test_models_of_one_run_are_tested_by_it(tmp_path: Path) -> None:
    task = "object_detection"
    models = {name: str(DATA / task / f"{name}.json") for name in ("small", "large")}
    config = _config(task, "large.json")
    config["data"]["predictions"] = models
    api.evaluate(config, out=tmp_path, formats=["json"], jobs=1)
    run = api.read_run(tmp_path)
    tested = {row.metric for row in run.comparisons if row.verdict != "not tested"}
    assert tested == {"image_scores"}  # which has a value of each image
    compared = api.compare(run)
    assert not compared.untested
    first = _pair(task, tmp_path / "apart")
    assert _tests(compared) == _tests(api.compare(first[1], first[0]))


def test_a_gate_finds_a_run_no_worse_than_itself(tmp_path: Path) -> None:
    gates = [{"metric": "coco", "output": "AP", "not_worse": 0.05}]
    config = _config("object_detection", "large.json", gates=gates)
    api.evaluate(config, out=tmp_path, formats=["json"], jobs=1)
    again = api.evaluate(config, baseline=tmp_path, jobs=1)
    assert [(gate.status, gate.value) for gate in again.gates] == [("passed", 1.0)]
    worse = _config("object_detection", "small.json", gates=gates)
    (gate,) = api.evaluate(worse, baseline=tmp_path, jobs=1).gates
    assert gate.status == "failed"
    assert gate.value is not None


def test_without_it_a_fall_is_not_tested(tmp_path: Path) -> None:
    first, second = (replace(run, evidence=()) for run in _pair("object_detection", tmp_path))
    compared = api.compare(first, second)
    assert compared_report(compared).word == "NOT TESTED"
    (ap,) = (one for one in compared.untested if one.output == "AP")
    assert ap.verdict == "not tested"
    assert "`interval:`" in (ap.reason or "")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    _pair("object_detection", tmp_path)
    path = tmp_path / "large" / "evidence.bin"
    content = path.read_bytes()
    broken = {
        "expected a file that begins with": b"",
        "truncated": content[:-9],
        "damaged": content[:-1] + bytes([content[-1] ^ 1]),
        "not an evidence file of valor": content[:60],
        "no model": content.replace(b'"model":"m"', b'"model":"x"', 1),
    }
    for told, text in broken.items():
        path.write_bytes(text)
        with pytest.raises(DataError, match=told) as caught:
            api.read_run(path.parent)
        assert str(path) in str(caught.value)
    # That of another run is found when it is read into values.
    shutil.copy(tmp_path / "small" / "evidence.bin", path)
    with pytest.raises(DataError, match="from another run"):
        api.compare(path.parent, tmp_path / "small")
