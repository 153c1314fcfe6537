"""Files to classification data sets: labels, rows, selections, and what is warned of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.evaluators.classification.files import listed
from tests.evaluators.loaded import metadata_of
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.classification.load.dataset import load_classification
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.metric import Loaded, NoOptions, Selection
from valor_cli.results import Picture

TRUTH = "id,label,camera\nb,dog,front\na,cat,rear\nc,cat,front\n"
WIDE = "id,dog,cat\nb,0.75,0.25\na,0.5,0.5\nc,0.125,0.875\n"
LONG = "sample_id,prediction,score\nb,dog,0.75\na,cat,0.5\nc,owl,0.5\nc,cat,0.25\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(
    files: Mapping[str, str], selection: Selection | None = None, **block: Any
) -> Loaded[ClassificationDataset]:
    """The files written, those named gt and dt read; or what the block says."""
    for name, text in files.items():
        Path(name).write_bytes(text.encode())
    if "samples" not in block:
        block = {"ground_truth": "gt.csv", "predictions": "dt.csv"} | block
    inputs = ClassificationInputs.model_validate(block)
    return load_classification(inputs, NoOptions(), selection or Selection())


def error(files: Mapping[str, str], selection: Selection | None = None, **block: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        load(files, selection, **block)
    return str(caught.value).split("\n")


def only(loaded: Loaded[ClassificationDataset]) -> ClassificationDataset:
    (dataset,) = loaded.datasets.values()
    return dataset


def truths(dataset: ClassificationDataset) -> dict[tuple[str, str | None], str]:
    """The true label of each sample and label key, in the order of the rows."""
    rows = zip(dataset.unit.tolist(), dataset.key.tolist(), dataset.truth.tolist(), strict=True)
    ids = [one.decode() for one in dataset.sample_ids.tolist()]
    return {(ids[unit], dataset.keys[key]): dataset.labels[label] for unit, key, label in rows}


def says(dataset: ClassificationDataset) -> list[dict[str, float]]:
    return listed(dataset.scores, dataset.labels)


def test_rows_are_those_of_the_ground_truth_by_sample_id() -> None:
    loaded = load({"gt.csv": TRUTH, "dt.csv": WIDE})
    dataset = only(loaded)
    assert truths(dataset) == {("a", None): "cat", ("b", None): "dog", ("c", None): "cat"}
    assert dataset.sample_ids.tolist() == [b"a", b"b", b"c"]
    assert says(dataset) == [
        {"dog": 0.5, "cat": 0.5},
        {"dog": 0.75, "cat": 0.25},
        {"dog": 0.125, "cat": 0.875},
    ]
    # The class columns of a wide file give the order.
    assert dataset.labels == loaded.labels == ("dog", "cat")
    assert dataset.labels_of == ((0, 1),)
    assert loaded.sizes == {"samples": 3, "labels": 2}
    assert loaded.settings == {}
    assert [(file.path, file.rows) for file in loaded.files] == [("gt.csv", 3), ("dt.csv", 3)]
    assert loaded.warnings == [
        "rows of dt with several labels at the highest score, of which the first listed counts: 1"
    ]


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_the_order_of_rows_changes_nothing(text: str) -> None:
    head, *rows = text.splitlines()
    first = load({"gt.csv": TRUTH, "dt.csv": text})
    # Scores of one sample keep their order, and the rows of c stand together.
    for order in permutations(range(3)):
        told = [row for one in order for row in rows if row[0] == "abc"[one]]
        again = load({"gt.csv": TRUTH, "dt.csv": "\n".join([head, *told])})
        assert says(only(again)) == says(only(first))
        assert truths(only(again)) == truths(only(first))
        assert (again.labels, again.warnings) == (first.labels, first.warnings)


def test_partial_lists_and_labels_that_one_side_has() -> None:
    truth = "id,label\na,cat\nb,dog\nc,bee\n"
    loaded = load({"gt.csv": truth, "dt.csv": LONG})
    dataset = only(loaded)
    assert dataset.labels == ("bee", "cat", "dog", "owl")
    assert says(dataset) == [{"cat": 0.5}, {"dog": 0.75}, {"owl": 0.5, "cat": 0.25}]
    assert loaded.one_sided["dt"].missing == ("bee",)
    assert loaded.one_sided["dt"].ignored == ("owl",)


def test_a_label_scored_zero_is_not_predicted() -> None:
    wide = "id,dog,cat,owl\na,0,1,0\nb,0,1,0\nc,0,1,0\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": wide})
    assert only(loaded).labels == ("dog", "cat", "owl")
    assert loaded.one_sided["dt"].missing == ("dog",)
    assert loaded.one_sided["dt"].ignored == ()


def test_labels_that_are_whole_numbers_are_ordered_as_such() -> None:
    files = {"gt.csv": "id,label\na,10\nb,9\n", "dt.csv": "id,prediction\na,10\nb,100\n"}
    assert load(files).labels == ("9", "10", "100")


def test_the_config_may_list_the_classes() -> None:
    files = {"gt.csv": TRUTH, "dt.csv": LONG, "names.json": '["owl", "dog", "yak"]'}
    for classes in (("owl", "dog", "yak"), "names.json"):
        loaded = load(files, classes=classes)
        assert loaded.labels == ("owl", "dog", "cat")
        assert loaded.warnings == ["classes: no file has the label 'yak'"]
    assert error(files, classes="nowhere.json")[0].startswith("nowhere.json: no such file")


def test_labels_mapped_together_are_added() -> None:
    truth = "id,label\na,cat\nb,lorry\nc,van\n"
    found = (
        "id,lorry,cat,van,car\n"
        "a,0.25,0.25,0.25,0.25\n"
        "b,0.5,0.125,0.25,0.125\n"
        "c,0.125,0.25,0.5,0.125\n"
    )
    selection = Selection(label_map={"lorry": "truck", "van": "truck", "Car": "auto"})
    loaded = load({"gt.csv": truth, "dt.csv": found}, selection)
    dataset = only(loaded)
    assert dataset.labels == ("truck", "cat", "car")
    assert list(truths(dataset).values()) == ["cat", "truck", "truck"]
    assert says(dataset) == [
        {"truck": 0.5, "cat": 0.25, "car": 0.25},
        {"truck": 0.75, "cat": 0.125, "car": 0.125},
        {"truck": 0.625, "cat": 0.25, "car": 0.125},
    ]
    assert loaded.warnings == ["label_map: no file has the label 'Car' (did you mean 'car'?)"]


def test_samples_without_a_prediction_stay_and_are_told() -> None:
    found = "id,dog,cat\nb,0.75,0.25\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": found})
    dataset = only(loaded)
    assert says(dataset)[1] == {"dog": 0.75, "cat": 0.25}
    assert dataset.scores.total().tolist() == [0, 1, 0]
    assert loaded.warnings == ["samples without a prediction of dt, counted as wrong: 2 ('a', 'c')"]
    many = "id,label\n" + "".join(f"{at:03},cat\n" for at in range(300))
    loaded = load({"gt.csv": many, "dt.csv": "id,prediction\n299,cat\n"})
    assert loaded.warnings == [
        ("samples without a prediction of dt, counted as wrong: 299 ('000', '001', '002' …)")
    ]


def test_labels_that_have_nothing_in_common_are_told() -> None:
    found = "id,prediction\na,0\nb,1\nc,1\n"
    expected = [
        (
            "no label that dt predicts is in the ground truth: predicted '0', '1'; in the ground "
            "truth 'cat', 'dog'; `label_map` maps the labels of one file to those of the other"
        )
    ]
    assert load({"gt.csv": TRUTH, "dt.csv": found}).warnings == expected
    assert load({"gt.csv": TRUTH, "dt.csv": found.replace(",0", ",dog")}).warnings == []
    # One sample that is taken for another label is no sign of this.
    assert load({"gt.csv": "id,label\na,cat\n", "dt.csv": "id,prediction\na,dog\n"}).warnings == []
    many = "id,label\na,x\nb,y\nc,z\nd,w\n", "id,prediction\na,1\nb,2\nc,3\nd,4\n"
    (warning,) = load({"gt.csv": many[0], "dt.csv": many[1]}).warnings
    assert "predicted '1', '2', '3' …; in the ground truth 'w', 'x', 'y' …;" in warning


def test_rows_that_predict_nothing_are_told_apart_from_missing_ones() -> None:
    found = "id,dog,cat\nb,0,0\na,0,1\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": found})
    assert loaded.warnings == [
        "samples without a prediction of dt, counted as wrong: 1 ('c')",
        (
            "rows of dt that predict nothing (no label, or a highest score of 0, which labels not "
            "listed have), counted as wrong: 1"
        ),
    ]


def test_predictions_without_ground_truth_are_refused_or_skipped() -> None:
    files = {"gt.csv": TRUTH, "dt.csv": WIDE + "d,0.5,0.5\n"}
    problem, hint = error(files)
    assert problem == "dt.csv:5: sample_id: no sample 'd' in gt.csv"
    assert hint.startswith("Sample ids of the ground truth look like 'a', 'b', 'c'.")
    loaded = load(files, on_invalid="skip")
    assert says(only(loaded)) == says(only(load({"gt.csv": TRUTH, "dt.csv": WIDE})))
    assert [(file.rows, file.skipped) for file in loaded.files] == [(3, 0), (4, 1)]
    assert loaded.warnings[0] == (
        "dt.csv: left out, for gt.csv does not have their sample: 1 of 4 rows ('d')"
    )


def test_ids_are_text_in_every_format() -> None:
    found = '{"sample_id": 17, "predictions": {"cat": 1}}\n{"id": "ä b", "predictions": {"b": 1}}\n'
    truth = "id,label\nä b,dog\n17,cat\n"
    loaded = load({"gt.csv": truth, "dt.jsonl": found}, predictions="dt.jsonl")
    assert list(truths(only(loaded))) == [("17", None), ("ä b", None)]
    assert says(only(loaded)) == [{"cat": 1.0}, {"b": 1.0}]


KEYED_TRUTH = (
    "id,label_key,label\n2,shape,disc\n1,color,red\n1,shape,cube\n2,color,blue\n3,color,red\n"
)
KEYED = [
    {"id": "1", "predictions": {"shape": {"cube": 0.5, "disc": 0.25}, "color": {"red": 1.0}}},
    {"id": "3", "predictions": {"color": {"red": 0.25, "blue": 0.5}}},
    {"id": "2", "predictions": {"color": {"blue": 1.0}, "shape": {"disc": 1.0}}},
]


def test_label_keys() -> None:
    found = "".join(json.dumps(one) + "\n" for one in KEYED)
    loaded = load({"gt.csv": KEYED_TRUTH, "dt.jsonl": found}, predictions="dt.jsonl")
    dataset = only(loaded)
    assert dataset.keys == ("color", "shape")
    assert truths(dataset) == {
        ("1", "color"): "red",
        ("1", "shape"): "cube",
        ("2", "color"): "blue",
        ("2", "shape"): "disc",
        ("3", "color"): "red",
    }
    assert says(dataset) == [
        {"red": 1.0},
        {"cube": 0.5, "disc": 0.25},
        {"blue": 1.0},
        {"disc": 1.0},
        {"red": 0.25, "blue": 0.5},
    ]
    assert dataset.labels == ("blue", "cube", "disc", "red")
    assert dataset.labels_of == ((0, 3), (1, 2))
    assert loaded.sizes == {"samples": 3, "labels": 4, "label keys": 2}
    problem, hint = error({"dt.csv": "id,prediction\n1,red\n"})
    assert problem == "dt.csv: no label keys, and gt.csv has 'color', 'shape'"
    assert hint.startswith("Say of each row which label key it is of")


def test_metadata_is_of_samples() -> None:
    loaded = load({"gt.csv": TRUTH, "dt.csv": WIDE}, Selection(metadata=("camera",)))
    assert metadata_of(loaded) == {"camera": ["rear", "front", "front"]}
    keyed = "id,label_key,label,camera\nb,x,1,\nb,y,1,left\na,y,1,right\na,x,1,left\n"
    keyed += "c,x,1,left\nc,y,1,\n"
    found = "id,label_key,prediction\na,x,1\na,y,1\nb,x,1\nb,y,1\nc,x,1\nc,y,1\n"
    loaded = load({"gt.csv": keyed, "dt.csv": found}, Selection(metadata=("camera",)))
    assert metadata_of(loaded) == {"camera": ["left", "left", "left"]}
    assert loaded.warnings == [
        (
            "metadata.camera: samples whose rows have several values, of which the one of the "
            "first label key counts: 1 (the first: 'a')"
        )
    ]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ({"label": ["cat"]}, ["a", "c"]),
        ({"sample_id": ["b", "a"]}, ["a", "b"]),
        ({"image_id": ["c"]}, ["c"]),
        ({"metadata.camera": ["front"]}, ["b", "c"]),
        ({"metadata.camera": ["front"], "label": ["cat"]}, ["c"]),
    ],
)
def test_filters_keep_samples(keep: dict[str, list[str]], kept: list[str]) -> None:
    files = {"gt.csv": TRUTH, "dt.csv": WIDE}
    whole = dict(zip("abc", says(only(load(files))), strict=True))
    loaded = load(files, Selection(keep=keep, metadata=("camera",)))
    dataset = only(loaded)
    assert [one.decode() for one in dataset.sample_ids.tolist()] == kept
    assert says(dataset) == [whole[name] for name in kept]
    assert len(metadata_of(loaded)["camera"]) == len(kept)
    assert dataset.number.tolist() == list(range(len(kept)))


def test_labels_that_the_filter_leaves_no_row_of_are_gone() -> None:
    loaded = load({"gt.csv": TRUTH, "dt.csv": LONG}, Selection(keep={"sample_id": ["a", "b"]}))
    assert loaded.labels == ("cat", "dog")
    assert says(only(loaded)) == [{"cat": 0.5}, {"dog": 0.75}]
    assert loaded.one_sided["dt"].ignored == ()


def test_a_limit_keeps_the_first_samples() -> None:
    loaded = load({"gt.csv": TRUTH, "dt.csv": WIDE}, Selection(limit=1, keep={"label": ["cat"]}))
    assert only(loaded).sample_ids.tolist() == [b"a"]
    # In the order of the ground truth, whatever the ids are and in whichever the predictions come.
    backwards = "id,dog,cat\nc,0.125,0.875\na,0.5,0.5\nb,0.75,0.25\n"
    for found in (WIDE, backwards):
        loaded = load({"gt.csv": TRUTH, "dt.csv": found}, Selection(limit=1))
        assert list(truths(only(loaded)).items()) == [(("b", None), "dog")]


def test_a_filter_by_label_keeps_all_keys_of_a_sample() -> None:
    found = "".join(json.dumps(one) + "\n" for one in KEYED)
    files = {"gt.csv": KEYED_TRUTH, "dt.jsonl": found}
    loaded = load(files, Selection(keep={"label": ["disc"]}), predictions="dt.jsonl")
    assert truths(only(loaded)) == {("2", "color"): "blue", ("2", "shape"): "disc"}
    assert says(only(loaded)) == [{"blue": 1.0}, {"disc": 1.0}]


@pytest.mark.parametrize(
    ("keep", "lines"),
    [
        (
            {"label": ["owl"]},
            ["filter.label: no label 'owl'", "labels: dog, cat"],
        ),
        (
            {"label": ["Cat"]},
            ["filter.label: no label 'Cat' (did you mean 'cat'?)", "labels: dog, cat"],
        ),
        (
            {"sample_id": ["a", "z", "a\0"]},
            [
                "filter.sample_id: no sample 'z'",
                "filter.sample_id: no sample 'a\\x00'",
                "sample ids look like 'a', 'b', 'c'",
            ],
        ),
        (
            {"metadata.camera": ["top"]},
            ["filter: leaves no sample of gt.csv", "metadata.camera has: front, rear"],
        ),
    ],
)
def test_filters_that_leave_nothing(keep: dict[str, list[str]], lines: list[str]) -> None:
    assert error({"gt.csv": TRUTH, "dt.csv": WIDE}, Selection(keep=keep)) == lines


def test_several_models_share_labels_and_samples() -> None:
    files = {
        "gt.csv": TRUTH,
        "a.csv": "id,cat,owl\na,1,0\nb,0.5,0.5\nc,0,1\n",
        "b.csv": "id,prediction\nc,bee\na,cat\n",
        "c.csv": "id,dog,cat\nb,0,1\na,0,1\nc,0,1\n",
    }
    predictions = {"b": "b.csv", "a": "a.csv", "c": "c.csv"}
    loaded = load(files, predictions=predictions)
    # a.csv is the first wide one; the rest follows by name.
    assert loaded.labels == ("cat", "owl", "bee", "dog")
    assert {dataset.labels for dataset in loaded.datasets.values()} == {loaded.labels}
    assert {dataset.labels_of for dataset in loaded.datasets.values()} == {((0, 1, 2, 3),)}
    assert says(loaded.datasets["b"]) == [{"cat": 1.0}, {}, {"bee": 1.0}]
    assert says(loaded.datasets["c"]) == [{"dog": 0.0, "cat": 1.0}] * 3
    assert loaded.one_sided == {
        "b": (("dog",), ("bee",)),
        "a": (("dog",), ("owl",)),
        "c": (("dog",), ()),
    }
    assert [file.path for file in loaded.files] == ["gt.csv", "b.csv", "a.csv", "c.csv"]


BOTH = "id,label,prediction,camera\nb,dog,dog,front\na,cat,dog,rear\nc,cat,,front\n"


def test_a_file_of_both_sides() -> None:
    loaded = load({"s.csv": BOTH}, Selection(metadata=("camera",)), samples="s.csv")
    dataset = only(loaded)
    assert list(truths(dataset).values()) == ["cat", "dog", "cat"]
    assert says(dataset) == [{"dog": 1.0}, {"dog": 1.0}, {}]
    assert metadata_of(loaded) == {"camera": ["rear", "front", "front"]}
    assert [(file.path, file.rows) for file in loaded.files] == [("s.csv", 3)]
    assert loaded.warnings == [
        (
            "rows of s that predict nothing (no label, or a highest score of 0, which labels not "
            "listed have), counted as wrong: 1"
        )
    ]


def test_files_of_both_sides_agree() -> None:
    other = "id,label,prediction\na,Cat,cat\nb,dog,dog\nc,cat,cat\n"
    selection = Selection(label_map={"Cat": "cat"}, metadata=("camera",))
    loaded = load({"s.csv": BOTH, "t.csv": other}, selection, samples={"s": "s.csv", "t": "t.csv"})
    assert says(loaded.datasets["t"]) == [{"cat": 1.0}, {"dog": 1.0}, {"cat": 1.0}]
    assert [file.path for file in loaded.files] == ["s.csv", "t.csv"]


def test_files_of_both_sides_that_do_not() -> None:
    other = "id,label,prediction\na,dog,cat\nb,dog,dog\nd,cat,cat\n"
    files = {"s.csv": BOTH, "t.csv": other}
    samples = {"s": "s.csv", "t": "t.csv"}
    *problems, hint = error(files, samples=samples)
    assert problems == [
        "t.csv:2: label: the true label of sample 'a' is 'dog' here and 'cat' in s.csv:3",
        "t.csv:4: sample_id: no sample 'd' in s.csv",
        "s.csv:4: sample_id: no sample 'c' in t.csv",
    ]
    assert hint.startswith("All models are compared on the same samples")
    # Samples may be left out, true labels never.
    *problems, _ = error(files, samples=samples, on_invalid="skip")
    assert len(problems) == 1
    files["t.csv"] = other.replace("a,dog", "a,cat")
    loaded = load(files, samples=samples, on_invalid="skip")
    assert loaded.datasets["s"].sample_ids.tolist() == [b"a", b"b"]
    assert says(loaded.datasets["t"]) == [{"cat": 1.0}, {"dog": 1.0}]
    assert loaded.warnings == [
        "left out, for not every file has them: 1 of 3 samples of s.csv ('c')",
        "t.csv: left out, for s.csv does not have their sample: 1 of 3 rows ('d')",
    ]


def test_of_ids_that_one_side_has_the_first_are_listed() -> None:
    more = "".join(f"x{at},1,0\n" for at in range(5))
    loaded = load({"gt.csv": TRUTH, "dt.csv": WIDE + more}, on_invalid="skip")
    assert loaded.warnings[0] == (
        "dt.csv: left out, for gt.csv does not have their sample: 5 of 8 rows ('x0', 'x1', 'x2' …)"
        "; sample ids of the ground truth look like 'a', 'b', 'c'"
    )


def test_rows_left_out_count_for_the_file_that_they_stand_in() -> None:
    Path("sh").mkdir()
    files = {
        "gt.csv": TRUTH,
        "sh/a.csv": "id,dog,cat\nb,1,0\na,0,1\n",
        "sh/b.csv": "id,dog,cat\nx,1,0\nc,0,1\ny,0,1\n",
    }
    loaded = load(files, predictions={"dt": "sh/*.csv"}, on_invalid="skip")
    assert [(file.path, file.rows, file.skipped) for file in loaded.files] == [
        ("gt.csv", 3, 0),
        ("sh/a.csv", 2, 0),
        ("sh/b.csv", 3, 2),
    ]
    assert loaded.warnings == [
        "sh/*.csv: left out, for gt.csv does not have their sample: 2 of 5 rows ('x', 'y')"
    ]


def test_labels_that_no_row_has_any_more_are_known() -> None:
    files = {"gt.csv": TRUTH, "dt.csv": LONG}
    selection = Selection(label_map={"owl": "bird"}, limit=1)
    loaded = load(files, selection, classes=("yak", "cat"))
    assert loaded.labels == ("dog",)
    assert set(loaded.known_labels) == {"yak", "cat", "dog", "bird"}


def test_labels_of_one_side_alone_are_told_by_key() -> None:
    truth = "id,label_key,label\n1,color,red\n1,shape,disc\n2,color,blue\n2,shape,disc\n"
    # Disc is never predicted as a shape; as a colour it is, and no colour is one.
    found = "id,label_key,prediction\n1,color,disc\n1,shape,cube\n2,color,blue\n2,shape,red\n"
    loaded = load({"gt.csv": truth, "dt.csv": found})
    assert loaded.one_sided["dt"].missing == ("color: red", "shape: disc")
    assert loaded.one_sided["dt"].ignored == ("color: disc", "shape: cube", "shape: red")


def test_partial_rows_below_zero_predict_nothing() -> None:
    # What a lists is below the 0 of dog, which it does not list; b lists all, c the other.
    found = "id,prediction,score\na,cat,-0.5\nb,dog,-0.5\nb,cat,-0.75\nc,dog,-0.25\nc,cat,0.5\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": found})
    assert loaded.warnings[0] == (
        "rows of dt that predict nothing (no label, or a highest score of 0, which labels not "
        "listed have), counted as wrong: 1"
    )


def test_files_of_both_sides_that_share_no_sample() -> None:
    files = {"s.csv": "id,label,prediction\na,x,x\n", "t.csv": "id,label,prediction\nb,x,x\n"}
    *problems, _ = error(files, samples={"s": "s.csv", "t": "t.csv"}, on_invalid="skip")
    assert problems == [
        "t.csv:2: sample_id: no sample 'b' in s.csv",
        "s.csv:2: sample_id: no sample 'a' in t.csv",
    ]


def test_files_of_both_sides_with_label_keys_in_any_order() -> None:
    first = "id,label_key,label,prediction\na,x,1,2\nb,x,2,2\na,y,3,3\n"
    second = "id,label_key,label,prediction\na,y,3,4\nb,x,2,1\na,x,1,1\n"
    loaded = load({"s.csv": first, "t.csv": second}, samples={"s": "s.csv", "t": "t.csv"})
    assert loaded.labels == ("1", "2", "3", "4")
    assert says(loaded.datasets["s"]) == [{"2": 1.0}, {"3": 1.0}, {"2": 1.0}]
    assert says(loaded.datasets["t"]) == [{"1": 1.0}, {"4": 1.0}, {"1": 1.0}]
    assert {dataset.labels_of for dataset in loaded.datasets.values()} == {((0, 1), (2, 3))}
    other = {"s.csv": first, "t.csv": second.replace(",y,", ",z,")}
    told = error(other, samples={"s": "s.csv", "t": "t.csv"})
    assert told[0] == "t.csv: no label key 'y', which s.csv has"


def test_scores_outside_of_0_and_1() -> None:
    found = "id,dog,cat\nb,2,-1.5\na,-1,-0.5\nc,1,0\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": found})
    assert loaded.warnings == [
        (
            "scores of dt outside 0..1: 4 (from -1.5 to 2); those below 0, 3, are never positive "
            "at score_threshold 0"
        )
    ]
    found = "id,dog,cat\nb,2,0\na,0,0.5\nc,1,0\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": found})
    assert loaded.warnings == ["scores of dt outside 0..1: 1 (from 0 to 2)"]


PROBABLE = Selection(needs=frozenset({"ground_truth", "predictions", "probabilities"}))


def test_probabilities_just_outside_of_0_and_1_are_clipped() -> None:
    wide = "id,dog,cat\nb,1.00001,-0.001\na,0,1.001\nc,0.5,0.5\n"
    long = '{"id": "b", "scores": {"dog": 1.00001, "cat": -0.001}}\n'
    long += '{"id": "a", "scores": {"cat": 1.001}}\n{"id": "c", "pred": "dog", "prob": 0.5}\n'
    for name, text in (("dt.csv", wide), ("dt.jsonl", long)):
        loaded = load({"gt.csv": TRUTH, name: text}, PROBABLE, predictions={"dt": name})
        clipped = "clipped to 0 and 1: 3 (from -0.001 to 1.001)"
        assert f"probabilities of dt just outside 0..1, {clipped}" in loaded.warnings
        (dataset,) = loaded.datasets.values()
        assert dataset.scores.score.min() >= 0
        assert dataset.scores.score.max() == 1
    above = load({"gt.csv": TRUTH, "dt.csv": wide.replace("-0.001", "0")}, PROBABLE)
    assert only(above).scores.score.max() == 1
    assert error({"gt.csv": TRUTH, "dt.csv": wide.replace("1.001", "1.0011")}, PROBABLE)


def test_sums_matter_where_probabilities_are_needed() -> None:
    # 0.599 and 0.4 are 1 but for rounding, here as where they are divided by their sum.
    wide = "id,dog,cat\nb,0.75,0.125\na,0.599,0.4\nc,0.5,0.75\n"
    loaded = load({"gt.csv": TRUTH, "dt.csv": wide}, PROBABLE)
    assert loaded.warnings == [
        (
            "rows of dt whose scores do not sum to 1 as probabilities do: 2 (the first: 'b', which "
            "sums to 0.875); log_loss, brier_score and expected_calibration_error take them as "
            "they are unless `normalize: true` divides each row by its sum"
        )
    ]
    assert load({"gt.csv": TRUTH, "dt.csv": wide}).warnings == []
    # A partial list may leave a rest to the labels that it does not name; c lists three of three.
    long = (
        "id,prediction,score\nb,dog,0.75\na,cat,1\na,dog,0.5\nc,owl,0.5\nc,cat,0.25\nc,dog,0.125\n"
    )
    (warning,) = load({"gt.csv": TRUTH, "dt.csv": long}, PROBABLE).warnings
    assert warning.startswith(
        "rows of dt whose scores do not sum to 1 as probabilities do: 2 (the first: 'a', which "
        "sums to 1.5)"
    )
    assert error({"gt.csv": TRUTH, "dt.csv": "id,dog,cat\nb,2,0\na,0,0.5\nc,1,0\n"}, PROBABLE)


def test_problems_of_all_files_are_told_at_once() -> None:
    lines = error({"gt.csv": "id,label\na,\n", "dt.csv": "id,dog\na,x\n"})
    assert [line.split(":")[0] for line in lines[:2]] == ["gt.csv", "dt.csv"]


def test_without_the_classes_no_file_is_read() -> None:
    # Bare numbers have no names then, which is no fault of theirs.
    files = {"gt.csv": TRUTH, "dt.jsonl": '{"id": "a", "predictions": [0.5, 0.5]}\n'}
    first, *others = error(files, predictions="dt.jsonl", classes="c.txt")
    assert first.startswith("c.txt: no such file")
    assert not [line for line in others if "dt.jsonl" in line]


def test_pictures_are_found_by_sample_id() -> None:
    Path("pictures/sub").mkdir(parents=True)
    Image.new("RGB", (8, 6)).save("pictures/sub/a.png")
    Image.new("RGB", (4, 3)).save("pictures/b.png")
    loaded = load({"gt.csv": TRUTH, "dt.csv": WIDE}, images="pictures")
    dataset = only(loaded)
    assert loaded.warnings[-1] == (
        "images: 1 of 3 samples have no file in pictures (the first: c); they are shown without"
    )
    assert dataset.picture("a") == Picture("sub/a.png", None, None)
    assert dataset.picture("c") is None
    assert dataset.image_files() == {"a": "sub/a.png", "b": "b.png"}
    assert only(load({"gt.csv": TRUTH, "dt.csv": WIDE})).image_files() == {}
    assert error({}, images="nowhere") == [
        "images: nowhere: no such folder",
        "name the folder that holds the image files",
    ]


def test_a_shuffled_problem_against_dictionaries() -> None:
    rng = np.random.default_rng(5)
    labels = ["cat", "dog", "owl", "3", "é"]
    names = [f"s{at}" for at in rng.permutation(200)]
    truth = {name: labels[rng.integers(5)] for name in names}
    found = {
        name: {labels[at]: float(rng.integers(1, 9)) / 8 for at in rng.permutation(5)[:3]}
        for name in rng.permutation(names)[:150].tolist()
    }
    shape: Callable[[str], str] = {"owl": "bird", "é": "bird"}.get  # type: ignore[assignment]
    files = {
        "gt.csv": "id,label\n" + "".join(f"{name},{label}\n" for name, label in truth.items()),
        "dt.jsonl": "".join(
            json.dumps({"id": name, "predictions": row}) + "\n" for name, row in found.items()
        ),
    }
    selection = Selection(label_map={"owl": "bird", "é": "bird"}, keep={"label": ["bird", "cat"]})
    dataset = only(load(files, selection, predictions="dt.jsonl"))
    expected = []
    for name in sorted(truth):
        if truth[name] in ("cat", "owl", "é"):
            row: dict[str, float] = {}
            for label, score in found.get(name, {}).items():
                mapped = shape(label) or label
                row[mapped] = row.get(mapped, 0) + score
            expected.append(row)
    assert says(dataset) == expected
    assert len(expected) > 80
