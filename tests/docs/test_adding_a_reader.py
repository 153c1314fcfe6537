"""The reader of docs/adding-a-reader.md, taken from the page, added as it says, and run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.docs.package_copy import PackageCopy
from tests.docs.pages import blocks

PAGE = "docs/adding-a-reader.md"
ROWS = "valor_cli/data/formats/yaml_rows.py"
READER = "valor_cli/data/formats/createml.py"
TEST = "tests/data/formats/test_createml.py"
CHANGED = ("valor_cli/data/formats/tables.py", "valor_cli/data/inputs/objects.py")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> PackageCopy:
    """A copy with all steps of the page done, and the page's own data beside it."""
    package = PackageCopy(tmp_path_factory.mktemp("package"))
    package.follow(PAGE, (ROWS, READER, TEST), CHANGED)
    scores, config = blocks(PAGE, "yaml")
    package.add("scores.yaml", scores.text)
    package.add("run.yaml", config.text)
    (data,) = blocks(PAGE, "json")
    package.add("ground_truth.json", data.text)
    predicted = json.loads(data.text)
    for image in predicted:
        for number, one in enumerate(image["annotations"]):
            one["confidence"] = 0.9 - number / 10
    package.add("predicted.json", json.dumps(predicted))
    return package


@pytest.mark.parametrize(
    ("rows", "config"),
    [
        (None, "{task: classification, data: {samples: scores.yaml}, metrics: [accuracy]}"),
        (
            "- {id: a, response: x y, reference: x y}",
            "{task: text_generation, data: {samples: rows.yaml}, metrics: [rouge_l]}",
        ),
        (
            "- {image_id: a, label: cat, x: 1, y: 2, width: 3, height: 4, score: 0.5}",
            (
                "{task: object_detection, metrics: [average_precision],"
                " data: {ground_truth: rows.yaml, predictions: rows.yaml, format: yaml}}"
            ),
        ),
        (
            "- {ground_truth: a.png, prediction: a.png}",
            (
                "{task: semantic_segmentation, metrics: [mean_iou], data: {labels: [sky, sea],"
                " ground_truth: rows.yaml, predictions: rows.yaml, format: manifest}}"
            ),
        ),
    ],
    ids=["scores", "texts", "objects", "label maps"],
)
def test_every_shape_reads_the_rows(package: PackageCopy, rows: str | None, config: str) -> None:
    (package.folder / "rows.yaml").write_text(f"{rows}\n")
    Image.fromarray(np.eye(2, dtype=np.uint8)).save(package.folder / "a.png")
    (package.folder / "shape.yaml").write_text(config)
    package.valor("evaluate", "shape.yaml", "--out", "shape", "-q")
    results = json.loads((package.folder / "shape/results.json").read_text())
    values = [row["value"] for row in results["metrics"] if row["unit"] == "fraction"]
    assert values == pytest.approx([1.0] * len(values))
    assert values


def test_a_fault_has_its_place(package: PackageCopy) -> None:
    package.add("wrong.yaml", "- {sample_id: a, label: cat, predictions: {cat: high}}\n")
    config = "{task: classification, data: {samples: wrong.yaml}}"
    package.add("wrong_run.yaml", config)
    said = package.valor("validate", "wrong_run.yaml", code=2)
    assert 'wrong.yaml: [0].predictions.cat: expected a number, found the string "high"' in said


@pytest.mark.slow
def test_the_test_of_the_page_passes(package: PackageCopy) -> None:
    assert "5 passed" in package.pytest(TEST)


def test_a_run_reads_the_format(package: PackageCopy) -> None:
    assert "run.yaml: ok" in package.valor("validate", "run.yaml")
    package.valor("evaluate", "run.yaml", "--out", "report", "-q")
    results = json.loads((package.folder / "report/results.json").read_text())
    values = {row["label"]: row["value"] for row in results["metrics"] if row["metric"] == "recall"}
    assert values == {"car": 1.0, "person": 1.0, None: 1.0}
    assert [one["rows"] for one in results["run"]["inputs"]] == [2, 2]


def test_the_image_without_objects_counts(package: PackageCopy) -> None:
    assert "object detection · 2 images" in package.valor("evaluate", "run.yaml", "--out", "report")


def test_an_unknown_image_is_told_with_its_place(package: PackageCopy, tmp_path: Path) -> None:
    images = json.loads((package.folder / "predicted.json").read_text())
    images[0]["image"] = "lane.jpg"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(images))
    said = package.valor("validate", "run.yaml", "--set", f"data.predictions={other}", code=2)
    assert "other.json: [0].annotations" in said
    assert "lane" in said


def test_other_formats_are_made_of_it(package: PackageCopy) -> None:
    options = ("--from", "createml", "--role", "ground_truth", "--force")
    package.valor("convert", "ground_truth.json", "boxes.csv", *options)
    rows = (package.folder / "boxes.csv").read_text().splitlines()
    assert rows[0].startswith("image_id,label,x,y,width,height")
    # x from 200 - 200/2, y from 180 - 96/2.
    assert rows[1].startswith("street,car,100.0,132.0,200.0,96.0")


def test_without_its_name_it_is_taken_for_coco(package: PackageCopy) -> None:
    said = package.valor("validate", "run.yaml", "--set", "data.format=null", code=2)
    assert "COCO" in said
