"""What files alone say: task, sides, models, and what to do where they do not say it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from valor_cli.errors import ConfigError, DataError, UnknownNameError
from valor_cli.pipeline.inference import infer
from valor_cli.pipeline.inference.seen import look_at
from valor_cli.pipeline.inference.yaml_text import yaml_text

BOX = "image_id,label,x,y,width,height"
FILES = {
    "truth.csv": f"{BOX}\n1,cat,0,0,5,5\n",
    "found.csv": f"{BOX},score\n1,cat,0,0,5,5,0.9\n",
    "a/predictions.csv": f"{BOX},score\n1,cat,0,0,5,5,0.9\n",
    "b/predictions.csv": f"{BOX},score\n1,cat,0,0,5,5,0.9\n",
    "labels.csv": "id,label\n1,cat\n2,dog\n",
    "wide.csv": "id,cat,dog\n1,0.9,0.1\n2,0.2,0.8\n",
    "logits.csv": "id,cat,dog\n1,2.5,-1\n2,-3,4\n",
    "submission.csv": "id,label\n1,cat\n2,cat\n",
    "evals.jsonl": '{"spec": {"completion_fns": ["m"]}}\n'
    '{"sample_id": "a", "type": "match", "data": {"expected": "4", "sampled": "4"}}\n',
    "kitti/truth/1.txt": "Car 0 0 0 1 1 9 9 1 1 1 0 0 0 0\n",
    "kitti/found/1.txt": "Car 0 0 0 1 1 9 9 1 1 1 0 0 0 0 0.9\n",
    "both.csv": "id,label,prediction\n1,cat,cat\n2,dog,cat\n",
    "short.csv": "input,target,prediction\nIs it a cat?,yes,no\nIs it a dog?,no,no\n",
    "long.csv": "input,target,prediction\nWhat is it?,It is a very old cat,It is a dog\n",
    "rag.jsonl": '{"question": "q", "contexts": ["c"], "answer": "a"}\n',
    "answers.csv": "response,reference\nyes,no\n",
    "odd.csv": "colour,price\nred,5\n",
    "by_id.json": '{"a": "cat", "b": ""}',
    "right.csv": "id,reference\na,cat\nb,dog\n",
    "a/said.csv": "id,response\na,cat\nb,dog\n",
    "squad.json": json.dumps(
        {"data": [{"paragraphs": [{"context": "c", "qas": [{"id": "a", "question": "q"}]}]}]}
    ),
    "maps.csv": "ground_truth,prediction\na.png,b.png\n",
    "coco.json": json.dumps(
        {
            "info": {"score": 1},
            "images": [{"id": 1, "width": 9, "height": 9, "file_name": "1.jpg"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}],
            "categories": [{"id": 1, "name": "cat"}],
        }
    ),
    "boxes.json": json.dumps(
        [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.9}]
    ),
    "masks.json": json.dumps(
        [
            {
                "image_id": 1,
                "category_id": 1,
                "segmentation": {"size": [9, 9], "counts": "abc"},
                "score": 0.9,
            }
        ]
    ),
    "yolo/data.yaml": "path: .\nval: images\nnames: [cat]\n",
    "yolo/images/1.txt": "",
    "yolo/labels/1.txt": "0 0.5 0.5 0.1 0.1\n",
    "runs/predict/labels/1.txt": "0 0.5 0.5 0.1 0.1 0.9\n",
    "runs/other/labels/1.txt": "0 0.5 0.5 0.1 0.1 0.9\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    Path("valid").mkdir()
    Path("valid/_annotations.coco.json").write_text(FILES["coco.json"], encoding="utf-8")


def sides(truth: str, found: Any, **more: Any) -> dict[str, Any]:
    return {"ground_truth": truth, "predictions": found, **more}


LABELS = "runs/predict/labels"
TOLD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "object_detection": [
        ("truth.csv found.csv", sides("truth.csv", "found.csv")),
        # The order does not matter where the scores tell.
        ("found.csv truth.csv", sides("truth.csv", "found.csv")),
        (
            "truth.csv a/predictions.csv b/predictions.csv",
            sides("truth.csv", {"a": "a/predictions.csv", "b": "b/predictions.csv"}),
        ),
        # Models are called as in any other run: a pattern by what stands before it.
        (
            "truth.csv found*.csv b/predictions.csv",
            sides("truth.csv", {"found": "found*.csv", "b": "b/predictions.csv"}),
        ),
        ("coco.json boxes.json", sides("coco.json", "boxes.json")),
        (
            f"yolo {LABELS} runs/other/labels",
            sides("yolo", {"predict": LABELS, "other": "runs/other/labels"}),
        ),
        (f"yolo/data.yaml {LABELS}/", sides("yolo/data.yaml", {"predict": f"{LABELS}/"})),
        ("valid boxes.json", sides("valid/_annotations.coco.json", "boxes.json")),
        ("kitti/truth kitti/found", sides("kitti/truth", "kitti/found")),
    ],
    "classification": [
        ("labels.csv wide.csv", sides("labels.csv", "wide.csv")),
        # Numbers beside an id are scores, whatever their size; the second labels are predictions.
        ("labels.csv logits.csv", sides("labels.csv", "logits.csv")),
        (
            "labels.csv submission.csv",
            sides("labels.csv", "submission.csv", columns={"prediction": "label"}),
        ),
        ("both.csv", {"samples": "both.csv"}),
        # Of the same columns, values tell classes from texts.
        ("short.csv", {"samples": "short.csv"}),
    ],
    "text_generation": [
        *(
            (name, {"samples": name})
            for name in ("evals.jsonl", "long.csv", "rag.jsonl", "answers.csv", "by_id.json")
        ),
        # Either order: the file without responses is the ground truth.
        ("squad.json by_id.json", sides("squad.json", "by_id.json")),
        ("by_id.json right.csv", sides("right.csv", "by_id.json")),
        ("right.csv a/said.csv", sides("right.csv", "a/said.csv")),
        (
            "right.csv by_id.json a/said.csv",
            sides("right.csv", {"by_id": "by_id.json", "said": "a/said.csv"}),
        ),
        # Samples with references of their own are models, as ever.
        ("rag.jsonl by_id.json", {"samples": {"rag": "rag.jsonl", "by_id": "by_id.json"}}),
    ],
    "semantic_segmentation": [("maps.csv", {"ground_truth": "maps.csv"})],
}


@pytest.mark.parametrize(
    ("task", "paths", "data"), [(task, *row) for task, rows in TOLD.items() for row in rows]
)
def test_what_files_say(task: str, paths: str, data: Mapping[str, Any]) -> None:
    found = infer(paths.split())
    assert found.config == {"task": task, "data": data, "interval": {"resamples": 200}}
    assert found.told.startswith(task.replace("_", " "))


def test_instances_are_told_where_every_input_has_outlines() -> None:
    Path("outlined.json").write_text(
        FILES["coco.json"].replace('"bbox"', '"segmentation": [[0, 0, 5, 0, 5, 5]], "bbox"')
    )
    assert infer(["outlined.json", "masks.json"]).config["task"] == "instance_segmentation"
    assert infer(["outlined.json", "boxes.json"]).config["task"] == "object_detection"
    assert infer(["coco.json", "masks.json"]).config["task"] == "object_detection"


def test_what_lies_beside_the_ground_truth_is_named() -> None:
    Path("images").mkdir()
    told = infer(["coco.json", "boxes.json"])
    assert told.config["data"]["images"] == "images"
    assert "ground truth: coco.json · images: images · 95% intervals" in told.told
    assert told.told.startswith("object detection · COCO and COCO results · joined by image id")


@pytest.mark.parametrize(
    ("names", "ignored"),
    [
        ({"0": "road", "255": "(ignore)"}, 255),
        ({"0": "Void", "1": "cat"}, 0),
        ({"0": "cat"}, 255),
        ({"0": "cat", "255": "dog"}, None),
    ],
)
def test_pixels_without_a_label_do_not_count(names: Mapping[str, str], ignored: int | None) -> None:
    for folder in ("truth", "found"):
        Path(folder).mkdir()
        Path(folder, "1.png").write_bytes(b"")
    Path("classes.json").write_text(json.dumps(names))
    data = infer(["truth", "found"]).config["data"]
    assert (data["labels"], data.get("ignore_index")) == ("classes.json", ignored)
    assert (data["ground_truth"], data["predictions"]) == ("truth", "found")


@pytest.mark.parametrize(
    ("truth", "found", "labels", "ignored"),
    [
        # VOC's border is 255; with 0 alone it is the other label of two.
        ([0, 3, 255], [0, 4, 4], {0: "0", 3: "3", 4: "4"}, 255),
        ([0, 255], [255, 255], {0: "0", 255: "255"}, None),
        ([1, 2], [2, 2], {1: "1", 2: "2"}, 255),
    ],
)
def test_labels_without_names_are_called_like_their_values(
    truth: list[int], found: list[int], labels: dict[int, str], ignored: int | None
) -> None:
    for folder, values in (("truth", truth), ("found", found)):
        Path(folder).mkdir()
        Image.fromarray(np.array([values], np.uint8)).save(f"{folder}/1.png")
    told = infer(["truth", "found"])
    data = told.config["data"]
    assert (data["labels"], data.get("ignore_index")) == (labels, ignored)
    assert f"labels: pixel values {', '.join(labels.values())}" in told.told


def test_a_config_elsewhere_has_its_paths_moved_and_nothing_else() -> None:
    data = {"ground_truth": "a", "predictions": {"m": "b"}, "labels": {0: "0"}, "format": "masks"}
    config = {"task": "semantic_segmentation", "data": data, "interval": {"resamples": 9}}
    text = yaml_text(config, "configs/run.yaml")
    moved = {**data, "ground_truth": "../a", "predictions": {"m": "../b"}}
    assert yaml.safe_load(text)["data"] == moved


def test_a_task_that_is_named_decides() -> None:
    asked = infer(["short.csv"], task="text_generation", metrics=["{bleu_4: {}}", "rouge_l"])
    assert asked.config == {
        "task": "text_generation",
        "data": {"samples": "short.csv"},
        "interval": {"resamples": 200},
        "metrics": [{"bleu_4": {}}, "rouge_l"],
    }
    with pytest.raises(UnknownNameError, match="no task 'texts'"):
        infer(["short.csv"], task="texts")


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("odd.csv", "cannot tell what it holds by its columns colour, price"),
        ("found.csv", "label, x, y, width, height, score); the ground truth is missing"),
        ("labels.csv", "labels.csv: read as ground truth: labels or scores"),
        ("truth.csv wide.csv", "wide.csv: read as predictions: labels or scores"),
        ("a/predictions.csv b/predictions.csv", "a/predictions.csv: read as predictions"),
        ("truth.csv truth.csv found.csv", "truth.csv: is named twice"),
        ("truth.csv found.csv found.csv", "found.csv: is named twice"),
        ("none.csv", "none.csv: no such file"),
        ("both.csv []", "no file matches"),
    ],
)
def test_what_cannot_be_told(paths: str, message: str) -> None:
    lacking = "no such file" in message or "no file" in message
    with pytest.raises(DataError if lacking else ConfigError) as caught:
        infer(paths.split())
    assert message in str(caught.value)


def test_a_folder_is_walked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("a", "b"):
        (tmp_path / "labels" / split).mkdir(parents=True)
        (tmp_path / "labels" / split / f"{split}.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    walks: list[str] = []
    walk = os.walk

    def counted(top: str, **how: Any) -> Any:
        walks.append(top)
        return walk(top, **how)

    monkeypatch.setattr(os, "walk", counted)
    folder = str(tmp_path / "labels")
    assert look_at(folder).format == "YOLO"
    assert walks == [folder]
