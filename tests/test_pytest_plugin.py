"""The fixture `valor_run`, in tests of its users."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from valor_cli import evaluate
from valor_cli.pytest_plugin import TestedRun

CONFIG = """
task: classification
data: {samples: rows.csv}
metrics: [accuracy]
gates: ["accuracy >= 0.9"]
"""

TESTS = """
def test_passes(valor_run):
    run = valor_run("run.yaml", gates=["accuracy >= 0.5"])
    run.assert_passed()
    assert run.passed and run.metrics[0].value == 0.5

def test_fails(valor_run):
    valor_run("run.yaml").assert_passed()

def test_other_rows(valor_run, tmp_path):
    rows = tmp_path / "better.csv"
    rows.write_text("id,label,prediction\\na,cat,cat\\n")
    valor_run("run.yaml", **{"data.samples": str(rows)}).assert_passed()

def test_no_gates(valor_run):
    valor_run("run.yaml", gates=[]).assert_passed()

def test_mistake(valor_run):
    valor_run("run.yaml", metrics=["acuracy"])
"""


def test_the_fixture(tmp_path: Path) -> None:
    inside = tmp_path / "suite"
    inside.mkdir()
    (inside / "run.yaml").write_text(CONFIG)
    (inside / "rows.csv").write_text("id,label,prediction\na,cat,cat\nb,dog,cat\n")
    (inside / "test_runs.py").write_text(TESTS)
    (inside / "conftest.py").write_text('pytest_plugins = ["valor_cli.pytest_plugin"]\n')
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            "-rA",
            "--tb=short",
            "suite",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    # Where CI is set, pytest prints whole messages, in which lines of the table begin with FAILED.
    summary = re.compile(r"^(PASSED|FAILED) \S+::(\w+)", re.MULTILINE)
    outcomes = {test: outcome for outcome, test in summary.findall(done.stdout)}
    assert outcomes == {
        "test_passes": "PASSED",
        "test_fails": "FAILED",
        "test_other_rows": "PASSED",
        "test_no_gates": "FAILED",
        "test_mistake": "FAILED",
    }
    assert "AssertionError: the run is failed" in done.stdout
    # The summary: the gate with its rule and value.
    assert "≥ 0.900  0.500" in done.stdout
    assert "AssertionError: the config has no gates" in done.stdout
    assert "unknown metric 'acuracy' (did you mean 'accuracy'?)" in done.stdout
    # The frames of the plugin are of no use to a reader.
    assert "in assert_passed" not in done.stdout


def test_a_gate_that_could_not_be_checked_fails() -> None:
    rows = [{"sample_id": "a", "response": None, "user_input": "?"}]
    gates = {"gates": ["pii_leakage >= 0.5"]}
    result = evaluate(
        task="text_generation", samples=rows, metrics=["pii_leakage"], overrides=gates
    )
    with pytest.raises(AssertionError, match="the run is incomplete"):
        TestedRun(result).assert_passed()


def test_it_imports_little() -> None:
    code = "import sys, valor_cli.pytest_plugin; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
