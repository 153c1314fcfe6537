"""COCO panoptic files as objects, and what is said of those that cannot be used."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.oracles.coco_masks import bitmaps
from valor_cli.data.formats.panoptic import reader
from valor_cli.data.formats.panoptic.listing import is_panoptic
from valor_cli.data.formats.panoptic.segments import segment_masks
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.masks import from_bitmap

CATEGORIES = [
    {"id": 1, "name": "person", "isthing": 1},
    {"id": 184, "name": "tree", "isthing": 0},
]
# 66051 = 3 + 256 * 2 + 65536 * 1.
IDS = np.array([[66051, 66051, 0, 7], [66051, 0, 0, 7], [7, 7, 7, 7]])


def read_panoptic(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**{"wanted": "shape", **how}))


def png(path: Path, ids: np.ndarray) -> None:
    """An RGB image, channel by channel."""
    channels = [ids % 256, ids // 256 % 256, ids // 65536]
    Image.fromarray(np.stack(channels, -1).astype(np.uint8)).save(path)


def document(**changes: Any) -> dict[str, Any]:
    segments = [
        {"id": 7, "category_id": 184, "iscrowd": 0, "area": 6, "bbox": [0, 0, 4, 3]},
        {"id": 66051, "category_id": 1, "iscrowd": 1, "area": 3, "bbox": [0, 0, 2, 2]},
    ]
    return {
        "images": [
            {"id": 139, "width": 4, "height": 3, "file_name": "139.jpg", "weather": "rain"},
            {"id": 285, "file_name": "285.jpg"},
        ],
        "annotations": [{"image_id": 139, "file_name": "139.png", "segments_info": segments}],
        "categories": CATEGORIES,
    } | changes


def written(folder: Path, content: Any, ids: np.ndarray = IDS) -> str:
    path = folder / "gt.json"
    path.write_text(json.dumps(content))
    (folder / "gt").mkdir()
    png(folder / "gt" / "139.png", ids)
    return str(path)


def annotated(**changes: Any) -> dict[str, Any]:
    """The document with a changed annotation."""
    whole = document()
    whole["annotations"][0] |= changes
    return whole


def segment(at: int, **changes: Any) -> dict[str, Any]:
    """The document with a changed segment."""
    whole = document()
    whole["annotations"][0]["segments_info"][at] |= changes
    return whole


def test_ground_truth(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    found = read_panoptic(path, "ground_truth", metadata=["weather"])
    columns = {name: column.tolist() for name, column in found.objects.columns.items()}
    assert columns == {
        "id": ["139:7", "139:66051"],
        "image_id": [139, 139],
        "category_id": [184, 1],
        "area": [6.0, 3.0],
        "crowd": [False, True],
    }
    tree, person = bitmaps(found.shapes.mask)
    assert np.array_equal(tree, IDS == 7)
    assert np.array_equal(person, IDS == 66051)
    assert found.images is not None
    assert found.images["id"].tolist() == [139, 285]
    assert found.images["width"].tolist() == [4, 0]
    assert found.images["file_name"].tolist() == ["139.jpg", "285.jpg"]
    assert found.categories is not None
    assert found.categories["isthing"].tolist() == [1, 0]
    assert found.metadata == {"weather": ["rain", None]}
    assert not found.warnings
    assert found.objects.place_of(1) == f"{path}: annotations[0].segments_info"


def test_the_files_that_were_read(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    one, pngs = read_panoptic(path, "ground_truth").files
    content = (tmp_path / "gt.json").read_bytes()
    assert (one.path, one.sha256, one.rows) == (path, hashlib.sha256(content).hexdigest(), 2)
    inner = hashlib.sha256((tmp_path / "gt" / "139.png").read_bytes()).hexdigest()
    listing = f"{inner}  139.png\n".encode()
    assert (pngs.path, pngs.sha256) == (
        str(tmp_path / "gt"),
        hashlib.sha256(listing).hexdigest(),
    )


def test_predictions_may_lack_images_and_categories(tmp_path: Path) -> None:
    content = {"annotations": document()["annotations"]}
    found = read_panoptic(written(tmp_path, content), "predictions")
    assert (found.images, found.categories) == (None, None)
    assert found.objects["score"].tolist() == [1.0, 1.0]
    assert {"area", "crowd"}.isdisjoint(found.objects.columns)


def test_no_predictions_need_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text('{"annotations": []}')
    found = read_panoptic(str(path), "predictions")
    assert len(found.objects) == len(found.shapes) == 0
    assert set(found.objects.columns) == {"id", "image_id", "category_id", "score"}


def test_boxes_are_the_bounds_of_the_pixels(tmp_path: Path) -> None:
    found = read_panoptic(written(tmp_path, document()), "ground_truth", wanted="box")
    assert found.shapes.box.tolist() == [[0, 0, 4, 3], [0, 0, 2, 2]]


def test_segments_of_an_image_stand_by_their_ids(tmp_path: Path) -> None:
    segments = document()["annotations"][0]["segments_info"][::-1]
    found = read_panoptic(written(tmp_path, annotated(segments_info=segments)), "ground_truth")
    assert found.objects["id"].tolist() == ["139:7", "139:66051"]
    assert found.objects["crowd"].tolist() == [False, True]


def test_sizes_of_images_are_those_of_the_pngs_where_the_file_has_none(tmp_path: Path) -> None:
    path = written(tmp_path, document(images=[{"id": 285}, {"id": 139}]))
    found = read_panoptic(path, "ground_truth").images
    assert found is not None
    assert found["height"].tolist() == [0, 3]
    assert found["width"].tolist() == [0, 4]


def test_the_folder_segmentations_and_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "val.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document()).encode()))
    (tmp_path / "segmentations").mkdir()
    png(tmp_path / "segmentations" / "139.png", IDS)
    assert len(read_panoptic(str(path), "ground_truth").objects) == 2
    assert is_panoptic(str(path))


def test_the_folder_of_a_file_whose_extension_is_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "val.JSON.GZ"
    path.write_bytes(gzip.compress(json.dumps(document()).encode()))
    (tmp_path / "val").mkdir()
    png(tmp_path / "val" / "139.png", IDS)
    assert len(read_panoptic(str(path), "ground_truth").objects) == 2


def test_a_listed_area_that_is_not_the_pixels_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, segment(0, area=5))
    found = read_panoptic(path, "ground_truth")
    assert found.objects["area"].tolist() == [6.0, 3.0]
    assert list(found.warnings) == [
        f"{path}: segments with another area than their pixel count, which is used: 1"
    ]


def test_categories_without_isthing(tmp_path: Path) -> None:
    plain = [{"id": one["id"], "name": one["name"]} for one in CATEGORIES]
    found = read_panoptic(written(tmp_path, document(categories=plain)), "ground_truth")
    assert found.categories is not None
    assert set(found.categories.columns) == {"id", "name"}


def test_what_is_a_panoptic_file(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    assert is_panoptic(path)
    other = tmp_path / "coco.json"
    other.write_text('{"annotations": [{"segmentation": []}]}')
    assert not is_panoptic(str(other))
    (tmp_path / "coco").mkdir()
    assert not is_panoptic(str(other))
    assert not is_panoptic("-")


def test_the_key_is_found_where_the_text_is_cut(tmp_path: Path) -> None:
    (tmp_path / "gt").mkdir()
    path = tmp_path / "gt.json"
    for lead in range((1 << 17) - 20, (1 << 17) + 4):
        path.write_text(" " * lead + '{"segments_info": []}')
        assert is_panoptic(str(path))


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_a_map_are_those_of_its_bitmaps(seed: int) -> None:
    rng = random.Random(seed)
    ids = np.array([[rng.choice((0, 5, 900, 16777215)) for _ in range(7)] for _ in range(5)])
    if seed % 2:
        ids = np.repeat(np.repeat(ids, 3, axis=0), 4, axis=1)
    segments = np.array([5, 900, 16777215])
    masks, wrong = segment_masks(ids.astype(np.uint32), segments)
    assert not wrong
    for row, one in enumerate(segments):
        expected = from_bitmap(ids == one)
        own = masks.counts[masks.starts[row] : masks.starts[row + 1]]
        assert own.tolist() == expected.counts.tolist()
        assert masks.size[row].tolist() == list(ids.shape)


def fault(path: str, role: Any = "ground_truth") -> DataError:
    with pytest.raises(DataError) as caught:
        read_panoptic(path, role)
    return caught.value


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ([], "", "expected an object with images, annotations and categories, found an empty list"),
        ({"annotations": [], "images": []}, "", '"categories" is missing'),
        (document(annotations={}), "annotations", "expected a list, found an object"),
        (document(annotations=[1]), "annotations[0]", "expected an object, found 1"),
        (
            document(annotations=[{"image_id": 139}]),
            "annotations[0]",
            '"file_name" and "segments_info" are missing (there is: image_id)',
        ),
        (
            document(images=[{"id": 139, "width": 4, "height": "3"}]),
            "images[0].height",
            "expected a whole number of pixels from 0 to 1,048,576, found the string",
        ),
        (annotated(image_id=5), "annotations[0].image_id", "no image has the id 5"),
        (annotated(file_name=3), "annotations[0].file_name", "expected a string, found 3"),
        (
            annotated(segments_info={}),
            "annotations[0].segments_info",
            "expected a list of segments, found an object",
        ),
        (
            annotated(segments_info=[7]),
            "annotations[0].segments_info[0]",
            "expected an object, found 7",
        ),
        (
            annotated(segments_info=[{"id": 7}]),
            "annotations[0].segments_info[0]",
            '"category_id" is missing (there is: id)',
        ),
        (
            segment(1, id=7),
            "annotations[0].segments_info[1].id",
            "duplicate id 7, first at segments_info[0]",
        ),
        (
            segment(1, id=0),
            "annotations[0].segments_info[1].id",
            "expected a whole number from 1 to 16,777,215, found 0",
        ),
        (
            segment(0, category_id=2),
            "annotations[0].segments_info[0].category_id",
            "no category has the id 2",
        ),
        (
            segment(0, iscrowd=2),
            "annotations[0].segments_info[0].iscrowd",
            "expected 0, 1, true or false, found 2",
        ),
        (
            document(categories=[CATEGORIES[0], {"id": 184, "name": "tree"}]),
            "categories[1].isthing",
            "expected 0 or 1 in every category, found nothing",
        ),
        (
            annotated(segments_info=document()["annotations"][0]["segments_info"][:1]),
            "annotations[0].segments_info",
            "a segment has the id 66051, which is not listed, and pixels, in 139.png",
        ),
        (
            document(annotations=document()["annotations"] * 2),
            "annotations[1].image_id",
            "duplicate segments of image 139, first at annotations[0]",
        ),
    ],
)
def test_faults_of_the_json(tmp_path: Path, content: Any, place: str, message: str) -> None:
    path = written(tmp_path, content)
    (problem,) = fault(path).problems
    assert problem.place == f"{path}: {place}".removesuffix(": ")
    assert problem.message.startswith(message)


def test_a_segment_without_pixels(tmp_path: Path) -> None:
    path = written(tmp_path, document(), np.where(IDS == 7, 7, 0))
    (problem,) = fault(path, "predictions").problems
    assert problem.message == "segment 66051 is listed and has no pixel, in 139.png"


def test_a_png_of_another_size(tmp_path: Path) -> None:
    path = written(tmp_path, document(), IDS.T)
    (problem,) = fault(path).problems
    assert problem.place == str(tmp_path / "gt" / "139.png")
    assert problem.message == "the PNG is 4 by 3 (height by width), its image is 3 by 4"


def test_a_png_that_is_not_rgb(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    Image.fromarray(IDS.astype(np.uint8)).save(tmp_path / "gt" / "139.png")
    (problem,) = fault(path).problems
    assert problem.message == "expected an RGB image of segment ids, found gray"


def test_a_png_that_is_cut_off_or_none_or_missing(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    file = tmp_path / "gt" / "139.png"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 25])
    assert "the PNG is cut off after" in fault(path).problems[0].message
    file.write_bytes(b"no image")
    message = "expected a PNG; this is another kind of file"
    assert fault(path).problems[0].message == message
    file.unlink()
    (problem,) = fault(path).problems
    assert problem.place == str(file)
    assert problem.message == "the PNG cannot be read: No such file or directory"


def test_faults_of_all_pngs_are_reported_together(tmp_path: Path) -> None:
    images = [{"id": number} for number in range(30)]
    annotations = [
        {"image_id": number, "file_name": f"{number}.png", "segments_info": []}
        for number in range(30)
    ]
    path = written(tmp_path, document(images=images, annotations=annotations))
    lines = str(fault(path)).split("\n")
    assert lines[19].startswith(str(tmp_path / "gt" / "19.png"))
    assert lines[20:] == ["… and 10 more problems"]


def test_without_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_text(json.dumps(document()))
    error = fault(str(path))
    named, other = str(tmp_path / "gt"), str(tmp_path / "segmentations")
    assert f"there is no folder '{named}' or '{other}'" in error.problems[0].message
    assert "named like it" in error.hint


def test_no_metadata_of_that_name(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    with pytest.raises(DataError, match="no image has the metadata 'wether'"):
        read_panoptic(path, "ground_truth", metadata=["wether"])
