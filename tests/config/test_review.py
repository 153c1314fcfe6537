"""A document against a vocabulary: a full config, and each problem of its forms and names."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.config.vocabulary import START, Boxes, load, problems
from valor_cli.config import Interval, MetricRequest, Report, SliceRequest, SliceSearch


def test_a_full_config() -> None:
    config = load(
        START + "metrics:\n"
        "  - coco\n"
        "  - ap: {iou_thresholds: [0.5, 1]}\n"
        "  - average_precision:\n"
        "label_map: {lorry: truck}\n"
        "filter: {metadata.weather: rain, label: [cat, 1, 0.5, true]}\n"
        "slices: [metadata.camera, area, {metadata.night: [true, 'x']}]\n"
        "interval: {resamples: 10}\n"
        "gates:\n"
        "  - {metric: ap, output: recall, label: cat, min: 1, parameters: {max_detections: 5},\n"
        "     slice: area=small}\n"
        "report: {out: out, formats: [html]}\n"
    )
    average = {"max_detections": 100, "zero": "skip"}
    assert config.task == "boxes"
    assert config.data == Boxes.model_validate(
        {"ground_truth": "gt.json", "predictions": "p.json"}, context={"folder": Path()}
    )
    assert config.metrics == (
        MetricRequest(name="coco", parameters={}, index=0),
        MetricRequest(
            name="average_precision",
            parameters={"iou_thresholds": (0.5, 1.0), **average},
            index=1,
            given=("iou_thresholds",),
        ),
        MetricRequest(
            name="average_precision",
            parameters={"iou_thresholds": (0.5, 0.75), **average},
            index=2,
        ),
    )
    assert config.label_map == {"lorry": "truck"}
    assert config.filter == {"metadata.weather": ("rain",), "label": ("cat", 1, 0.5, True)}
    assert config.slices == (
        SliceRequest(key="metadata.camera", values=None),
        SliceRequest(key="area", values=None),
        SliceRequest(key="metadata.night", values=(True, "x")),
    )
    assert config.interval == Interval(resamples=10)
    (gate,) = config.gates
    assert (gate.metric, gate.output, gate.min) == ("average_precision", "recall", 1.0)
    assert (gate.slice, gate.parameters) == ("area=small", {"max_detections": 5})
    assert config.report == Report(out="out", formats=("html",))
    assert config.path == Path("run.yaml")
    assert len(config.sha256) == 64
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - our own


def test_a_search_for_slices() -> None:
    assert load(START).slice_search is None
    for text in ("auto", "[auto]", "[{auto: }]", "[area, {auto: {}}]"):
        assert load(f"{START}slices: {text}\n").slice_search == SliceSearch()
    asked = "{columns: [metadata.camera], min_size: 10, most: 3, depth: 1, level: 0.9}"
    config = load(f"{START}slices: [area, {{auto: {asked}}}]\n")
    assert config.slice_search == SliceSearch(
        columns=("metadata.camera",), min_size=10, most=3, depth=1, level=0.9
    )
    assert [one.key for one in config.slices] == ["area", "auto"]
    assert config.place("slices", 1) == "run.yaml:3:16: slices.1"


def test_what_is_omitted() -> None:
    config = load(START)
    assert config.metrics is None
    assert config.interval is None
    assert (config.slices, config.gates) == ((), ())
    assert (config.label_map, config.filter) == ({}, {})
    assert config.report.out is None
    assert config.report.formats == ("json", "markdown", "html")
    assert load(START + "interval: {}\n").interval == Interval(
        method="bootstrap", resamples=1000, level=0.95, seed=0
    )


def test_a_very_broken_config_lists_every_problem_by_line() -> None:
    text = (
        "task: boxes\n"
        "data: {predictions: {a: 5}, ground_thruth: x, columns: {lable: x}}\n"
        "metrics:\n"
        "  - cooc\n"
        "  - ap: {iou_treshold: 1, iou_thresholds: [0.5, '0.5', .nan]}\n"
        "label_map: {lorry: 7}\n"
        "gates:\n"
        "  - {metric: ap}\n"
        "reprot: {}\n"
    )
    assert problems(text, "interval.level=.inf", "interval.sed=1") == [
        "run.yaml:2:1: data.ground_truth: required, but missing",
        "run.yaml:2:25: data.predictions.a: expected text, found the number 5",
        (
            "run.yaml:2:29: data.ground_thruth: unknown key (did you mean 'ground_truth'?); "
            "data of boxes has ground_truth, predictions, columns"
        ),
        (
            "run.yaml:2:57: data.columns.lable: unknown key (did you mean 'label'?); "
            "data.columns has label"
        ),
        (
            "run.yaml:4:5: metrics.0: unknown metric 'cooc' (did you mean 'coco'?); "
            "boxes has coco, average_precision"
        ),
        (
            "run.yaml:5:10: metrics.1.iou_treshold: unknown parameter "
            "(did you mean 'iou_thresholds'?); ap has iou_thresholds, max_detections, zero"
        ),
        "run.yaml:5:49: metrics.1.iou_thresholds.1: expected a number, found the text '0.5'",
        "run.yaml:5:56: metrics.1.iou_thresholds.2: expected a finite number, found .nan",
        "run.yaml:6:20: label_map.lorry: expected text, found the number 7",
        (
            "run.yaml:8:5: gates.0: a gate needs at least one of "
            "min, max, max_drop, not_worse, coverage"
        ),
        (
            "run.yaml:9:1: reprot: unknown key (did you mean 'report'?); the config has task, "
            "data, metrics, label_map, filter, slices, interval, gates, report, matching"
        ),
        "--set interval.level: expected a finite number, found .inf",
        (
            "--set interval.sed: unknown key (did you mean 'seed'?); "
            "interval has method, resamples, level, seed, group"
        ),
    ]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "a: 1\n",
            [
                (
                    "run.yaml:1:1: a: unknown key; the config has task, data, metrics, label_map, "
                    "filter, slices, interval, gates, report, matching"
                ),
                "run.yaml:1:1: task: required, but missing; the tasks are boxes, text",
                "run.yaml:1:1: data: required, but missing",
            ],
        ),
        (
            (
                "task: bxes\ndata: 5\nmetrics: [anything, 5]\nslices: [area]\ninterval: {seed: x}\n"
                "gates: [{metric: any, min: x}]\n"
            ),
            [
                (
                    "run.yaml:1:7: task: unknown task 'bxes' (did you mean 'boxes'?); "
                    "the tasks are boxes, text"
                ),
                "run.yaml:2:7: data: expected a mapping, found the number 5",
                (
                    "run.yaml:3:21: metrics.1: expected a metric's name, or a mapping of one name "
                    "to its parameters, found the number 5"
                ),
                "run.yaml:5:18: interval.seed: expected a whole number, found the text 'x'",
                "run.yaml:6:28: gates.0.min: expected a number, found the text 'x'",
            ],
        ),
        (
            "task: [boxes]\ndata: {}\n",
            ["run.yaml:1:7: task: expected the name of a task, found a list"],
        ),
        (
            "task: text\ndata: {}\nmetrics: [matching, m]\n",
            [
                "run.yaml:2:7: data: give samples or parts",
                "run.yaml:3:11: metrics.0.threshold: required, but missing",
                (
                    "run.yaml:3:21: metrics.1: unknown metric 'm' (did you mean 'm9'?); "
                    "'valor metrics --task text' lists them"
                ),
            ],
        ),
        (
            "task: boxes\ndata: {ground_truth: a/, predictions: [x]}\n",
            [
                "run.yaml:2:22: data.ground_truth: expected a file, found the folder a/",
                "run.yaml:2:39: data.predictions: expected text or a mapping, found a list",
            ],
        ),
    ],
)
def test_problems_of_task_and_data(text: str, messages: Sequence[str]) -> None:
    assert problems(text) == messages
