"""COCO by hand: what the dictionary, the dictionary with scores and the results list say."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, polygons, scene, text, with_images
from valor_cli.data.formats.coco.writer import write_coco
from valor_cli.data.formats.json.object_writer import write_jsonl
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Masks, Shapes

CATEGORIES = b'"categories":[{"id":10,"name":"cat"},{"id":20,"name":"dog"}]'
IMAGES = (
    b'"images":[{"id":3,"file_name":"three.jpg","width":100,"height":80},'
    b'{"id":5,"file_name":"five.jpg","width":200,"height":100},'
    b'{"id":7,"file_name":"seven.jpg","width":50,"height":40}]'
)


def test_ground_truth() -> None:
    objects = scene(
        BOXES,
        id=np.array([7, 1, 9]),
        area=np.array([150.5, np.nan, 0.0]),
        crowd=np.array([False, True, False]),
    )
    written = write_coco(objects, WriteOptions())
    # The second area is the box's own: 30 * 40.
    assert written.files[""] == (
        b"{" + IMAGES + b',"annotations":['
        b'{"id":7,"image_id":5,"category_id":20,"bbox":[0.1,0.2,20.0,10.0],"area":150.5,"iscrowd":0},'
        b'{"id":1,"image_id":3,"category_id":10,"bbox":[10.0,20.0,30.0,40.0],"area":1200.0,"iscrowd":1},'
        b'{"id":9,"image_id":5,"category_id":10,"bbox":[8.0,8.0,0.0,4.0],"area":0.0,"iscrowd":0}'
        b"]," + CATEGORIES + b"}\n"
    )
    assert written.warnings == []


def test_predictions_are_a_dictionary_with_scores() -> None:
    written = write_coco(scene(BOXES, score=np.array([0.1 + 0.2, 1.0, 1e-300])), WriteOptions())
    document = json.loads(written.files[""])
    assert [row["score"] for row in document["annotations"]] == [0.30000000000000004, 1.0, 1e-300]
    assert [row["id"] for row in document["annotations"]] == [1, 2, 3]
    assert len(document["images"]) == 3
    assert written.warnings == []


def test_results_list() -> None:
    objects = scene(BOXES, score=np.array([0.5, 1.0, 0.25]))
    assert write_coco(objects, WriteOptions(results=True)).files[""] == (
        b'[{"image_id":5,"category_id":20,"bbox":[0.1,0.2,20.0,10.0],"score":0.5},'
        b'{"image_id":3,"category_id":10,"bbox":[10.0,20.0,30.0,40.0],"score":1.0},'
        b'{"image_id":5,"category_id":10,"bbox":[8.0,8.0,0.0,4.0],"score":0.25}]\n'
    )


def test_a_results_list_without_names_stays_one() -> None:
    objects = replace(scene(BOXES, score=np.ones(3)), categories=None)
    assert (
        write_coco(objects, WriteOptions())
        .files[""]
        .startswith(b'[{"image_id":5,"category_id":20,')
    )


def test_a_results_list_needs_scores() -> None:
    with pytest.raises(DataError, match="needs scores"):
        write_coco(scene(BOXES), WriteOptions(results=True))


def test_a_results_list_says_that_crowds_are_lost() -> None:
    objects = scene(BOXES, score=np.ones(3), crowd=np.array([True, False, True]))
    (warning,) = write_coco(objects, WriteOptions(results=True)).warnings
    assert warning.startswith(
        "a COCO results list holds no crowd flags: 2 crowds now are single objects"
    )


def test_polygons_and_masks() -> None:
    polygon = polygons(
        [[[0, 0, 4, 0, 4, 3]]],
        [[[0, 0, 2, 0, 2, 2, 0, 2]], [[5, 5, 6, 5, 6, 7]]],
    ).polygon
    # The mask of size 2 x 3 has the pixel in the second row of the second column: runs 3, 1, 2.
    mask = Masks(np.array([3, 1, 2]), np.array([0, 3]), np.array([[2, 3]]))
    kind = np.array([2, 3, 2], np.uint8)
    shapes = Shapes(kind, np.zeros((0, 4)), np.zeros((0, 5)), polygon, mask)
    rows = json.loads(write_coco(scene(shapes), WriteOptions()).files[""])["annotations"]
    assert [row["segmentation"] for row in rows] == [
        [[0, 0, 4, 0, 4, 3]],
        # Six-bit groups, low five bits first, plus 48: 3 is "3", 1 is "1", 2 is "2".
        {"size": [2, 3], "counts": "312"},
        [[0, 0, 2, 0, 2, 2, 0, 2], [5, 5, 6, 5, 6, 7]],
    ]
    assert [row["bbox"] for row in rows] == [[0, 0, 4, 3], [1, 1, 1, 1], [0, 0, 6, 7]]
    assert [row["area"] for row in rows] == [6, 1, 5]


def test_boxes_that_stand_beside_shapes_are_kept() -> None:
    triangle = [[[0, 0, 4, 0, 4, 3]]]
    boxes = np.array([[0, 0, 4, 3.5], [1, 1, 1, 1], [2, 2, 2, 2]])
    written = write_coco(scene(polygons(*[triangle] * 3)), WriteOptions(box=boxes))
    rows = json.loads(written.files[""])["annotations"]
    assert [row["bbox"] for row in rows] == boxes.tolist()


def test_a_results_list_has_no_box_that_was_not_there() -> None:
    triangle = [[[0, 0, 4, 0, 4, 3]]]
    objects = scene(polygons(*[triangle] * 3), score=np.ones(3))
    rows = json.loads(write_coco(objects, WriteOptions(results=True)).files[""])
    assert [sorted(row) for row in rows] == [
        ["category_id", "image_id", "score", "segmentation"]
    ] * 3
    boxes = np.array([[0, 0, 4, 3.5], [np.nan] * 4, [2, 2, 2, 2]])
    rows = json.loads(write_coco(objects, WriteOptions(results=True, box=boxes)).files[""])
    assert [row.get("bbox") for row in rows] == [[0, 0, 4, 3.5], None, [2, 2, 2, 2]]


def test_text_ids_stay_text() -> None:
    objects = scene(BOXES, image_id=text(["5", "3", "5"]), category_id=text(["b", "a", "a"]))
    objects = with_images(objects, id=text(["3", "5", "7"]))
    assert objects.categories is not None
    columns = {"id": text(["a", "b"]), "name": text(["cat", "dög"])}
    objects = replace(objects, categories=replace(objects.categories, columns=columns))
    document = json.loads(write_coco(objects, WriteOptions()).files[""])
    assert document["images"] == [{"id": "3"}, {"id": "5"}, {"id": "7"}]
    assert document["annotations"][0]["category_id"] == "b"
    assert document["categories"][1] == {"id": "b", "name": "dög"}


def test_keypoints_metadata_and_lists_of_lvis() -> None:
    points = np.zeros((3, 2, 3))
    points[1] = [[1, 2, 2], [0, 0, 0]]
    objects = replace(scene(BOXES, keypoints=points), metadata={"weather": ["rain", None, 3]})
    assert objects.images is not None
    lists = np.fromiter([[10], [], [10, 20]], dtype=object, count=3)
    objects = with_images(objects, id=objects.images["id"], negative=lists)
    document = json.loads(write_coco(objects, WriteOptions()).files[""])
    assert document["annotations"][1]["keypoints"] == [1, 2, 2, 0, 0, 0]
    assert [row["num_keypoints"] for row in document["annotations"]] == [0, 1, 0]
    assert document["images"] == [
        {"id": 3, "neg_category_ids": [10], "metadata": {"weather": "rain"}},
        {"id": 5, "neg_category_ids": []},
        {"id": 7, "neg_category_ids": [10, 20], "metadata": {"weather": 3}},
    ]


def test_rotated_boxes_and_holes_are_refused() -> None:
    with pytest.raises(DataError) as error:
        write_coco(scene(Shapes.rotated_boxes(np.ones((3, 5)))), WriteOptions())
    assert str(error.value) == (
        "in.json: COCO holds no rotated_box, found 3\n"
        "convert them: --geometry box or polygon or mask"
    )
    square, hole = [0, 0, 9, 0, 9, 9, 0, 9], [1, 1, 2, 1, 2, 2]
    with pytest.raises(DataError) as error:
        write_coco(scene(polygons([[square]], [[square, hole]], [[square]])), WriteOptions())
    assert str(error.value) == (
        "in.json: annotations[1]: COCO cannot hold a polygon with holes\n"
        "convert it: --geometry mask"
    )


def test_things_and_stuff_stay_known() -> None:
    objects = scene(BOXES)
    kinds = objects.categories
    assert kinds is not None
    told = replace(kinds, columns={**kinds.columns, "isthing": np.array([1, 0])})
    objects = replace(objects, categories=told)
    document = json.loads(write_coco(objects, WriteOptions()).files[""])
    assert [row["isthing"] for row in document["categories"]] == [1, 0]
    lost = "JSONL holds no kinds of categories (things or stuff): 2 are lost"
    assert lost in write_jsonl(objects, WriteOptions()).warnings
