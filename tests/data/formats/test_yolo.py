"""Folders of YOLO labels: boxes in pixels, and what is written of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

from tests.data.conversion.scenes import polygons, scene, with_categories, with_images
from valor_cli.data.formats import yolo as reader
from valor_cli.data.formats.yolo import write_yolo
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read_yolo(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**how))


def folder(labels: dict[str, str], sizes: dict[str, tuple[int, int]] | None = None) -> str:
    """Label files, and images of (width, height)."""
    for name, text in labels.items():
        path = Path("labels") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    for name, size in (sizes or {}).items():
        path = Path("images") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size).save(path)
    return "labels"


def test_boxes_are_in_pixels() -> None:
    folder(
        {"a.txt": "1 0.5 0.5 0.25 0.5\r\n0 0.5 0.25 1 0.5 0.75\n\n", "b.txt": "", "c.txt": "\n"},
        {"a.jpg": (640, 480), "b.PNG": (32, 16), "c.jpeg": (8, 8)},
    )
    found = read_yolo("labels", "ground_truth", names=["cat", "dog"], images="images")
    # 1: centre (320, 240), 160 x 240. 0: centre (320, 120), 640 x 240.
    assert found.shapes.box.tolist() == [[240, 120, 160, 240], [0, 0, 640, 240]]
    assert found.objects["category_id"].tolist() == [1, 0]
    assert found.objects["image_id"].tolist() == ["a", "a"]
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b", "c"]
    assert found.images["width"].tolist() == [640, 32, 8]
    assert found.images["height"].tolist() == [480, 16, 8]
    assert found.images["file_name"].tolist() == ["a.jpg", "b.PNG", "c.jpeg"]
    assert found.categories is not None
    assert found.categories["id"].tolist() == [0, 1]
    assert found.categories["name"].tolist() == ["cat", "dog"]
    assert found.image_names == "file"
    assert found.coded
    assert found.warnings == []


def test_one_record_for_the_folder() -> None:
    folder({"b.txt": "0 0.5 0.5 1 1\n", "a.txt": ""}, {"a.png": (8, 8), "b.png": (8, 8)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in (("a.txt", b""), ("b.txt", b"0 0.5 0.5 1 1\n"))
    ]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert [(file.path, file.sha256, file.rows) for file in found.files] == [("labels", digest, 1)]


def test_many_boxes_against_the_formula() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.random((50, 4))
    text = "\n".join("0 " + " ".join(map(repr, row)) for row in numbers.tolist())
    folder({"a.txt": text}, {"a.png": (640, 427)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    cx, cy, width, height = numbers.T
    expected = np.column_stack(
        [(cx - width / 2) * 640, (cy - height / 2) * 427, width * 640, height * 427]
    )
    np.testing.assert_array_equal(found.shapes.box, expected)


EXACT = Shapes.boxes(np.array([[0.0, 0, 50, 25], [10.0, 20.0, 30.0, 40.0], [100, 50, 100, 50]]))


def test_boxes_are_fractions_of_the_image() -> None:
    written = write_yolo(replace(scene(EXACT), coded=True), WriteOptions())
    assert written.files == {
        "classes.txt": b"cat\ndog\n",
        # 10 + 30/2 = 25 of 100, 20 + 40/2 = 40 of 80, 30 of 100, 40 of 80.
        "three.txt": b"0 0.25 0.5 0.3 0.5\n",
        # 25 of 200, 12.5 of 100, 50 of 200, 25 of 100; then 150, 75, 100, 50.
        "five.txt": b"1 0.125 0.125 0.25 0.25\n0 0.75 0.75 0.5 0.5\n",
        "seven.txt": b"",
    }
    assert written.warnings == [
        "YOLO holds no file names of images: 3 are lost",
    ]


def test_scores_and_polygons() -> None:
    shapes = polygons([[[0, 0, 50, 0, 50, 25]]], [[[10, 8, 20, 8, 20, 40]]], [[[0, 0, 2, 0, 2, 1]]])
    written = write_yolo(scene(shapes, score=np.array([0.5, 0.1 + 0.2, 1.0])), WriteOptions())
    assert written.files["three.txt"] == b"0 0.1 0.1 0.2 0.1 0.2 0.5 0.30000000000000004\n"
    assert written.files["five.txt"] == (
        b"1 0.0 0.0 0.25 0.0 0.25 0.25 0.5\n0 0.0 0.0 0.01 0.0 0.01 0.01 1.0\n"
    )


def test_names_give_the_numbers() -> None:
    written = write_yolo(scene(EXACT), WriteOptions(names=("bird", "dog", "cat")))
    assert written.files["classes.txt"] == b"bird\ndog\ncat\n"
    assert written.files["three.txt"].startswith(b"2 ")
    with pytest.raises(DataError) as error:
        write_yolo(scene(EXACT), WriteOptions(names=("cat", "dot")))
    assert str(error.value) == "--names: no label 'dog' (did you mean 'dot'?)"
    with pytest.raises(DataError, match="duplicate label 'cat'"):
        write_yolo(scene(EXACT), WriteOptions(names=("cat", "dog", "cat")))


def test_what_fractions_change_is_told() -> None:
    # 30.1 / 70 * 70 is 30.099999999999998 as float64.
    objects = scene(Shapes.boxes(np.array([[0, 0, 30.1, 10]] * 3)))
    assert objects.images is not None
    sizes = {"id": objects.images["id"], "width": np.full(3, 70), "height": np.full(3, 70)}
    written = write_yolo(with_images(objects, **sizes), WriteOptions())
    assert written.warnings[-1].startswith("YOLO stores fractions of the image: coord")


def test_sizes_are_needed_where_there_are_objects() -> None:
    objects = scene(EXACT)
    assert objects.images is not None
    columns = {**objects.images.columns, "width": np.array([100, 0, 0])}
    with pytest.raises(DataError) as error:
        write_yolo(with_images(objects, **columns), WriteOptions())
    assert str(error.value) == (
        "in.json: the size of image 5 is not known\nname the folder of the images: --images DIR"
    )
    with pytest.raises(DataError, match="--images DIR, or the file that has the sizes"):
        write_yolo(with_images(objects), WriteOptions())


@pytest.mark.parametrize("label", ["", " cat", "two\nlines"])
def test_labels_that_are_no_line(label: str) -> None:
    with pytest.raises(DataError, match=r"a line of classes\.txt cannot hold the label"):
        write_yolo(with_categories(scene(EXACT), "cat", label), WriteOptions())


def test_other_shapes_are_refused() -> None:
    with pytest.raises(DataError, match="--geometry box or polygon"):
        write_yolo(scene(Shapes.rotated_boxes(np.ones((3, 5)))), WriteOptions())
    ring = [0, 0, 1, 0, 1, 1]
    with pytest.raises(DataError) as error:
        write_yolo(scene(polygons([[ring]], [[ring], [ring]], [[ring, ring]])), WriteOptions())
    assert str(error.value) == (
        "in.json: annotations[1]: YOLO cannot hold a polygon of several parts, or none\n"
        "in.json: annotations[2]: YOLO cannot hold a polygon with holes\n"
        "convert it: --geometry box"
    )
