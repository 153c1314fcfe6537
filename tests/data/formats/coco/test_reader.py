"""Sound COCO files: what the columns hold."""

from __future__ import annotations

import gc
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.formats.coco.reader import read_ground_truth, read_results
from valor_cli.errors import DataError

Write = Callable[[Any], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_json(document: Any) -> str:
        path = tmp_path / "a.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    return write_json


def detection(image_id: int | str = 1, **changes: Any) -> dict[str, Any]:
    return {"image_id": image_id, "category_id": 3, "bbox": [1, 2.5, 3, 4], "score": 0.5} | changes


def ground_truth(**changes: Any) -> dict[str, Any]:
    annotation = {"id": 5, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4.5]}
    return {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 3, "name": "cat"}],
        "annotations": [annotation],
    } | changes


def test_results_list(write: Write) -> None:
    found = read_results(write([detection(7), detection(2**40, score=-1, bbox=[0, 0, 0, 0])]))
    table = found.objects
    assert {name: column.dtype.str[1:] for name, column in table.columns.items()} == {
        "image_id": "i8",
        "category_id": "i8",
        "score": "f8",
    }
    assert table["image_id"].tolist() == [7, 2**40]
    assert table["category_id"].tolist() == [3, 3]
    assert found.shapes.box.tolist() == [[1.0, 2.5, 3.0, 4.0], [0.0] * 4]
    assert table["score"].tolist() == [0.5, -1.0]
    assert (found.images, found.categories, found.shapes.kinds) == (None, None, ("box",))
    [file] = found.files
    assert (file.rows, file.skipped, len(file.sha256)) == (2, 0, 64)
    assert found.image_names == "typed"
    assert table.place_of(1).endswith("a.json: [1]")


def test_an_empty_results_list_is_legal(write: Write) -> None:
    for text in ("[]", " [ \n ] \n"):
        found = read_results(write(text))
        assert [column.shape for column in found.objects.columns.values()] == [(0,)] * 3
        assert (len(found.shapes), found.shapes.box.shape) == (0, (0, 4))
        assert found.objects["image_id"].dtype == np.int64


def test_results_as_a_full_dictionary(write: Write) -> None:
    document = {
        "info": {"x": [{"y": 1}]},
        "annotations": [detection(1, id=9, segmentation=[[1, 2, 3, 4]])],
        "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": "cat"}],
    }
    found = read_results(write(document))
    assert found.categories is not None
    assert found.categories["id"].tolist() == [3, 4]
    assert found.categories["name"].tolist() == ["cat", "cat"]
    assert found.objects.place_of(0).endswith("a.json: annotations[0]")
    del document["categories"]
    assert read_results(write(document)).categories is None
    empty = read_results(write({"annotations": [], "categories": [{"id": 1, "name": "cat"}]}))
    assert empty.categories is not None
    assert (len(empty.objects), empty.categories["name"].tolist()) == (0, ["cat"])


def test_string_and_large_ids(write: Write) -> None:
    rows = [detection("a", category_id=2**63 - 1), detection("b", category_id=-(2**63))]
    table = read_results(write(rows)).objects
    assert table["image_id"].dtype == object
    assert table["image_id"].tolist() == ["a", "b"]
    assert table["category_id"].dtype == np.int64
    assert table["category_id"].tolist() == [2**63 - 1, -(2**63)]
    exact = read_results(write([detection(2**53 + 1)])).objects
    assert exact["image_id"].tolist() == [2**53 + 1]


def test_a_whole_float_is_an_id(write: Write) -> None:
    table = read_results(write('[{"image_id":17.0,"category_id":1e1,"bbox":[1,2,3,4],"score":1}]'))
    assert table.objects["image_id"].tolist() == [17]
    assert table.objects["category_id"].tolist() == [10]
    found = read_ground_truth(write(ground_truth(images=[{"id": 1.0}])))
    assert found.images is not None
    assert found.images["id"].tolist() == [1]


def test_ground_truth_columns(write: Write) -> None:
    annotations = [
        {"id": 9, "image_id": 2, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 7, "iscrowd": 1},
        {"id": 8, "image_id": 1, "category_id": 4, "bbox": [1, 2, 0.5, 4], "iscrowd": False},
        {"id": 7, "image_id": 1, "category_id": 4, "bbox": [1, 2, 0, 4], "iscrowd": True},
    ]
    # Labels of one name may have several ids.
    categories = [{"id": 4, "name": "cat"}, {"id": 3, "name": "cat", "supercategory": "animal"}]
    document = ground_truth(annotations=annotations, categories=categories)
    found = read_ground_truth(write(document))
    assert found.images is not None
    assert found.categories is not None
    assert found.images.columns.keys() == {"id"}
    assert found.images["id"].tolist() == [1, 2]
    assert found.categories["id"].tolist() == [4, 3]
    assert found.categories["name"].tolist() == ["cat", "cat"]
    assert found.objects["id"].tolist() == [9, 8, 7]
    assert found.objects["image_id"].tolist() == [2, 1, 1]
    assert found.objects["category_id"].tolist() == [3, 4, 4]
    assert found.shapes.box.shape == (3, 4)
    # Where area is missing: 0.5 * 4 and 0 * 4.
    assert found.objects["area"].tolist() == [7.0, 2.0, 0.0]
    assert found.objects["crowd"].tolist() == [True, False, True]
    assert found.objects["crowd"].dtype == np.bool_
    assert (found.files[0].rows, found.metadata) == (3, {})
    assert found.objects.place_of(1).endswith("a.json: annotations[1]")


