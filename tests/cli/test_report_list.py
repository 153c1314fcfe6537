"""`valor report --list`: objects and samples by what became of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Valor
from tests.reports.task_runs import classified
from valor_cli import api
from valor_cli.reports.lists.objects import DETECTION_COLUMNS, GROUND_TRUTH_COLUMNS
from valor_cli.reports.writer import write_reports


@pytest.fixture(scope="module")
def detected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two detectors on six objects of two images.

    The first finds the cat (0.9) and, below 0.5, the person (0.4); it takes the small cup for a cat
    (0.8), and sees another cat where nothing is (0.7). The second sees nothing.
    """
    folder = tmp_path_factory.mktemp("detected")
    images = [
        {"id": 7, "file_name": "a/cat.jpg", "width": 100, "height": 80, "camera": "rear"},
        {"id": 8, "camera": "front"},
    ]
    boxes = {1: (7, 1, [0, 0, 10, 10]), 2: (7, 2, [50, 50, 20, 20]), 3: (8, 3, [5, 5, 4, 4])}
    truth = {
        "images": images,
        "categories": [
            {"id": n, "name": name} for n, name in enumerate(("cat", "person", "cup"), 1)
        ],
        "annotations": [
            {"id": n, "image_id": i, "category_id": label, "bbox": box, "iscrowd": 0}
            for n, (i, label, box) in boxes.items()
        ],
    }
    found = [
        (7, 1, [0, 0, 10, 10], 0.9), (7, 2, [50, 50, 20, 20], 0.4),
        (8, 1, [5, 5, 4, 4], 0.8), (7, 1, [80, 60, 5, 5], 0.7),
    ]  # fmt: skip
    results = [
        {"image_id": i, "category_id": label, "bbox": box, "score": score}
        for i, label, box, score in found
    ]
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "one.json").write_text(json.dumps(results))
    (folder / "none.json").write_text("[]")
    models = {name: str(folder / f"{name}.json") for name in ("one", "none")}
    data = {"ground_truth": str(folder / "truth.json"), "predictions": models}
    config = {"task": "object_detection", "data": data, "metrics": ["counts", "image_scores"]}
    config["slices"] = ["metadata.camera"]
    api.evaluate(config, out=folder / "run", formats=["json"])
    return folder / "run"


def told(valor: Valor, *arguments: object) -> dict[str, Any]:
    done = valor("report", *arguments, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("tp",), [0.9]),
        (("tp", "--threshold", "0.4"), [0.9, 0.4]),
        (("tp", "--threshold", 0.95), []),
        (("fp",), [0.8, 0.7]),
        (("fp", "--threshold", "0"), [0.8, 0.7]),
        (("classification",), [0.8]),
        (("background",), [0.7]),
        (("duplicate",), []),
        (("ignored",), []),
        (("fp", "--label", "cat"), [0.8, 0.7]),
        (("fp", "--label", "cup"), []),
        (("fp", "--image", "7"), [0.7]),
        (("fp", "--slice", "metadata.camera=rear"), [0.7]),
        (("fp", "--image", "a/cat.jpg"), [0.7]),
        (("fp", "--sample", "cat.jpg"), [0.7]),
        (("fp", "--min-score", "0.75"), [0.8]),
        (("fp", "--max-score", "0.75"), [0.7]),
        (("fp", "--min-size", "5"), [0.7]),
        (("fp", "--max-size", "4"), [0.8]),
        (("fp", "--limit", "1"), [0.8]),
        (("fp", "--model", "none"), []),
    ],
)
def test_detections(
    valor: Valor, detected: Path, options: tuple[object, ...], expected: list[float]
) -> None:
    found = told(valor, detected, "--list", *options)
    assert [row["score"] for row in found["rows"]] == expected
    assert found["kind"] == options[0]
    assert found["total"] == (2 if "--limit" in options else len(expected))
    assert all(tuple(row) == DETECTION_COLUMNS for row in found["rows"])


def test_what_is_told_of_a_detection(valor: Valor, detected: Path) -> None:
    found = told(valor, detected, "--list", "fp", "--limit", 1)
    assert found == {
        "kind": "fp", "slice": None, "iou_threshold": 0.5, "score_threshold": 0.5, "total": 2,
        "rows": [{
            "image_id": 8, "file": None, "model": "one", "label": "cat", "score": 0.8,
            "x": 5.0, "y": 5.0, "width": 4.0, "height": 4.0, "size": 4.0, "iou": 1.0,
            "ground_truth_id": 3, "ground_truth_label": "cup", "outcome": "classification",
        }],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), [("one", 2), ("one", 3), ("none", 1), ("none", 2), ("none", 3)]),
        (("--model", "one"), [("one", 2), ("one", 3)]),
        (("--model", "one", "--threshold", "0.4"), [("one", 3)]),
        (("--label", "cup", "--max-size", "32"), [("one", 3), ("none", 3)]),
        (("--image", "8", "--limit", "1"), [("one", 3)]),
        (("--slice", "metadata.camera=front"), [("one", 3), ("none", 3)]),
    ],
)
def test_false_negatives(
    valor: Valor, detected: Path, options: tuple[str, ...], expected: list[tuple[str, int]]
) -> None:
    rows = told(valor, detected, "--list", "fn", *options)["rows"]
    assert [(row["model"], row["ground_truth_id"]) for row in rows] == expected
    assert all(tuple(row) == GROUND_TRUTH_COLUMNS for row in rows)
    nearest = {
        (row["model"], row["ground_truth_id"]): (
            row["nearest_label"], row["nearest_score"], row["nearest_iou"], row["nearest_outcome"]
        )
        for row in rows
    }  # fmt: skip
    known = {
        ("one", 2): ("person", 0.4, 1.0, "true_positive"),
        ("one", 3): ("cat", 0.8, 1.0, "classification"),
    }
    assert nearest == {key: known.get(key, (None,) * 4) for key in nearest}


