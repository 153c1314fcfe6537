"""Shapes, formats and the metrics of mistakes as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Evaluate, Valor, written

TASK = "instance_segmentation"
SAMPLES = ROOT / "sample_data" / "instance_segmentation"
SQUARE = [[5, 5, 15, 5, 15, 15, 5, 15]]
COCO = {"ground_truth": "gt.json", "predictions": "dt.json"}


def shapes(folder: Path, shape: object, **image: object) -> None:
    """A square detection against one object of that shape."""
    truth = {
        "images": [{"id": 1, "file_name": "night.jpg", "width": 40, "height": 30, **image}],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": shape}],
    }
    found = [{"image_id": 1, "category_id": 1, "segmentation": SQUARE, "score": 0.9}]
    (folder / "gt.json").write_text(json.dumps(truth))
    (folder / "dt.json").write_text(json.dumps(found))


def ap_at(*thresholds: float) -> list[Any]:
    return [{"average_precision": {"iou_thresholds": thresholds}}]


def test_a_polygon_that_crosses_itself_has_the_area_it_goes_round(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    # Two triangles that meet in the middle of the square: half of its area.
    shapes(tmp_path, [[5, 5, 15, 15, 15, 5, 5, 15]])
    result = evaluate(COCO, ap_at(0.5, 0.51)).result
    assert [row["value"] for row in result["metrics"]] == pytest.approx([1, 0])
    assert "ground truths: polygons that cross themselves, mended: 1" in result["warnings"]


def test_a_hole_is_no_part_of_a_polygon(evaluate: Evaluate, tmp_path: Path) -> None:
    outer = [[5, 5], [15, 5], [15, 15], [5, 15], [5, 5]]
    inner = [[7, 7], [13, 7], [13, 13], [7, 13], [7, 7]]
    ring = {"type": "Polygon", "coordinates": [outer, inner]}
    for name, shape in (("gt", {"polygon": ring}), ("dt", {"polygon": SQUARE, "score": 0.9})):
        line = {"image_id": 1, "objects": [{"label": "cell", **shape}]}
        written(tmp_path / f"{name}.jsonl", [line])
    run = evaluate({"ground_truth": "gt.jsonl", "predictions": "dt.jsonl"}, ap_at(0.64, 0.65))
    # 100 - 36 of 100 square pixels.
    assert [row["value"] for row in run.result["metrics"]] == pytest.approx([1, 0])


@pytest.mark.parametrize("name", ["1", "night.jpg", "night", "elsewhere/night.png"])
def test_csv_names_images_by_number_or_by_file(
    evaluate: Evaluate, tmp_path: Path, name: str
) -> None:
    shapes(tmp_path, SQUARE)
    row = f"{name},cell,5,5,10,10,0.9"
    (tmp_path / "dt.csv").write_text(f"image_id,label,x,y,width,height,score\r\n{row}\r\n")
    data = {"ground_truth": "gt.json", "predictions": "dt.csv"}
    run = evaluate(data, ["counts"], task="object_detection")
    assert {row["output"]: row["value"] for row in run.rows("counts")} == {
        "tp": 1,
        "fp": 0,
        "fn": 0,
    }


def test_every_mistake_is_counted_once(evaluate: Evaluate) -> None:
    every = {"score_threshold": 0, "max_detections": 100}
    run = evaluate(
        {
            "ground_truth": str(SAMPLES / "ground_truth.json"),
            "predictions": {
                name: str(SAMPLES / f"{name}.json") for name in ("watershed", "shifted")
            },
        },
        [{"counts": every}, "error_breakdown", {"confusion_matrix": every}],
        slices=["metadata.shape"],
        interval={"method": "bootstrap", "resamples": 5, "seed": 1},
    )
    # Two models; all images and two slices.
    assert len(run.result["tables"]) == 6
    for table in run.result["tables"]:
        of = {"model": table["model"], "label": table["labels"][0], "slice": table["slice"]}
        tp, fp, fn = (run.value("counts", output=output, **of) for output in ("tp", "fp", "fn"))
        assert table["matrix"] == [[tp]]
        assert table["unmatched_ground_truths"] == [fn]
        assert table["unmatched_predictions"] == [fp]
        reasons = ("classification", "localisation", "both", "duplicate", "background")
        told = [run.value("error_breakdown", output=reason, **of) for reason in reasons]
        assert sum(told) == fp
        assert tp + fn > 0


@pytest.mark.parametrize("name", ["../../evil.jpg", "/evil.jpg", "..\\..\\evil.jpg"])
def test_no_name_in_a_file_leads_out_of_the_folder(valor: Valor, tmp_path: Path, name: str) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    shapes(inside, SQUARE, file_name=name)
    done = valor("convert", "gt.json", "out", "--to", "yolo", cwd=inside)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (inside / "out").iterdir()} == {"classes.txt", "evil.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert {path.name for path in inside.iterdir()} == {"gt.json", "dt.json", "out"}
