"""The pages for those who come from ragas, deepeval and promptfoo: names exist, numbers hold.

valor's side always runs. The tools' numbers and names are stored under tests/golden/migrating;
where a tool is installed it is asked anew.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import program
from tests.docs.pages import ROOT, text_of
from tests.golden.migrating.remake_text import lay_out, names, told
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA
from valor_cli.pipeline import make_plan

TOOLS = ("ragas", "deepeval", "promptfoo")
EXAMPLES = [(tool, example) for tool in TOOLS for example in ("strings", "judged")]
METRICS = set(catalogue.metric_names("text_generation"))

EXACT, CLOSE = 0.0, 1e-12
"""Equal to the last digit, or but for the order of operations."""

TOLERANCES = {
    # sacrebleu computes in percent.
    "bleu_score": CLOSE,
    # The denominator is larger by 1e-10.
    "context_precision": 1.1e-10,
    "rouge-n": CLOSE,
    "bleu": CLOSE,
}
TURNED_ROUND = {"HallucinationMetric", "BiasMetric"}
DIFFERENT = {
    # Nothing stated: perfect there, no value here.
    ("deepeval", "AnswerRelevancyMetric", 2): (1.0, "not_applicable"),
    ("deepeval", "FaithfulnessMetric", 2): (1.0, "not_applicable"),
    ("ragas", "faithfulness", 2): (None, "not_applicable"),
    # Of nine words there, brackets and quotes included, one is shared: 2 / (9 + 1).
    # Of two here: 2 / (2 + 1).
    ("promptfoo", "rouge-n", 2): (0.2, 2 / 3),
    # An order without a match has 1e-7 there.
    ("promptfoo", "bleu", 2): (1e-7, 0.0),
    # A reply that cannot be read.
    ("promptfoo", "polite", 2): (0.0, "parse_failure"),
}
"""Tool, its metric and the sample, from 0, where both differ: what the tool has, and valor."""


OF_TRACES = ("trajectory:", "trace-")
"""What is named as a kind."""

SPELLINGS = {
    "AgentGoalAccuracy",
    "BaseMetric",
    "DistanceMeasure",
    "LLMMetric",
    "LLMSQLEquivalence",
    "Metric",
    "MetricOutputType",
    "MetricResult",
    "MetricType",
    "MetricWithEmbeddings",
    "MetricWithLLM",
    "MultiTurnMetric",
    "SingleTurnMetric",
    "TopicAdherenceScore",
}
"""No metrics, or other spellings of those that are named."""


OTHER_WORDS = {
    # Words of valor.
    *("parse_failure", "not_applicable", "retrieval_failures", "strip_fences", "judge_retries"),
    # Columns and parameters of the tools.
    *("reference_contexts", "persona_name", "ground_truth", "retrieval_context"),
    *("actual_output", "expected_output", "additional_metadata", "completion_time", "token_cost"),
    *("tools_called", "expected_tools", "results_folder", "ignore_errors", "ignore_case"),
    *("assert_test", "penalize_ambiguous_claims"),
}
"""What looks like a name of a metric and is none."""


def stored(tool: str) -> dict[str, Any]:
    path = ROOT / "tests" / "golden" / "migrating" / f"{tool}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each page, with the files that it shows and what valor made of them."""
    found = {}
    for tool in TOOLS:
        found[tool] = folder = tmp_path_factory.mktemp(tool)
        lay_out(tool, folder)
        for example in ("strings", "judged"):
            arguments = ("evaluate", f"{example}.yaml", "-q", "--out", f"reports/{example}")
            program.run(*arguments, cwd=folder).check_returncode()
    return found


