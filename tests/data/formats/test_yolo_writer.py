"""YOLO folders by hand."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import polygons, scene, with_categories, with_images
from valor_cli.data.formats.yolo import write_yolo
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes

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
