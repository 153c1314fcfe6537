"""Sound COCO files with segmentations: which geometry is read, and what its columns hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pycocotools.mask as reference
import pytest

from tests.data.readings import assert_equal
from valor_cli.data.formats.coco.decode import decode_ground_truth, decode_results
from valor_cli.data.formats.coco.diagnosis import diagnose_ground_truth, diagnose_results
from valor_cli.data.formats.coco.reader import read_ground_truth, read_results
from valor_cli.data.formats.coco.tables import Request
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.object_file import ObjectFile, Wanted
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Masks

REAL = Path(__file__).parents[3] / "real_data" / "detection" / "coco-val2014-100"
SHAPES = Request("shape")

# Two rows, three columns. Runs go down the columns: 1 background, 2 mask, 3 background.
LISTED = {"size": [2, 3], "counts": [1, 2, 3]}
# A number below 16 is the character 48 places on; from the fourth on, it is the difference to the
# second before: 0 3 1 2 has 2 - 3 = -1, of which five bits are 31, the character "O".
COMPRESSED = {"size": [2, 3], "counts": "031O"}
TRIANGLE = [[0, 0, 4, 0, 0, 3]]

Write = Callable[[Any], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_json(document: Any) -> str:
        path = tmp_path / "a.json"
        path.write_text(json.dumps(document))
        return str(path)

    return write_json


def detection(**keys: Any) -> dict[str, Any]:
    return {"image_id": 1, "category_id": 3, "score": 0.5} | keys


def ground_truth(*annotations: dict[str, Any], **lists: Any) -> dict[str, Any]:
    rows = [{"id": row, "image_id": 1, "category_id": 3} for row in range(len(annotations))]
    return {
        "images": [{"id": 1, "height": 2, "width": 3, "file_name": "a.png"}],
        "categories": [{"id": 3, "name": "cat"}],
        "annotations": [row | keys for row, keys in zip(rows, annotations, strict=True)],
    } | lists


def both(path: str, request: Request = SHAPES, *, truth: bool = False) -> ObjectFile:
    """What the fast reading finds, which the slow one finds too."""
    source = TextSource(path)
    document = parse_json(source.whole(), path)
    if truth:
        fast = decode_ground_truth(source, [], request)
        slow = diagnose_ground_truth(document, source, [], request, "error")
    else:
        fast = decode_results(source, request)
        slow = diagnose_results(document, source, request, "error")
    assert_equal(fast, slow)
    return slow


def runs(masks: Masks) -> list[list[int]]:
    return [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]


def test_run_lengths(write: Write) -> None:
    long = {"size": [20, 2], "counts": "d0d0"}
    rows = [detection(segmentation=each) for each in (COMPRESSED, LISTED, long, COMPRESSED)]
    shapes = both(write(rows)).shapes
    assert shapes.kinds == ("mask",)
    # "d" is 20 and says that more follows: "0", nothing.
    assert runs(shapes.mask) == [[0, 3, 1, 2], [1, 2, 3], [20, 20], [0, 3, 1, 2]]
    assert shapes.mask.size.tolist() == [[2, 3], [2, 3], [20, 2], [2, 3]]


def test_polygons_of_several_parts(write: Write) -> None:
    square = [1, 1, 2, 1, 2, 2, 1, 2.5]
    rows = [detection(segmentation=TRIANGLE), detection(segmentation=[square, TRIANGLE[0]])]
    polygon = both(write(rows)).shapes.polygon
    assert polygon.points.tolist() == [
        *([0, 0], [4, 0], [0, 3]),
        *([1, 1], [2, 1], [2, 2], [1, 2.5]),
        *([0, 0], [4, 0], [0, 3]),
    ]
    assert polygon.rings.tolist() == [0, 3, 7, 10]
    assert polygon.parts.tolist() == [0, 1, 2, 3]
    assert polygon.objects.tolist() == [0, 1, 3]


def test_a_ring_does_not_repeat_its_first_point(write: Write) -> None:
    closed = [0, 0, 4, 0, 0, 3, 0, 0]
    twice = [*closed, 0, 0]
    flat = [0, 0, 4, 0, 0, 0]
    rows = [detection(segmentation=[part]) for part in (closed, twice, flat)]
    polygon = both(write(rows)).shapes.polygon
    # A ring keeps three points, even if they hold no area.
    assert polygon.rings.tolist() == [0, 3, 6, 9]
    assert polygon.points[3:6].tolist() == [[0, 0], [4, 0], [0, 3]]
    assert polygon.points[6:].tolist() == [[0, 0], [4, 0], [0, 0]]


BOTH: dict[str, Any] = {"bbox": [1, 2, 3, 4], "segmentation": TRIANGLE}


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        ("box", [BOX, POLYGON, MASK, BOX, BOX, POLYGON, MASK]),
        ("shape", [POLYGON, POLYGON, MASK, BOX, BOX, POLYGON, MASK]),
    ],
)
def test_each_row_has_the_kind_it_says(write: Write, wanted: Wanted, kinds: list[int]) -> None:
    rows = [
        detection(**BOTH),
        detection(segmentation=TRIANGLE),
        detection(segmentation=LISTED),
        detection(bbox=[5, 6, 7, 8], segmentation=[]),
        detection(bbox=[9, 10, 11, 12], segmentation=None),
        detection(segmentation=TRIANGLE),
        detection(segmentation=COMPRESSED),
    ]
    shapes = both(write(rows), Request(wanted)).shapes
    assert shapes.kind.tolist() == kinds
    boxes = [[5, 6, 7, 8], [9, 10, 11, 12]]
    assert shapes.box.tolist() == [[1, 2, 3, 4]] * (wanted == "box") + boxes
    assert runs(shapes.mask) == [[1, 2, 3], [0, 3, 1, 2]]


def test_what_is_not_taken_is_not_looked_at(write: Write) -> None:
    broken = {"bbox": "x", "segmentation": TRIANGLE, "keypoints": "x"}
    assert read_results(write([detection(**broken)]), wanted="shape").shapes.kinds == ("polygon",)
    broken = {"bbox": [1, 2, 3, 4], "segmentation": "x", "keypoints": [1]}
    assert read_results(write([detection(**broken)])).shapes.kinds == ("box",)


@pytest.mark.parametrize("nothing", [None, []])
def test_a_box_of_nothing_leaves_the_segmentation(write: Write, nothing: Any) -> None:
    rows = [detection(bbox=nothing, segmentation=TRIANGLE)]
    assert read_results(write(rows)).shapes.kinds == ("polygon",)


def test_numbers_in_other_forms(write: Write) -> None:
    mask = {"size": [2.0, 3.0], "counts": [1.0, 2, 3]}
    # Six bits where two would do: more follows the 3, but it is 0.
    wordy = {"size": [2, 3], "counts": "0S01O"}
    rows = [detection(segmentation=mask), detection(segmentation=wordy)]
    found = read_results(write(rows), wanted="shape").shapes.mask
    assert runs(found) == [[1, 2, 3], [0, 3, 1, 2]]


def test_area_of_ground_truth(write: Write) -> None:
    annotations = [
        {"segmentation": TRIANGLE, "area": 6},
        {"segmentation": TRIANGLE, "bbox": [0, 0, 4, 3]},
        {"segmentation": LISTED, "iscrowd": 1},
        {"bbox": [0, 0, 4, 3]},
    ]
    path = write(ground_truth(*annotations))
    found = both(path, truth=True)
    # Not of the file's own saying: that of a box alone is known here.
    assert np.array_equal(found.objects["area"], [6, np.nan, np.nan, 12], equal_nan=True)
    assert found.objects["area"].dtype == np.float64
    boxes = both(path, Request("box"), truth=True)
    assert np.array_equal(boxes.objects["area"], [6, 12, np.nan, 12], equal_nan=True)
    assert boxes.shapes.kind.tolist() == [POLYGON, BOX, MASK, BOX]


def test_the_size_of_a_mask_is_free_where_the_image_says_none(write: Write) -> None:
    for image in ({"id": 1}, {"id": 1, "height": 2, "width": None}, {"id": 1, "width": 0}):
        path = write(ground_truth({"segmentation": LISTED}, images=[image]))
        assert both(path, truth=True).shapes.kinds == ("mask",)


def test_size_and_file_of_images(write: Write) -> None:
    images = [
        {"id": 1, "width": 640, "height": 480, "file_name": "a.png"},
        {"id": 2, "width": None},
        {"id": 3, "height": 0, "file_name": None},
    ]
    found = both(write(ground_truth(images=images)), truth=True).images
    assert found is not None
    assert found["width"].tolist() == [640, 0, 0]
    assert found["height"].tolist() == [480, 0, 0]
    assert (found["width"].dtype, found["file_name"].dtype) == (np.int64, object)
    assert found["file_name"].tolist() == ["a.png", None, None]
    images = [{"id": 1, "width": 640.0, "file_name": None}]
    found = read_ground_truth(write(ground_truth(images=images))).images
    assert found is not None
    assert found.columns.keys() == {"id", "width"}
    assert found["width"].tolist() == [640]


def test_a_full_dictionary_with_scores(write: Write) -> None:
    document = {
        "annotations": [detection(segmentation=COMPRESSED), detection(segmentation=TRIANGLE)],
        "categories": [{"id": 3, "name": "cat"}],
    }
    found = both(write(document))
    assert found.shapes.kind.tolist() == [MASK, POLYGON]
    assert found.objects.place_of(1).endswith("a.json: annotations[1]")


def test_bad_segmentations_can_be_skipped(write: Write) -> None:
    bad = [detection(segmentation=each) for each in ({}, [[1]], LISTED | {"size": [3, 3]})]
    rows = [detection(segmentation=LISTED), *bad, detection(segmentation=TRIANGLE)]
    found = read_results(write(rows), wanted="shape", invalid="skip")
    assert found.shapes.kind.tolist() == [MASK, POLYGON]
    assert found.objects.rows is not None
    assert found.objects.rows.tolist() == [0, 4]
    nothing = read_results(write(bad), wanted="shape", invalid="skip")
    assert (len(nothing.objects), len(nothing.shapes), nothing.files[0].skipped) == (0, 0, 3)


def test_masks_of_real_data() -> None:
    path = REAL / "groundtruth.coco.json"
    document = json.loads(path.read_text())
    found = both(str(path), truth=True)
    rows = document["annotations"]
    crowds = [row["segmentation"] for row in rows if row["iscrowd"]]
    assert found.shapes.kind.tolist() == [MASK if row["iscrowd"] else POLYGON for row in rows]
    assert runs(found.shapes.mask) == [crowd["counts"] for crowd in crowds]
    # Shoelace's formula, part by part. COCO's own areas are counted in pixels: near, not equal.
    polygon = found.shapes.polygon
    parts = np.split(polygon.points, polygon.rings[1:-1])
    areas = [
        abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        for x, y in (part.T for part in parts)
    ]
    sums = np.add.reduceat(areas, polygon.objects[:-1])
    given = found.objects["area"][found.shapes.kind == POLYGON]
    assert np.median(np.abs(sums / given - 1)) < 1e-9


def test_closing_a_ring_changes_no_mask_of_the_reference() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        ring = rng.uniform(0, 20, 2 * rng.integers(3, 9)).round(int(rng.integers(0, 3))).tolist()
        masks = reference.frPyObjects([ring, ring + ring[:2]], 20, 20)
        assert masks[0]["counts"] == masks[1]["counts"]


def test_keypoints(write: Write) -> None:
    rows = [
        detection(bbox=[0, 0, 1, 1], keypoints=[1, 2, 2, 3, 4.5, 1]),
        detection(bbox=[0, 0, 1, 1]),
        detection(bbox=[0, 0, 1, 1], keypoints=[]),
    ]
    path, request = write(rows), Request("box", frozenset({"some_keypoints"}))
    found = both(path, request).objects["keypoints"]
    assert found.tolist() == [[[1, 2, 2], [3, 4.5, 1]], [[0] * 3] * 2, [[0] * 3] * 2]
    assert found.dtype == np.float64
    assert "keypoints" not in read_results(path).objects.columns
    truth = both(write(ground_truth(*rows)), request, truth=True)
    assert truth.objects["keypoints"].tolist() == found.tolist()
    without = both(write([rows[1]]), request)
    assert "keypoints" not in without.objects.columns


@pytest.mark.parametrize("without", [{}, {"keypoints": None}, {"keypoints": []}])
def test_every_detection_needs_keypoints_where_they_are_compared(
    without: dict[str, Any], write: Write
) -> None:
    # pycocotools stops here with a KeyError, or takes the minimum of nothing.
    good = detection(bbox=[0, 0, 1, 1], keypoints=[1, 2, 2, 3, 4.5, 1])
    path = write([good, detection(bbox=[0, 0, 1, 1], **without), good])
    fields = frozenset({"keypoints"})
    with pytest.raises(DataError) as caught:
        read_results(path, fields=fields)
    (problem,) = caught.value.problems
    assert problem.place.endswith("a.json: [1].keypoints")
    assert problem.message == "there are none, and other detections have them"
    skipped = read_results(path, fields=fields, invalid="skip")
    assert (len(skipped.objects), skipped.objects.skipped) == (2, 1)


def test_keypoint_results_have_the_box_of_the_reference(write: Write) -> None:
    # pycocotools: x from 1 to 5, y from 2 to 8, whatever is visible.
    rows = [detection(keypoints=[1, 2, 2, 5, 8, 0, 3, 3, 1]), detection(bbox=[1, 1, 1, 1])]
    request = Request("box", frozenset({"some_keypoints"}))
    shapes = both(write(rows), request).shapes
    assert shapes.box.tolist() == [[1, 2, 4, 6], [1, 1, 1, 1]]
    assert both(write(rows), request._replace(wanted="shape")).shapes.box.tolist() == [
        [1, 2, 4, 6],
        [1, 1, 1, 1],
    ]


def test_what_lvis_adds(write: Write) -> None:
    images = [
        {"id": 1, "neg_category_ids": [4, 3], "not_exhaustive_category_ids": []},
        {"id": 2, "neg_category_ids": [4]},
    ]
    categories = [
        {"id": 3, "name": "cat", "frequency": "r"},
        {"id": 4, "name": "dog", "frequency": "f"},
    ]
    path = write(ground_truth(images=images, categories=categories))
    found = both(path, Request("box", frozenset({"federated"})), truth=True)
    assert found.images is not None
    assert found.categories is not None
    assert found.images["negative"].tolist() == [[4, 3], [4]]
    assert found.images["not_exhaustive"].tolist() == [[], []]
    assert found.images["negative"].dtype == object
    assert found.categories["frequency"].tolist() == ["r", "f"]
    plain = both(path, Request("box"), truth=True)
    assert plain.images is not None
    assert plain.images.columns.keys() == {"id"}
    none = both(write(ground_truth()), Request("box", frozenset({"federated"})), truth=True)
    assert none.images is not None
    assert none.categories is not None
    assert none.images.columns.keys() == {"id", "width", "height", "file_name"}
    assert none.categories.columns.keys() == {"id", "name"}
