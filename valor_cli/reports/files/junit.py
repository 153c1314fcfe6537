"""Write JUnit XML: a test case for each gate and problem, and one for the run.

Red results are those that set the exit code: a failed gate is a `failure`, an incomplete or
stopped run an `error`. A gate that could not be checked is `skipped`. A problem is only a hint,
and a run with problems may exit with 0; it is `skipped` too, with the type "problem.<severity>"
and its message: readers then list and count it separately, like the expected failures of test
runners, and no build turns red or unstable because of it.

Names stay the same from run to run (`checks`). The run's own test case is always present: Jenkins
treats a file without test cases as a broken build. GitLab reads the content of elements and
Jenkins their `message`, so both have the text. GitLab groups by `classname`, which Jenkins splits
at its dot into package and class: "object_detection.gates". Only the whole run has a duration.

The file follows the schema of Jenkins' xUnit plugin (junit-10.xsd), of which GitLab and the
readers for GitHub use a part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from valor_cli.reports.digests.formatting import clean, words
from valor_cli.reports.digests.gates import stopped
from valor_cli.reports.files.checks import Check, gate_checks, problem_checks
from valor_cli.results import RunResult

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even as a reference."""


def to_junit(result: RunResult) -> bytes:
    """The file, UTF-8, with an XML declaration."""
    task = clean(result.task)
    suites = [
        _suite("gates", [_gate(check, task) for check in gate_checks(result)]),
        _suite("problems", [_problem(check, task) for check in problem_checks(result)]),
    ]
    whole = _suite("run", [_whole(result, task)])
    duration = f"{result.run.duration_s:.3f}"
    whole.set("time", duration)
    whole.set("timestamp", _legal(clean(result.run.started_at)))
    whole.insert(0, _properties(result))
    root = Element("testsuites", {"name": "valor", "time": duration})
    root.extend([*(suite for suite in suites if len(suite)), whole])
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(name: str, cases: Sequence[Element]) -> Element:
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    suite = Element("testsuite", {"name": name} | {key: str(n) for key, n in counts.items()})
    suite.extend(cases)
    return suite


def _gate(check: Check, task: str) -> Element:
    case = _case(check.name, f"{task}.gates")
    if check.status == "failed":
        _outcome(case, "failure", check.kind, check)
    elif check.status != "passed":
        _outcome(case, "skipped", "not checked", check)
    return case


def _problem(check: Check, task: str) -> Element:
    case = _case(check.name, f"{task}.problems")
    _outcome(case, "skipped", f"problem.{check.kind}", check)
    return case


def _whole(result: RunResult, task: str) -> Element:
    case = _case("run is complete", f"{task}.run")
    why = stopped(result) or result.incomplete
    if why:
        _outcome(case, "error", "incomplete", Check("", "", "", clean(why, 400), {}))
    return case


def _case(name: str, classname: str) -> Element:
    return Element("testcase", {"name": _legal(name), "classname": _legal(classname)})


def _outcome(case: Element, tag: str, kind: str, check: Check) -> None:
    message = _legal(check.message)
    outcome = SubElement(case, tag, {"type": _legal(kind), "message": message})
    details = [f"{words(name)}: {_legal(text)}" for name, text in check.details.items()]
    outcome.text = "\n".join([message, *details])


def _properties(result: RunResult) -> Element:
    """Facts about the run, for readers of the file alone."""
    told = {
        "valor": result.run.valor_version,
        "config": result.run.config,
        "config sha256": result.run.config_sha256,
        "models": ", ".join(clean(model, 60) for model in result.models),
    }
    properties = Element("properties")
    for name, text in told.items():
        SubElement(properties, "property", {"name": name, "value": _legal(clean(text, 400))})
    return properties


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
