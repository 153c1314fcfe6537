"""Shapes, formats and the metrics of mistakes as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Valor

SAMPLES = ROOT / "sample_data" / "instance_segmentation"
SQUARE = [[5, 5, 15, 5, 15, 15, 5, 15]]
IMAGE = {"id": 1, "file_name": "night.jpg", "width": 40, "height": 30}


def _evaluate(valor: Valor, folder: Path, task: str, rest: str, *arguments: object) -> Any:
    """What `--out -` prints for a config of this task; `rest` are its other lines."""
    (folder / "run.yaml").write_text(f"task: {task}\n{rest}\n")
    done = valor("evaluate", "run.yaml", "--out", "-", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _shapes(folder: Path, shape: object, **image: object) -> str:
    """A square detection against one object of that shape; the `data:` line."""
    truth = {
        "images": [IMAGE | image],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": shape}],
    }
    found = [{"image_id": 1, "category_id": 1, "segmentation": SQUARE, "score": 0.9}]
    (folder / "gt.json").write_text(json.dumps(truth))
    (folder / "dt.json").write_text(json.dumps(found))
    return "data: {ground_truth: gt.json, predictions: dt.json}"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([[5, 5, 15, 15]], "segmentation[0]: expected an even number of numbers, 6 at least"),
        ([[5, 5, 15, 5, 15]], "segmentation[0]: expected an even number of numbers, 6 at least"),
        ([[float("nan"), 5, 15, 5, 15, 15]], "segmentation[0][0]: expected a finite number"),
        ([[1e308, 5, 15, 5, 15, 15]], "segmentation[0][0]: expected at most 1e+150 pixels"),
        ([["5", 5, 15, 5, 15, 15]], 'segmentation[0][0]: expected a number, found the string "5"'),
        ({"size": [30, 40], "counts": [0, 1100]}, "add up to 30 * 40 = 1,200 pixels, found 1,100"),
        ({"size": [30, 40], "counts": [0, 1300, -100]}, "counts[2]: expected a whole number of 0"),
        ({"size": [30, 40], "counts": "o"}, "counts: the compressed counts are cut off"),
        ({"size": [30, 40], "counts": "\x01{}"}, "counts: expected compressed counts"),
        ({"size": [40, 30], "counts": [1200]}, "size[0]: expected the height of its image, 30"),
        ({"counts": [1200]}, 'segmentation: "size" is missing'),
        ([], "segmentation: expected polygons or run lengths, found an empty list, and no bbox"),
    ],
)
def test_shapes_that_are_none(valor: Valor, tmp_path: Path, shape: object, said: str) -> None:
    data = _shapes(tmp_path, shape)
    (tmp_path / "run.yaml").write_text(f"task: instance_segmentation\n{data}\n")
    done = valor("evaluate", "run.yaml", "--out", "-", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: gt.json: annotations[0].segmentation")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_polygon_that_crosses_itself_has_the_area_it_goes_round(
    valor: Valor, tmp_path: Path
) -> None:
    # Two triangles that meet in the middle of the square: half of its area.
    data = _shapes(tmp_path, [[5, 5, 15, 15, 15, 5, 5, 15]])
    metric = "metrics: [{average_precision: {iou_thresholds: [0.5, 0.51]}}]"
    result = _evaluate(valor, tmp_path, "instance_segmentation", f"{data}\n{metric}")
    values = [row["value"] for row in result["metrics"]]
    assert values == pytest.approx([1, 0])
    assert "ground truths: polygons that cross themselves, mended: 1" in result["warnings"]


def test_a_hole_is_no_part_of_a_polygon(valor: Valor, tmp_path: Path) -> None:
    outer = [[5, 5], [15, 5], [15, 15], [5, 15], [5, 5]]
    inner = [[7, 7], [13, 7], [13, 13], [7, 13], [7, 7]]
    ring = {"type": "Polygon", "coordinates": [outer, inner]}
    for name, shape in (("gt", {"polygon": ring}), ("dt", {"polygon": SQUARE, "score": 0.9})):
        line = {"image_id": 1, "objects": [{"label": "cell", **shape}]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    result = _evaluate(
        valor,
        tmp_path,
        "instance_segmentation",
        "data: {ground_truth: gt.jsonl, predictions: dt.jsonl}\n"
        "metrics: [{average_precision: {iou_thresholds: [0.64, 0.65]}}]",
    )
    # 100 - 36 of 100 square pixels.
    assert [row["value"] for row in result["metrics"]] == pytest.approx([1, 0])


@pytest.mark.parametrize("name", ["1", "night.jpg", "night", "elsewhere/night.png"])
def test_csv_names_images_by_number_or_by_file(valor: Valor, tmp_path: Path, name: str) -> None:
    truth = {
        "images": [IMAGE],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [5, 5, 10, 10]}],
    }
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    row = f"{name},cell,5,5,10,10,0.9"
    (tmp_path / "dt.csv").write_text(f"image_id,label,x,y,width,height,score\r\n{row}\r\n")
    data = "data: {ground_truth: gt.json, predictions: dt.csv}"
    result = _evaluate(valor, tmp_path, "object_detection", f"{data}\nmetrics: [counts]")
    assert {row["output"]: row["value"] for row in result["metrics"]} == {"tp": 1, "fp": 0, "fn": 0}


def test_every_mistake_is_counted_once(valor: Valor, tmp_path: Path) -> None:
    rest = (
        f"data: {{ground_truth: {SAMPLES}/ground_truth.json, predictions: "
        f"{{near: {SAMPLES}/watershed.json, far: {SAMPLES}/shifted.json}}}}\n"
        "slices: [metadata.shape]\n"
        "interval: {method: bootstrap, resamples: 5, seed: 1}\n"
        "metrics: [{counts: {score_threshold: 0, max_detections: 100}}, error_breakdown,\n"
        "  {confusion_matrix: {score_threshold: 0, max_detections: 100}}]"
    )
    result = _evaluate(valor, tmp_path, "instance_segmentation", rest)
    value = {
        (row["metric"], row["output"], row["model"], row["label"], row["slice"]): row["value"]
        for row in result["metrics"]
    }
    assert len(result["tables"]) == 6  # two models; all images and two slices
    for table in result["tables"]:
        of = table["model"], table["labels"][0], table["slice"]
        tp, fp, fn = (value["counts", output, *of] for output in ("tp", "fp", "fn"))
        assert table["matrix"] == [[tp]]
        assert table["unmatched_ground_truths"] == [fn]
        assert table["unmatched_predictions"] == [fp]
        reasons = ("classification", "localisation", "both", "duplicate", "background")
        assert sum(value["error_breakdown", reason, *of] for reason in reasons) == fp
        assert tp + fn > 0
    again = _evaluate(valor, tmp_path, "instance_segmentation", rest, "--jobs", "3")
    assert {**again, "run": None} == {**result, "run": None}


@pytest.mark.parametrize("name", ["../../evil.jpg", "/evil.jpg", "..\\..\\evil.jpg"])
def test_no_name_in_a_file_leads_out_of_the_folder(valor: Valor, tmp_path: Path, name: str) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    _shapes(inside, SQUARE, file_name=name)
    done = valor("convert", "gt.json", "out", "--to", "yolo", cwd=inside)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (inside / "out").iterdir()} == {"classes.txt", "evil.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert {path.name for path in inside.iterdir()} == {"gt.json", "dt.json", "out"}
