"""CSV of objects: what is read beyond the corpus, and what is written."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, polygons, scene, text, with_categories, with_images
from valor_cli.data.formats.csv.object_writer import write_csv
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Masks, Polygons, Shapes

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


def test_ground_truth() -> None:
    objects = scene(
        BOXES,
        id=np.array([7, 1, 9]),
        area=np.array([150.5, np.nan, np.nan]),
        crowd=np.array([False, True, False]),
    )
    written = write_csv(replace(objects, coded=True), WriteOptions())
    assert written.files[""].decode() == (
        "image_id,label,x,y,width,height,crowd,id,area,image_width,image_height\n"
        "3,cat,10.0,20.0,30.0,40.0,1,1,,100,80\n"
        "5,dog,0.1,0.2,20.0,10.0,0,7,150.5,200,100\n"
        "5,cat,8.0,8.0,0.0,4.0,0,9,,200,100\n"
        "7,,,,,,,,,50,40\n"
    )
    assert written.warnings == ["CSV holds no file names of images: 3 are lost"]


def test_detections() -> None:
    objects = scene(BOXES, score=np.array([0.1 + 0.2, 1.0, 5e-324]))
    written = write_csv(replace(objects, coded=True), WriteOptions())
    assert written.files[""].decode() == (
        "image_id,label,x,y,width,height,score\n"
        "3,cat,10.0,20.0,30.0,40.0,1.0\n"
        "5,dog,0.1,0.2,20.0,10.0,0.30000000000000004\n"
        "5,cat,8.0,8.0,0.0,4.0,5e-324\n"
        "7,,,,,,\n"
    )
    assert written.warnings == [
        "CSV holds no image sizes: 3 are lost",
        "CSV holds no file names of images: 3 are lost",
    ]


def test_rotated_boxes() -> None:
    rotated = Shapes.rotated_boxes(np.arange(15.0).reshape(3, 5))
    objects = with_images(scene(rotated))
    assert write_csv(objects, WriteOptions()).files[""].decode() == (
        "image_id,label,cx,cy,width,height,angle\n"
        "5,dog,0.0,1.0,2.0,3.0,4.0\n"
        "5,cat,10.0,11.0,12.0,13.0,14.0\n"
        "3,cat,5.0,6.0,7.0,8.0,9.0\n"
    )


def test_text_is_quoted_where_it_must_be() -> None:
    objects = scene(BOXES, image_id=text(["b,1", "a", "b,1"]))
    objects = with_categories(with_images(objects), 'a "cat"', "two\rlines")
    assert write_csv(objects, WriteOptions()).files[""].decode() == (
        "image_id,label,x,y,width,height\n"
        '"b,1","two\rlines",0.1,0.2,20.0,10.0\n'
        '"b,1","a ""cat""",8.0,8.0,0.0,4.0\n'
        'a,"a ""cat""",10.0,20.0,30.0,40.0\n'
    )


def test_what_csv_cannot_hold() -> None:
    with pytest.raises(DataError, match="CSV holds no polygon, found 3\nconvert them: --geometry"):
        write_csv(scene(polygons(*[[[[0, 0, 4, 0, 4, 3]]]] * 3)), WriteOptions())
    kind = np.array([0, 1, 0], np.uint8)
    both = Shapes(kind, np.ones((2, 4)), np.ones((1, 5)), Polygons.none(), Masks.none())
    with pytest.raises(DataError, match="CSV holds boxes or rotated boxes, not both"):
        write_csv(scene(both), WriteOptions())
    with pytest.raises(DataError, match=r"annotations\[1\]: an empty label marks an image"):
        write_csv(with_categories(scene(BOXES), "", "dog"), WriteOptions())
