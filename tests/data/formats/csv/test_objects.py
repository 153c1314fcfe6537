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

from valor_cli.data.formats.csv.objects import read_csv
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."
HEAD = "image_id,label,x,y,width,height,score\n"
GOOD = "a,cat,1,2,3,4,0.5\n"
VOC = Path(__file__).parents[3] / "real_data/detection/voc2012-100"


def write(text: str) -> str:
    Path("a.csv").write_bytes(text.encode())
    return "a.csv"


def error(text: str, role: Any = "predictions", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_csv(write(text), role, **options)
    return str(caught.value)


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
    found = read_csv(str(VOC / table), role)
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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_delimiters_and_line_ends(end: str, delimiter: str, mark: str, last: bool) -> None:
    lines = ["image,class,x,y,w,h,confidence", "a.jpg,cat,1,2,3,4,.5", "b,dog,-1,2e0,0,4,1"]
    text = mark + end.join(lines).replace(",", delimiter) + end * last
    found = read_csv(write(text), "predictions")
    assert found.objects["image_id"].tolist() == ["a.jpg", "b"]
    assert found.shapes.box.tolist() == [[1, 2, 3, 4], [-1, 2, 0, 4]]
    assert found.objects["score"].tolist() == [0.5, 1]
    assert [found.objects.place_of(row) for row in (0, 1)] == ["a.csv:2", "a.csv:3"]


def test_the_forms_of_a_box() -> None:
    corners = read_csv(write("image,label,x1,y1,x2,y2\na,cat,1,2,4,6\n"), "ground_truth")
    assert corners.shapes.box.tolist() == [[1, 2, 3, 4]]
    text = "image,label,cx,cy,width,height,angle\na,cat,1,2,4,6,-30\n"
    turned = read_csv(write(text), "ground_truth")
    assert turned.shapes.kinds == ("rotated_box",)
    assert turned.shapes.rotated_box.tolist() == [[1, 2, 4, 6, -30]]
    both = "image,label,cx,cy,width,height,angle,x,y\na,cat,1,2,4,6,-30,7,8\n"
    assert read_csv(write(both), "ground_truth").shapes.box.tolist() == [[7, 8, 4, 6]]
    assert read_csv(write(both), "ground_truth", wanted="shape").shapes.kinds == ("rotated_box",)


def test_sizes_of_images_beside_corners_are_no_sides() -> None:
    """The tables that tutorials of TensorFlow's detection tools write."""
    text = "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,640,480,cat,1,2,4,6\n"
    assert read_csv(write(text), "ground_truth").shapes.box.tolist() == [[1, 2, 3, 4]]


def test_quoted_fields_may_hold_anything() -> None:
    text = (
        "image,label,x,y,w,h,id\n"
        'a,"cat, ""big""",1,2,3,4,1\n\n'
        '"b\nb","do\r\ng",1,2,3,4,2\n'
        "c,back\\slash,1,2,3,4,3\n"
    )
    found = read_csv(write(text), "ground_truth")
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["back\\slash", 'cat, "big"', "do\r\ng"]
    assert found.objects["image_id"].tolist() == ["a", "b\nb", "c"]
    assert found.objects["id"].tolist() == [1, 2, 3]
    places = [found.objects.place_of(row) for row in range(3)]
    assert places == ["a.csv:2", "a.csv:4", "a.csv:7"]


def test_a_quoted_field_over_two_blocks() -> None:
    rows = GOOD * 7300 + f'b,"{"d" * 3000}\n{"e" * 3000}",1,2,3,4,0.5\n' + GOOD * 10
    found = read_csv(write(HEAD + rows), "predictions")
    assert len(found.objects) == 7311
    assert found.objects.place_of(7310) == "a.csv:7313"


def test_spaces_after_commas_belong_to_no_field() -> None:
    found = read_csv(write("image, label, x, y, w, h\na, cat, 1, 2, 3, 4\n"), "ground_truth")
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat"]


def test_ground_truth_has_what_it_says() -> None:
    text = (
        "image_id,label,x,y,width,height,crowd,area,id,image_width,image_height,camera\n"
        "1,cat,1,2,3,4,0,,x,640,480,N\n"
        "1,dog,1,2,3,4,TRUE,5,y,640,480,N\n"
        "2,,,,,,,,,320,240,S\n"
    )
    found = read_csv(write(text), "ground_truth", metadata=["camera"])
    assert found.objects["image_id"].tolist() == ["1", "1"]
    assert found.objects["id"].tolist() == ["x", "y"]
    assert found.objects["crowd"].tolist() == [False, True]
    np.testing.assert_array_equal(found.objects["area"], [np.nan, 5])
    assert found.images is not None
    assert found.images["id"].tolist() == ["1", "2"]
    assert found.images["width"].tolist() == [640, 320]
    assert found.images["height"].tolist() == [480, 240]
    assert found.metadata == {"camera": ["N", "S"]}
    assert (found.files[0].rows, found.files[0].skipped) == (2, 0)


def test_an_image_without_objects_is_no_prediction() -> None:
    found = read_csv(write(HEAD + GOOD + "b,,,,,,\n"), "predictions")
    assert found.objects["image_id"].tolist() == ["a"]
    assert (found.files[0].rows, found.files[0].skipped) == (1, 0)


def test_columns_are_mapped() -> None:
    text = "bild,art,x,y,breite,h,label\na,cat,1,2,3,4,no\n"
    columns = {"image_id": "bild", "label": "art", "width": "breite", "score": "punkte"}
    found = read_csv(write(text), "ground_truth", columns=columns)
    assert found.shapes.box.tolist() == [[1, 2, 3, 4]]
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat"]
    message = error(text, columns={"lable": "art"})
    assert message.startswith("columns: there is no 'lable' (did you mean 'label'?)")


def test_missing_columns() -> None:
    assert error("image,kind,x1,y1,x2\n") == (
        "a.csv:1: the columns 'label' (or class, category, name, class_name, category_name, "
        "label_name) and 'score' (or confidence, conf) are missing, and the columns of a box are "
        "missing: x, y, width, height; or xmin, ymin, xmax, ymax; or cx, cy, width, height, angle "
        "(the first line names these: image, kind, x1, y1, x2)\n"
        "Map other names under `data: columns:`, as {label: my_column}."
    )
    assert error("image,label,x,y,w,h\n").startswith(
        "a.csv:1: the column 'score' (or confidence, conf) is missing (the first line"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,cat,1,2,3,4", ": expected 7 fields as in the first line, found 6"),
        (
            "a,cat, big,1,2,3,4,1",
            (
                ": expected 7 fields as in the first line, found 8; "
                "a label that holds a comma must be in double quotes"
            ),
        ),
        ("a,cat,1,2,3,4,", ": score: expected a number, found nothing"),
        ("a,cat,1,2,3,4,high", ': score: expected a number, found the string "high"'),
        ("a,cat,1,2,3,4,nan", ': score: expected a finite number, found the string "nan"'),
        ("a,cat,1,2,3,4,1e999", ': score: expected a finite number, found the string "1e999"'),
        ("a,cat,1_0,2,3,4,1", ': x: expected a number, found the string "1_0"'),
        ("a,cat,\u0663,2,3,4,1", ': x: expected a number, found the string "\u0663"'),
        ("a,cat,1,-inf,3,4,1", ': y: expected a finite number, found the string "-inf"'),
        ("a,cat,1,2,-3,4,1", ": width: expected a width of 0 or more, found -3.0"),
        ("a,cat,1,2,3,1e200,1", ": height: expected at most 1e+150 pixels, found 1e+200"),
        ("a,,1,2,3,4,1", ": label: expected a label, found nothing"),
        (",cat,1,2,3,4,1", ": image_id: expected the id of an image, found nothing"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_wrong_row(row: str, message: str, end: str, quoted: bool) -> None:
    rows = HEAD + GOOD + row + "\n" + GOOD
    text = (rows.replace("a,cat,1,2,3,4,0.5", '"a",cat,1,2,3,4,0.5') if quoted else rows).replace(
        "\n", end
    )
    assert error(text) == f"a.csv:3{message}\n{SKIP}"
    found = read_csv(write(text), "predictions", invalid="skip")
    assert found.objects["image_id"].tolist() == ["a", "a"]
    assert found.objects.place_of(1) == "a.csv:4"
    assert (found.objects.skipped, found.files[0].rows, found.files[0].skipped) == (1, 3, 1)


def test_decimal_commas_are_told() -> None:
    text = HEAD.replace(",", ";") + "a;cat;1,5;2;3;4;1\n"
    assert error(text) == (
        'a.csv:2: x: expected a number, found the string "1,5"; write decimals with a point\n'
        + SKIP
    )


def test_corners_the_wrong_way_about() -> None:
    text = "image,label,left,top,right,bottom\na,cat,5,2,4,1\n"
    assert error(text, "ground_truth") == (
        "a.csv:2: right: expected at least left (5.0), found 4.0\n"
        f"a.csv:2: bottom: expected at least top (2.0), found 1.0\n{SKIP}"
    )


def test_an_image_whose_objects_are_skipped_stays() -> None:
    text = HEAD + GOOD + "b,cat,1,2,-3,4,0.5\n"
    found = read_csv(write(text), "ground_truth", invalid="skip")
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b"]
    assert found.objects["image_id"].tolist() == ["a"]


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_a_quote_that_is_not_closed(invalid: str) -> None:
    text = HEAD + GOOD + 'a,"cat,1,2,3,4,1\n' + GOOD
    message = "a.csv:3: a double quote opens a field here, and none closes it"
    assert error(text, invalid=invalid) == message


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("crowd", "yes", 'crowd: expected 0, 1, true or false, found the string "yes"'),
        ("area", "-1", "area: expected an area of 0 or more, found -1.0"),
        ("id", "1", "id: duplicate id 1, first in line 2"),
        ("id", "", "id: there is no id, and other objects have one"),
    ],
)
def test_a_wrong_value_of_ground_truth(column: str, cell: str, message: str) -> None:
    text = f"image_id,label,x,y,width,height,{column}\na,cat,1,2,3,4,1\nb,cat,1,2,3,4,{cell}\n"
    assert error(text, "ground_truth") == f"a.csv:3: {message}\n{SKIP}"
    found = read_csv(write(text), "ground_truth", invalid="skip")
    assert found.objects["image_id"].tolist() == ["a"]


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_rows_of_an_image_must_say_the_same_of_it(invalid: str) -> None:
    text = "image_id,label,x,y,width,height,camera\na,cat,1,2,3,4,N\na,cat,1,2,3,4,S\n"
    assert error(text, "ground_truth", metadata=["camera"], invalid=invalid) == (
        'a.csv:3: camera: the image has the string "N" in line 2 and the string "S" here'
    )
    assert error(text, "ground_truth", metadata=["camra"]).startswith(
        "a.csv:1: there is no column 'camra' for this metadata (did you mean 'camera'?)"
    )


def test_ground_truth_needs_an_image_and_predictions_nothing() -> None:
    assert error(HEAD, "ground_truth") == "a.csv: there are no images; at least one is needed"
    assert len(read_csv(write(HEAD), "predictions").objects) == 0


@pytest.mark.parametrize("text", ["\n", "\r\n\n", " \n\n \n"])
def test_line_ends_alone_are_nothing(text: str) -> None:
    assert error(text) == "a.csv: the file is empty: it has only line breaks"


@pytest.mark.parametrize("second", ["score", "Score"])
def test_a_column_that_stands_twice(second: str) -> None:
    text = f"image_id,label,x,y,width,height,score,{second}\na,cat,1,2,3,4,0.9,0.1\n"
    assert error(text) == f"a.csv:1: duplicate column '{second}' (columns 7 and 8)"


def test_columns_without_a_name_are_nobodys() -> None:
    text = "image_id,label,x,y,width,height,score,,\na,cat,1,2,3,4,0.9,,\n"
    assert read_csv(write(text), "predictions").objects["score"].tolist() == [0.9]


def test_a_box_is_written_once() -> None:
    text = "image,label,x,y,w,h,x1,y1,x2,y2\na,cat,1,2,3,4,1,2,3,4\n"
    assert error(text, "ground_truth") == (
        "a.csv:1: boxes are written twice, as x, y, w, h and x1, y1, x2, y2\n"
        "Leave out the columns of one of them."
    )


def test_a_mapped_column_must_be_there() -> None:
    text = "image,label,species,x,y,w,h\na,cat,1,1,2,3,4\n"
    assert error(text, "ground_truth", columns={"label": "speces"}) == (
        "a.csv:1: there is no column 'speces' for label (did you mean 'species'?); "
        "there is: image, label, species, x, y, w, h"
    )
    # Scores are not read of ground truth, nor areas of predictions.
    columns = {"label": "species", "score": "certainty"}
    assert len(read_csv(write(text), "ground_truth", columns=columns).objects) == 1
    assert len(read_csv(write(HEAD + GOOD), "predictions", columns={"area": "a"}).objects) == 1


def test_a_field_may_be_long() -> None:
    label = "d" * 200_000
    found = read_csv(write(f'{HEAD}a,"{label}",1,2,3,4,0.5\n'), "predictions")
    assert found.categories is not None
    assert found.categories["name"].tolist() == [label]
    assert error(f'{HEAD}a,"{label},1,2,3,4,0.5\n') == (
        "a.csv:2: a double quote opens a field here, and none closes it"
    )


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
NUMBER = st.floats(-1e9, 1e9)


@given(st.lists(st.tuples(TEXT, TEXT, NUMBER, NUMBER, st.floats(0, 1e9)), max_size=8))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[Any, ...]]) -> None:
    with open("any.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image_id", "label", "x", "y", "width", "height", "score"])
        writer.writerows([*row, row[-1], 1] for row in rows)
    found = read_csv("any.csv", "predictions")
    assert found.objects["image_id"].tolist() == [row[0] for row in rows]
    assert found.categories is not None
    labels = found.categories["name"][found.objects["category_id"]].tolist()
    assert labels == [row[1] for row in rows]
    assert found.shapes.box.tolist() == [[*row[2:], row[-1]] for row in rows]
