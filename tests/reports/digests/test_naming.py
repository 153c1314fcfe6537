"""What tells a measure from its siblings."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.reports.task_runs import classified
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.digests.naming import LabelRows, Names, frozen
from valor_cli.results import GateResult, MetricResult

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"b": {"enum": [1, [2, 3]]}}}


def test_parameters_that_differ_are_named() -> None:
    names = Names([("rouge", {"n": 1, "stem": True}), ("rouge", {"n": 2, "stem": True})])
    assert names.detail("rouge", {"n": 2, "stem": True}) == "n=2"
    assert names.detail("bleu", {"n": 2}) == ""


def test_what_a_name_says_is_not_numbered() -> None:
    sets = [
        ("mean_average_precision", {"iou_threshold": iou, "interpolation": points})
        for iou in (0.5, 0.75)
        for points in ("11_point", "every_point")
    ]
    names = Names(sets)
    assert names.title(sets[0][0], "value", sets[0][1]) == "mAP@0.50 (interpolation=11_point)"


def test_a_judge_of_ones_own_is_called_by_its_name() -> None:
    sets = [{"name": name, "prompt": f"Is it {name}?"} for name in ("polite", "deep")]
    names = Names([("custom_judge", one) for one in sets])
    assert [names.title("custom_judge", "pass", one) for one in sets] == [
        "polite pass",
        "deep pass",
    ]
    alone = {"name": "custom", "prompt": "?"}
    assert (
        Names([("custom_judge", alone)]).title("custom_judge", "pass", alone) == "custom_judge pass"
    )


def test_those_that_read_the_same_are_numbered() -> None:
    sets = [("json_schema", {"schema": one}) for one in (OBJECT, OTHER, {"type": "array"})]
    names = Names([*sets, sets[0]])
    assert [names.detail(*one) for one in sets] == [
        "schema={type, properties} #1",
        "schema={type, properties} #2",
        "schema={type}",
    ]


def test_json_of_any_depth_is_a_key() -> None:
    same = {"properties": {"b": {"enum": (1, (2, 3))}}, "type": "object"}
    assert frozen({"schema": OTHER}) == frozen({"schema": same})
    assert len({frozen({"schema": one}) for one in (OBJECT, OTHER, same)}) == 2


def beside(model: str, digest: str, **more: object) -> dict[str, object]:
    return {"idf": False, "model": model, "model_sha256": digest * 64, **more}


def test_models_are_told_apart_by_their_names() -> None:
    one, other = beside("enc", "a", layer=3), beside("minilm-int8", "b", layer=6)
    names = Names([("bertscore", one), ("bertscore", other)])
    assert names.detail("bertscore", one) == "model=enc"
    assert names.detail("bertscore", other) == "model=minilm-int8"


def test_of_one_name_by_what_else_differs() -> None:
    one, other = (beside("enc", "a", num_layers=each, layer=each) for each in (1, 2))
    assert Names([("m", one), ("m", other)]).detail("m", one) == "num_layers=1"
    # Two folders that are called alike: the first digits of their hashes.
    one, other = beside("enc", "a"), beside("enc", "b")
    assert Names([("m", one), ("m", other)]).detail("m", other) == "model_sha256=bbbbbbbbbbbb"
    one, other = beside("enc", "a", layer=1), beside("enc", "a", layer=2)
    assert Names([("m", one), ("m", other)]).detail("m", other) == "layer=2"


KEYS = ("color", "shape")


def _row(label: str | None, model: str = "m", **parameters: Any) -> MetricResult:
    parts = (model, label, None, parameters, 0.5, "fraction", "higher", 9, None, None)
    return MetricResult("f1", "value", *parts)  # type: ignore[arg-type]


def test_mappings_are_equal_whatever_their_order() -> None:
    one = {"t": {"cat": 0.4, "dog": 0.6}}
    assert frozen(one) == frozen({"t": {"dog": 0.6, "cat": 0.4}})
    assert frozen(one) != frozen({"t": {"cat": 0.4, "dog": 0.5}})
    names = Names([("f1", one), ("f1", {"t": 0.5})])
    assert names.detail("f1", one) == "t=cat 0.4, dog 0.6"


def test_a_label_key_is_told_by_its_value_alone() -> None:
    sets = [("f1", {"label_key": key, "k": 1}) for key in KEYS]
    assert [Names(sets).detail(*one) for one in sets] == ["color", "shape"]
    # where label rows carry no key, a single key tells nothing apart
    assert Names([sets[0], ("f1", {"k": 1})]).detail(*sets[0]) == ""


def test_labels_have_a_line_for_each_key() -> None:
    told = digest(classified(labels=("red", "blue"), keys=KEYS))
    lines = [line.name for line in told.labels.lines]
    assert lines == ["color: red", "color: blue", "shape: red", "shape: blue"]
    assert [str(measure) for measure in told.labels.measures] == ["F1", "ROC AUC"]
    assert all(cell.value is not None for line in told.labels.lines for cell in line.cells[0])
    assert [str(measure) for measure in told.headline.measures][:6] == [
        f"{metric} ({key})" for key in KEYS for metric in ("accuracy", "mean ROC AUC", "F1")
    ]


def test_one_key_needs_no_name() -> None:
    told = digest(classified(labels=("red", "blue"), keys=("color",)))
    assert [line.name for line in told.labels.lines] == ["red", "blue"]
    assert str(told.headline.measures[0]) == "accuracy"


def test_a_threshold_for_each_label_makes_one_column() -> None:
    thresholds = {"red": 0.4, "blue": 0.6}
    run = classified(labels=("red", "blue", "green"), thresholds=thresholds)
    told = digest(run)
    assert [str(one) for one in told.labels.measures] == ["F1 (thresholds by label)", "ROC AUC"]
    assert [line.cells[0][0].value for line in told.labels.lines] == [
        row.value for row in run.metrics if row.label and row.model == "forest" and row.n == 90
    ][::2]


def test_thresholds_that_all_labels_share_stay_apart() -> None:
    rows = [_row(label, score_threshold=at) for label in ("a", "b") for at in (0.3, 0.5)]
    keyed = LabelRows(rows)
    assert [keyed.placed(row) for row in rows] == rows


def test_a_gate_finds_its_label_s_row() -> None:
    run = classified(labels=("red", "blue"), keys=KEYS, thresholds={"red": 0.4, "blue": 0.6})
    rows = [row for row in run.metrics if row.metric == "f1" and row.label == "blue"]
    counted = replace(rows[1], unit="count", value=1200.0)
    metrics = [row for row in run.metrics if row is not rows[1]]
    gate = GateResult(
        "f1", "value", "forest", "blue", None, counted.parameters, "min", 1000.0, 1200.0,
        "passed", None,
    )  # fmt: skip
    told = digest(replace(run, metrics=(counted, *metrics), gates=(gate,)))
    assert (told.gates[0].value, told.gates[0].where) == ("1,200", "shape: blue")


def test_words_for_what_is_counted() -> None:
    run = classified(labels=("a",))
    assert (digest(run).n_name, digest(run).unit) == ("samples", "sample")
    images = digest(replace(run, data={"images": 3, "labels": 2}))
    assert (images.n_name, images.unit) == ("pixels", "image")
    objects = digest(replace(run, data={"images": 3, "ground_truths": 2}))
    assert (objects.n_name, objects.unit) == ("ground truths", "image")
    assert digest(replace(run, data={})).n_name == "n"


def test_settings_that_are_off_are_not_told() -> None:
    run = replace(classified(labels=("a",)), settings={"reduce_labels": False, "ignore_index": 0})
    assert digest(run).scope == ("900 samples", "1 label", "ignore index: 0")
