"""CSV of objects: what is read, and what is said of what cannot be."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.inputs.objects import Reading, read_objects

pytestmark = pytest.mark.usefixtures("in_a_folder")

HEAD = "image_id,label,x,y,width,height,score\n"
GOOD = "a,cat,1,2,3,4,0.5\n"
VOC = Path(__file__).parents[3] / "real_data/detection/voc2012-100"


def write(text: str) -> str:
    Path("a.csv").write_bytes(text.encode())
    return "a.csv"


def coco_rows(name: str, truth: dict[str, Any]) -> list[tuple[Any, ...]]:
    document = json.loads((VOC / name).read_text())
    files = {image["id"]: image["file_name"] for image in truth["images"]}
    names = {category["id"]: category["name"] for category in truth["categories"]}
    rows = document["annotations"] if isinstance(document, dict) else document
    return [
        (files[row["image_id"]], names[row["category_id"]], *row["bbox"], row.get("score"))
        for row in rows
    ]


@pytest.mark.parametrize(
    ("table", "document", "role"),
    [
        ("groundtruth.csv", "groundtruth.coco.json", "ground_truth"),
        ("predictions.csv", "predictions.bbox.json", "predictions"),
    ],
)
def test_the_same_data_in_coco_json(table: str, document: str, role: Any) -> None:
    truth = json.loads((VOC / "groundtruth.coco.json").read_text())
    found = read_objects(str(VOC / table), role, Reading())
    assert found.categories is not None
    names = found.categories["name"][found.objects["category_id"]].tolist()
    scores = found.objects.columns.get("score", np.full(len(names), None)).tolist()
    rows = zip(
        found.objects["image_id"].tolist(),
        names,
        *found.shapes.box.T.tolist(),
        scores,
        strict=True,
    )
    assert list(rows) == coco_rows(document, truth)
    assert found.image_names == "text"


def test_a_quoted_field_over_two_blocks() -> None:
    rows = GOOD * 7300 + f'b,"{"d" * 3000}\n{"e" * 3000}",1,2,3,4,0.5\n' + GOOD * 10
    found = read_objects(write(HEAD + rows), "predictions", Reading())
    assert len(found.objects) == 7311
    assert found.objects.place_of(7310) == "a.csv:7313"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
NUMBER = st.floats(-1e9, 1e9)


@given(st.lists(st.tuples(TEXT, TEXT, NUMBER, NUMBER, st.floats(0, 1e9)), max_size=8))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[Any, ...]]) -> None:
    with open("any.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image_id", "label", "x", "y", "width", "height", "score"])
        writer.writerows([*row, row[-1], 1] for row in rows)
    found = read_objects("any.csv", "predictions", Reading())
    assert found.objects["image_id"].tolist() == [row[0] for row in rows]
    assert found.categories is not None
    labels = found.categories["name"][found.objects["category_id"]].tolist()
    assert labels == [row[1] for row in rows]
    assert found.shapes.box.tolist() == [[*row[2:], row[-1]] for row in rows]
