"""Workflow commands, read as GitHub's runner reads them."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.reports.check_runs import checked_run, gate, named_alike, problem, silent_judge
from tests.reports.conftest import HOSTILE
from valor_cli.reports.files.annotations import MOST, workflow_commands
from valor_cli.results import RunResult


def nowhere(gate: int) -> None:
    return None


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """Command, properties, data: up to the first "::" after the command, split at , and =."""
    found = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert found, line
    properties = dict(part.split("=", 1) for part in found[2].split(","))
    return found[1], {name: back(text) for name, text in properties.items()}, back(found[3])


def back(text: str) -> str:
    for written, meant in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def test_gates_at_their_places_then_problems() -> None:
    lines = workflow_commands(
        checked_run(), lambda at: ("configs/a,b:100%.yaml", 10 + at, 5) if at < 3 else None
    )
    assert lines[0] == (
        "::error file=configs/a%2Cb%3A100%25.yaml,line=10,col=5,"
        "title=gate failed%3A f1 ≥ 0.5 · small · score_threshold=0.5"
        "::found 0.400, asked for ≥ 0.500"
    )
    assert lines[1].startswith("::error title=gate failed%3A f1 not worse at 0.05 · small")
    assert lines[1].endswith("asked for not worse at 0.050: -0.030 against the baseline")
    assert [parsed(line)[0] for line in lines] == ["error"] * 2 + ["warning"] * 4
    assert parsed(lines[2]) == (
        "warning",
        {"title": "problem (high): threshold f1 · small"},
        "small: f1 is 0.100, below its threshold of 0.5",
    )


def test_nothing_to_say() -> None:
    assert workflow_commands(checked_run(gates=(), problems=()), nowhere) == []


def test_an_incomplete_run_is_a_notice() -> None:
    run = checked_run(gates=(), problems=(), coverage=[silent_judge()])
    (line,) = workflow_commands(run, nowhere)
    assert parsed(line) == ("notice", {"title": "the run is incomplete"}, run.incomplete)


@pytest.mark.parametrize(("count", "shown"), [(MOST, MOST), (MOST + 1, MOST), (73, MOST)])
def test_no_more_than_github_shows(count: int, shown: int) -> None:
    run = checked_run(
        gates=[gate("min", 0.5, 0.4, "failed", gate=at) for at in range(count)],
        problems=[problem("data", "low", f"problem {at}") for at in range(count)],
    )
    lines = workflow_commands(run, nowhere)
    for level, what in (("error", "failed gates"), ("warning", "problems")):
        own = [line for line in lines if line.startswith(f"::{level} ")]
        assert len(own) == shown
        told = f"{count - shown + 1} more {what}; the report has all of them"
        assert (parsed(own[-1])[2] == told) == (count > MOST)


def test_the_most_severe_come_first() -> None:
    found = [problem("data", "low", f"low {at}") for at in range(20)]
    run = checked_run(gates=(), problems=[*found, problem("data", "high", "the worst")])
    assert parsed(workflow_commands(run, nowhere)[0])[2] == "the worst"


@pytest.mark.parametrize(
    "word", [*HOSTILE, "%0A::error::x", "a\r\n::stop-commands::x", "::set-env name=a::b", "%25"]
)
def test_data_makes_no_command_of_its_own(word: str) -> None:
    run: RunResult = named_alike(word)
    run = replace(run, gates=[replace(one, status="failed") for one in run.gates])
    lines = workflow_commands(run, lambda at: (word, 1, 1))
    assert len(lines) == 6 + 4 + 1
    for line in lines:
        command, properties, _ = parsed(line)
        assert command in ("error", "warning", "notice")
        assert set(properties) <= {"file", "line", "col", "title"}
        assert "\n" not in line
        assert "\r" not in line
        assert "\x1b" not in line
