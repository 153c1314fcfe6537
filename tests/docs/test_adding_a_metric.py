"""The metric of docs/adding-a-metric.md, taken from the page and run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from tests.docs.pages import ROOT, blocks, text_of
from valor_cli import catalogue, pipeline
from valor_cli.cli.catalogue_text import explained, listing
from valor_cli.config import load_config
from valor_cli.evaluators.detection import OBJECT_DETECTION, WING
from valor_cli.metric import Metric
from valor_cli.results import RunResult

PAGE = "docs/adding-a-metric.md"
NAME = "false_positives_per_image"
MODULE = f"valor_cli.evaluators.detection.metrics.{NAME}"


def executed(text: str, name: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(text, f"{PAGE}: {name}", "exec"), module.__dict__)  # noqa: S102 - our own page
    return module


@pytest.fixture
def metric(monkeypatch: pytest.MonkeyPatch) -> Metric:
    """The page's first block, importable under the name it would have."""
    module = executed(blocks(PAGE, "python")[0].text, MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    return module.FALSE_POSITIVES_PER_IMAGE


@pytest.fixture
def added(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> Iterator[Metric]:
    """The metric as an entry of a copy of the wing, in the catalogue."""
    wing = replace(WING, metrics=(*WING.metrics, metric))
    task = replace(OBJECT_DETECTION, wings=(wing,))
    monkeypatch.setattr(catalogue, "TASKS", {"object_detection": lambda: task})
    catalogue.parameters.cache_clear()
    yield metric
    catalogue.parameters.cache_clear()


@pytest.mark.usefixtures("metric")
def test_the_test_of_the_page_passes() -> None:
    module = executed(blocks(PAGE, "python")[1].text, "test_of_the_page")
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    assert len(tests) == 1
    tests[0]()


def test_the_page_names_the_file_and_the_entry(metric: Metric) -> None:
    text = text_of(PAGE)
    assert f"`{MODULE.replace('.', '/')}.py`" in text
    (diff,) = blocks(PAGE, "diff")
    assert f"+from {MODULE} import (\n+    FALSE_POSITIVES_PER_IMAGE,\n+)\n" in diff.text
    assert metric.name == NAME
    assert NAME not in {metric.name for metric in WING.metrics}


def evaluated(folder: Path, more: str) -> RunResult:
    """The sample data, by a config that asks for the metric."""
    data = ROOT / "sample_data" / "object_detection"
    config = folder / "run.yaml"
    config.write_text(
        "task: object_detection\n"
        f"data: {{ground_truth: {data}/ground_truth.json, predictions: {data}/large.json}}\n{more}"
    )
    return pipeline.evaluate(pipeline.make_plan(load_config(config, catalogue)), command="")


@pytest.mark.usefixtures("added")
def test_it_appears_in_the_pipeline(tmp_path: Path) -> None:
    result = evaluated(
        tmp_path,
        "metrics: [FPPI: {score_threshold: 0.3}, counts: {score_threshold: 0.3}]\n"
        "slices: [{area: [small]}]\n"
        "interval: {resamples: 5}\n"
        "gates: [{metric: FPPI, max: 10}, {metric: FPPI, label: person, max: 0}]\n",
    )
    rows = [row for row in result.metrics if row.metric == NAME]
    (whole,) = [row for row in rows if row.label is None and row.slice is None]
    wrong = sum(
        row.value or 0
        for row in result.metrics
        if (row.metric, row.output, row.slice) == ("counts", "fp", None)
    )
    assert wrong > 0
    assert whole.value == wrong / 100  # images
    assert (whole.direction, whole.unit) == ("lower", "per image")
    assert whole.parameters["score_threshold"] == 0.3
    assert whole.interval is not None
    assert {row.slice for row in rows} == {None, "area=small"}
    assert [gate.status for gate in result.gates] == ["passed", "failed"]


def test_it_appears_in_the_catalogue(added: Metric) -> None:
    task = catalogue.task("object_detection")
    shown = listing([(task, metric) for metric in task.metrics])
    assert f"{NAME} " in shown
    assert "Also known as: FPPI" in explained([task], added)
