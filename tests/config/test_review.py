"""A document against a vocabulary: a full config, its places, short forms, and no secrets."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.config.vocabulary import START, Boxes, Words, load, problems
from valor_cli import catalogue
from valor_cli.config import Interval, MetricRequest, Report, SliceRequest, SliceSearch, load_config
from valor_cli.config.short_forms import gate_of, told_of_peer
from valor_cli.metric.peers import PEERS


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
    assert config.report.out == str(tmp_path / "out")
    options = ["report.out=-", "data.ground_truth=-"]
    config = load_config(folder / "run.yaml", Words(), options)
    assert isinstance(config.data, Boxes)
    assert (config.data.ground_truth, config.report.out) == ("-", "-")
    config = load_config(folder / "run.yaml", Words(), ["report.out=/out"])
    assert config.report.out == "/out"


def test_the_folder_of_the_report_reads_plainly() -> None:
    Path("configs").mkdir()
    Path("configs/run.yaml").write_text(START + "report: {out: ../reports/x}\n")
    assert load_config("configs/run.yaml", Words()).report.out == "reports/x"
    assert (
        load_config("configs/run.yaml", Words(), ["report.out=./a/../b/"]).report.out == "configs/b"
    )
    assert load(START + "report: {out: ./out}\n").report.out == "out"


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
            "run.yaml:2:22: data.ground_truth: what '${SECRET}/' expands to cannot be used "
            "(its value is not shown)"
        )
    ]


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
