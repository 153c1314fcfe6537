"""JSONL of objects: what is read, and what is said of what cannot be."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask

from valor_cli.data.formats.jsonl.objects import read_jsonl
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.masks import areas

pytestmark = pytest.mark.usefixtures("in_a_folder")

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."
CAT = {"label": "cat", "box": [1, 2, 3, 4], "score": 0.5}
DOG = {"label": "dog", "box": [5.5, 6, 7, 0], "score": 1}


def write(*lines: Any) -> str:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    Path("a.jsonl").write_text(text + "\n")
    return "a.jsonl"


def image(*objects: Any, **more: Any) -> dict[str, Any]:
    return {"image_id": 1, **more, "objects": list(objects)}


def error(*lines: Any, role: Any = "predictions", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_jsonl(write(*lines), role, **options)
    return str(caught.value)


def test_predictions_are_read_in_order() -> None:
    path = write(image(CAT, DOG), {"image_id": 7, "objects": [DOG]})
    found = read_jsonl(path, "predictions")
    assert found.objects["image_id"].tolist() == [1, 1, 7]
    assert found.objects["category_id"].tolist() == [0, 1, 1]
    assert found.objects["score"].tolist() == [0.5, 1, 1]
    assert found.shapes.box.tolist() == [[1, 2, 3, 4], [5.5, 6, 7, 0], [5.5, 6, 7, 0]]
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat", "dog"]
    assert found.coded
    assert found.image_names == "typed"
    assert found.objects.place_of(2) == "a.jsonl:2"
    assert [(file.path, file.rows, file.skipped) for file in found.files] == [("a.jsonl", 3, 0)]


def test_ground_truth_has_what_it_says() -> None:
    path = write(
        {**image({**CAT, "id": 4, "crowd": True, "area": 9}), "width": 640, "height": 480},
        {"image_id": 2, "file_name": "b.jpg", "camera": "x"},
        {"image_id": 3, "metadata": {"camera": "y"}, "objects": [{**DOG, "id": 5}]},
    )
    found = read_jsonl(path, "ground_truth", metadata=["camera"])
    assert "score" not in found.objects.columns
    assert found.objects["id"].tolist() == [4, 5]
    assert found.objects["crowd"].tolist() == [True, False]
    np.testing.assert_array_equal(found.objects["area"], [9, np.nan])
    assert found.images is not None
    assert found.images["id"].tolist() == [1, 2, 3]
    assert found.images["width"].tolist() == [640, 0, 0]
    assert found.images["file_name"].tolist() == [None, "b.jpg", None]
    assert found.metadata == {"camera": [None, "x", "y"]}


def test_columns_that_say_nothing_are_none() -> None:
    found = read_jsonl(write(image(CAT)), "ground_truth")
    assert set(found.objects.columns) == {"image_id", "category_id"}
    assert found.images is not None
    assert set(found.images.columns) == {"id"}


@pytest.mark.parametrize("text", ["\ufeff{}\r\n\r\n{}\r\n", "{}\n\n{}", " {} \n\t{}\n"])
def test_marks_blank_lines_and_line_ends_do_not_matter(text: str) -> None:
    lines = [json.dumps(image(CAT)), json.dumps({"image_id": 2, "objects": [DOG]})]
    Path("a.jsonl").write_bytes(text.replace("{}", "%s").__mod__(tuple(lines)).encode())
    found = read_jsonl("a.jsonl", "predictions")
    assert found.objects["image_id"].tolist() == [1, 2]


def test_both_readings_agree() -> None:
    """A line that the quick reading refuses sends its block to the slow one."""
    rows = [{"image_id": at, "objects": [CAT, DOG][: at % 3]} for at in range(50)]
    quick = read_jsonl(write(*rows), "predictions")
    slow = read_jsonl(write(*rows, "", ""), "predictions")
    for name, column in quick.objects.columns.items():
        np.testing.assert_array_equal(column, slow.objects[name])
    np.testing.assert_array_equal(quick.shapes.box, slow.shapes.box)
    assert quick.objects.place_of(9) == slow.objects.place_of(9)


def test_blocks_are_cut_between_lines() -> None:
    rows = [{"image_id": f"i{at}", "objects": [CAT] * 200} for at in range(60)]
    Path("a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = read_jsonl("a.jsonl.gz", "predictions")
    assert found.objects["image_id"].tolist() == [f"i{at}" for at in range(60) for _ in range(200)]
    assert found.objects.place_of(200 * 59) == "a.jsonl.gz:60"


def test_each_object_has_its_kind_of_geometry() -> None:
    rle = coco_mask.encode(np.asfortranarray([[0, 1, 1], [0, 1, 0]], np.uint8))
    found = read_jsonl(
        write(
            image(
                {**CAT, "box": None, "mask": {"size": [2, 3], "counts": rle["counts"].decode()}},
                {
                    "label": "cat",
                    "score": 1,
                    "polygon": [[0, 0, 2, 0, 2, 2, 0, 0], [5, 5, 6, 5, 6, 6]],
                },
                {"label": "cat", "score": 1, "rotated_box": [5, 5, 2, 1, 30]},
                CAT,
                {"label": "cat", "score": 1, "mask": {"size": [2, 3], "counts": [1, 5]}},
                width=3,
                height=2,
            )
        ),
        "predictions",
        wanted="shape",
    )
    assert found.shapes.kind.tolist() == [3, 2, 1, 0, 3]
    assert areas(found.shapes.mask).tolist() == [3, 5]
    assert found.shapes.rotated_box.tolist() == [[5, 5, 2, 1, 30]]
    # The first ring repeats its first point; two rings are two parts.
    polygon = found.shapes.polygon
    assert polygon.points.tolist() == [[0, 0], [2, 0], [2, 2], [5, 5], [6, 5], [6, 6]]
    assert polygon.rings.tolist() == [0, 3, 6]
    assert polygon.parts.tolist() == [0, 1, 2]
    assert polygon.objects.tolist() == [0, 2]


def test_geojson_has_holes_and_parts() -> None:
    outer = [[0, 0], [9, 0], [9, 9], [0, 0]]
    hole = [[4, 2, 100], [5, 2, 100], [5, 3, 100], [4, 2, 100]]
    one = {"type": "Polygon", "coordinates": [outer, hole]}
    many = {"type": "MultiPolygon", "coordinates": [[outer], [outer, hole]]}
    objects = [{"label": "cat", "polygon": polygon} for polygon in (one, many)]
    polygon = read_jsonl(write(image(*objects)), "ground_truth").shapes.polygon
    assert polygon.parts.tolist() == [0, 2, 3, 5]
    assert polygon.objects.tolist() == [0, 1, 3]
    assert polygon.points[3:6].tolist() == [[4, 2], [5, 2], [5, 3]]


def test_wanted_decides_between_geometries() -> None:
    both = {**CAT, "polygon": [[0, 0, 2, 0, 2, 2]], "rotated_box": [1, 1, 1, 1, 0]}
    path = write(image(both, {key: both[key] for key in ("label", "score", "rotated_box")}))
    assert read_jsonl(path, "predictions").shapes.kinds == ("box", "rotated_box")
    shapes = read_jsonl(path, "predictions", wanted="shape").shapes
    assert shapes.kinds == ("rotated_box", "polygon")


def test_masks_of_png_files() -> None:
    Path("masks").mkdir()
    Image.fromarray(np.array([[0, 7], [300, 7]], np.uint16)).save("masks/ids.png")
    Image.fromarray(np.array([[0, 255], [1, 0]], np.uint8)).save("masks/gray.png")
    Image.fromarray(np.array([[True, False], [True, True]])).save("masks/bits.png")
    palette = Image.fromarray(np.array([[0, 2], [2, 2]], np.uint8), "L").convert("P")
    palette.putdata([0, 2, 2, 0])
    palette.save("masks/palette.png")
    masks = [
        {"png": "masks/ids.png", "value": 7},
        {"png": "masks/ids.png", "value": 300},
        {"png": "masks/ids.png"},
        "masks/gray.png",
        "masks/bits.png",
        {"png": "masks/palette.png", "value": 2},
        {"png": "masks/palette.png", "value": 9},
    ]
    path = write(image(*({"label": "cat", "mask": mask} for mask in masks), width=2, height=2))
    found = read_jsonl(path, "ground_truth")
    assert areas(found.shapes.mask).tolist() == [2, 1, 3, 2, 3, 2, 0]
    assert [file.path for file in found.files] == ["a.jsonl", "."]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"box": [1, 2, -3, 4]}, ".box[2]: expected a width of 0 or more, found -3"),
        ({"box": [1, 2, 3]}, ".box: expected 4 numbers (x, y, width, height), found 3"),
        ({"box": [1, 2, float("nan"), 4]}, ".box[2]: expected a finite number, found NaN"),
        ({"box": [1, 2, 1e200, 4]}, ".box[2]: expected at most 1e+150 pixels, found 1e+200"),
        ({"box": [1, True, 3, 4]}, ".box[1]: expected a number, found true"),
        ({"score": None}, ".score: expected a number, found null"),
        ({"score": "0.5"}, '.score: expected a number, found the string "0.5"'),
        ({"score": float("inf")}, ".score: expected a finite number, found Infinity"),
        ({"label": 3}, ".label: expected a string, found 3"),
        ({"label": "\ud800"}, '.label: expected Unicode text, found the string "\\ud800"'),
        (
            {"box": None},
            (
                ": there is no geometry, one of box, rotated_box, polygon, mask "
                "(there is: label, box, score)"
            ),
        ),
    ],
)
def test_a_wrong_value_of_an_object(change: dict[str, Any], message: str) -> None:
    bad = {**CAT, **change}
    assert error(image(CAT), {"image_id": 2, "objects": [CAT, bad]}) == (
        f"a.jsonl:2: objects[1]{message}\n{SKIP}"
    )


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (
            {"polygon": []},
            (
                ".polygon: expected a list of rings [[x, y, x, y, …], …] or a GeoJSON object, "
                "found an empty list"
            ),
        ),
        (
            {"polygon": [[0, 0, 1, 1]]},
            ".polygon[0]: expected a ring x, y, x, y, … of at least 3 points, found 2",
        ),
        (
            {"polygon": [[0, 0, 1, 1, 0, 0]]},
            ".polygon[0]: expected a ring x, y, x, y, … of at least 3 points, found 2",
        ),
        (
            {"polygon": [[0, 0, 1, 1, 1]]},
            ".polygon[0]: expected pairs of x and y, found 5 numbers",
        ),
        (
            {"polygon": [0, 0, 1]},
            (
                ".polygon[0]: expected a list of x, y, x, y, …, found 0\n"
                "a.jsonl:1: objects[0].polygon[1]: expected a list of x, y, x, y, …, found 0\n"
                "a.jsonl:1: objects[0].polygon[2]: expected a list of x, y, x, y, …, found 1"
            ),
        ),
        (
            {"polygon": [[0, 0, 1, None, 1, 1]]},
            ".polygon[0][3]: expected a number, found null",
        ),
        (
            {"polygon": {"type": "Point", "coordinates": [0, 0]}},
            '.polygon.type: expected "Polygon" or "MultiPolygon", found the string "Point"',
        ),
        (
            {"polygon": {"type": "Polygon", "coordinates": []}},
            ".polygon.coordinates: expected a list of rings, found an empty list",
        ),
        (
            {"polygon": {"type": "Polygon", "coordinates": [[[0, 0], 3]]}},
            ".polygon.coordinates[0][1]: expected [x, y], found 3",
        ),
        (
            {"rotated_box": [1, 2, 3, -4, 5]},
            ".rotated_box[3]: expected a height of 0 or more, found -4",
        ),
        (
            {"rotated_box": [1, 2, 3, 4]},
            ".rotated_box: expected 5 numbers (cx, cy, width, height, degrees), found 4",
        ),
        (
            {"mask": {"size": [2, 3], "counts": [1, 4]}},
            ".mask.counts: expected run lengths that add up to height * width, each 0 or more",
        ),
        (
            {"mask": {"size": [2, 3], "counts": [7, -1]}},
            ".mask.counts: expected run lengths that add up to height * width, each 0 or more",
        ),
        (
            {"mask": {"size": [2, 3], "counts": "\u00e4"}},
            ".mask.counts: expected run lengths that add up to height * width, each 0 or more",
        ),
        (
            {"mask": {"size": [3, 2], "counts": [6]}},
            ".mask.size: the mask is 2 x 3 pixels (width x height), its image is 3 x 2",
        ),
        (
            {"mask": {"size": [2], "counts": [2]}},
            ".mask.size: expected height and width of up to 1,048,576, found a list",
        ),
        (
            {"mask": {"size": [2, 3], "counts": [1.5, 4.5]}},
            ".mask.counts: expected a string or a list of whole numbers, found a list",
        ),
        (
            {"mask": {"size": [2, 3]}},
            (
                ".mask: expected run lengths (an object with size and counts) or the path of a PNG "
                "(a string, or an object with png and value), found an object with size"
            ),
        ),
        (
            {"mask": "none.png"},
            ".mask: none.png: the PNG cannot be read: No such file or directory",
        ),
        (
            {"mask": {"png": "large.png", "value": -1}},
            ".mask.value: expected a whole number of 0 or more, found -1",
        ),
        (
            {"mask": "large.png"},
            ".mask: the mask is 5 x 4 pixels (width x height), its image is 3 x 2",
        ),
        (
            {"mask": "colour.png"},
            (
                ".mask: colour.png: expected a mask of one channel (gray, palette or 1 bit), "
                "found an image of mode RGB"
            ),
        ),
        ({"mask": "text.png"}, ".mask: text.png: expected a PNG; this is another kind of file"),
    ],
)
def test_a_wrong_geometry(geometry: dict[str, Any], message: str) -> None:
    Image.new("L", (5, 4)).save("large.png")
    Image.new("RGB", (3, 2)).save("colour.png")
    Path("text.png").write_text("no image")
    line = image({"label": "cat", **geometry}, width=3, height=2)
    expected = f"a.jsonl:1: objects[0]{message}\n{SKIP}"
    assert error(line, role="ground_truth", wanted="shape") == expected
    good = {"image_id": 2, "objects": [{"label": "cat", "box": [1, 2, 3, 4]}]}
    found = read_jsonl(write(line, good), "ground_truth", wanted="shape", invalid="skip")
    assert found.objects["image_id"].tolist() == [2]
    assert found.objects.skipped == found.files[0].skipped == 1
    assert found.files[0].rows == 2


def test_a_mask_is_a_png_by_its_content() -> None:
    # The pixels of a JPEG are not those that were saved.
    Image.new("L", (3, 2), 1).save("a.jpg")
    Path("a.jpg").rename("a.png")
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "objects[0].mask: a.png: expected a PNG; this is another kind of file" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe", "pipe: expected a file, found a pipe or a device"),
        ("/dev/zero", "/dev/zero: expected a file, found a pipe or a device"),
        ("folder", "folder: expected a file, found a folder"),
        ("huge", "huge: the file has 1,073,741,825 bytes; at most 1,073,741,824 are read"),
        ("a\ud800", "the PNG cannot be read"),
        ("a" * 300, "the PNG cannot be read: File name too long"),
    ],
)
def test_what_is_no_file_is_not_read(name: str, message: str) -> None:
    os.mkfifo("pipe")
    Path("folder").mkdir()
    with open("huge", "wb") as file:
        file.truncate((1 << 30) + 1)
    assert message in error(image({"label": "cat", "mask": name}), role="ground_truth")


def test_a_damaged_png_is_an_error() -> None:
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (64, 64)).astype(np.uint8)).save("a.png")
    Path("a.png").write_bytes(Path("a.png").read_bytes()[:2000])
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "objects[0].mask: a.png: the image cannot be read, it may be cut off" in message


def test_a_png_of_too_many_pixels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (50, 50)).save("a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "a.png: the image has more than 89,478,485 pixels" in message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", ": expected an object with image_id and objects, found a list"),
        (
            '{"image_id": 1',
            ": not JSON (Expecting ',' delimiter, column 15); each line is one JSON object",
        ),
        ("[" * 100_000, ": the JSON is nested too deeply to be read"),
        ("{}", ': "image_id" is missing (there is: nothing)'),
        ('{"image_id": 7, "objects": 3}', ": objects: expected a list, found 3"),
        (
            '{"image_id": 7, "width": -1}',
            ": width: expected a whole number from 0 to 1,048,576, found -1",
        ),
        ('{"image_id": 7, "file_name": 3}', ": file_name: expected a string, found 3"),
        ('{"image_id": true}', ": image_id: expected a whole number or a string, found true"),
        (
            '{"image_id": "a"}',
            ': image_id: expected a whole number as in most rows, found the string "a"',
        ),
        ('{"image_id": 1}', ": image_id: duplicate image 1, also in line 1"),
        (
            '{"image_id": 7, "bbox": [1, 2, 3, 4], "score": 1}',
            (
                ': "objects" is missing, yet there is score, bbox: '
                "each line is an image with the list of its objects"
            ),
        ),
    ],
)
@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_a_wrong_line_is_an_error_always(line: str, message: str, invalid: str) -> None:
    good = {"image_id": 2, "objects": [CAT]}
    assert error(image(CAT), good, line, invalid=invalid) == f"a.jsonl:3{message}"


def test_objects_must_have_a_label_and_predictions_a_score() -> None:
    assert error(image({"box": [1, 2, 3, 4]}, 5)) == (
        'a.jsonl:1: objects[0]: "label" and "score" are missing (there is: box)\n'
        f"a.jsonl:1: objects[1]: expected an object, found 5\n{SKIP}"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("crowd", 2, "expected 0, 1, true or false, found 2"),
        ("area", -1, "expected an area of 0 or more, found -1"),
        ("id", 1, "duplicate id 1, first in line 1"),
        ("id", None, "there is no id, and other objects have one"),
        ("id", "x", 'expected a whole number as in most rows, found the string "x"'),
    ],
)
def test_a_wrong_value_of_ground_truth(key: str, value: Any, message: str) -> None:
    rows = [{**CAT, "id": 1}, {**CAT, "id": 2}, {**CAT, "id": 3, key: value}]
    line = image(*rows)
    assert error(line, role="ground_truth") == f"a.jsonl:1: objects[2].{key}: {message}\n{SKIP}"
    found = read_jsonl(write(line), "ground_truth", invalid="skip")
    assert found.objects["id"].tolist() == [1, 2]
    assert found.objects.skipped == 1


def test_labels_of_skipped_objects_alone_are_no_labels() -> None:
    path = write(image({**DOG, "box": [1, 2, 3, -4]}, CAT))
    found = read_jsonl(path, "predictions", invalid="skip")
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat"]
    assert found.objects["category_id"].tolist() == [0]


def test_problems_beyond_twenty_are_counted() -> None:
    message = error(*({"image_id": at, "objects": [{}]} for at in range(30)))
    assert message.count("missing") == 20
    assert "… and 10 more problems" in message


def test_metadata_that_no_line_has_is_an_error() -> None:
    message = error(image(CAT, camra="x"), role="ground_truth", metadata=["camera"])
    assert "no image has the metadata 'camera' (did you mean 'camra'?)" in message


def test_ground_truth_needs_an_image() -> None:
    assert error("", role="ground_truth") == (
        "a.jsonl: there are no images; at least one is needed"
    )
    assert len(read_jsonl(write(""), "predictions").objects) == 0
