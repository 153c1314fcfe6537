"""A YAML config to a checked RunConfig: forms, messages, places, schema."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from valor_cli.config import (
    Gate,
    Interval,
    MetricRequest,
    Report,
    RunConfig,
    SliceRequest,
    json_schema,
    load_config,
)
from valor_cli.errors import ConfigError


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Columns(Strict):
    label: str = "label"


class Boxes(Strict):
    ground_truth: str
    predictions: str | dict[str, str]
    columns: Columns = Columns()

    @field_validator("ground_truth")
    @classmethod
    def _resolved(cls, value: str, info: ValidationInfo) -> str:
        if value.endswith("/"):
            raise ValueError(f"expected a file, found the folder {value}")
        return value if value == "-" else str((info.context or {})["folder"] / value)


class Samples(Strict):
    samples: str | None = None
    parts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one(self) -> Samples:
        if self.samples is None and not self.parts:
            raise ValueError("give samples or parts")
        return self


class NoParameters(Strict):
    pass


class Average(Strict):
    iou_thresholds: tuple[float, ...] = Field(default=(0.5, 0.75), min_length=1)
    max_detections: int = Field(default=100, ge=1)
    zero: Literal["skip"] | Annotated[float, Field(ge=0, le=1)] = "skip"


class Matching(Strict):
    threshold: float


class Words:
    """A vocabulary of two tasks."""

    _metrics: Mapping[str, Mapping[str, type[BaseModel]]] = {
        "boxes": {"coco": NoParameters, "average_precision": Average},
        "text": {"matching": Matching, **{f"m{index}": NoParameters for index in range(20)}},
    }

    def task_names(self) -> Sequence[str]:
        return tuple(self._metrics)

    def inputs(self, task: str) -> type[BaseModel]:
        return Boxes if task == "boxes" else Samples

    def metric_names(self, task: str) -> Mapping[str, str]:
        aliases = {"ap": "average_precision"} if task == "boxes" else {}
        return {name: name for name in self._metrics[task]} | aliases

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        return self._metrics[task][metric]

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        return ("value", "recall") if metric == "average_precision" else ("value",)

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        return {"area": ("all", "small", "large")} if task == "boxes" else {}


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


START = "task: boxes\ndata: {ground_truth: gt.json, predictions: p.json}\n"


def load(text: str, *overrides: str) -> RunConfig:
    Path("run.yaml").write_text(text, encoding="utf-8")
    return load_config("run.yaml", Words(), overrides)


def problems(text: str, *overrides: str) -> Sequence[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, *overrides)
    return [str(problem) for problem in caught.value.problems]


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


def test_the_config_is_frozen() -> None:
    config = load(START)
    with pytest.raises(ValueError, match="frozen"):
        config.task = "text"  # type: ignore[misc]


def test_paths_start_from_the_folder_of_the_yaml(tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "run.yaml").write_text(START)
    config = load_config(folder / "run.yaml", Words(), ["report.out=../out"])
    assert isinstance(config.data, Boxes)
    assert config.data.ground_truth == str(folder / "gt.json")
    assert config.report.out == str(folder / "../out")
    options = ["report.out=-", "data.ground_truth=-"]
    config = load_config(folder / "run.yaml", Words(), options)
    assert isinstance(config.data, Boxes)
    assert (config.data.ground_truth, config.report.out) == ("-", "-")
    config = load_config(folder / "run.yaml", Words(), ["report.out=/out"])
    assert config.report.out == "/out"


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
        "run.yaml:8:5: gates.0: a gate needs at least one of min, max, max_drop",
        (
            "run.yaml:9:1: reprot: unknown key (did you mean 'report'?); the config has task, "
            "data, metrics, label_map, filter, slices, interval, gates, report"
        ),
        "--set interval.level: expected a finite number, found .inf",
        (
            "--set interval.sed: unknown key (did you mean 'seed'?); "
            "interval has method, resamples, level, seed"
        ),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("metrics:", "3:9: metrics: expected a list, found nothing"),
        ("metrics: coco", "3:10: metrics: expected a list, found the text 'coco'"),
        (
            "metrics: []",
            "3:10: metrics: names no metric; leave the key out for the task's default set",
        ),
        (
            "metrics: [5]",
            (
                "3:11: metrics.0: expected a metric's name, or a mapping of one name to its "
                "parameters, found the number 5"
            ),
        ),
        (
            "metrics:\n - ap:\n   zero: 0",
            (
                "4:4: metrics.0: expected a metric's name, or a mapping of one name to its "
                "parameters, found the keys 'ap', 'zero'; indent the parameters below the name"
            ),
        ),
        (
            "metrics: [{}]",
            (
                "3:11: metrics.0: expected a metric's name, or a mapping of one name to its "
                "parameters, found the keys none"
            ),
        ),
        (
            "metrics: [{ap: 5}]",
            "3:16: metrics.0: expected a mapping of parameters, found the number 5",
        ),
        (
            "metrics: [{coco: {a: 1}}]",
            "3:19: metrics.0.a: unknown parameter; coco has none",
        ),
        (
            "metrics: [ap, average_precision]",
            "3:15: metrics.1: the same metric with the same parameters as metrics.0",
        ),
        (
            "metrics: [{ap: {max_detections: true}}]",
            "3:33: metrics.0.max_detections: expected a whole number, found true",
        ),
        (
            "metrics: [{ap: {max_detections: 1.0}}]",
            "3:33: metrics.0.max_detections: expected a whole number, found the number 1.0",
        ),
        (
            "metrics: [{ap: {iou_thresholds: []}}]",
            "3:33: metrics.0.iou_thresholds: expected at least 1 item, found 0",
        ),
        (
            "metrics: [{ap: {iou_thresholds: 0.5}}]",
            "3:33: metrics.0.iou_thresholds: expected a list, found the number 0.5",
        ),
        (
            "metrics: [{ap: {zero: 2}}]",
            "3:23: metrics.0.zero: expected skip or a number of at most 1, found 2",
        ),
        ("label_map: [a]", "3:12: label_map: expected a mapping, found a list"),
        ("label_map: {a: no, b: null}", "3:23: label_map.b: expected text, found nothing"),
        (
            "filter: {lable: x}",
            (
                "3:10: filter.lable: unknown key (did you mean 'label'?); "
                "a filter has label, image_id, sample_id, metadata.NAME"
            ),
        ),
        (
            "filter: {label: []}",
            "3:17: filter.label: expected at least one value, found an empty list",
        ),
        ("filter: {label: }", "3:17: filter.label: expected a single value, found nothing"),
        (
            "filter: {metadata.a: [[1]]}",
            "3:23: filter.metadata.a.0: expected a single value, found a list",
        ),
        (
            "slices: [{area: [tiny]}]",
            "3:18: slices.0.area.0: expected one of all, small, large, found 'tiny'",
        ),
        (
            "slices: [aera]",
            (
                "3:10: slices.0: unknown slice key 'aera' (did you mean 'area'?); "
                "boxes has area, metadata.NAME"
            ),
        ),
        (
            "slices: [{area: small}]",
            "3:17: slices.0.area: expected a list of values, found the text 'small'",
        ),
        (
            "slices: [{area: []}]",
            "3:17: slices.0.area: expected at least one value, found an empty list",
        ),
        ("slices: [area, area]", "3:16: slices.1: 'area' stands twice among the slices"),
        ("slices: [{area: [all, all]}]", "3:23: slices.0.area.1: 'all' stands twice"),
        (
            "slices: [{metadata.a: [{}]}]",
            "3:24: slices.0.metadata.a.0: expected a single value, found a mapping",
        ),
        (
            "slices: [[]]",
            (
                "3:10: slices.0: expected a key, or a mapping of one key to a list of values, "
                "found a list"
            ),
        ),
        (
            "metrics: [{ap: {iou_thresholds: [x]}}]",
            "3:34: metrics.0.iou_thresholds.0: expected a number, found the text 'x'",
        ),
        ("interval: {method: bca}", "3:20: interval.method: expected bootstrap, found 'bca'"),
        (
            "interval: {level: 1}",
            "3:19: interval.level: expected a number below 1, found 1",
        ),
        (
            "interval: {resamples: 100001}",
            "3:23: interval.resamples: expected a number of at most 100000, found 100001",
        ),
        ("interval: {seed: -1}", "3:18: interval.seed: expected a number of at least 0, found -1"),
        (
            "interval: {level: '0.5'}",
            "3:19: interval.level: expected a number, found the text '0.5'",
        ),
        ("interval: {level: true}", "3:19: interval.level: expected a number, found true"),
        (
            "report: {formats: [pdf]}",
            "3:20: report.formats.0: expected one of json, markdown, html, found 'pdf'",
        ),
        ("report: {formats: []}", "3:19: report.formats: expected at least 1 item, found 0"),
        ("report: {formats: [html, html]}", "3:19: report.formats: html stands twice"),
        ("report: {out: ''}", "3:15: report.out: expected a folder, found empty text"),
        ('report: {out: "a\\0b"}', "3:15: report.out: text must not hold the character U+0000"),
        ("gates: [{min: 1}]", "3:9: gates.0.metric: required, but missing"),
        (
            "gates: [{metric: app, min: 1}]",
            (
                "3:18: gates.0.metric: unknown metric 'app' (did you mean 'ap'?); "
                "boxes has coco, average_precision"
            ),
        ),
        (
            "gates: [{metric: ap, output: recal, min: 1}]",
            (
                "3:30: gates.0.output: unknown output 'recal' (did you mean 'recall'?); "
                "ap has value, recall"
            ),
        ),
        (
            "gates: [{metric: ap, mni: 1, max: 1}]",
            (
                "3:22: gates.0.mni: unknown key (did you mean 'min'?); a gate has metric, output, "
                "label, model, slice, parameters, min, max, max_drop"
            ),
        ),
        (
            "gates: [{metric: ap, min: 2, max: 1}]",
            "3:9: gates.0: min is above max, which no value can meet",
        ),
        (
            "gates: [{metric: ap, max_drop: -1}]",
            "3:32: gates.0.max_drop: expected a number of at least 0, found -1",
        ),
        (
            "gates: [{metric: ap, min: 1, parameters: {a: [1]}}]",
            "3:46: gates.0.parameters.a: expected a single value, found a list",
        ),
        (
            "gates: [{metric: ap, min: 1, slice: rain}]",
            "3:37: gates.0.slice: expected text such as metadata.camera=front, found 'rain'",
        ),
        (
            "gates: [{metric: ap, min: 1, slice: area=tiny}]",
            "3:37: gates.0.slice: expected one of all, small, large, found 'tiny'",
        ),
        (
            "gates: [{metric: ap, min: 1, slice: aera=all}]",
            (
                "3:37: gates.0.slice: unknown slice key 'aera' (did you mean 'area'?); "
                "boxes has area, metadata.NAME"
            ),
        ),
    ],
)
def test_each_problem_in_plain_words(lines: str, message: str) -> None:
    assert problems(f"{START}{lines}\n") == [f"run.yaml:{message}"]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "a: 1\n",
            [
                (
                    "run.yaml:1:1: a: unknown key; the config has task, data, metrics, label_map, "
                    "filter, slices, interval, gates, report"
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


def test_long_and_odd_values_are_cut_and_escaped() -> None:
    (message,) = problems(f'{START}interval: {{level: "{"y" * 500}", seed: 1}}\n')
    assert message.endswith(f"expected a number, found the text '{'y' * 59}…'")
    (message,) = problems(f'{START}interval: {{level: "a\\e[31m\\n"}}\n')
    assert message.endswith("expected a number, found the text 'a\\x1b[31m\\n'")
    (message,) = problems(f"{START}interval: {{seed: -{'9' * 500}}}\n")
    assert message.endswith(f"expected a number of at least 0, found -{'9' * 58}…")


SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "lines",
    [
        "interval:\n  level: ${SECRET}\n",
        'interval: {method: "${SECRET}"}\n',
        'metrics: ["${SECRET}"]\n',
        'gates: [{metric: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, output: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, slice: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, slice: "${SECRET}=1", min: 1}]\n',
        'slices: ["${SECRET}"]\n',
        'slices: ["metadata.${SECRET}", "metadata.${SECRET}"]\n',
        'slices: [{area: ["${SECRET}"]}]\n',
        'slices: [{metadata.a: ["${SECRET}", "${SECRET}"]}]\n',
        'report: {formats: ["${SECRET}"]}\n',
        'report: "${SECRET}"\n',
        'label_map: "${SECRET}"\n',
        'filter: "${SECRET}"\n',
    ],
)
def test_values_of_the_environment_are_never_shown(
    lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    (message,) = problems(START + lines)
    assert "hunter2" not in message


@pytest.mark.parametrize("task", ["boxes", "boxed"])
def test_a_task_of_the_environment_is_never_shown(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASK", task)
    text = "task: ${TASK}\ndata: {a: 1}\nmetrics: [b]\nslices: [c]\n"
    assert not any(f"{task} has" in line or f"'{task}'" in line for line in problems(text))


def test_a_models_own_message_does_not_repeat_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    text = 'task: boxes\ndata: {ground_truth: "${SECRET}/", predictions: x}\n'
    assert problems(text) == [
        (
            "run.yaml:2:22: data.ground_truth: what '${SECRET}/' stands for cannot be used "
            "(its value is not shown)"
        )
    ]


def test_the_environment_and_overrides_reach_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "7")
    config = load(
        START + "interval:\n  seed: ${SEED}\n  level: ${LEVEL:-0.9}\nmetrics: [ap]\n",
        'filter."metadata.weather"=rain',
        "data.predictions={a: x.json}",
        "metrics.0={ap: {max_detections: 3}}",
    )
    assert config.interval == Interval(seed=7, level=0.9)
    assert config.filter == {"metadata.weather": ("rain",)}
    assert isinstance(config.data, Boxes)
    assert config.data.predictions == {"a": "x.json"}
    assert config.metrics is not None
    assert config.metrics[0].parameters["max_detections"] == 3


def test_places_of_what_was_read() -> None:
    config = load(
        START + "metrics:\n  - coco\n  - ap: {iou_thresholds: [0.5]}\n",
        "metrics.1.ap.max_detections=5",
        "interval.seed=1",
    )
    assert config.place("data", "ground_truth") == "run.yaml:2:22: data.ground_truth"
    assert config.place("data", "images") == "run.yaml:2:1: data.images"
    assert config.place("metrics", 1) == "run.yaml:5:5: metrics.1"
    assert config.place("metrics", 1, "iou_thresholds", 0) == (
        "run.yaml:5:27: metrics.1.iou_thresholds.0"
    )
    assert config.place("metrics", 1, "zero") == "run.yaml:5:5: metrics.1.zero"
    assert config.place("metrics", 0, "zero") == "run.yaml:4:5: metrics.0.zero"
    assert config.place("metrics", 9, "zero") == "run.yaml:3:1: metrics.9.zero"
    assert config.place("metrics", 1, "max_detections") == "--set metrics.1.max_detections"
    assert config.place("interval", "level") == "--set interval.level"
    assert config.place("metrics", 1, "ap", "zero") == "run.yaml:5:5: metrics.1.zero"
    assert load(START).place("metrics", 0, "zero") == "run.yaml:1:1: metrics.0.zero"
    assert config.place("report", "out") == "run.yaml:1:1: report.out"


def test_the_schema_knows_tasks_metrics_and_slices() -> None:
    schema = json_schema(Words())
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(schema["properties"]) == set(RunConfig.model_fields) - {"path", "sha256"}
    assert all("description" in part or "$ref" in part for part in schema["properties"].values())
    assert schema["properties"]["task"]["anyOf"][0] == {"enum": ["boxes", "text"]}
    boxes, text = schema["allOf"]
    assert boxes["if"] == {"properties": {"task": {"const": "boxes"}}, "required": ["task"]}
    inside = boxes["then"]["properties"]
    assert inside["data"] == {"$ref": "#/$defs/Boxes"}
    alone, with_parameters = inside["metrics"]["items"]["anyOf"]
    assert alone["enum"] == ["coco", "average_precision", "ap"]
    assert with_parameters["properties"]["ap"]["anyOf"][0] == {"$ref": "#/$defs/Average"}
    assert inside["gates"]["items"]["properties"]["metric"]["enum"] == alone["enum"]
    assert inside["slices"]["items"]["anyOf"][0] == {"enum": ["area"]}
    # A metric with a required parameter cannot be named alone.
    alone, with_parameters = text["then"]["properties"]["metrics"]["items"]["anyOf"]
    assert "matching" not in alone["enum"]
    assert with_parameters["properties"]["matching"] == {"$ref": "#/$defs/Matching"}


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    schema = json_schema(Words())
    references: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            references.update(value for key, value in node.items() if key == "$ref")
        for inner in node.values() if isinstance(node, dict) else node:  # type: ignore[attr-defined]
            if isinstance(inner, dict | list):
                walk(inner)

    walk(schema)
    assert {name.removeprefix("#/$defs/") for name in references} <= set(schema["$defs"])


def test_numbers_of_the_schema_may_come_from_the_environment() -> None:
    schema = json_schema(Words())
    seed = schema["$defs"]["Interval"]["properties"]["seed"]
    assert seed["anyOf"] == [
        {"minimum": 0, "type": "integer"},
        {"$ref": "#/$defs/environment"},
    ]
    assert (seed["default"], seed["description"]) == (0, "Seed of the resampling.")


def test_the_gate_of_the_schema_needs_a_limit() -> None:
    assert Gate.model_json_schema()["anyOf"] == [
        {"required": ["min"]},
        {"required": ["max"]},
        {"required": ["max_drop"]},
    ]


def test_numpy_is_not_imported() -> None:
    code = "import sys, valor_cli.config; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


KEYS = ["task", "data", "metrics", "label_map", "filter", "slices", "interval", "gates", "report"]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["boxes", "coco", "ap", "area", "metadata.a", "area=small", "${A}", "-"]),
)
INNER_KEYS = st.sampled_from(
    ["ap", "area", "metric", "min", "level", "formats", "out", "predictions", "slice", "label"]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(INNER_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(tree=st.dictionaries(st.sampled_from(KEYS), TREES, max_size=6))
def test_any_tree_is_a_config_or_a_config_error(tree: dict[str, object]) -> None:
    lines: list[str] = []
    try:
        # JSON with its non-ASCII escaped is YAML, but for NaN, which is text there.
        load(json.dumps({"task": "boxes", **tree}))
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.text(max_size=80), start=st.sampled_from(["", START]))
def test_any_text_is_a_config_or_a_config_error(text: str, start: str) -> None:
    lines: list[str] = []
    try:
        load(start + text.encode("utf-8", "replace").decode())
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


LABELS = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters="$"), max_size=8
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    thresholds=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    labels=st.dictionaries(LABELS, LABELS, max_size=4),
    seed=st.integers(0, 2**63),
)
def test_a_valid_config_survives(
    thresholds: list[float], labels: dict[str, str], seed: int
) -> None:
    tree = {
        "task": "boxes",
        "data": {"ground_truth": "a", "predictions": {"m": "b"}},
        "metrics": [{"ap": {"iou_thresholds": thresholds}}],
        "label_map": labels,
        "interval": {"seed": seed},
    }
    config = load(json.dumps(tree, ensure_ascii=False))
    assert config.metrics is not None
    assert config.metrics[0].parameters["iou_thresholds"] == tuple(thresholds)
    assert config.label_map == labels
    assert config.interval == Interval(seed=seed)
