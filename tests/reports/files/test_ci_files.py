"""What CI and spreadsheets read of a run: JUnit XML, workflow commands of GitHub, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from lxml import etree
from msgspec.structs import replace

from tests.reports.check_runs import checked_run, gate, named_alike, problem, silent_judge
from tests.reports.conftest import HOSTILE
from tests.reports.task_runs import value_row
from valor_cli.reports.files.annotations import MOST, workflow_commands
from valor_cli.reports.files.csv_rows import COLUMNS, to_csv
from valor_cli.reports.files.junit import to_junit
from valor_cli.results import RunResult

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))


def read(run: RunResult) -> etree._Element:
    """The root, checked against the schema; counts add up."""
    parser = etree.XMLParser(resolve_entities=False, huge_tree=False)
    root = etree.fromstring(to_junit(run), parser)
    SCHEMA.assertValid(root)
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(count)) == sum(case.find(tag) is not None for case in cases)
    for count in ("tests", "failures", "errors"):
        assert int(root.get(count)) == sum(int(suite.get(count)) for suite in root)
    return root


def names(root: etree._Element, suite: str) -> list[str]:
    return [case.get("name") for case in root.findall(f"testsuite[@name='{suite}']/testcase")]


def test_a_case_for_each_gate_and_each_problem() -> None:
    root = read(checked_run())
    assert names(root, "gates") == [
        "f1 ≥ 0.5 · small · score_threshold=0.5",
        "errors ≤ 20 · small",
        "f1 drop ≤ 0.01 · small · score_threshold=0.5",
        "f1 not worse at 0.05 · small · score_threshold=0.5",
        "coverage of f1 ≥ 0.95 · small · score_threshold=0.5",
        "f1 ≥ 0.2 · cat · metadata.weather=rain · small",
    ]
    assert names(root, "problems") == [
        "threshold f1 · small",
        "flip f1 · a · 7 · small",
        "coverage f1 · small",
        "threshold f1 · small #2",
    ]
    assert {case.get("classname") for case in root.iter("testcase")} == {
        "object_detection.gates",
        "object_detection.problems",
        "object_detection.run",
    }
    assert (root.get("failures"), root.get("errors"), root.get("time")) == ("2", "0", "1.500")


def test_a_failed_gate_as_a_file() -> None:
    # Written down in full: the bytes that a CI reads.
    run = checked_run(gates=[gate("min", 0.5, 0.4, "failed", reason="<why>")], problems=())
    head, _, rest = to_junit(run).decode().partition('  <testsuite name="run"')
    assert head == (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        '<testsuites name="valor" time="1.500" tests="2" failures="1" errors="0">\n'
        '  <testsuite name="gates" tests="1" failures="1" errors="0" skipped="0">\n'
        '    <testcase name="f1 ≥ 0.5 · small · score_threshold=0.5"'
        ' classname="object_detection.gates">\n'
        '      <failure type="min" message="found 0.400, asked for ≥ 0.500">'
        "found 0.400, asked for ≥ 0.500\n"
        "metric: f1\n"
        "output: value\n"
        "model: small\n"
        "reason: &lt;why&gt;\n"
        'parameters: {"score_threshold":0.5}</failure>\n'
        "    </testcase>\n"
        "  </testsuite>\n"
    )
    assert ' time="1.500" timestamp="2026-03-01T09:30:00+00:00">' in rest
    assert rest.endswith('classname="object_detection.run" />\n  </testsuite>\n</testsuites>\n')
    assert to_junit(run) == to_junit(run)


def test_problems_and_unchecked_gates_are_skipped_and_never_red() -> None:
    run = checked_run()
    run = replace(run, gates=[one for one in run.gates if one.status != "failed"])
    root = read(run)
    # That a gate could not be checked makes the run incomplete.
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    assert root.find("testsuite[@name='run']/testcase/error").get("message") == run.incomplete
    skipped = [(one.get("type"), one.get("message")) for one in root.iter("skipped")]
    assert skipped == [
        ("not checked", "no --baseline was given"),
        ("problem.high", "small: f1 is 0.100, below its threshold of 0.5"),
        ("problem.medium", "small: f1 of a-typo is 0.1; of a, 0.9"),
        ("problem.low", "small: f1 has a value for 90 of 100 samples"),
        ("problem.unclear", "small: f1 is 0.300, yet: cannot tell"),
    ]
    # GitLab reads what stands inside.
    assert all(one.text.startswith(one.get("message")) for one in root.iter("skipped"))


def test_a_run_without_gates_is_no_empty_file() -> None:
    root = read(checked_run(gates=(), problems=()))
    assert [suite.get("name") for suite in root] == ["run"]
    assert root.get("tests") == "1"


def test_an_incomplete_run_is_an_error() -> None:
    run = checked_run(gates=(), coverage=[silent_judge()])
    assert run.incomplete
    root = read(run)
    assert root.get("errors") == "1"
    assert root.find("testsuite[@name='run']/testcase/error").get("message") == run.incomplete
    stopped = replace(run.run, stopped="the budget of 2.00 US dollars is reached")
    root = read(replace(run, run=replace(stopped, stopped_by="budget"), coverage=()))
    assert "budget of 2.00" in root.find(".//error").get("message")


def test_names_hold_no_values() -> None:
    one = checked_run()
    other = replace(
        one,
        metrics=[replace(row, value=0.123456) for row in one.metrics],
        gates=[replace(held, value=0.499999999, reason="x") for held in one.gates],
        problems=[replace(found, value=0.9, message="y") for found in one.problems],
        run=replace(one.run, started_at="2026-04-01T09:30:00+00:00", duration_s=7.0),
    )
    first, second = read(one), read(other)
    for suite in ("gates", "problems", "run"):
        assert names(first, suite) == names(second, suite)


def test_namesakes_are_told_apart() -> None:
    root = read(checked_run(gates=[gate("min", 0.5, 0.4, "failed")] * 3))
    found = names(root, "gates")
    assert len(set(found)) == 3
    assert found[2] == f"{found[0]} #3"


WORDS = (*HOSTILE, "\x00\x0b\ufffe\uffff\ud800]]>&#0;", "<!ENTITY x SYSTEM 'file:///x'>&x;")


@pytest.mark.parametrize("at", range(len(WORDS)))
def test_hostile_words_stay_words_in_xml(at: int) -> None:
    run = named_alike(WORDS[at])
    root, text = read(run), to_junit(run).decode()
    assert not any(part in text for part in ("<script", "<!ENTITY", "\x1b", "\u202e"))
    assert len(names(root, "gates")) == 6
    assert len(set(names(root, "gates"))) == 6
    assert len(text) < 60_000


# Workflow commands, read as GitHub's runner reads them


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
        assert not {"\n", "\r", "\x1b"} & {*line}


# CSV, read back by Python's reader and taken for no formula


def csv_rows(run: RunResult) -> list[dict[str, str]]:
    text = to_csv(run).decode()
    assert text.endswith("\r\n")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert tuple(rows[0]) == COLUMNS
    assert {len(row) for row in rows} == {len(COLUMNS)}
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]


def test_a_small_run_as_a_file() -> None:
    assert to_csv(checked_run()).decode() == (
        "metric,output,model,label,slice,parameters,value,unit,direction,n,interval_low,"
        "interval_high,method,caution,undefined\r\n"
        'f1,value,small,,,"{""score_threshold"":0.5}",0.4,fraction,higher,900,,,,,\r\n'
        'f1,value,small,,,"{""score_threshold"":0.7}",0.35,fraction,higher,900,,,,,\r\n'
        "errors,value,small,,,{},12,count,lower,900,10,15,,,\r\n"
        "errors,value,small,'=cat,,{},,fraction,higher,900,,,,,no ground truth\r\n"
    )


def test_numbers_in_full_and_every_column() -> None:
    third, tiny = 1 / 3, -5e-324
    row = replace(
        value_row("m", "x", third, n=7, interval=(tiny, 0.1 + 0.2), direction=None),
        method="wilson",
        caution="small_n",
        slice="area=small",
        parameters={"at": [0.5, "a"], "b": {"c": None}},
    )
    (read_row,) = csv_rows(checked_run(metrics=[row]))
    assert float(read_row["value"]) == third
    # a negative number is a number, and no formula
    assert float(read_row["interval_low"]) == tiny
    assert read_row["interval_low"] == "-5e-324"
    assert read_row["interval_high"] == "0.30000000000000004"
    assert json.loads(read_row["parameters"]) == row.parameters
    kept = [read_row[name] for name in ("n", "method", "caution", "slice", "direction", "label")]
    assert kept == ["7", "wilson", "small_n", "area=small", "", ""]


@pytest.mark.parametrize(
    "start",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\x00=1"),
        *(" =1", "＝1", "＋1", "－1", "＠x", "﹦1", " ＝1"),
        *("\u3164=1", "\u2800=1", "\ufe0f=1"),
        # What is not seen does not hide a formula.
        *("\u200b=1", "\u2060=1", "\xad=1", "\ufeff=1", "\u200b\u200d ＝1"),
    ],
)
def test_no_text_is_a_formula(start: str) -> None:
    (row,) = csv_rows(checked_run(metrics=[value_row(start, start, 0.5, label=start)]))
    assert all(row[name].startswith("'") for name in ("metric", "model", "label"))
    assert row["value"] == "0.5"
    if not {"\u200b", "\u2060", "\xad", "\ufeff"} & {*start}:
        # "-1" may be a label: what follows the apostrophe is all of it
        assert row["label"][1:] == start.strip("\t\r\n\x00")


@pytest.mark.parametrize("label", ["cat", " cat", "a=1", "1-2", "x＝1", "\u3164", "½"])
def test_other_text_stays_as_it_is(label: str) -> None:
    (row,) = csv_rows(checked_run(metrics=[value_row("m", "x", 0.5, label=label)]))
    assert row["label"] == label


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_stay_in_their_cells(word: str) -> None:
    rows = csv_rows(named_alike(word))
    assert len(rows) == 4
    text = to_csv(named_alike(word)).decode()
    assert text.count("\r\n") == text.count("\n") == 5
    assert "\x1b" not in text
    assert "\u202e" not in text
    if word.isprintable():
        assert all(row["metric"].removeprefix("'") == word for row in rows)
