"""Objects as reports show them, and names of files that come from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.data.shapes.objects.gallery import Gallery, geojson
from valor_cli.data.shapes.objects.object_file import ObjectFile, id_column, text_column
from valor_cli.data.shapes.objects.scene import Scene
from valor_cli.data.table import Table
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.masks import from_bitmap
from valor_cli.kernels.geometry.shapes import Polygons, Shapes, joined
from valor_cli.results import MetricExample, ObjectRef, Picture


def ring(shape: object) -> list[list[float]]:
    assert isinstance(shape, dict)
    assert shape["type"] == "Polygon"
    return shape["coordinates"][0]


def test_a_box_goes_round_and_closes() -> None:
    (shape,) = geojson(Shapes.boxes(np.array([[1.0, 2.0, 3.0, 4.0]])))
    assert ring(shape) == [[1, 2], [4, 2], [4, 6], [1, 6], [1, 2]]


def test_a_rotated_box_turns_x_towards_y() -> None:
    # 4 wide and 2 high around (5, 5), turned by a quarter: 2 wide and 4 high.
    (shape,) = geojson(Shapes.rotated_boxes(np.array([[5.0, 5.0, 4.0, 2.0, 90.0]])))
    points = {tuple(np.round(point, 9)) for point in ring(shape)}
    assert points == {(6, 3), (6, 7), (4, 7), (4, 3)}


def test_parts_and_holes() -> None:
    square = [[0, 0], [4, 0], [4, 4], [0, 4]]
    hole = [[1, 1], [1, 2], [2, 2], [2, 1]]
    other = [[8, 8], [9, 8], [9, 9]]
    polygons = Polygons(
        np.array([*square, *hole, *other], float),
        np.array([0, 4, 8, 11]),
        np.array([0, 2, 3]),
        np.array([0, 2]),
    )
    (shape,) = geojson(Shapes.polygons(polygons))
    assert shape == {
        "type": "MultiPolygon",
        "coordinates": [[[*square, square[0]], [*hole, hole[0]]], [[*other, other[0]]]],
    }


def test_a_mask_is_outlined_and_an_empty_one_is_nothing() -> None:
    pixels = np.zeros((6, 8), bool)
    pixels[1:3, 2:6] = True
    masks = joined([Shapes.masks(from_bitmap(pixels)), Shapes.masks(from_bitmap(pixels & False))])
    shape, nothing = geojson(masks)
    assert {tuple(point) for point in ring(shape)} == {(2, 1), (6, 1), (6, 3), (2, 3)}
    assert nothing is None


@pytest.fixture
def dataset() -> DetectionDataset:
    boxes = np.array([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]])
    return DetectionDataset(
        np.array([7, 9]),
        ("cat", "dog"),
        GroundTruths(
            np.array([0, 1]),
            np.array([0, 1]),
            Shapes.boxes(boxes),
            np.full(2, 4.0),
            np.zeros(2, bool),
            np.arange(2),
        ),
        Detections(
            np.array([1]), np.array([0]), Shapes.boxes(boxes[1:]), np.array([0.5]), np.arange(1)
        ),
        gallery=Gallery(
            truth_ids=np.array(["a", "b"], object),
            detection_ids=np.array([31]),
            image_ids=np.array([7, 9]),
            files=np.array(["x.jpg", None], object),
            width=np.array([640, 0]),
            height=np.array([480, 0]),
        ),
    )


def test_examples_get_ids_labels_scores_and_pictures(dataset: DetectionDataset) -> None:
    refs = (ObjectRef("ground_truth", 1, "missed"), ObjectRef("prediction", 0, "both"))
    (picture, objects, _), (other, _, _) = dataset.illustrate(
        [MetricExample("both", 9, "dog", refs), MetricExample("both", 7)]
    )
    truth, found = objects
    assert (truth.id, truth.label, truth.score, truth.outcome) == ("b", "dog", None, "missed")
    assert (found.id, found.label, found.score, found.outcome) == (31, "cat", 0.5, "both")
    assert found.geometry == truth.geometry
    assert picture is None
    assert other == Picture("x.jpg", 640, 480)


def test_a_size_that_no_file_says_is_asked_of_the_image(dataset: DetectionDataset) -> None:
    gallery = Gallery(
        image_ids=np.array([7]),
        files=np.array(["x.jpg"], object),
        size_of=lambda name: (4, 3) if name == "x.jpg" else (None, None),
    )
    assert gallery.picture(7) == Picture("x.jpg", 4, 3)


def test_a_shard_keeps_the_numbers_of_the_whole(dataset: DetectionDataset) -> None:
    part = dataset.shard(np.array([False, True]))
    assert part.ground_truths.number.tolist() == [1]
    assert part.ground_truths.image.tolist() == [0]
    assert part.gallery is None


def named(ids: list[Any], names: list[str | None]) -> Scene:
    columns = {"id": id_column(ids), "file_name": text_column(names)}
    objects = Table("in.json", {"image_id": id_column(ids[:0])})
    shapes = Shapes.boxes(np.zeros((0, 4)))
    return Scene(ObjectFile("in.json", objects, shapes, Table("in.json", columns), None, {}, []))


@pytest.mark.parametrize(
    ("number", "name", "stem"),
    [
        (17, None, "17"),
        (17, "a.b.jpg", "a.b"),
        (17, "train/x.png", "x"),
        (17, "C:\\pictures\\x.png", "x"),
        (17, "../../etc/passwd", "passwd"),
        ("x.jpg", None, "x"),
        ("v1.5", None, "v1.5"),
        ("a/b", None, "b"),
    ],
)
def test_names(number: Any, name: str | None, stem: str) -> None:
    assert named([number], [name]).stems() == [stem]


@pytest.mark.parametrize(
    "name", ["", "..", "a/..", "a\nb", ".hidden.jpg", " a.jpg", "x" * 300, "classes.txt", "CLASSES"]
)
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(DataError, match=r"in\.json: image 1: no file can be named"):
        named([1], [name]).stems(reserved=("classes",))


def test_two_images_of_one_name() -> None:
    with pytest.raises(DataError, match="the images 1 and 2 would both be written as 'X'"):
        named([1, 2], ["a/x.jpg", "b/X.jpg"]).stems()
