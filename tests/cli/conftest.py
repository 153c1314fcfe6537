"""The program as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
