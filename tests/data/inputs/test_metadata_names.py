"""Which metadata a file has, in every format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.inputs.metadata_names import LONGEST, MOST_TEXTS, MetadataNames, MetadataRows
from valor_cli.data.inputs.object_metadata import label_map_metadata, object_metadata
from valor_cli.data.inputs.sample_metadata import sample_metadata
from valor_cli.data.inputs.score_metadata import score_metadata
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.data.value_rows import batch_of


def names(*records: Mapping[str, Any], strict: bool = False) -> set[str]:
    found = MetadataNames()
    for record in records:
        line = np.arange(1)
        batch = batch_of([record], line, line, [])
        found.add(MetadataRows(batch, {"of"}, [record.get("of")], strict=strict))
    return set(found.found())


def write(folder: Path, name: str, *lines: object) -> str:
    path = folder / name
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("".join(f"{one}\n" for one in texts))
    return str(path)


def test_single_values_alone_are_metadata() -> None:
    good = {"a": 1, "b": "x", "c": True, "d": 0.5, "e": None}
    assert names(good, {"e": 3}) == {"a", "b", "c", "d", "e"}
    assert names(good) == {"a", "b", "c", "d"}
    assert names({"a": [1]}, {"a": 1}) == set()
    assert names({"a": 1}, {"a": {}}) == set()
    assert names({"a": float("nan")}, {"b": "\ud800"}, {"c": "x" * (LONGEST + 1)}) == set()


def test_many_texts_are_no_kinds_but_many_numbers_are() -> None:
    many = [{"id": f"n{at}", "age": str(at), "mixed": at} for at in range(MOST_TEXTS + 1)]
    assert names(*many, {"mixed": "x"}) == {"age"}
    assert names(*many[:-1], {"mixed": "x"}) == {"id", "age"}


def test_what_differs_within_a_sample_is_left_out() -> None:
    rows = [{"of": 1, "a": "x", "b": None}, {"of": 1, "a": "y", "b": "z"}, {"of": 2, "a": "x"}]
    assert names(*rows) == {"b"}
    assert names(*rows, strict=True) == set()


def test_coco(tmp_path: Path) -> None:
    images = [
        {"id": 1, "file_name": "a", "width": 3, "height": 3, "license": 1, "camera": "rear"},
        {"id": 2, "coco_url": "u", "metadata": {"night": True, "width": 7}, "tags": ["x"]},
    ]
    document = {"images": images, "annotations": [], "categories": []}
    path = write(tmp_path, "gt.json", document)
    assert object_metadata(path, {}) == ("camera", "night", "width")
    # Numbers that only a lenient parser takes are for the reader to refuse.
    assert object_metadata(write(tmp_path, "nan.json", document | {"info": float("nan")}), {})
    assert object_metadata(write(tmp_path, "no.json", "{"), {}) == ()
    assert object_metadata(str(tmp_path / "none.json"), {}) == ()
    assert object_metadata("-", {}) == ()


def test_objects_of_jsonl_and_csv(tmp_path: Path) -> None:
    lines = [
        {"image_id": 1, "width": 3, "objects": [], "metadata": {"camera": "rear"}},
        {"image_id": 2, "site": "north"},
    ]
    assert object_metadata(write(tmp_path, "gt.jsonl", *lines), {}) == ("camera", "site")
    rows = [
        "image_id,label,x,y,width,height,iscrowd,weather,occluded",
        "1,cat,0,0,1,1,0,rain,yes",
        "1,dog,0,0,1,1,0,rain,no",
        "2,dog,0,0,1,1,0,sun,no",
    ]
    path = write(tmp_path, "gt.csv", *rows)
    assert object_metadata(path, {}) == ("weather",)
    assert object_metadata(path, {"label": "weather"}) == ()


def test_the_files_of_a_pattern_have_it_all(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", {"image_id": 1, "camera": "rear", "site": "x"})
    write(tmp_path, "b.jsonl", {"image_id": 2, "camera": "front"})
    assert object_metadata(str(tmp_path / "*.jsonl"), {}) == ("camera",)


def test_folders_have_none(tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("cat\n")
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    assert object_metadata(str(tmp_path), {}) == ()
    assert label_map_metadata(str(tmp_path), {}, "folder") == ()


def test_manifests(tmp_path: Path) -> None:
    rows = ["mask;prediction;site;n", "a.png;b.png;x;1", "c.png;d.png;;2"]
    path = write(tmp_path, "m.csv", *rows)
    assert label_map_metadata(path, {"ground_truth": "mask"}, "manifest") == ("n", "site")
    line = {"ground_truth": "a.png", "prediction": "b.png", "metadata": {"site": "x"}}
    assert label_map_metadata(write(tmp_path, "m.jsonl", line), {}, "manifest") == ("site",)


@pytest.mark.parametrize("side", ["ground_truth", "samples"])
def test_classification_csv(tmp_path: Path, side: Any) -> None:
    rows = ["id,label,cat,dog,weather,age", "1,cat,0.5,0.5,rain,", "2,dog,0.1,0.9,sun,x"]
    found = score_metadata(write(tmp_path, "a.csv", *rows), side, ScoreReading())
    # In a file of ground truth, columns of numbers are no classes.
    assert set(found) == ({"weather", "age"} if side == "samples" else {"weather", "age"} | CLASSES)


CLASSES = {"cat", "dog"}


def test_classification_rows_of_one_label(tmp_path: Path) -> None:
    rows = ["id,label,prediction,score,weather,rank", "1,cat,cat,0.9,rain,1", "1,cat,dog,0.1,,2"]
    path = write(tmp_path, "a.csv", *rows)
    assert score_metadata(path, "samples", ScoreReading()) == ("weather",)


def test_classification_jsonl_and_json(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "label": "cat", "predictions": {"cat": 1}, "metadata": {"camera": "rear"}},
        {"id": 2, "label": "dog", "predictions": {"cat": 1}, "site": 3},
    ]
    reading = ScoreReading()
    assert score_metadata(write(tmp_path, "a.jsonl", *lines), "samples", reading) == (
        "camera",
        "site",
    )
    path = write(tmp_path, "a.json", lines)
    assert score_metadata(path, "ground_truth", reading) == ("camera", "site")


def test_text_samples(tmp_path: Path) -> None:
    lines = [
        {
            "id": 1,
            "question": "q",
            "answer": "a",
            "categories": "math",
            "condition": '"a"',
            "group": "g",
            "metadata": {"level": 3, "categories": "not this one"},
            "additionalMetadata": {"source": "x"},
            "tags": ["x"],
        },
        {"id": 2, "question": "q", "answer": "a", "language": "de"},
    ]
    reading = SampleReading()
    expected = ("categories", "condition", "language", "level", "source")
    assert sample_metadata(write(tmp_path, "a.jsonl", *lines), reading) == expected
    assert sample_metadata(write(tmp_path, "a.json", {"results": lines}), reading) == expected
    # What reads as a list is none.
    listed = [lines[0] | {"categories": ["math"]}, lines[1]]
    assert "categories" not in sample_metadata(write(tmp_path, "b.jsonl", *listed), reading)


def test_text_samples_of_csv_and_of_others(tmp_path: Path) -> None:
    rows = ["question;answer;latencyMs;language;__metadata:topic", "q;a;3;de;math"]
    assert sample_metadata(write(tmp_path, "a.csv", *rows), SampleReading()) == (
        "language",
        "topic",
    )
    row = {
        "vars": {"question": "q", "tone": "dry"},
        "response": {"output": "a"},
        "testIdx": 0,
        "namedScores": {},
    }
    document = {"results": {"results": [row]}}
    path = write(tmp_path, "eval.json", document)
    assert "tone" in sample_metadata(path, SampleReading())


def test_of_several_files_one_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    for at in range(3):
        write(tmp_path, f"{at}.jsonl", {"response": "x", "topic": "a"})
    (tmp_path / "1.jsonl").write_bytes(b"\xff")
    assert sample_metadata(str(tmp_path / "*.jsonl"), SampleReading()) == ("topic",)