def test_a_table_and_csv(valor: Valor, detected: Path) -> None:
    lines = valor("report", detected, "--list", "fp").stdout.splitlines()
    assert lines[0] == "fp: 2 (iou threshold 0.5, score threshold 0.5)"
    assert lines[1].split() == [
        *("image", "file", "label", "score", "box", "size", "iou", "truth", "truth", "label"),
        "outcome",
    ]
    assert lines[2].split() == [
        *("8", "–", "cat", "0.8", "5,", "5,", "4,", "4", "4", "1", "3", "cup", "classification")
    ]
    text = valor("report", detected, "--list", "fp", "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert tuple(rows[0]) == DETECTION_COLUMNS
    assert rows[2][:6] == ["7", "a/cat.jpg", "one", "cat", "0.7", "80.0"]
    none = valor("report", detected, "--list", "duplicate").stdout
    assert none == "duplicate: 0 (iou threshold 0.5, score threshold 0.5)\n"


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("failed", ("--metric", "image_scores", "--threshold", "0.9"),
         [(7, "one"), (8, "one"), (7, "none"), (8, "none")]),
        ("passed", ("--metric", "image_scores", "--threshold", "0.4", "--model", "one"),
         [(7, "one")]),
        ("failed", ("--threshold", "0.4", "--image", "8"), [(8, "one"), (8, "none")]),
        ("failed", ("--threshold", "0.9", "--slice", "metadata.camera=rear"),
         [(7, "one"), (7, "none")]),
        ("unscored", (), []),
        ("error", (), []),
    ],
)  # fmt: skip
def test_samples(
    valor: Valor, detected: Path, kind: str, options: tuple[str, ...], expected: list[Any]
) -> None:
    rows = told(valor, detected, "--list", kind, *options)["rows"]
    assert [(row["sample_id"], row["model"]) for row in rows] == expected


def test_samples_that_are_right_or_wrong_need_no_threshold(valor: Valor, tmp_path: Path) -> None:
    folder = ROOT / "sample_data" / "classification"
    names = {"forest": "random_forest", "bayes": "naive_bayes"}
    models = {name: str(folder / f"{file}.csv") for name, file in names.items()}
    data = {"ground_truth": str(folder / "ground_truth.csv"), "predictions": models}
    config = {"task": "classification", "data": data, "metrics": ["sample_scores"]}
    run = api.evaluate(config, out=tmp_path, formats=["json"])
    values = next(iter(run.samples[0].columns.values()))
    asked = (tmp_path, "--model", "forest", "--list")
    rows = told(valor, *asked, "failed")["rows"]
    assert [row["value"] for row in rows] == [0.0] * values.count(0.0)
    assert told(valor, *asked, "passed")["total"] == values.count(1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("dups",), "error: --list: there is no kind 'dups'\nkinds: tp, fp, fn, true_positive"),
        (("backgrund",), "there is no kind 'backgrund' (did you mean 'background'?)"),
        (("fp", "--label", "cst"), "--label: the run has no label 'cst' (did you mean 'cat'?)"),
        (("fp", "--model", "ome"), "--model: the run has no model 'ome' (did you mean 'one'?)"),
        (("fp", "--image", "cat.jpeg"), "no image 'cat.jpeg' (did you mean 'cat.jpg'?)"),
        (("failed", "--metric", "image_score"), "(did you mean 'image_scores'?)"),
        (("fp", "--slice", "metadata.camera=read"), "(did you mean 'metadata.camera=rear'?)"),
        (("fp", "--format", "html"), "--format: there is no list format 'html'"),
        (("fn", "--min-score", "0"), "--min-score: a false negative has no score"),
        (("failed", "--min-size", "0"), "--min-size: is for objects, not for --list failed"),
        (("fp", "--metric", "counts"), "--metric: is for samples, not for --list fp"),
        (("fp", "--chart", "pr_curve"), "--chart: cannot be combined with --list"),
        (("fp", "--out", "x"), "--out: cannot be combined with --list"),
        (("failed",), "--list failed: no metric of the run says from which value on"),
    ],
)
def test_mistakes(valor: Valor, detected: Path, options: tuple[str, ...], said: str) -> None:
    done = valor("report", detected, "--list", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_nothing_to_list(valor: Valor, tmp_path: Path) -> None:
    run = classified(("forest", "bayes"))
    write_reports(run, tmp_path, ["json"])
    done = valor("report", tmp_path, "--list", "fp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the run has no objects.bin beside its results.json" in done.stderr
    done = valor("report", tmp_path, "--list", "failed")
    assert "the run has no samples.jsonl beside its results.json" in done.stderr
    done = valor("report", tmp_path, "--max-size", "0")
    assert "--max-size: needs --list" in done.stderr


def test_hostile_names_print_as_text(valor: Valor, tmp_path: Path) -> None:
    name = "=cmd\x1b[31m|[red]"
    truth = {
        "images": [{"id": 1, "file_name": name}],
        "categories": [{"id": 1, "name": name}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "iscrowd": 0}
        ],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "none.json").write_text("[]")
    data = {
        "ground_truth": str(tmp_path / "truth.json"),
        "predictions": str(tmp_path / "none.json"),
    }
    api.evaluate({"task": "object_detection", "data": data}, out=tmp_path, formats=["json"])
    done = valor("report", tmp_path, "--list", "fn")
    assert "\x1b" not in done.stdout
    assert "[red]" in done.stdout
    done = valor("report", tmp_path, "--list", "fn", "--format", "csv")
    assert "'=cmd" in done.stdout
    assert "\x1b" not in done.stdout
