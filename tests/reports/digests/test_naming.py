"""What tells a measure from its siblings."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.task_runs import classified, gate_row, value_row
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.digests.naming import LabelRows, Names
from valor_cli.results.identity import frozen

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"b": {"enum": [1, [2, 3]]}}}
SAME = {"properties": {"b": {"enum": (1, (2, 3))}}, "type": "object"}
KEYS = ("color", "shape")


def beside(model: str, digit: str, **more: object) -> dict[str, object]:
    return {"idf": False, "model": model, "model_sha256": digit * 64, **more}


@pytest.mark.parametrize(
    ("sets", "details"),
    [
        ([{"n": 1, "stem": True}, {"n": 2, "stem": True}], ["n=1", "n=2"]),
        # Those that read the same are numbered.
        (
            [{"schema": one} for one in (OBJECT, OTHER, {"type": "array"}, OBJECT)],
            ["schema={type, properties} #1", "schema={type, properties} #2", "schema={type}"],
        ),
        ([{"t": {"cat": 0.4, "dog": 0.6}}, {"t": 0.5}], ["t=cat 0.4, dog 0.6", "t=0.5"]),
        # Models are told apart by their names, those of one name by what else differs.
        (
            [beside("enc", "a", layer=3), beside("minilm-int8", "b", layer=6)],
            ["model=enc", "model=minilm-int8"],
        ),
        (
            [beside("enc", "a", num_layers=each, layer=each) for each in (1, 2)],
            ["num_layers=1", "num_layers=2"],
        ),
        # Two folders that are called alike: the first digits of their hashes.
        (
            [beside("enc", "a"), beside("enc", "b")],
            ["model_sha256=aaaaaaaaaaaa", "model_sha256=bbbbbbbbbbbb"],
        ),
        ([beside("enc", "a", layer=1), beside("enc", "a", layer=2)], ["layer=1", "layer=2"]),
        # A label key is told by its value alone.
        ([{"label_key": key, "k": 1} for key in KEYS], ["color", "shape"]),
        # Where label rows carry no key, a single key tells nothing apart.
        ([{"label_key": "color", "k": 1}, {"k": 1}], ["", ""]),
    ],
)
def test_parameters_that_differ_are_named(sets: list[Any], details: list[str]) -> None:
    names = Names([("f1", one) for one in sets])
    assert [names.detail("f1", one) for one in sets][: len(details)] == details
    assert names.detail("bleu", sets[0]) == ""


@pytest.mark.parametrize(
    ("metric", "output", "sets", "title"),
    [
        # What a name says is not numbered.
        (
            *("mean_average_precision", "value"),
            [
                {"iou_threshold": iou, "interpolation": points}
                for iou in (0.5, 0.75)
                for points in ("11_point", "every_point")
            ],
            "mAP@0.50 (interpolation=11_point)",
        ),
        # A judge of one's own is called by its name.
        (
            *("custom_judge", "pass"),
            [{"name": name, "prompt": f"Is it {name}?"} for name in ("polite", "deep")],
            "polite pass",
        ),
        ("custom_judge", "pass", [{"name": "custom", "prompt": "?"}], "custom_judge pass"),
    ],
)
def test_titles(metric: str, output: str, sets: list[Any], title: str) -> None:
    assert Names([(metric, one) for one in sets]).title(metric, output, sets[0]) == title


def test_json_of_any_depth_is_a_key_whatever_its_order() -> None:
    assert frozen({"schema": OTHER}) == frozen({"schema": SAME})
    assert frozen({"schema": OTHER}) != frozen({"schema": OBJECT})
    one, turned = {"cat": 0.4, "dog": 0.6}, {"dog": 0.6, "cat": 0.4}
    assert frozen({"t": one}) == frozen({"t": turned}) != frozen({"t": {**one, "dog": 0.5}})


def test_labels_have_a_line_for_each_key() -> None:
    told = digest(classified(labels=("red", "blue"), keys=KEYS))
    lines = [line.name for line in told.labels.lines]
    assert lines == ["color: red", "color: blue", "shape: red", "shape: blue"]
    assert [str(measure) for measure in told.labels.measures] == ["F1", "ROC AUC"]
    assert all(cell.value is not None for line in told.labels.lines for cell in line.cells[0])
    assert [str(measure) for measure in told.headline.measures][:6] == [
        f"{metric} ({key})" for key in KEYS for metric in ("accuracy", "mean ROC AUC", "F1")
    ]
    # One key needs no name.
    alone = digest(classified(labels=("red", "blue"), keys=("color",)))
    assert [line.name for line in alone.labels.lines] == ["red", "blue"]
    assert str(alone.headline.measures[0]) == "accuracy"


def test_a_threshold_for_each_label_makes_one_column() -> None:
    thresholds = {"red": 0.4, "blue": 0.6}
    run = classified(labels=("red", "blue", "green"), thresholds=thresholds)
    told = digest(run)
    assert [str(one) for one in told.labels.measures] == ["F1 (thresholds by label)", "ROC AUC"]
    assert [line.cells[0][0].value for line in told.labels.lines] == [
        row.value for row in run.metrics if row.label and row.model == "forest" and row.n == 90
    ][::2]
    # Thresholds that all labels share stay apart.
    rows = [
        value_row("f1", "m", 0.5, label=label, parameters={"score_threshold": at})
        for label in ("a", "b")
        for at in (0.3, 0.5)
    ]
    keyed = LabelRows(rows)
    assert [keyed.placed(row) for row in rows] == rows


def test_a_gate_finds_its_label_s_row() -> None:
    run = classified(labels=("red", "blue"), keys=KEYS, thresholds={"red": 0.4, "blue": 0.6})
    own = [row for row in run.metrics if row.metric == "f1" and row.label == "blue"][1]
    others = [row for row in run.metrics if row is not own]
    metrics = [replace(own, unit="count", value=1200.0), *others]
    at = {"model": "forest", "label": "blue", "parameters": own.parameters}
    gate = gate_row("min", 1000.0, 1200.0, "passed", **at)
    told = digest(replace(run, metrics=metrics, gates=(gate,)))
    assert (told.gates[0].value, told.gates[0].where) == ("1,200", "shape: blue")
