"""Faulty COCO files: the exact words for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.faulty import GOOD, SKIP, ground_truth, ground_truth_error, results_error
from valor_cli.data.formats.coco.reader import read_ground_truth

GROUND_TRUTH = "ground truth is an object with images, annotations and categories"
PREDICTIONS = (
    "predictions are a list of objects with image_id, category_id, bbox and score, "
    "or a COCO object whose annotations have a score"
)


pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", f"dt.json: {PREDICTIONS}, found 5"),
        ("null", f"dt.json: {PREDICTIONS}, found null"),
        (
            GOOD,
            'dt.json: "annotations" is missing (there is: image_id, category_id, bbox, score); '
            + PREDICTIONS,
        ),
        ('{"annotations":{}}', "dt.json: annotations: expected a list, found an object"),
        (
            '{"annotations":[],"categories":5}',
            "dt.json: categories: expected a list, found 5",
        ),
        (
            ground_truth(annotations='{"id":1,"image_id":1,"category_id":3,"bbox":[1,2,3,4]}'),
            (
                f"dt.json: these are annotations without score (ground truth); {PREDICTIONS} — "
                "give this file under data.ground_truth"
            ),
        ),
        (
            f'{{"annotations":[{GOOD}],"categories":[{{"id":4,"name":"cat"}}]}}',
            f"dt.json: annotations[0].category_id: no category has the id 3\n{SKIP}",
        ),
        (
            f'{{"annotations":[{GOOD}],"categories":[{{"id":3,"name":"a"}},{{"id":3,"name":"b"}}]}}',
            "dt.json: categories[1].id: duplicate id 3, first at categories[0]",
        ),
        (
            '[{"image_id',
            "dt.json:1:3: the file ends inside a string: it was cut off; write or copy it again",
        ),
        (f"[{GOOD},]", None),
        (
            f"[{GOOD}\n{GOOD}]",
            (
                "dt.json:2:1: not JSON: expected a comma or the end, "
                'found: {"image_id":1,"category_id":3,'
            ),
        ),
        ("", "dt.json: the file is empty"),
    ],
)
def test_a_file_that_is_no_detections(text: str, message: str | None) -> None:
    found = results_error(text)
    if message is None:
        # Python 3.13 words this one differently.
        assert found.startswith("dt.json:1:6")
        assert "not JSON" in found
    else:
        assert found == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"[{GOOD}]",
            (
                f"gt.json: this is a list of detections (COCO results); {GROUND_TRUTH} — "
                "give this file under data.predictions"
            ),
        ),
        ("[]", f"gt.json: {GROUND_TRUTH}, found an empty list"),
        ("[1]", f"gt.json: {GROUND_TRUTH}, found a list"),
        ('"x"', f'gt.json: {GROUND_TRUTH}, found the string "x"'),
        (
            '{"images":[],"info":1}',
            (
                f'gt.json: "annotations" and "categories" are missing (there is: images, info); '
                f"{GROUND_TRUTH}"
            ),
        ),
        (
            '{"images":{},"annotations":[],"categories":[]}',
            "gt.json: images: expected a list, found an object",
        ),
        (
            '{"images":[],"annotations":[],"categories":[]}',
            "gt.json: images: there are no images; at least one is needed",
        ),
        (
            ground_truth(images='{"id":1},{"id":2},{"id":1}'),
            "gt.json: images[2].id: duplicate id 1, first at images[0]",
        ),
        (
            ground_truth(images='{"id":"a"},{"id":"a"},{"file_name":"x"}'),
            (
                'gt.json: images[1].id: duplicate id "a", first at images[0]\n'
                'gt.json: images[2]: "id" is missing (there is: file_name)'
            ),
        ),
        (
            ground_truth(images='{"id":1},{"id":2},{"id":"3"}'),
            'gt.json: images[2].id: expected a whole number as in most rows, found the string "3"',
        ),
        (
            ground_truth(categories='{"id":3,"name":"cat"},{"id":3,"name":"dog"},{"id":4}'),
            (
                "gt.json: categories[1].id: duplicate id 3, first at categories[0]\n"
                'gt.json: categories[2]: "name" is missing (there is: id)'
            ),
        ),
        (
            ground_truth(categories='{"id":3,"name":7},{"id":4,"name":"\\udc00"}'),
            (
                "gt.json: categories[0].name: expected a string, found 7\n"
                'gt.json: categories[1].name: expected Unicode text, found the string "\\udc00"'
            ),
        ),
    ],
)
def test_a_file_that_is_no_ground_truth(text: str, message: str) -> None:
    assert ground_truth_error(text) == message
    assert ground_truth_error(text, invalid="skip") == message


def test_metadata_that_is_not_json() -> None:
    text = ground_truth(images='{"id":1,"sun":NaN},{"id":2,"sun":"\\ud800"}')
    assert ground_truth_error(text, metadata=["sun"]) == (
        "gt.json: images[0].sun: expected a JSON value, found NaN\n"
        'gt.json: images[1].sun: expected a JSON value, found the string "\\ud800"'
    )
    Path("gt.json").write_text(text)
    assert len(read_ground_truth("gt.json").images) == 2


def test_metadata_of_no_image() -> None:
    text = ground_truth(images='{"id":1,"sun":1e999}')
    expected = "gt.json: images: no image has the metadata 'son' (did you mean 'sun'?); "
    assert ground_truth_error(text, metadata=["son"]) == expected + "there is: id, sun"
