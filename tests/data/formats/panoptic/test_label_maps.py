"""COCO panoptic files as label maps."""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.png_files import RGB, SIGNATURE, chunk, colours, label_map, write
from valor_cli.data.inputs.label_maps import read_label_maps
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.errors import LISTED, DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

CATEGORIES = [{"id": 7, "name": "sky"}, {"id": 3, "name": "cat"}]
# Ids beyond a byte, of each of the three.
PIXELS = [[0, 5, 5, 300], [70_000, 5, 0, 300]]


def segment(number: int, category: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "category_id": category} | more


def annotation(*segments: dict[str, Any], image: int = 1, name: str = "a.png") -> dict[str, Any]:
    return {"image_id": image, "file_name": name, "segments_info": list(segments)}


SEGMENTS = (segment(70_000, 7), segment(5, 3, iscrowd=1), segment(300, 3))


def document(*annotations: dict[str, Any], **changes: Any) -> dict[str, Any]:
    images = [{"id": 1, "width": 4, "height": 2, "night": True}, {"id": 2, "night": False}]
    found: dict[str, Any] = {
        "images": images,
        "annotations": list(annotations) or [annotation(*SEGMENTS)],
        "categories": CATEGORIES,
    } | changes
    return {key: value for key, value in found.items() if value is not None}


def read(content: dict[str, Any], **options: Any) -> LabelMaps:
    Path("gt.json").write_text(json.dumps(content))
    role = options.pop("role", "ground_truth")
    return read_label_maps("gt.json", role, "coco_panoptic", **options)


def error(content: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(content, **options)
    return str(caught.value)


@pytest.fixture(autouse=True)
def _pngs(in_a_folder: None) -> None:
    write("gt/a.png", colours(PIXELS))


def test_pixels_have_the_category_of_their_segment() -> None:
    found = read(document())
    assert (found.meanings, found.categories) == ((None, 3, 7), {3: "cat", 7: "sky"})
    values = found.maps["a"].values()
    assert values.dtype == np.uint8
    assert values.tolist() == [[0, 1, 1, 1], [2, 1, 0, 1]]
    assert found.maps["a"].look().size == (2, 4)
    assert found.folder == "gt"
    assert [(one.path, one.rows) for one in found.texts] == [("gt.json", 1)]
    copied = pickle.loads(pickle.dumps(found.maps["a"]))  # noqa: S301
    assert copied.values().tolist() == values.tolist()


def test_more_than_255_categories() -> None:
    categories = [{"id": at, "name": f"c{at}"} for at in range(300)]
    listed = (segment(5, 299), segment(300, 0), segment(70_000, 42))
    found = read(document(annotation(*listed), categories=categories))
    values = found.maps["a"].values()
    assert values.dtype == np.uint16
    assert values.tolist() == [[0, 300, 300, 1], [43, 300, 0, 1]]


def test_metadata_of_images() -> None:
    write("gt/b.png", colours([[9]]))
    second = annotation(segment(9, 7), image=2, name="b.png")
    found = read(document(second, annotation(*SEGMENTS)), metadata=["night"])
    assert found.metadata == {"night": {"b": False, "a": True}}


def test_predictions_without_images_and_categories() -> None:
    found = read(
        document(images=None, categories=None),
        role="predictions",
        names={3: "cat", 5: "dog", 7: "sky"},
    )
    assert found.meanings == (None, 3, 5, 7)
    assert found.maps["a"].values().tolist() == [[0, 1, 1, 1], [3, 1, 0, 1]]


def test_categories_that_are_not_those_of_the_ground_truth() -> None:
    names = {3: "dog", 7: "sky"}
    assert error(document(), role="predictions", names=names) == (
        "gt.json: categories: 3 is 'cat'; in the ground truth it is 'dog'"
    )
    assert error(document(categories=None), role="predictions", names={3: "cat"}) == (
        "gt.json: no category has the id 7"
    )
    more = [*CATEGORIES, {"id": 9, "name": "not used"}]
    read(document(categories=more), role="predictions", names={3: "cat", 7: "sky"})


def test_ids_of_categories_are_numbers() -> None:
    categories = [{"id": "cat", "name": "cat"}]
    assert error(document(annotation(segment(5, "cat")), categories=categories)) == (
        "gt.json: categories: expected whole numbers as ids, found 'cat'"
    )


def test_a_segment_that_is_not_listed() -> None:
    found = read(document(annotation(segment(5, 3))))
    found.maps["a"].look()
    with pytest.raises(DataError) as caught:
        found.maps["a"].values()
    place = "gt.json: annotations[0].segments_info"
    assert str(caught.value).split("\n") == [
        f"{place}: segment 300 has pixels in gt/a.png and is not listed",
        f"{place}: segment 70000 has pixels in gt/a.png and is not listed",
    ]


def test_files_that_cannot_be_segments() -> None:
    one = read(document()).maps["a"]
    for content, message in (
        (label_map([[1]]), "expected an RGB image of segment ids"),
        (colours([[1, 2]]), "is 1 by 2 (height by width), its image is 2 by 4"),
        (colours(PIXELS)[:-20], "cut off"),
        (b"nothing", "expected a PNG"),
    ):
        write("gt/a.png", content)
        with pytest.raises(DataError) as caught:
            one.look()
        assert str(caught.value).startswith("gt/a.png: ")
        assert message in str(caught.value)
    Path("gt/a.png").unlink()
    with pytest.raises(DataError, match="No such file"):
        one.look()


def test_too_many_pixels_are_refused_before_they_are_inflated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zlib, "decompressobj", None)
    unsized = document(images=[{"id": 1}])
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, RGB, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(1000)))
    write("gt/a.png", SIGNATURE + chunk(b"IHDR", header) + data + chunk(b"IEND", b""))
    one = read(unsized).maps["a"]
    for decode in (one.look, one.values):
        with pytest.raises(DataError, match=r"^gt/a\.png: the image has more than 89,478,485 pix"):
            decode()


def test_rows_that_are_missing() -> None:
    one = read(document()).maps["a"]
    assert one.look(decode=True).size == (2, 4)
    # A row of four pixels is 1 + 4 * 3 bytes.
    header = struct.pack(">IIBBBBB", 4, 2, 8, RGB, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(13)))
    write("gt/a.png", SIGNATURE + chunk(b"IHDR", header) + data + chunk(b"IEND", b""))
    assert one.look().size == (2, 4)
    with pytest.raises(DataError, match=r"^gt/a\.png: .* end after 13 of 26 bytes"):
        one.look(decode=True)


def test_files_that_several_annotations_have() -> None:
    twice = [
        annotation(*SEGMENTS, image=at, name=f"{at // 2:02}.png") for at in range(2 * LISTED + 10)
    ]
    images = [{"id": at, "width": 4, "height": 2} for at in range(len(twice))]
    lines = error(document(*twice, images=images)).split("\n")
    assert lines[0] == "gt.json: several annotations have the file '00'"
    assert lines[LISTED:] == ["… and 5 more problems"]


def test_no_such_document() -> None:
    assert "annotations[0]" in error(document(annotation(segment(5, 4))))
    assert "no label map in this list" in error(document(annotations=[]))
    assert '"categories" is missing' in error(document(categories=None))
    twice = [annotation(*SEGMENTS), annotation(*SEGMENTS, image=2)]
    assert error(document(*twice)) == "gt.json: several annotations have the file 'a'"
