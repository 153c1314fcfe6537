"""JSONL of objects: what is read beyond the corpus, and what is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from msgspec.structs import replace
from PIL import Image

from tests.data.conversion.scenes import BOXES, polygons, scene, with_categories, with_images
from valor_cli.data.formats.json.object_writer import write_jsonl
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes

pytestmark = pytest.mark.usefixtures("in_a_folder")

CAT = {"label": "cat", "box": [1, 2, 3, 4], "score": 0.5}


def write(*lines: Any) -> str:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    Path("a.jsonl").write_text(text + "\n")
    return "a.jsonl"


def image(*objects: Any, **more: Any) -> dict[str, Any]:
    return {"image_id": 1, **more, "objects": list(objects)}


def error(*lines: Any, role: Any = "predictions", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_objects(write(*lines), role, Reading(**options))
    return str(caught.value)


def test_blocks_are_cut_between_lines() -> None:
    rows = [{"image_id": f"i{at}", "objects": [CAT] * 200} for at in range(60)]
    Path("a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = read_objects("a.jsonl.gz", "predictions", Reading())
    assert found.objects["image_id"].tolist() == [f"i{at}" for at in range(60) for _ in range(200)]
    assert found.objects.place_of(200 * 59) == "a.jsonl.gz:60"


def test_a_png_of_too_many_pixels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (50, 50)).save("a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "a.png: the image has more than 89,478,485 pixels" in message


def test_ground_truth_image_by_image() -> None:
    objects = scene(
        BOXES,
        id=np.array([7, 1, 9]),
        area=np.array([150.5, np.nan, np.nan]),
        crowd=np.array([False, True, False]),
    )
    written = write_jsonl(replace(objects, coded=True), WriteOptions())
    assert written.files[""] == (
        b'{"image_id":3,"file_name":"three.jpg","width":100,"height":80,"objects":'
        b'[{"label":"cat","box":[10.0,20.0,30.0,40.0],"id":1,"crowd":true}]}\n'
        b'{"image_id":5,"file_name":"five.jpg","width":200,"height":100,"objects":'
        b'[{"label":"dog","box":[0.1,0.2,20.0,10.0],"id":7,"area":150.5},'
        b'{"label":"cat","box":[8.0,8.0,0.0,4.0],"id":9}]}\n'
        b'{"image_id":7,"file_name":"seven.jpg","width":50,"height":40,"objects":[]}\n'
    )
    assert written.warnings == []


def test_detections_of_unlisted_images() -> None:
    objects = replace(with_images(scene(BOXES, score=np.array([0.5, 1, 0.1]))), coded=True)
    assert write_jsonl(objects, WriteOptions()).files[""] == (
        b'{"image_id":5,"objects":[{"label":"dog","box":[0.1,0.2,20.0,10.0],"score":0.5},'
        b'{"label":"cat","box":[8.0,8.0,0.0,4.0],"score":0.1}]}\n'
        b'{"image_id":3,"objects":[{"label":"cat","box":[10.0,20.0,30.0,40.0],"score":1.0}]}\n'
    )


def test_polygons_with_holes_are_geojson() -> None:
    square, hole, other = [0, 0, 9, 0, 9, 9], [1, 1, 2, 1, 2, 2], [20, 20, 21, 20, 21, 21]
    shapes = polygons([[square], [other]], [[square, hole], [other]], [[square]])
    lines = write_jsonl(scene(shapes), WriteOptions()).files[""].splitlines()
    (holed,) = orjson.loads(lines[0])["objects"]
    assert holed["polygon"] == {
        "type": "MultiPolygon",
        "coordinates": [
            [[[0, 0], [9, 0], [9, 9], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]],
            [[[20, 20], [21, 20], [21, 21], [20, 20]]],
        ],
    }
    plain = [each["polygon"] for each in orjson.loads(lines[1])["objects"]]
    assert plain == [[square, other], [square]]


def test_rotated_boxes_and_metadata() -> None:
    rotated = Shapes.rotated_boxes(np.arange(15.0).reshape(3, 5))
    objects = replace(scene(rotated), metadata={"weather": [None, "rain", None]})
    lines = write_jsonl(objects, WriteOptions()).files[""].splitlines()
    assert orjson.loads(lines[0])["objects"] == [{"label": "cat", "rotated_box": [5, 6, 7, 8, 9]}]
    assert orjson.loads(lines[1])["metadata"] == {"weather": "rain"}
    assert "metadata" not in orjson.loads(lines[2])


def test_a_box_that_stands_beside_a_shape() -> None:
    shapes = polygons(*[[[[0, 0, 4, 0, 4, 3]]]] * 3)
    box = np.full((3, 4), np.nan)
    box[1] = [0, 0, 4, 3.5]
    lines = write_jsonl(scene(shapes), WriteOptions(box=box)).files[""].splitlines()
    assert orjson.loads(lines[0])["objects"][0]["box"] == [0, 0, 4, 3.5]
    assert all("box" not in each for each in orjson.loads(lines[1])["objects"])


def test_ids_of_categories_are_lost() -> None:
    assert write_jsonl(scene(BOXES), WriteOptions()).warnings == [
        "JSONL holds no category ids: 2 are lost"
    ]


def test_labels_are_needed() -> None:
    objects = replace(scene(BOXES), categories=None)
    with pytest.raises(DataError) as error:
        write_jsonl(objects, WriteOptions())
    assert str(error.value) == (
        "in.json: a COCO results list names categories by id, not by label\n"
        "give the file with the names: --ground-truth FILE"
    )
    with pytest.raises(DataError, match="the ids 10 and 20 are both named 'cat'"):
        write_jsonl(with_categories(scene(BOXES), "cat", "cat"), WriteOptions())
