"""Faulty segmentations, image sizes and keypoints of COCO files: the exact words for each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.data.faulty import SKIP, ground_truth, ground_truth_error, results_error

pytestmark = pytest.mark.usefixtures("in_a_folder")

NUMBERS = "expected an even number of numbers, 6 at least (x and y in turn), found"
COMPRESSED = "expected compressed counts (characters 0 to o), found the string"


def mask(counts: Any, size: Any = (2, 3)) -> dict[str, Any]:
    return {"size": size, "counts": counts}


FAULTS = [
    ("x", ': expected a list of polygons, or an object with size and counts, found the string "x"'),
    (5, ": expected a list of polygons, or an object with size and counts, found 5"),
    ([1, 2, 3, 4, 5, 6], "[0]: expected a list of x and y in turn, found 1"),
    ([[]], f"[0]: {NUMBERS} 0"),
    ([[1, 2, 3, 4]], f"[0]: {NUMBERS} 4"),
    ([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]], f"[1]: {NUMBERS} 7"),
    ([[1, 2, 3, 4, 5, None]], "[0][5]: expected a number, found null"),
    ([[1, 2, 3, 4, 5, [6]]], "[0][5]: expected a number, found a list"),
    ([[1, 2, 3, 4, True, 6]], "[0][4]: expected a number, found true"),
    ([[1, 2, 3, 4, 5, float("nan")]], "[0][5]: expected a finite number, found NaN"),
    ([[1, 2, 3, 4, 5, -1e200]], "[0][5]: expected at most 1e+150 pixels, found -1e+200"),
    ({}, ': "size" and "counts" are missing; run lengths have size and counts'),
    ({"size": [2, 3]}, ': "counts" is missing; run lengths have size and counts'),
    (mask([6], 6), ".size: expected 2 whole numbers (height, width), found 6"),
    (mask([6], [6]), ".size: expected 2 whole numbers (height, width), found 1"),
    (mask([0], [0, 3]), ".size[0]: expected a height from 1 to 1,048,576, found 0"),
    (mask([6], [2, -3]), ".size[1]: expected a width from 1 to 1,048,576, found -3"),
    (mask([6], [2, 3.5]), ".size[1]: expected a width from 1 to 1,048,576, found 3.5"),
    (mask([6], [True, 6]), ".size[0]: expected a height from 1 to 1,048,576, found true"),
    (
        mask([6], [2**64, 3]),
        f".size[0]: expected a height from 1 to 1,048,576, found {2**64}",
    ),
    (mask(5), ".counts: expected a string of compressed counts or a list of counts, found 5"),
    (mask(None), ".counts: expected a string of compressed counts or a list of counts, found null"),
    (mask([1, "2"]), '.counts[1]: expected a whole number of 0 or more, found the string "2"'),
    (mask([7, -1]), ".counts[1]: expected a whole number of 0 or more, found -1"),
    (mask([1.5]), ".counts[0]: expected a whole number of 0 or more, found 1.5"),
    (mask([1, 2, 2]), ".counts: expected counts that add up to 2 * 3 = 6 pixels, found 5"),
    (mask([]), ".counts: expected counts that add up to 2 * 3 = 6 pixels, found 0"),
    (mask(""), ".counts: expected counts that add up to 2 * 3 = 6 pixels, found 0"),
    (mask([2**80]), ".counts: expected counts that add up to 2 * 3 = 6 pixels, found far more"),
    # 1 2 2 and 2 + 0: 7.
    (mask("1220"), ".counts: expected counts that add up to 2 * 3 = 6 pixels, found 7"),
    # 3 4, and 15, which in five bits with a sign is -1.
    (mask("34O"), ".counts: expected counts of 0 or more, found -1 as number 3"),
    (mask("12!"), f'.counts: {COMPRESSED} "!" at position 2'),
    (mask("12ß"), f'.counts: {COMPRESSED} "ß" at position 2'),
    (mask("12p"), f'.counts: {COMPRESSED} "p" at position 2'),
    (mask("12o"), ".counts: the compressed counts are cut off inside a number"),
    (mask("o" * 99_999), ".counts: the compressed counts are cut off inside a number"),
    (
        mask("o" * 99_999 + "0"),
        ".counts: expected numbers of at most 12 characters, found a longer one",
    ),
]


@pytest.mark.parametrize(("value", "message"), FAULTS)
def test_a_faulty_segmentation(value: Any, message: str) -> None:
    good = {"image_id": 1, "category_id": 3, "segmentation": mask("123"), "score": 0.5}
    rows = json.dumps([good, good | {"segmentation": value}])
    expected = f"[1].segmentation{message}\n{SKIP}"
    for wanted in ("shape", "box"):
        assert results_error(rows, wanted=wanted) == f"dt.json: {expected}"
        text = ground_truth(annotations=rows[1:-1])
        assert ground_truth_error(text, wanted=wanted) == f"gt.json: annotations{expected}"


def test_a_mask_of_another_size_than_its_image() -> None:
    row = {"image_id": 1, "category_id": 3, "segmentation": mask([6], [3, 2])}
    size = ground_truth('{"id":1,"height":2,"width":3}', json.dumps(row))
    assert ground_truth_error(size, wanted="shape") == (
        "gt.json: annotations[0].segmentation.size[0]: "
        "expected the height of its image, 2, found 3\n"
        "gt.json: annotations[0].segmentation.size[1]: "
        f"expected the width of its image, 3, found 2\n{SKIP}"
    )
    width = ground_truth('{"id":1,"width":3}', json.dumps(row))
    assert ground_truth_error(width, wanted="shape") == (
        "gt.json: annotations[0].segmentation.size[1]: "
        f"expected the width of its image, 3, found 2\n{SKIP}"
    )


def test_no_geometry() -> None:
    row = '{"image_id":1,"category_id":3,"score":1}'
    there = "(there is: image_id, category_id, score)"
    assert results_error(f"[{row}]") == f'dt.json: [0]: "bbox" is missing {there}\n{SKIP}'
    found = results_error(f"[{row}]", wanted="shape")
    assert found == f'dt.json: [0]: "segmentation" is missing {there}\n{SKIP}'
    empty = row.replace('"score"', '"segmentation":[],"score"')
    there = "(there is: image_id, category_id, segmentation, score)"
    assert results_error(f"[{empty}]") == f'dt.json: [0]: "bbox" is missing {there}\n{SKIP}'
    message = "expected polygons or run lengths, found an empty list, and no bbox"
    found = results_error(f"[{empty}]", wanted="shape")
    assert found == f"dt.json: [0].segmentation: {message}\n{SKIP}"
    null = empty.replace("[]", 'null,"bbox":[1,2,3]')
    found = results_error(f"[{null}]", wanted="shape")
    message = "expected 4 numbers (x, y, width, height), found 3"
    assert found == f"dt.json: [0].bbox: {message}\n{SKIP}"


def test_a_file_that_is_no_detections() -> None:
    assert results_error("5", wanted="shape") == (
        "dt.json: predictions are a list of objects with image_id, category_id, segmentation and "
        "score, or a COCO object whose annotations have a score, found 5"
    )


SIDE = "expected a whole number of pixels from 0 to 1,048,576, found"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("width", "-1", f"{SIDE} -1"),
        ("height", '"480"', f'{SIDE} the string "480"'),
        ("width", "1.5", f"{SIDE} 1.5"),
        ("width", "true", f"{SIDE} true"),
        ("height", "1e300", f"{SIDE} 1e+300"),
        ("height", "NaN", f"{SIDE} NaN"),
        ("file_name", "5", "expected a string, found 5"),
        ("file_name", '"\\ud800"', 'expected Unicode text, found the string "\\ud800"'),
    ],
)
def test_a_wrong_value_of_an_image(key: str, value: str, message: str) -> None:
    text = ground_truth(f'{{"id":1,"{key}":null}},{{"id":2,"{key}":{value}}}')
    assert ground_truth_error(text) == f"gt.json: images[1].{key}: {message}"
    assert ground_truth_error(text, invalid="skip") == f"gt.json: images[1].{key}: {message}"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 2, 2], "expected 2 keypoints as in most rows, found 1"),
        ([1, 2], "expected three numbers a keypoint (x, y, visibility), found 2 numbers"),
        ({}, "expected a list of x, y and visibility of each keypoint, found an object"),
        ("x", 'expected a list of x, y and visibility of each keypoint, found the string "x"'),
    ],
)
def test_wrong_keypoints(value: Any, message: str) -> None:
    good = {"image_id": 1, "category_id": 3, "keypoints": [1, 2, 2, 3, 4, 2]}
    for changes in ({"bbox": [1, 2, 3, 4]}, {}):
        rows = [row | changes for row in (good, good, good | {"keypoints": value})]
        text = json.dumps([row | {"score": 1} for row in rows])
        found = results_error(text, fields={"keypoints"})
        assert found == f"dt.json: [2].keypoints: {message}\n{SKIP}"
        if changes:
            text = ground_truth(annotations=json.dumps(rows)[1:-1])
            found = ground_truth_error(text, fields={"keypoints"})
            assert found == f"gt.json: annotations[2].keypoints: {message}\n{SKIP}"


def test_a_wrong_number_of_a_keypoint() -> None:
    row = {"image_id": 1, "category_id": 3, "keypoints": [1, None, 10**400], "score": 1}
    assert results_error(json.dumps([row]), fields={"keypoints"}) == (
        "dt.json: [0].keypoints[1]: expected a number, found null\n"
        "dt.json: [0].keypoints[2]: expected a finite number, found a number of 401 digits\n" + SKIP
    )


def test_keypoints_alone_are_no_ground_truth() -> None:
    row = {"image_id": 1, "category_id": 3, "keypoints": [1, 2, 2]}
    text = ground_truth(annotations=json.dumps(row))
    expected = 'annotations[0]: "bbox" is missing (there is: image_id, category_id, keypoints)'
    assert ground_truth_error(text, fields={"keypoints"}) == f"gt.json: {expected}\n{SKIP}"


@pytest.mark.parametrize("faulty", [[1, 2], [1, 2, 3, 4]])
def test_keypoints_of_which_none_is_whole(faulty: list[int]) -> None:
    row = {"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "keypoints": faulty, "score": 1}
    message = "expected three numbers a keypoint (x, y, visibility)"
    found = results_error(json.dumps([row]), fields={"keypoints"})
    assert found == f"dt.json: [0].keypoints: {message}, found {len(faulty)} numbers\n{SKIP}"


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ('"neg_category_ids":[3,7]', ".neg_category_ids[1]: no category has the id 7"),
        (
            '"neg_category_ids":{}',
            ".neg_category_ids: expected a list of category ids, found an object",
        ),
        (
            '"not_exhaustive_category_ids":["3"]',
            (
                ".not_exhaustive_category_ids[0]: expected a whole number as in most rows, "
                'found the string "3"'
            ),
        ),
    ],
)
def test_wrong_lists_of_lvis(image: str, message: str) -> None:
    text = ground_truth(f'{{"id":1}},{{"id":2,{image}}}')
    assert ground_truth_error(text, fields={"federated"}) == f"gt.json: images[1]{message}"


@pytest.mark.parametrize(
    ("second", "found"),
    [("", "nothing"), (',"frequency":null', "null"), (',"frequency":"x"', 'the string "x"')],
)
def test_wrong_frequencies_of_lvis(second: str, found: str) -> None:
    first = '{"id":3,"name":"cat","frequency":"r"}'
    text = ground_truth(categories=f'{first},{{"id":4,"name":"dog"{second}}}')
    expected = f'gt.json: categories[1].frequency: expected "r", "c" or "f", found {found}'
    assert ground_truth_error(text, fields={"federated"}) == expected
