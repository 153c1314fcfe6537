"""Detections under the ids of their ground truth; whole files written, or what was there before."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, scene, text, with_categories, with_images
from valor_cli.data.conversion.ids import under_ids_of
from valor_cli.data.conversion.output import check_place, write_file, write_folder
from valor_cli.data.shapes.objects.object_file import ImageNames, ObjectFile
from valor_cli.errors import DataError

TRUTH = replace(scene(BOXES), path="gt.json")


def detections(
    image_ids: Any, *, kind: ImageNames = "typed", names: tuple[str, ...] = ()
) -> ObjectFile:
    """Three detections; categories by name where there are names, else by id 10, 20, 10."""
    numbers = np.array([0, 1, 0]) if names else np.array([10, 20, 10])
    objects = scene(BOXES, image_id=image_ids, category_id=numbers, score=np.array([0.1, 0.2, 0.3]))
    assert objects.categories is not None
    columns = {"id": np.arange(len(names)), "name": text(names)}
    categories = replace(objects.categories, columns=columns) if names else None
    return replace(with_images(objects), categories=categories, image_names=kind)


def test_a_results_list_gets_names_and_images() -> None:
    found = under_ids_of(detections(np.array([3, 7, 5])), TRUTH, "error")
    assert found.objects["image_id"].tolist() == [3, 7, 5]
    assert found.objects["category_id"].tolist() == [10, 20, 10]
    assert found.categories is TRUTH.categories
    assert found.images is TRUTH.images


@pytest.mark.parametrize(
    ("image_ids", "kind"),
    [
        (text(["3", "7", "5"]), "text"),
        (text(["three.jpg", "seven.jpg", "five.jpg"]), "text"),
        (text(["three", "seven", "five"]), "typed"),
        (text(["a/three.png", "b/seven.png", "a/five.png"]), "file"),
    ],
)
def test_images_by_text_and_by_file_name(image_ids: Any, kind: ImageNames) -> None:
    found = under_ids_of(detections(image_ids, kind=kind, names=("dog", "cat")), TRUTH, "error")
    assert found.objects["image_id"].tolist() == [3, 7, 5]
    assert found.objects["image_id"].dtype == np.int64
    assert found.objects["category_id"].tolist() == [20, 10, 20]


def test_unknown_images_and_categories() -> None:
    objects = detections(np.array([3, 8, 5]), names=("dog", "bird"))
    with pytest.raises(DataError) as error:
        under_ids_of(objects, TRUTH, "error")
    assert str(error.value).startswith("in.json: annotations[1]: no image 8 in gt.json\n")
    skipped = under_ids_of(objects, TRUTH, "skip")
    assert skipped.objects["score"].tolist() == [0.1, 0.3]
    assert skipped.objects.place_of(1) == "in.json: annotations[2]"
    assert skipped.objects.skipped == 1
    assert len(skipped.shapes) == 2
    assert skipped.warnings == [
        "left out, not an image or category of gt.json: 1",
    ]
    objects = detections(np.array([3, 5, 5]), names=("dog", "bird"))
    with pytest.raises(DataError, match=r"annotations\[1\]: no category 'bird' in gt\.json"):
        under_ids_of(objects, TRUTH, "error")


def test_ids_that_a_reader_made_up_are_nobodys() -> None:
    with pytest.raises(DataError) as caught:
        under_ids_of(detections(np.array([3, 7, 5])), replace(TRUTH, coded=True), "skip")
    assert str(caught.value) == (
        "in.json: its category ids mean nothing to gt.json, which names its labels\n"
        "give the COCO ground truth"
    )
    none = detections(np.array([3, 7, 5]))
    nobody = np.zeros(3, bool)
    none = replace(none, objects=none.objects.take(nobody), shapes=none.shapes.take(nobody))
    found = under_ids_of(none, replace(TRUTH, coded=True), "error")
    assert len(found.objects) == 0


def test_a_category_is_met_by_id_and_name_before_name() -> None:
    truth = with_categories(TRUTH, "cat", "cat")
    objects = detections(np.array([3, 5, 3]), names=("cat", "cat"))
    assert objects.categories is not None
    columns = {**objects.categories.columns, "id": np.array([20, 10])}
    objects = replace(objects, categories=replace(objects.categories, columns=columns))
    objects = replace(
        objects,
        objects=replace(
            objects.objects,
            columns={**objects.objects.columns, "category_id": np.array([20, 10, 20])},
        ),
    )
    found = under_ids_of(objects, truth, "error")
    assert found.objects["category_id"].tolist() == [20, 10, 20]


def test_a_ground_truth_needs_names() -> None:
    with pytest.raises(DataError, match="a ground truth with named categories is needed"):
        under_ids_of(detections(np.array([3, 7, 5])), replace(TRUTH, categories=None), "error")


def test_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    check_place(str(out), suffixes=(), force=False)
    write_file(str(out), b"one")
    assert os.listdir(tmp_path) == ["out.csv"]
    with pytest.raises(DataError, match="exists already\nreplace it with --force"):
        check_place(str(out), suffixes=(), force=False)
    check_place(str(out), suffixes=(), force=True)
    write_file(str(out), b"two")
    assert out.read_bytes() == b"two"


def test_a_compressed_file_is_the_same_each_time(tmp_path: Path) -> None:
    names = ["a.json.gz", "b.json.gz"]
    for name in names:
        write_file(str(tmp_path / name), b"text")
    first, second = [(tmp_path / name).read_bytes() for name in names]
    assert first == second
    assert gzip.decompress(first) == b"text"


@pytest.mark.parametrize("out", ["no/out.csv", "", ".", "..", "/"])
def test_places_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(tmp_path)
    for suffixes in ((), (".txt",)):
        with pytest.raises(DataError, match=r"there is no folder 'no'|name a file or a folder"):
            check_place(out, suffixes=suffixes, force=True)


def test_a_compression_that_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="zstd is not written"):
        check_place(str(tmp_path / "out.jsonl.zst"), suffixes=(), force=False)


def test_a_file_does_not_replace_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is not a file"):
        check_place(str(tmp_path), suffixes=(), force=True)
    with pytest.raises(DataError, match="this is not a file"):
        check_place("/dev/null", suffixes=(), force=True)


def test_a_folder_replaces_one_of_its_kind_alone(tmp_path: Path) -> None:
    out = tmp_path / "labels"
    write_folder(str(out), {"a.txt": b"1", "classes.txt": b"cat\n"})
    check_place(str(out), suffixes=(".txt",), force=True)
    write_folder(str(out), {"b.txt": b"2"})
    assert sorted(path.name for path in out.iterdir()) == ["b.txt"]
    assert os.listdir(tmp_path) == ["labels"]
    (out / "picture.jpg").touch()
    with pytest.raises(DataError, match=r"it also holds files that are not \.txt: picture\.jpg"):
        check_place(str(out), suffixes=(".txt",), force=True)
    (out / "picture.jpg").unlink()
    (out / "sub.txt").mkdir()
    with pytest.raises(DataError, match=r"files that are not \.txt: sub\.txt"):
        check_place(str(out), suffixes=(".txt",), force=True)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="this is not a folder"):
        check_place(str(tmp_path / "file"), suffixes=(".txt",), force=True)


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "labels"
    write_folder(str(out), {"a.txt": b"1"})
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        write_folder(str(out), {"b.txt": b"2", f"{'x' * 300}.txt": b"3"})
    assert [path.name for path in out.iterdir()] == ["a.txt"]

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"out\.csv: cannot be written: No space left on device"):
        write_file(str(tmp_path / "out.csv"), b"one")
    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        write_folder(str(out), {"b.txt": b"2"})
    assert os.listdir(tmp_path) == ["labels"]
    assert [path.name for path in out.iterdir()] == ["a.txt"]
