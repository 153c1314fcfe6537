"""Gates as text, and names of other tools' metrics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.config.vocabulary import START, load, problems
from valor_cli import catalogue
from valor_cli.config.short_forms import gate_of, told_of_peer
from valor_cli.metric.peers import PEERS


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("f1 >= 0.8", {"metric": "f1", "min": 0.8}),
        ("f1>=.8", {"metric": "f1", "min": 0.8}),
        ("toxicity ≤ 1e-2", {"metric": "toxicity", "max": 0.01}),
        ("ROUGE-L F1 >= 20 %", {"metric": "ROUGE-L F1", "min": 0.2}),
        (
            "recall[traffic light] >= 0.5",
            {"metric": "recall", "label": "traffic light", "min": 0.5},
        ),
        ("mAP@[.50:.95] >= 0.3", {"metric": "mAP@[.50:.95]", "min": 0.3}),
        ("AP@[.5:.95][cat] <= 1", {"metric": "AP@[.5:.95]", "label": "cat", "max": 1}),
        ("pii_leakage.pass >= 1", {"metric": "pii_leakage.pass", "min": 1}),
        ("f1 drop <= 0.01", {"metric": "f1", "max_drop": 0.01}),
        ("f1 not worse", {"metric": "f1", "not_worse": True}),
        ("coverage >= 0.95", {"coverage": 0.95}),
        ("f1 > 0.8", None),
        ("f1 == 0.8", None),
        ("f1 drop >= 0.01", None),
        (">= 0.8", None),
        ("f1", None),
        ("", None),
    ],
)
def test_a_gate_as_text(text: str, gate: dict[str, Any] | None) -> None:
    assert gate_of(text) == gate


def test_gates_of_a_config() -> None:
    gates = 'gates: ["ap >= 0.5", "ap@0.75[cat] <= 0.9", {metric: coco, not_worse: true}]\n'
    first, second, third = load(START + gates).gates
    assert (first.metric, first.min, dict(first.request)) == ("average_precision", 0.5, {})
    assert (second.metric, second.label, second.max) == ("average_precision", "cat", 0.9)
    assert second.parameters == {"iou_threshold": 0.75}
    assert second.request == {"iou_thresholds": [0.75]}
    assert third.not_worse == 0.05


def test_a_name_with_parameters_and_one_that_others_read_differently() -> None:
    config = load(f"{START}metrics: [ap@0.75, bare]\n")
    assert [one.name for one in config.metrics or ()] == ["average_precision", "coco"]
    assert (config.metrics or ())[0].parameters["iou_thresholds"] == (0.75,)
    assert config.notes == ("bare is read as coco",)


def test_what_is_no_gate() -> None:
    (message,) = problems(f"{START}gates: ['ap > 1']\n")
    assert message.startswith("run.yaml:3:9: gates.0: expected a gate such as 'f1 >= 0.8' or ")


def test_columns_of_metadata_by_their_bare_name() -> None:
    text = "slices: [rain, {dusk: [1]}, area]\ngates: [{metric: ap, min: 0, slice: rain=no}]\n"
    config = load(START + text)
    assert [one.key for one in config.slices] == ["metadata.rain", "metadata.dusk", "area"]
    assert config.gates[0].slice == "metadata.rain=no"


@pytest.mark.parametrize("name", ["GEval", "g_eval", "AspectCritic", "aspect critic", "WER", "wer"])
def test_metrics_of_other_tools_lead_to_ours(name: str) -> None:
    assert " is a metric of " in told_of_peer(name)
    (message,) = problems(f"{START}metrics: [{name}]\n")
    assert "; nearest here: " in message


def test_nearest_metrics_are_there_and_are_no_names_of_ours() -> None:
    tasks = catalogue.task_names()
    ours = {name for task in tasks for name in catalogue.metric_names(task).values()}
    texts = set(catalogue.metric_names("text_generation"))
    for name, (_, nearest) in PEERS.items():
        assert set(nearest) <= ours, name
        assert name not in texts
