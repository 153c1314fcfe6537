"""docs/moving-metrics.md: metrics of other tools run here, and have the tools' numbers.

tests/golden/migrating/remake_own.py stored what the tools say.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks
from valor_cli import evaluate

PAGE = "docs/moving-metrics.md"
TOLD = json.loads((ROOT / "tests/golden/migrating/own.json").read_text(encoding="utf-8"))
CLASSES = ROOT / "sample_data/classification"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE):
        if block.path is not None:
            Path(block.path).write_text(block.text, encoding="utf-8")
    return tmp_path


def values(metric: Any) -> dict[str, float | None]:
    asked = {"task": "text_generation", "data": {"samples": "moved.jsonl"}, "metrics": [metric]}
    return {row.output: row.value for row in evaluate(asked).metrics}


def test_promptfoo() -> None:
    # One word of one is right, one of three, none, none, and none of none.
    found = values({"python": "from_promptfoo.py:concise"})
    assert found == {"value": pytest.approx((1 + 1 / 3) / 5)}


def test_lm_eval() -> None:
    told = {name: TOLD["lm_eval"][name] for name in ("f1", "exact")}
    assert values({"python": "from_lm_eval.py:answers"}) == pytest.approx(told)
    # By hand: 1, 1/2, 0, 4/5 and 0; one answer of five is the same.
    assert told == pytest.approx({"f1": 0.46, "exact": 0.2})


def matthews(metric: Any) -> dict[str, float | None]:
    models = ("random_forest", "naive_bayes")
    result = evaluate(
        {
            "task": "classification",
            "data": {
                "ground_truth": str(CLASSES / "ground_truth.csv"),
                "predictions": {name: str(CLASSES / f"{name}.csv") for name in models},
            },
            "metrics": [metric],
        }
    )
    return {row.model: row.value for row in result.metrics}


def test_torchmetrics() -> None:
    told = {name: value for name, value in TOLD["torchmetrics"].items() if name != "version"}
    assert matthews("matthews_corrcoef") == pytest.approx(told, abs=1e-6)
    if importlib.util.find_spec("torchmetrics") is None:
        return
    # What the page shows, where its packages are installed.
    (block,) = blocks(PAGE, "python")[-1:]
    Path("from_torchmetrics.py").write_text(block.text, encoding="utf-8")
    assert matthews({"python": "from_torchmetrics.py:matthews"}) == pytest.approx(told, abs=1e-6)


def test_each_takes_under_twenty_lines() -> None:
    for block in blocks(PAGE, "python"):
        assert len([line for line in block.text.splitlines() if line]) < 20
