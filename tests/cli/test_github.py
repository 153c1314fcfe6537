"""What a step of GitHub Actions reads of the output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from valor_cli import catalogue
from valor_cli.cli.github import annotate, unheeded
from valor_cli.config import load_config
from valor_cli.results import GateResult, InputFile, RunInfo, RunResult

GATE = GateResult("accuracy", "value", "m", None, None, {}, "min", 0.9, 0.5, "failed", None, gate=1)
RUN = RunInfo("0", "", 0.0, "", "", "", (InputFile("a", "", 0),), {})


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
    with unheeded():
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
        with unheeded():
            print("::add-mask::a label")  # noqa: T201
        lines = capsys.readouterr().out.splitlines()
        stop = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])
        assert stop
        assert lines[1:] == ["::add-mask::a label", f"::{stop[1]}::"]
        words.add(stop[1])
    assert len(words) == 2
