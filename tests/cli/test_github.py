"""What a step of GitHub Actions reads of the output."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Valor, written
from valor_cli.cli.github import escaped_output, print_error
from valor_cli.errors import DataError, Problem

CONFIG = """\
task: classification
data: {samples: a.jsonl}
gates:
  - {metric: accuracy, min: 0.1}
  - {metric: accuracy, min: 0.9}
"""


@pytest.mark.parametrize("actions", [True, False])
def test_a_failed_gate_is_annotated_where_it_stands_in_the_repository(
    valor: Valor, tmp_path: Path, actions: bool
) -> None:
    (tmp_path / "ci").mkdir()
    rows = [{"id": one, "label": "cat", "prediction": one} for one in ("cat", "dog")]
    written(tmp_path / "ci" / "a.jsonl", rows)
    (tmp_path / "ci" / "run.yaml").write_text(CONFIG)
    where = {"GITHUB_ACTIONS": "true" if actions else "", "GITHUB_WORKSPACE": str(tmp_path)}
    done = valor("evaluate", "ci/run.yaml", cwd=tmp_path, **where)
    assert done.returncode == 1
    told = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert bool(told) == actions
    place = "::error file=ci/run.yaml,line=5,col=5,title="
    assert [line.startswith(place) for line in told if "error" in line] == [True] * actions


def test_what_data_say_is_no_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    words = set()
    for _ in range(2):
        with escaped_output():
            print("::add-mask::a label")  # noqa: T201
        lines = capsys.readouterr().out.splitlines()
        stop = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])
        assert stop
        assert lines[1:] == ["::add-mask::a label", f"::{stop[1]}::"]
        words.add(stop[1])
    assert len(words) == 2


def test_no_line_of_an_error_is_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file may have any name, and each problem stands on a line of its own."""
    error = DataError([Problem("a.csv:1", "half"), Problem("::add-mask::x.csv:1", "half")])
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    print_error(error)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"error: {error}\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    print_error(error)
    said = capsys.readouterr()
    first, *lines, last = said.err.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}"
    assert (said.out, lines) == ("", f"error: {error}".splitlines())


def test_an_error_that_nobody_reads_is_no_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is the error's: 1 would say that a gate failed."""
    with open("/dev/full", "w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full)
        print_error(DataError(Problem("a.csv:1", "half")))
