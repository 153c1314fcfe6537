"""The recipes for judges on docs/own-metrics.md: their values by hand, and those of the peers.

tests/oracles/peer_judges.py asked the peers, with the same verdicts, in environments that have the
versions which tests/golden/migrating/judges.json names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks
from valor_cli import RunResult, evaluate

PAGE = "docs/own-metrics.md"
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/migrating/judges.json").read_text())


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a config of the page beside its files."""
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE):
        if block.path is not None:
            Path(block.path).write_text(block.text, encoding="utf-8")

    def run(name: str) -> RunResult:
        return evaluate(name)

    return run


def rating(found: RunResult, output: str) -> float | None:
    return next(row.value for row in found.metrics if row.output == output)


def column(found: RunResult, name: str) -> list[float | None]:
    return list(found.samples[0].columns[name])


def test_configs_are_short() -> None:
    lengths = {
        block.path: len(block.text.splitlines())
        for block in blocks(PAGE, "yaml")
        if block.path is not None and "custom_judge" in block.text
    }
    assert lengths.pop("rubric.yaml") <= 15
    assert len(lengths) == 3
    assert max(lengths.values()) < 20


def test_a_rubric(recipe: Any) -> None:
    # 5, 4, 1 and 3: 13 / 4; the middle of 1 to 5 is 3, and three reach it.
    found = recipe("rubric.yaml")
    assert (rating(found, "rating"), rating(found, "pass")) == (3.25, 0.75)
    assert found.samples[0].undefined[2] == "A bare order."
    assert found.gates[0].status == "passed"


def test_g_eval(recipe: Any) -> None:
    found = recipe("g_eval.yaml")
    theirs = GOLDEN["deepeval"]
    assert column(found, "rating") == pytest.approx(
        [10 * one for one in theirs["score"]], abs=1e-12
    )
    assert column(found, "pass") == theirs["passed"]
    # By hand: (0.7 · 8 + 0.2 · 9 + 0.1 · 7) / 1, (0.6 · 3 + 0.3 · 4) / 0.9, 0.9 · 10 + 0.1 · 9.
    assert column(found, "rating") == pytest.approx([8.1, 10 / 3, 9.9], abs=1e-12)


def test_llm_rubric(recipe: Any) -> None:
    found = recipe("llm_rubric.yaml")
    assert column(found, "pass") == [0.0, 1.0, None]
    assert found.coverage[0].statuses == {"ok": 2, "not_applicable": 1}


def test_aspect_critic(recipe: Any) -> None:
    found = recipe("aspect_critic.yaml")
    assert column(found, "pass") == GOLDEN["ragas"]["score"]