def of_valor(folder: Path, example: str, metric: str) -> list[float | str]:
    """The value of each sample, or its status where it has none."""
    lines = (
        (folder / "reports" / example / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    )
    found = [json.loads(line)["metrics"][metric] for line in lines]
    return [one["status"] if one["value"] is None else one["value"] for one in found]


def value_rows(tool: str, example: str) -> Iterator[tuple[str, str, list[str]]]:
    """Of the page's table of values: the tool's name, valor's, the cells."""
    tables = re.findall(
        rf"^\| {tool} \| valor \| 1 .*\n\|[-|]+\n((?:\|.*\n)+)",
        text_of(f"docs/migrating/{tool}.md"),
        re.M,
    )
    (table,) = [one for one in tables if (one is tables[0]) == (example == "strings")]
    for line in table.splitlines():
        theirs, ours, *cells = (cell.strip().strip("`") for cell in line.strip("| ").split("|"))
        yield theirs, ours, cells


@cache
def entries(tool: str) -> list[tuple[list[str], list[Any]]]:
    """Of the page's table of metrics: the tool's names, and entries of `metrics:` here."""
    page = text_of(f"docs/migrating/{tool}.md")
    table = re.search(r"^\| .* \| `metrics:` here \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.M)
    assert table
    found = []
    for line in table[1].splitlines():
        theirs, ours = line.strip("| ").split(" | ")[:2]
        texts = re.findall(r"`(.+?)`", ours)
        found.append((re.findall(r"`(.+?)`", theirs), [yaml.safe_load(text) for text in texts]))
    return found


def shown(theirs: float | None, ours: float | str) -> str:
    """A cell: the value, or both where they differ in four digits."""
    left = "nan" if theirs is None else f"{theirs:.4g}"
    right = ours if isinstance(ours, str) else f"{ours:.4g}"
    return left if left == right else f"{left} / {right}"


@pytest.mark.parametrize(("tool", "example"), EXAMPLES)
def test_the_values_are_the_same(desks: dict[str, Path], tool: str, example: str) -> None:
    rows = list(value_rows(tool, example))
    values = stored(tool)["examples"][example]
    assert [theirs for theirs, _, _ in rows] == list(values)
    for theirs, ours, _ in rows:
        found = of_valor(desks[tool], example, ours)
        assert len(found) == len(values[theirs]) == 3
        for at, (one, other) in enumerate(zip(values[theirs], found, strict=True)):
            if (tool, theirs, at) in DIFFERENT:
                there, here = DIFFERENT[tool, theirs, at]
                assert one == (None if there is None else pytest.approx(there, rel=1e-6))
                assert other == (here if isinstance(here, str) else pytest.approx(here, rel=1e-12))
                continue
            right = 1 - one if theirs in TURNED_ROUND else one
            tolerance = max(TOLERANCES.get(theirs, EXACT), CLOSE if theirs in TURNED_ROUND else 0)
            assert other == pytest.approx(right, abs=tolerance, rel=0), (theirs, at)


@pytest.mark.parametrize(("tool", "example"), EXAMPLES)
def test_the_page_shows_them(desks: dict[str, Path], tool: str, example: str) -> None:
    values = stored(tool)["examples"][example]
    for theirs, ours, cells in value_rows(tool, example):
        found = of_valor(desks[tool], example, ours)
        assert cells == [shown(*pair) for pair in zip(values[theirs], found, strict=True)], theirs


@pytest.mark.parametrize("tool", TOOLS)
def test_what_the_table_names_here_can_be_asked_for(tool: str, tmp_path: Path) -> None:
    judge = {"backend": "scripted", "replies": "replies.jsonl"}
    (tmp_path / "replies.jsonl").write_text("")
    (tmp_path / "rows.jsonl").write_text(
        '{"user_input": "q", "response": "r", "references": ["r"], "retrieved_contexts": ["c"],'
        ' "condition": "\\"r\\"", "token_logprobs": [-1.0]}\n'
    )
    for _, metrics in entries(tool):
        for metric in metrics:
            name = metric if isinstance(metric, str) else next(iter(metric))
            assert name in METRICS
            config = {"task": "text_generation", "data": {"samples": "rows.jsonl"}}
            path = tmp_path / "config.yaml"
            path.write_text(yaml.safe_dump({**config, "judge": judge, "metrics": [metric]}))
            make_plan(load_config(path, catalogue))


@pytest.mark.parametrize("tool", TOOLS)
def test_the_other_metrics_it_speaks_of_exist(tool: str) -> None:
    page = text_of(f"docs/migrating/{tool}.md")
    told_of = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)`", page))
    examples = [*value_rows(tool, "strings"), *value_rows(tool, "judged")]
    assert told_of <= METRICS | set(COLUMNS) | {theirs for theirs, _, _ in examples} | OTHER_WORDS


@pytest.mark.parametrize("tool", TOOLS)
def test_what_the_table_names_there_exists(tool: str) -> None:
    known = set(stored(tool)["names"])
    named = {name for theirs, _ in entries(tool) for name in theirs}
    assert named - known <= {"similar:cosine", "not-contains", "not-"}


@pytest.mark.parametrize("tool", ["ragas", "promptfoo"])
def test_all_that_is_there_is_named(tool: str) -> None:
    page = text_of(f"docs/migrating/{tool}.md")
    named = set(re.findall(r"[\w:-]+", page))
    lacking = {name for name in stored(tool)["names"] if name not in named}
    assert not {name for name in lacking if not name.startswith(OF_TRACES)} - SPELLINGS


@pytest.mark.parametrize("tool", TOOLS)
def test_columns_are_read_as_the_page_says(tool: str) -> None:
    page = text_of(f"docs/migrating/{tool}.md")
    table = re.search(r"^\| .* \| (?:column )?here \|\n\|[-|]+\n((?:\|.*\n)+)", page, re.M)
    assert table
    checked = 0
    for line in table[1].splitlines():
        theirs, ours = (
            re.findall(r"`(?:vars\.|response\.)?(\w+)`", one) for one in line.split(" | ")
        )
        if ours and ours[0] in COLUMNS and "columns: {duration" not in line:
            # Of several names for one column each is read; else they stand in the same order.
            standards = ours if len(ours) == len(theirs) else ours[:1] * len(theirs)
            for name, standard in zip(theirs, standards, strict=True):
                if found := SCHEMA.layout([name], {}):
                    assert found == {standard: (name,)}
                    checked += 1
    assert checked >= 5


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_says_so_still(tool: str, tmp_path: Path) -> None:
    there = shutil.which(tool) if tool == "promptfoo" else importlib.util.find_spec(tool)
    if not there:
        pytest.skip(f"{tool} is not installed; its stored numbers were used")
    lay_out(tool, tmp_path)
    assert told(tool, tmp_path) == stored(tool)["examples"]
    assert set(stored(tool)["names"]) <= set(names(tool))
