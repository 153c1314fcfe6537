"""JUnit XML: against the schema of Jenkins, and as a CI reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree
from msgspec.structs import replace

from tests.reports.check_runs import checked_run, gate, named_alike, silent_judge
from tests.reports.conftest import HOSTILE
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
def test_hostile_words_stay_words(at: int) -> None:
    run = named_alike(WORDS[at])
    root, text = read(run), to_junit(run).decode()
    assert not any(part in text for part in ("<script", "<!ENTITY", "\x1b", "\u202e"))
    assert len(names(root, "gates")) == 6
    assert len(set(names(root, "gates"))) == 6
    assert len(text) < 60_000
