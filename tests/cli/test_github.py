"""What a step of GitHub Actions reads of the output."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from valor_cli import catalogue
from valor_cli.cli.github import annotate, escaped_output, print_error
from valor_cli.config import load_config
from valor_cli.errors import DataError, Problem
from valor_cli.results import GateResult, InputFile, RunInfo, RunResult

GATE = GateResult("accuracy", "value", "m", None, None, {}, "min", 0.9, 0.5, "failed", None, gate=1)
RUN = RunInfo(
    valor_version="0",
    started_at="",
    duration_s=0.0,
    command="",
    config="",
    config_sha256="",
    inputs=(InputFile("a", "", 0),),
    packages={},
)


def failed() -> RunResult:
    nothing = {"metrics": (), "curves": (), "tables": (), "examples": (), "warnings": ()}
    return RunResult(
        task="classification",
        models=("m",),
        primary=(),
        data={},
        settings={},
        run=RUN,
        gates=(GATE,),
        missing_prediction_labels={},
        ignored_prediction_labels={},
        **nothing,
    )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "ci" / "run.yaml"
    path.parent.mkdir()
    path.write_text(
        "task: classification\ndata: {samples: a.csv}\ngates:\n"
        "  - {metric: accuracy, min: 0.1}\n  - {metric: accuracy, min: 0.9}\n"
    )
    return path


def test_elsewhere_nothing_is_said(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    with escaped_output():
        pass
    annotate(load_config(config, catalogue), failed())
    assert capsys.readouterr().out == ""


def test_a_failed_gate_is_annotated_where_it_stands_in_the_repository(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(config.parents[1]))
    annotate(load_config(config, catalogue), failed())
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=ci/run.yaml,line=5,col=5,title=")


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
