"""What the catalogue says of every metric is there, adds up, and can be used."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from valor_cli import catalogue
from valor_cli.cli.catalogue_text import in_config
from valor_cli.config import load_config
from valor_cli.metric import Metric

CONFIGS = Path(__file__).parents[2] / "configs"

ENTRIES = [
    pytest.param(task.name, metric, id=f"{task.name}-{metric.name}")
    for task in map(catalogue.task, catalogue.TASKS)
    for metric in task.metrics
]

DECLARED = [
    pytest.param(metric, id=name)
    for name, metric in {
        f"{metric.declared.__module__.split('.')[-2]}-{metric.name}": metric
        for task in map(catalogue.task, catalogue.TASKS)
        for metric in task.metrics
    }.items()
]
"""Every metric once, whatever tasks have it."""

HEADINGS = ["Formula:", "Pitfalls:", "Example:", "Args:", "Returns:", "Raises:"]
MOST_LINES = 4
WIDEST = 92
"""Characters of a formula's line: one that is wider is cut or wrapped on a page."""

_CALCULATION = re.compile(r"(?:(?<![\w.])\d+(?:\.\d+)?|[-−+·×*/()²^√= ]|\b(?:ln|exp)\b)+")
_AS_PYTHON = {"−": "-", "·": "*", "×": "*", "²": "**2", "^": "**", "√": "sqrt"}
_NAMES = {"ln": math.log, "exp": math.exp, "sqrt": math.sqrt}


def equations(text: str) -> Iterator[tuple[str, str]]:
    """What stands left and right of each = between numbers: ("8 / 10", "0.8")."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for found in _CALCULATION.finditer(plain):
        for left, right in pairwise(map(_balanced, found[0].split("="))):
            # Where a word stands before or behind, nothing is left of that side.
            if re.search(r"\d", left) and re.search(r"\d", right):
                yield left, right


def _balanced(side: str) -> str:
    """Without the brackets of the sentence around it."""
    side = side.strip()
    if side.count("(") > side.count(")"):
        return side.removeprefix("(").strip()
    return side.removesuffix(")").strip() if side.count(")") > side.count("(") else side


def computed(calculation: str) -> float | None:
    """Its value; None for what only looks like one."""
    code = "".join(_AS_PYTHON.get(one, one) for one in calculation)
    code = re.sub(r"\b(ln|sqrt) *(\d+(?:\.\d+)?)", r"\1(\2)", code)
    try:
        return float(eval(code, {"__builtins__": {}}, _NAMES))  # noqa: S307 - our own docstrings
    except (SyntaxError, TypeError):
        return None


def wrong_equations(text: str) -> list[str]:
    """Those whose sides differ by more than the rounding of the side with the fewest decimals."""
    wrong = []
    for left, right in equations(text):
        values = computed(left), computed(right)
        if values[0] is None or values[1] is None:
            continue
        decimals = re.fullmatch(r"[-−]?\d+(?:\.(\d+))?", right)
        close = 0.5 * 10.0 ** -len(decimals[1] or "") if decimals else 0.005 * abs(values[1])
        if abs(values[0] - values[1]) > close * (1 + 1e-9):
            wrong.append(f"{left} = {right}")
    return wrong


@pytest.mark.parametrize("metric", DECLARED)
def test_all_sections_are_there_and_short(metric: Metric) -> None:
    assert metric.formula.strip()
    assert metric.pitfalls
    assert metric.example
    lines = metric.formula.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDEST


@pytest.mark.parametrize("metric", DECLARED)
def test_sections_stand_once_in_their_order(metric: Metric) -> None:
    lines = (inspect.getdoc(metric.declared) or "").splitlines()
    found = [line for line in lines if re.fullmatch(r"[A-Z][a-z]+:", line)]
    assert found == [heading for heading in HEADINGS if heading in found]
    # What is not indented behind the first heading would be swallowed by its section.
    first = next(at for at, line in enumerate(lines) if line in HEADINGS)
    assert [line for line in lines[first:] if line and line[0] != " "] == found


@pytest.mark.parametrize("metric", DECLARED)
def test_examples_add_up(metric: Metric) -> None:
    assert not wrong_equations(metric.example)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("8 of 10: 8 / 10 = 0.8.", []),
        ("8 of 10: 8 / 10 = 0.9.", ["8 / 10 = 0.9"]),
        ("(12·9 − (8·7 + 4·5)) / √((144 − 80)·(144 − 74)) = 32 / 66.93 = 0.478, else", []),
        (
            "1,000 pixels: (900·0.9 + 100·0) / 1,000 = 0.82, where",
            ["(900·0.9 + 100·0) / 1000 = 0.82"],
        ),
        ("the loss is −ln 0.4 = 0.916; exp(-0.5) = 0.617", ["exp(-0.5) = 0.617"]),
        ("0.3² + 0.2² + 0.1² = 0.14 and 2/3 = 0.66", ["2/3 = 0.66"]),
        ("o = 9/12 = 0.75, e = 0.5", []),
        ("an f1 = 2 · 0.9 · 0.6 / 1.5 = 0.72 (so 1/2 = 0.4)", ["1/2 = 0.4"]),
        ("(1/64)^(−1/3) = 4, (1/4)^2 = 0.0625, ln(2) = 0.70", ["ln(2) = 0.70"]),
    ],
)
def test_how_equations_are_found(text: str, wrong: list[str]) -> None:
    assert wrong_equations(text) == wrong


def test_most_examples_have_an_equation() -> None:
    examples = [entry.values[0].example for entry in DECLARED]  # type: ignore[attr-defined]
    checked = [one for one in examples if any(map(computed, sum(equations(one), ())))]
    assert len(checked) > len(examples) * 3 / 4


@pytest.mark.parametrize(("task", "metric"), ENTRIES)
def test_the_line_for_a_config_loads(task: str, metric: Metric, tmp_path: Path) -> None:
    shipped = yaml.safe_load((CONFIGS / f"{task}.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "run.yaml"
    whole = yaml.safe_dump({"task": task, "data": shipped["data"]})
    path.write_text(f"{whole}{in_config(metric)}\n", encoding="utf-8")
    (request,) = load_config(path, catalogue).metrics
    assert request.name == metric.name
    assert request.parameters == {one.name: one.default for one in metric.parameters}
