"""What tables call a value is a name that gates and configs accept."""

from __future__ import annotations

import pytest

from valor_cli import catalogue
from valor_cli.reports.digests.naming import short_name


@pytest.mark.parametrize("task", catalogue.task_names())
def test_names_of_tables_lead_back(task: str) -> None:
    for metric in catalogue.task(task).metrics:
        values = {one.name: one.default for one in metric.parameters}
        for output in metric.outputs:
            name = short_name(metric.name, output.name, values)
            found = catalogue.measure(task, name)
            assert found is not None, name
            # AP50 is an output of coco, and a metric with an equal value: without a label the mean.
            if metric.name not in ("coco", "lvis") and not metric.name.startswith("average_"):
                alike = {one for one in (found.output, metric.outputs[0].name) if one}
                assert found.metric == metric.name or name in catalogue.metric_names(task), name
                assert output.name in alike or found.metric != metric.name, name


def test_an_output_is_named_behind_its_metric() -> None:
    found = catalogue.measure("text_generation", "pii_leakage.pass")
    assert found is not None
    assert (found.metric, found.output) == ("pii_leakage", "pass")
    assert catalogue.measure("text_generation", "pii_leakage.passes") is None


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("Agent Sanity Check Evaluator", "agent_sanity"),
        ("Looping Detection Evaluator", "looping"),
        ("BLEU Evaluator", "bleu_1"),
        ("ROUGE Evaluator", "rouge_l"),
        ("Self-Consistency Evaluator", "self_consistency"),
        ("FaithfulnessMetric", "faithfulness"),
        ("Exact Match", "exact_match"),
        ("ROUGE_L", "rouge_l"),
        ("pii-leakage", "pii_leakage"),
    ],
)
def test_names_as_other_tools_spell_them(name: str, metric: str) -> None:
    found = catalogue.measure("text_generation", name)
    assert found is not None
    assert found.metric == metric


def test_a_name_that_is_close_is_no_name() -> None:
    for name in ("rougel1", "faithful", "evaluator", ""):
        assert catalogue.measure("text_generation", name) is None
