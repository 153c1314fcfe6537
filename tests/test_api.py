"""What Python programs call is the command's own pipeline, and is what `__all__` says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pandas as pd
import polars as pl
import pytest

import valor_cli
from tests import program
from tests.docs.pages import ROOT
from valor_cli import (
    ComparedRuns,
    ConfigError,
    DataError,
    RunResult,
    ValorError,
    compare,
    evaluate,
    read_run,
    rows,
)

SAMPLES = ROOT / "sample_data"
OBJECTS = ROOT / "configs" / "object_detection.yaml"
QUICK = {"interval.resamples": 5}
DIGITS: Mapping[str, Any] = {
    "task": "classification",
    "data": {
        "ground_truth": SAMPLES / "classification" / "ground_truth.csv",
        "predictions": {"forest": SAMPLES / "classification" / "random_forest.csv"},
    },
    "metrics": ["accuracy", {"top_k_accuracy": {"k": 3}}],
    "interval": {"method": "bootstrap", "resamples": 50, "seed": 0},
}


def run_python(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(folder: Path, *arguments: str) -> None:
    program.run(*arguments, cwd=folder).check_returncode()


def test_what_is_listed_is_what_there_is() -> None:
    public = {name for name in dir(valor_cli) if not name.startswith("_")}
    listed = set(valor_cli.__all__) - {"__version__"}
    assert {getattr(valor_cli, name) is not None for name in listed} == {True}
    # Beside them stand the rooms that anything imported, and what the module itself imports.
    rooms = {path.stem for path in (ROOT / "valor_cli").iterdir()}
    assert public - rooms - {"annotations", "import_module", "Any", "TYPE_CHECKING"} == listed
    assert valor_cli.__all__ == sorted(valor_cli.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = valor_cli.evalute


def test_importing_the_package_imports_none_of_it(tmp_path: Path) -> None:
    code = """
        import sys, valor_cli
        heavy = ("valor_cli.", "numpy", "pydantic")
        print([name for name in sys.modules if name.startswith(heavy)])
    """
    assert run_python(code, tmp_path).strip() == "[]"


def test_it_is_what_the_command_says(tmp_path: Path) -> None:
    command(tmp_path, "evaluate", str(OBJECTS), "--set", "interval.resamples=5", "--out", "told")
    evaluate(OBJECTS, overrides=QUICK, out=tmp_path / "called")
    for name in ("results.json", "samples.jsonl", "resamples.jsonl"):
        told, called = ((tmp_path / side / name).read_bytes() for side in ("told", "called"))
        assert _less_run(called) == _less_run(told)
    written = {path.name for path in (tmp_path / "called").iterdir()}
    assert written == {path.name for path in (tmp_path / "told").iterdir()}
    assert b"valor_cli.evaluate(" in (tmp_path / "called" / "results.json").read_bytes()


def _less_run(content: bytes) -> list[Any]:
    lines = content.splitlines() if not content.startswith(b"{\n") else [content]
    return [
        {key: value for key, value in json.loads(line).items() if key != "run"} for line in lines
    ]


def test_nothing_is_written_unless_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert evaluate(DIGITS).passed
    assert list(tmp_path.iterdir()) == []
    evaluate(DIGITS, out="here", formats=["json"])
    assert (tmp_path / "here" / "results.json").is_file()
    assert not (tmp_path / "here" / "report.html").exists()


def test_a_mapping_is_the_file_that_would_hold_it(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(DIGITS, default=str), encoding="utf-8")
    named, given = evaluate(file), evaluate(DIGITS)
    assert given.metrics == named.metrics
    assert given.run.config == "config"


def test_paths_of_a_mapping_are_of_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES)
    names = {"ground_truth": "ground_truth.csv", "predictions": "random_forest.csv"}
    data = {side: f"classification/{name}" for side, name in names.items()}
    found, named = evaluate({**DIGITS, "data": data}), evaluate(DIGITS)
    assert [row.value for row in found.metrics] == [row.value for row in named.metrics]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metrics": ["acuracy"]}, "config: metrics.0: unknown metric 'acuracy'"),
        ({"metrics": {"accuracy"}}, "config: cannot be written as YAML .it holds a set"),
        ({"task": None}, "config: task: "),
        ({"gates": [{"metric": "accuracy", "min": float("nan")}]}, "config: gates.0.min: "),
    ],
)
def test_what_is_wrong_with_a_mapping_has_a_place(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        evaluate({**DIGITS, **wrong})


def test_errors_are_those_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv"):
        evaluate({**DIGITS, "data": {**DIGITS["data"], "ground_truth": tmp_path / "gone.csv"}})
    with pytest.raises(ConfigError, match="no such file"):
        evaluate(tmp_path / "gone.yaml")
    with pytest.raises(ConfigError, match=r"--set metrics\.0"):
        evaluate(DIGITS, overrides={"metrics.0": "acuracy"})
    with pytest.raises(DataError, match="results"):
        read_run(tmp_path)
    assert issubclass(ConfigError, ValorError)
    assert issubclass(DataError, ValorError)


def test_a_failed_gate_raises_nothing() -> None:
    found = evaluate({**DIGITS, "gates": [{"metric": "accuracy", "min": 1}]})
    assert not found.passed
    assert [gate.status for gate in found.gates] == ["failed"]


def test_a_run_is_read_back_and_held_against_another(tmp_path: Path) -> None:
    first = evaluate(DIGITS, out=tmp_path, formats=["json"])
    again = read_run(tmp_path)
    assert isinstance(again, RunResult)
    assert again.metrics == first.metrics
    worse = {"forest": SAMPLES / "classification" / "naive_bayes.csv"}
    second = evaluate({**DIGITS, "data": {**DIGITS["data"], "predictions": worse}}, baseline=again)
    for held in (compare(again, second), compare(tmp_path, second)):
        assert isinstance(held, ComparedRuns)
        assert held.worse
    assert not compare(again, first).worse
    assert second.comparisons


def test_rows_fill_data_frames(tmp_path: Path) -> None:
    found = evaluate(OBJECTS, overrides=QUICK, limit=10)
    flat = rows(found)
    assert len(flat) == len(found.metrics)
    assert {tuple(row) for row in flat} == {tuple(flat[0])}

    frame = pd.DataFrame(flat)
    # 0.5 stands in every row whose metric has it.
    named = frame[frame.metric == "recall"]
    assert set(named["parameters.iou_threshold"]) == {0.5}
    table = pl.DataFrame(flat, infer_schema_length=None)
    assert table.shape == frame.shape
    coco = [row.value for row in found.metrics if row.metric == "coco"]
    defined = [value for value in coco if value is not None]
    assert frame[frame.metric == "coco"].value.dropna().tolist() == defined
    assert table.filter(pl.col("metric") == "coco")["value"].to_list() == coco


def test_lists_among_parameters_are_json_text() -> None:
    ious = {"iou_thresholds": [0.5, 0.75]}
    found = evaluate(
        OBJECTS,
        overrides={"metrics": [{"average_precision_over_ious": ious}], "gates": []},
        limit=5,
    )
    assert {row["parameters.iou_thresholds"] for row in rows(found)} == {"[0.5,0.75]"}


def test_a_notebook_shows_the_summary_and_may_ask_judges(tmp_path: Path) -> None:
    """A loop runs in the thread of a notebook's cells; IPython's own shell is asked to show."""
    code = f"""
        import asyncio
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        cell = '''
        from valor_cli import evaluate
        found = evaluate({str(ROOT / "configs" / "text_generation_judge.yaml")!r})
        '''
        async def notebook():
            done = await shell.run_cell_async(cell, transformed_cell=shell.transform_cell(cell))
            done.raise_error()
            return shell.display_formatter.format(shell.user_ns["found"])[0]
        shown = asyncio.run(notebook())
        print(sorted(shown))
        print(shown["text/plain"])
        print(shown["text/html"])
    """
    out = run_python(code, tmp_path)
    kinds, plain, page = out.partition("\n")[0], *out.partition("\n")[2].split("<iframe", 1)
    assert kinds == "['text/html', 'text/plain']"
    assert "faithfulness" in plain
    assert "PASSED" in plain
    assert "PASSED" in page
    assert "\x1b" not in out


def test_what_a_model_says_is_no_markup_in_a_notebook(tmp_path: Path) -> None:
    config = json.loads(json.dumps(DIGITS, default=str))
    config["data"]["predictions"] = {"<script>": config["data"]["predictions"]["forest"]}
    code = f"""
        from IPython.core.interactiveshell import InteractiveShell
        from valor_cli import evaluate
        shell = InteractiveShell.instance()
        found = evaluate({config!r})
        print(shell.display_formatter.format(found)[0]["text/html"])
    """
    page = run_python(code, tmp_path)
    assert "<script>" not in page
    # Escaped in the report, which is escaped in its frame.
    assert "&amp;lt;script&amp;gt;" in page
    assert 'sandbox="allow-scripts allow-downloads"' in page


def letters(sample: Any) -> float:
    """Letters of the response."""
    return len(sample.response)


def test_a_run_without_a_config() -> None:
    rows = [{"sample_id": "a", "response": "xy"}, {"sample_id": "b", "response": "xyzw"}]
    result = evaluate(
        task="text_generation",
        samples={"one": rows, "other": rows[:1]},
        metrics=["pii_leakage", letters],
        overrides={"gates": ["own.letters >= 1"]},
    )
    found = {row.model: row.value for row in result.metrics if row.metric == "own.letters"}
    assert found == {"one": 3.0, "other": 2.0}
    assert result.passed
    rows = [{"id": 1, "label": "cat"}], [{"id": 1, "prediction": "cat"}]
    sides = dict(zip(("ground_truth", "predictions"), rows, strict=True))
    (row,) = evaluate(task="classification", data=sides, metrics=["accuracy"]).metrics
    assert row.value == 1.0
    with pytest.raises(ConfigError, match="task: required, but missing"):
        evaluate(samples=[])


def test_inputs_in_memory() -> None:
    rows = [
        {"id": 1, "label": "cat", "prediction": "cat"},
        {"id": 2, "label": "dog", "prediction": "cat"},
    ]
    config = {"task": "classification", "metrics": ["accuracy"]}
    alone = evaluate(config, data={"samples": rows})
    assert [(row.model, row.value) for row in alone.metrics] == [("samples", 0.5)]
    better = [{**row, "prediction": row["label"]} for row in rows]
    both = evaluate(config, data={"samples": {"v1.0": rows, "v2.0": better}})
    assert [(row.model, row.value) for row in both.metrics] == [("v1.0", 0.5), ("v2.0", 1.0)]


def test_rows_that_cannot_be_used() -> None:
    rows = [{"id": 1, "label": "cat", "prediction": "cat"}, {"id": 2}]
    with pytest.raises(DataError, match=r"samples\.jsonl:2: "):
        evaluate({"task": "classification"}, data={"samples": rows})