def test_annotation_ids_may_all_be_missing(write: Write) -> None:
    row = {"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]}
    found = read_ground_truth(write(ground_truth(annotations=[row, row])))
    assert found.objects["id"].tolist() == [1, 2]
    broken = row | {"bbox": None}
    path = write(ground_truth(annotations=[row, broken, row]))
    skipped = read_ground_truth(path, invalid="skip").objects
    assert skipped["id"].tolist() == [1, 3]


def test_ground_truth_without_annotations_is_legal(write: Write) -> None:
    found = read_ground_truth(write(ground_truth(annotations=[])))
    assert [column.shape for column in found.objects.columns.values()] == [(0,)] * 5
    assert found.shapes.box.shape == (0, 4)


def test_metadata_of_images(write: Write) -> None:
    images = [
        {"id": 1, "width": 640, "weather": "dry", "metadata": {"weather": "wet", "sun": 1}},
        {"id": 2, "weather": "fog", "metadata": None},
        {"id": 3, "metadata": {}},
    ]
    path = write(ground_truth(images=images))
    found = read_ground_truth(path, metadata=("weather", "width", "sun"))
    assert found.metadata == {
        "weather": ["wet", "fog", None],
        "width": [640, None, None],
        "sun": [1, None, None],
    }
    with pytest.raises(DataError) as caught:
        read_ground_truth(path, metadata=("weathr", "width"))
    assert str(caught.value) == (
        f"{path}: images: no image has the metadata 'weathr' (did you mean 'weather'?); "
        "there is: id, sun, weather, width"
    )


def test_metadata_are_single_values(write: Write) -> None:
    images = [{"id": 1, "tags": "a"}, {"id": 2, "tags": ["a"]}, {"id": 3, "tags": {}}]
    path = write(ground_truth(images=images))
    with pytest.raises(DataError) as caught:
        read_ground_truth(path, metadata=("tags",))
    assert str(caught.value) == (
        f"{path}: images[1].tags: expected a single value, found a list\n"
        f"{path}: images[2].tags: expected a single value, found an object"
    )


def test_bad_rows_can_be_skipped(write: Write) -> None:
    rows: list[Any] = [detection(1), detection(2, score=None), 5, detection(3, bbox=[1, 2, -3, 4])]
    found = read_results(write([*rows, detection(4)]), invalid="skip")
    assert found.objects["image_id"].tolist() == [1, 4]
    assert found.objects.rows is not None
    assert found.objects.rows.tolist() == [0, 4]
    assert (found.objects.skipped, found.files[0].rows, found.files[0].skipped) == (3, 5, 3)
    assert found.objects.place_of(1).endswith("a.json: [4]")


def test_skipping_keeps_the_second_of_two_ids_when_the_first_is_bad(write: Write) -> None:
    bad = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, -3, 4]}
    good = bad | {"bbox": [1, 2, 3, 4]}
    found = read_ground_truth(write(ground_truth(annotations=[bad, good, good])), invalid="skip")
    assert found.objects.rows is not None
    assert found.objects.rows.tolist() == [1]
    assert found.files[0].skipped == 2


def test_skipping_keeps_the_kind_of_id_most_rows_have(write: Write) -> None:
    found = read_results(write([detection("a"), detection(1), detection(2)]), invalid="skip")
    assert found.objects["image_id"].tolist() == [1, 2]


def test_skipping_all_rows_leaves_empty_columns(write: Write) -> None:
    found = read_results(write([detection(score="x")]), invalid="skip")
    assert (len(found.objects), found.files[0].skipped) == (0, 1)
    rows = [{"image_id": 9, "category_id": 3, "bbox": [1, 2, 3, 4]}]
    skipped = read_ground_truth(write(ground_truth(annotations=rows)), invalid="skip")
    assert (len(skipped.objects), skipped.files[0].skipped) == (0, 1)


def test_gzip_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    text = json.dumps([detection(1), detection(2)], indent=1).replace("\n", "\r\n")
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    assert read_results(str(path)).objects["image_id"].tolist() == [1, 2]


def test_the_collector_is_left_as_it_was(write: Write) -> None:
    assert gc.isenabled()
    with pytest.raises(DataError):
        read_results(write("["))
    assert gc.isenabled()
    path = write([detection()])
    read_results(path)
    assert gc.isenabled()
    gc.disable()
    try:
        read_results(path)
        assert not gc.isenabled()
    finally:
        gc.enable()
