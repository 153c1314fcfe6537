"""The program as a user runs it, and what its runs write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import program
from tests.program import READ_AT_START

ROOT = Path(__file__).parents[2]

Valor = Callable[..., subprocess.CompletedProcess[str]]
Shell = Callable[[str, Path], subprocess.CompletedProcess[str]]


@pytest.fixture
def valor() -> Valor:
    """`valor(*arguments)`; no terminal, no colour, warnings are errors.

    It runs in this process, unless something is given that only a new one takes in.
    """

    def run(
        *arguments: object, cwd: Path = ROOT, stdin: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **environment}
        if stdin is None and not any(name.startswith(READ_AT_START) for name in environment):
            return program.run(*arguments, cwd=cwd, environment=given)
        return program.run_process(*arguments, cwd=cwd, environment=given, stdin=stdin)

    return run


@pytest.fixture
def shell() -> Shell:
    """A line of bash, in which `valor` is the program."""

    def run(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        program = f'valor() {{ {sys.executable} -m valor_cli "$@"; }}\n'
        return subprocess.run(
            ["bash", "-c", program + line],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


class Run(NamedTuple):
    """What a run wrote: results.json, and samples.jsonl a dictionary a line."""

    folder: Path
    said: str
    result: Any
    samples: list[Any]

    def rows(self, metric: str, **where: Any) -> list[Any]:
        """The rows of a metric that fit; `parameters` need not be all of them."""
        parameters = where.pop("parameters", {}).items()
        return [
            row
            for row in self.result["metrics"]
            if row["metric"] == metric
            and where.items() <= row.items()
            and parameters <= row["parameters"].items()
        ]

    def row(self, metric: str, **where: Any) -> Any:
        """The one row that fits, over all labels and samples where none are named."""
        (row,) = self.rows(metric, **{"label": None, "slice": None, **where})
        return row

    def value(self, metric: str, **where: Any) -> Any:
        """The value of that row."""
        return self.row(metric, **where)["value"]

    def values(self, metric: str, output: str = "value", cut: str | None = None) -> dict[str, Any]:
        """By model, the value over all labels; of a slice, where one is named."""
        rows = self.rows(metric, output=output, label=None, slice=cut)
        return {row["model"]: row["value"] for row in rows}

    def each(self, metric: str) -> dict[str, Any]:
        """By sample, its entry; of a metric that is called once."""
        return {line["sample_id"]: line["metrics"][metric] for line in self.samples}


def lines_of(path: Path) -> list[Any]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: Iterable[Any]) -> str:
    """Keep rows as JSON lines; the name of the file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


def configured(
    folder: Path, task: str, data: Any, metrics: Any = None, name: str = "run", **more: Any
) -> str:
    """The name of a config; JSON is YAML, and a path alone is that of samples."""
    data = data if isinstance(data, Mapping) else {"samples": str(data)}
    config = {"task": task, "data": data, "report": {"out": "out"}, **more}
    config |= {} if metrics is None else {"metrics": metrics}
    (folder / f"{name}.yaml").write_text(json.dumps(config), encoding="utf-8")
    return f"{name}.yaml"


def read_run(folder: Path, said: str = "") -> Run:
    """What a run wrote into a folder."""
    result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    samples = folder / "samples.jsonl"
    return Run(folder, said, result, lines_of(samples) if samples.exists() else [])


Evaluate = Callable[..., Run]


@pytest.fixture
def evaluate(tmp_path: Path, request: pytest.FixtureRequest) -> Evaluate:
    """`evaluate(data, metrics, *options, code=0, **config)` in the folder of the test, in process.

    The task is the `TASK` of the test's file, unless one is given.
    """

    def run(data: Any, metrics: Any = None, *options: object, code: int = 0, **config: Any) -> Run:
        task = config.pop("task", request.module.TASK)
        path = configured(tmp_path, task, data, metrics, **config)
        asked = options if "--format" in options else ("--format", "json", *options)
        done = program.run("evaluate", path, *asked, cwd=tmp_path)
        codes = code if isinstance(code, tuple) else (code,)
        assert done.returncode in codes, (done.stdout, done.stderr)
        return read_run(tmp_path / "out", done.stdout)

    return run


def refused(done: Any, *messages: str, folder: Path | None = None) -> None:
    """Exit 2 with these messages, nothing on standard output, no traceback, nothing written."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    for message in messages:
        assert message in done.stderr
    if folder is not None:
        assert not (folder / "out").exists()


def result_of(done: Any) -> Any:
    """What a run printed with `--out -`, and said nothing else."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr == ""
    return json.loads(done.stdout)


GROUND_TRUTH: dict[str, Any] = {
    "images": [
        {"id": 1, "metadata": {"weather": "rain"}},
        {"id": 2, "metadata": {"weather": "sun"}},
    ],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]},
        {"id": 2, "image_id": 2, "category_id": 2, "bbox": [5, 5, 10, 10]},
    ],
}
RESULTS: list[dict[str, Any]] = [
    {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9},
    {"image_id": 2, "category_id": 2, "bbox": [50, 50, 10, 10], "score": 0.8},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a config, a ground truth and predictions of two boxes, one of them right."""
    (tmp_path / "gt.json").write_text(json.dumps(GROUND_TRUTH))
    (tmp_path / "dt.json").write_text(json.dumps(RESULTS))
    (tmp_path / "run.yaml").write_text(
        "task: object_detection\n"
        "data: {ground_truth: gt.json, predictions: dt.json}\n"
        "metrics: [coco, mean_average_precision, recall]\n"
        "report: {out: out}\n"
    )
    return tmp_path
