"""`valor metrics check`: which properties own functions have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import program

FINE = """
import numpy as np
import valor_cli

def words(sample, *, least: int = 1) -> float | None:
    \"\"\"Words of the response.\"\"\"
    return len(sample.response.split())

async def awaited(sample) -> bool:
    \"\"\"Whether there is a word.\"\"\"
    return bool(sample.response)

def distinct(columns):
    \"\"\"Labels that are predicted.\"\"\"
    return len({*columns.prediction})

@valor_cli.column_metric(per_sample=True)
def top(columns):
    \"\"\"The highest score.\"\"\"
    return columns.scores.max(axis=1)

def hits(evidence) -> float:
    \"\"\"True positives.\"\"\"
    return evidence.tp.sum()

def helper(text):
    return text
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(code: str, *arguments: str, file: str = "metrics.py") -> program.Done:
    Path("metrics.py").write_text(code, encoding="utf-8")
    return program.run("metrics", "check", file, *arguments, cwd=Path.cwd())


def faults(done: program.Done) -> dict[tuple[str, str], str]:
    """What fails, and why."""
    assert done.returncode == 1, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        before, failed, why = line.partition("✗ fails")
        if failed:
            name, _, what = before.strip().partition(" ")
            found[name, what.strip()] = why.strip()
    return found


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("words", None),
        ("awaited", None),
        ("distinct", "classification"),
        ("top", "classification"),
        ("hits", None),
        ("hits", "object_detection"),
    ],
)
def test_good_functions_pass(name: str, task: str | None) -> None:
    asked = () if task is None else ("--task", task)
    done = check(FINE, *asked, file=f"metrics.py:{name}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "✗" not in done.stdout
    assert done.stdout.count("✓ holds") >= 5


def test_an_output_without_a_value_has_none_again() -> None:
    code = """
import valor_cli

@valor_cli.sample_metric(outputs=("words", "none"))
def f(sample):
    \"\"\"F.\"\"\"
    return {"words": len(sample.response), "none": None}
"""
    done = check(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_metric_of_a_file_is_checked() -> None:
    done = check(FINE, "--task", "classification")
    assert (done.returncode, done.stderr) == (0, "")
    names = {line.split()[0] for line in done.stdout.splitlines() if "holds" in line}
    assert names == {"words", "awaited", "distinct", "top", "hits"}
    assert "not checked, for they are no metrics: helper" in done.stdout


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 1 / len(sample.response)", {"empty text": "ZeroDivisionError: division by zero"}),
        (
            "return ord(sample.response[-1:] or '.') < 128 or 1 / 0",
            {"unicode": "ZeroDivisionError"},
        ),
        (
            "return -len(sample.response)",
            {
                "usual data": "the function returned -34, but its",
                "unicode": "the function returned -",
            },
        ),
        ("return None", {"usual data": "no sample has a value"}),
        (
            "seen.append(1); return len(seen)",
            {"same twice": "1.0 is 6.0 then", "any order": "1.0 is 11.0 then"},
        ),
        (
            "seen.append(sample); return seen[-2].sample_id < sample.sample_id if seen[1:] else 1",
            {"same twice": "1.0 is 0.0 then", "any order": "1.0 is 0.0 then"},
        ),
    ],
)
def test_what_fails(body: str, expected: dict[str, str]) -> None:
    code = f'seen = []\ndef f(sample):\n    """F."""\n    {body}\n'
    found = faults(check(code))
    assert [name for _, name in found] == list(expected)
    for name, reason in expected.items():
        assert found["f", name].startswith(reason[:30])


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(sample): return 1", "it has no docstring"),
        (
            "def f(sample, *, a=1):\n    'F.'\n    return 1",
            "f in metrics.py: the parameter a needs",
        ),
    ],
)
def test_what_does_not_load(code: str, reason: str) -> None:
    assert faults(check(code))["f", "loads"].startswith(reason)


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        ("def g(x): ...", ("metrics.py",), "metrics.py: no metric: none of its functions is"),
        ("1 / 0", ("metrics.py",), "metrics.py cannot be imported: ZeroDivisionError"),
        ("", ("other.py",), "other.py: no such file"),
        (
            "def f(columns): ...",
            ("metrics.py",),
            "--task: metrics.py:f reads columns, which differ",
        ),
        ("", (), "FILE: is FILE.py or FILE.py:FUNCTION, behind the word check"),
    ],
)
def test_what_cannot_be_checked(code: str, arguments: tuple[str, ...], message: str) -> None:
    Path("metrics.py").write_text(code, encoding="utf-8")
    done = program.run("metrics", "check", *arguments, cwd=Path.cwd())
    assert done.returncode == 2
    assert message in done.stderr
