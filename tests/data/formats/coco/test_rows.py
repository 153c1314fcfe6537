"""Faulty rows of COCO files: the exact words for each fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.data.faulty import GOOD, SKIP, ground_truth, ground_truth_error, results_error

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("bbox", "[1,2,null,4]", ".bbox[2]: expected a number, found null"),
        ("bbox", "[1,2,true,4]", ".bbox[2]: expected a number, found true"),
        ("bbox", '["1",2,3,4]', '.bbox[0]: expected a number, found the string "1"'),
        ("bbox", "[[1],2,3,4]", ".bbox[0]: expected a number, found a list"),
        ("bbox", "[NaN,2,3,4]", ".bbox[0]: expected a finite number, found NaN"),
        ("bbox", "[1,-Infinity,3,4]", ".bbox[1]: expected a finite number, found -Infinity"),
        ("bbox", "[1,1e999,3,4]", ".bbox[1]: expected a finite number, found Infinity"),
        ("bbox", "[1,2,3,1e200]", ".bbox[3]: expected at most 1e+150 pixels, found 1e+200"),
        (
            "bbox",
            f"[1,2,3,1{'0' * 400}]",
            ".bbox[3]: expected a finite number, found a number of 401 digits",
        ),
        ("bbox", "[1,2,-3,4]", ".bbox[2]: expected a width of 0 or more, found -3"),
        ("bbox", "[1,2,3,-0.5]", ".bbox[3]: expected a height of 0 or more, found -0.5"),
        ("bbox", "[1,2,3]", ".bbox: expected 4 numbers (x, y, width, height), found 3"),
        ("bbox", "[1,2,3,4,5]", ".bbox: expected 4 numbers (x, y, width, height), found 5"),
        ("bbox", "null", ".bbox: expected a list of x, y, width and height, found null"),
        ("bbox", "{}", ".bbox: expected a list of x, y, width and height, found an object"),
        ("score", "null", ".score: expected a number, found null"),
        ("score", "true", ".score: expected a number, found true"),
        ("score", '"0.5"', '.score: expected a number, found the string "0.5"'),
        ("score", "[]", ".score: expected a number, found an empty list"),
        ("score", "NaN", ".score: expected a finite number, found NaN"),
        ("image_id", "1.5", ".image_id: expected a whole number or a string, found 1.5"),
        ("image_id", "null", ".image_id: expected a whole number or a string, found null"),
        ("category_id", "true", ".category_id: expected a whole number or a string, found true"),
        (
            "image_id",
            '"\\ud800"',
            '.image_id: expected a whole number as in most rows, found the string "\\ud800"',
        ),
        (
            "image_id",
            "9223372036854775808",
            ".image_id: expected a whole number of 64 bits, found 9223372036854775808",
        ),
        ("image_id", "1e300", ".image_id: expected a whole number or a string, found 1e+300"),
        (
            "category_id",
            '"3"',
            '.category_id: expected a whole number as in most rows, found the string "3"',
        ),
    ],
)
def test_a_wrong_value_of_a_detection(key: str, value: str, message: str) -> None:
    old = {"bbox": "[1,2,3,4]", "score": "0.5", "image_id": "1", "category_id": "3"}[key]
    bad = GOOD.replace(f'"{key}":{old}', f'"{key}":{value}')
    assert results_error(f"[{GOOD},{bad},{GOOD}]") == f"dt.json: [1]{message}\n{SKIP}"
    document = f'{{"annotations":[{GOOD},{bad},{GOOD}]}}'
    assert results_error(document) == f"dt.json: annotations[1]{message}\n{SKIP}"


def test_a_lone_surrogate_is_no_id() -> None:
    bad = GOOD.replace('"image_id":1', '"image_id":"\\udc00"')
    expected = 'dt.json: [0].image_id: expected Unicode text, found the string "\\udc00"'
    assert results_error(f"[{bad}]") == f"{expected}\n{SKIP}"


def test_a_number_among_string_ids() -> None:
    word = GOOD.replace('"image_id":1', '"image_id":"a"')
    expected = "dt.json: [1].image_id: expected a string as in most rows, found 1"
    assert results_error(f"[{word},{GOOD},{word}]") == f"{expected}\n{SKIP}"


def test_rows_that_are_no_detections() -> None:
    assert results_error(f"[{GOOD},5,null]") == (
        "dt.json: [1]: expected an object, found 5\n"
        f"dt.json: [2]: expected an object, found null\n{SKIP}"
    )
    missing = '{"image_id":1,"bbox":[1,2,3,4],"confidence":1}'
    assert results_error(f"[{GOOD},{missing},{{}}]") == (
        'dt.json: [1]: "category_id" and "score" are missing '
        "(there is: image_id, bbox, confidence)\n"
        'dt.json: [2]: "image_id" and "category_id" and "bbox" and "score" are missing '
        f"(there is: nothing)\n{SKIP}"
    )


def test_keys_that_cannot_be_printed_are_escaped() -> None:
    found = results_error(f'[{GOOD},{{"\\ud800\\u001b[31m":1}}]')
    assert "(there is: \\ud800\\x1b[31m)" in found


def test_twenty_of_ten_thousand_problems_are_listed() -> None:
    bad = GOOD.replace("0.5", "null")
    lines = results_error(f"[{','.join([bad] * 10_000)}]").splitlines()
    assert len(lines) == 22
    assert lines[19] == "dt.json: [19].score: expected a number, found null"
    assert lines[20:] == ["… and 9,980 more problems", SKIP]


ANNOTATION = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_id": 7}, ".image_id: no image has the id 7"),
        ({"category_id": 7}, ".category_id: no category has the id 7"),
        ({"id": 1}, ".id: duplicate id 1, first at annotations[0]"),
        ({"id": None}, ".id: expected a whole number or a string, found null"),
        ({"bbox": [1, 2, 3]}, ".bbox: expected 4 numbers (x, y, width, height), found 3"),
        ({"bbox": [1, 2, -1, 4]}, ".bbox[2]: expected a width of 0 or more, found -1"),
        ({"area": -2}, ".area: expected an area of 0 or more, found -2"),
        ({"area": None}, ".area: expected a number, found null"),
        ({"area": float("nan")}, ".area: expected a finite number, found NaN"),
        ({"iscrowd": 2}, ".iscrowd: expected 0, 1, true or false, found 2"),
        ({"iscrowd": 1.0}, ".iscrowd: expected 0, 1, true or false, found 1.0"),
        ({"iscrowd": None}, ".iscrowd: expected 0, 1, true or false, found null"),
        ({"iscrowd": 10**30}, f".iscrowd: expected 0, 1, true or false, found {10**30}"),
        ({"iscrowd": "0"}, '.iscrowd: expected 0, 1, true or false, found the string "0"'),
    ],
)
def test_a_wrong_value_of_an_annotation(changes: dict[str, Any], message: str) -> None:
    rows = json.dumps([ANNOTATION, ANNOTATION | {"id": 2} | changes])[1:-1]
    found = ground_truth_error(ground_truth(annotations=rows))
    assert found == f"gt.json: annotations[1]{message}\n{SKIP}"


def test_ids_are_for_all_annotations_or_none() -> None:
    without = {key: value for key, value in ANNOTATION.items() if key != "id"}
    rows = json.dumps([ANNOTATION, without])[1:-1]
    assert ground_truth_error(ground_truth(annotations=rows)) == (
        'gt.json: annotations[1]: "id" is missing (there is: image_id, category_id, bbox)\n' + SKIP
    )


def test_string_ids_do_not_meet_numbers() -> None:
    rows = json.dumps([ANNOTATION | {"image_id": "1"}])[1:-1]
    expected = 'gt.json: annotations[0].image_id: no image has the id "1"'
    assert ground_truth_error(ground_truth(annotations=rows)) == f"{expected}\n{SKIP}"
