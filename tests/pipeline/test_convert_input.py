"""What an input is, and what the user says beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, scene, text, with_images
from valor_cli.errors import DataError
from valor_cli.pipeline.convert_input import (
    metadata_in,
    names_in,
    role_of,
    unread_keys,
    with_sizes,
)


@pytest.mark.parametrize(
    ("name", "content", "role"),
    [
        ("a.json", "[]", "predictions"),
        ("a.json", '{"annotations": [{"score" : 1}]}', "predictions"),
        ("a.json", '{"annotations": [], "info": "no score"}', "ground_truth"),
        ("a.jsonl", '{"image_id": 1}\n{"image_id": 2, "objects": [{"score": 1}]}', "predictions"),
        ("a.csv", "image_id,label,x,y,width,height\n", "ground_truth"),
        ("a.csv", "image_id;label;Conf ;x;y;width;height\n", "predictions"),
        ("a.xml", "<annotation><object><score>1</score></object></annotation>", "predictions"),
        ("a.xml", "<annotation><object/></annotation>", "ground_truth"),
    ],
)
def test_roles(name: str, content: str, role: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert role_of(str(path), None) == role


TRUTH_LINE = "car 0 0 0 1 2 3 4 0 0 0 0 0 0 0"
HEADER = "ImageID,LabelName,XMin,XMax,YMin,YMax"


@pytest.mark.parametrize(
    ("source_format", "name", "content", "role"),
    [
        ("kitti", "a.txt", f"{TRUTH_LINE}\n", "ground_truth"),
        ("kitti", "a.txt", f"{TRUTH_LINE}\n{TRUTH_LINE} 0.5\n", "predictions"),
        ("dota", "a.txt", "1 1 2 1 2 2 1 2 plane 0\n", "ground_truth"),
        ("dota", "Task1_plane.txt", "a 0.5 1 1 2 1 2 2 1 2\n", "predictions"),
        ("open_images", "a.csv", f"{HEADER}\na,cat,0,1,0,1\n", "ground_truth"),
        ("open_images", "a.csv", f"{HEADER}, Score\na,cat,0,1,0,1,1\n", "predictions"),
        ("label_studio", "a.json", '[{"annotations": [{"score": 1}]}]', "ground_truth"),
        ("label_studio", "a.json", '[{"predictions": [{"score": 1}]}]', "predictions"),
        ("labelme", "a.json", '{"shapes": [{"score": 1}]}', "ground_truth"),
    ],
)
def test_roles_of_other_tools(
    source_format: str, name: str, content: str, role: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    of_file = source_format in ("open_images", "label_studio")
    assert role_of(str(tmp_path / name if of_file else tmp_path), source_format) == role


def test_a_score_that_stands_across_two_pieces(tmp_path: Path) -> None:
    head = '{"annotations": [{"a": "'
    # The text is read in pieces of 128 KiB: the key begins in the first.
    filler = "x" * ((1 << 17) - len(head) - 6)
    (tmp_path / "a.json").write_text(head + filler + '", "score": 1}]}')
    assert role_of(str(tmp_path / "a.json"), None) == "predictions"


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("0 0.1 0.1 0.1 0.1", "ground_truth"),
        ("0 0.1 0.1 0.1 0.1 0.9", "predictions"),
        ("0 0.1 0.1 0.1 0.1 0.2 0.2", "ground_truth"),
        ("0 0.1 0.1 0.1 0.1 0.2 0.2 0.9", "predictions"),
    ],
)
def test_roles_of_folders(line: str, role: str, tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("one two three four five six\n")
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").write_text(f"{line}\n")
    assert role_of(str(tmp_path), None) == role


def test_a_glob_and_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"image_id": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"image_id": 2, "objects": [{"score": 1}]}\n')
    assert role_of(str(tmp_path / "*.jsonl"), None) == "predictions"
    os.mkfifo(tmp_path / "pipe")
    for path in ("-", str(tmp_path / "pipe")):
        with pytest.raises(DataError, match="can be read only once\nset --role"):
            role_of(path, None)


def test_names(tmp_path: Path) -> None:
    assert names_in("cat, dog") == ("cat", "dog")
    (tmp_path / "names.txt").write_text("cat\ntraffic light\n\n")
    assert names_in(str(tmp_path / "names.txt")) == ("cat", "traffic light")
    with pytest.raises(DataError, match="no such file"):
        names_in(str(tmp_path / "nosuch.txt"))
    for empty in ("", "cat,,dog"):
        with pytest.raises(DataError, match="--names: expected labels, found an empty one"):
            names_in(empty)


LINES = ['{"metadata": {"a": 1, "b": [2], "c": 3}}', '{"metadata": {"d": null, "c": {}}}', "{}"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", f'{{"images": [{", ".join(LINES)}]}}'), ("a.jsonl", "\n".join(LINES))],
)
def test_metadata(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert metadata_in(str(path), None) == (["a", "d"], ["b", "c"])
    path.write_text('{"images": [{"metadata": 3}')
    assert metadata_in(str(path), None) == ([], [])
    assert metadata_in("-", None) == ([], [])


def test_sizes_of_pictures(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("1", (30, 20)).save(tmp_path / "five.png")
    pillow.new("1", (31, 21)).save(tmp_path / "7.png")
    objects = with_images(
        scene(BOXES),
        id=np.array([3, 5, 7]),
        file_name=text([None, "train/five.jpg", None]),
        width=np.array([100, 0, 0]),
        height=np.array([80, 0, 0]),
    )
    found = with_sizes(objects, str(tmp_path)).images
    assert found is not None
    assert found["width"].tolist() == [100, 30, 31]
    assert found["height"].tolist() == [80, 20, 21]
    found = with_sizes(replace(objects, images=None), str(tmp_path)).images
    assert found is not None
    assert found["id"].tolist() == [5, 3]
    assert found["width"].tolist() == [0, 0]
    with pytest.raises(DataError, match="no such folder"):
        with_sizes(objects, str(tmp_path / "nosuch"))


def test_keys_that_no_reader_takes_are_named_once_each(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_text(
        json.dumps(
            {
                "info": {},
                "images": [{"id": 1, "license": 3}, {"id": 2, "license": 1}],
                "annotations": [{"id": 1, "bbox": [0, 0, 1, 1], "attributes": {}}],
                "categories": [{"id": 1, "name": "cat", "supercategory": "animal"}],
            }
        )
    )
    assert unread_keys(str(path), None) == [
        "images.license",
        "annotations.attributes",
        "categories.supercategory",
    ]
    path.write_text("[]")
    assert unread_keys(str(path), None) == []
    assert unread_keys(str(tmp_path / "none.csv"), None) == []
