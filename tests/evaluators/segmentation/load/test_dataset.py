"""Folders, manifests and panoptic files as datasets, and everything that can be wrong with them."""

from __future__ import annotations

import json
import pickle
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.data.png_files import GRAY, SIGNATURE, chunk, colours, label_map, write
from tests.evaluators.loaded import metadata_of
from tests.evaluators.segmentation.scenes import LABELS, coded, folder, load, pair
from valor_cli.errors import DataError
from valor_cli.evaluators.segmentation.evidence.confusions import CountingPlan
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.kernels.geometry.label_maps import IGNORED
from valor_cli.metric import Selection

WITHOUT_ROWS = "the pixels of the PNG end after 1 of 3 bytes: write it again"
ADVICE = "Add the missing files, or set `on_invalid: skip` under `data:` to leave these out."


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def error(selection: Selection | None = None, **data: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        load(selection, **data)
    return str(caught.value).split("\n")


def test_folders() -> None:
    maps = {"z": [[0, 1]], "a/b": [[2], [1], [0]], "a/c": [[1]]}
    folder("gt", maps)
    folder("pred", {name: np.zeros_like(values) for name, values in maps.items()})
    loaded = load()
    (model, dataset) = next(iter(loaded.datasets.items()))
    assert (model, dataset.sample_ids, dataset.labels) == ("pred", ("a/b", "a/c", "z"), LABELS)
    assert dataset.sizes.tolist() == [[3, 1], [1, 1], [1, 2]]
    assert dataset.places[0] == ("gt/a/b.png", "pred/a/b.png")
    assert coded(dataset, "z") == ([[0, 1]], [[0, 0]])
    assert (loaded.sizes, loaded.warnings) == ({"images": 3, "labels": 3}, [])
    assert metadata_of(loaded) == {}
    copied = pickle.loads(pickle.dumps(dataset))  # noqa: S301
    assert coded(copied, "a/b") == ([[2], [1], [0]], [[0], [0], [0]])


def test_the_record_of_a_folder_is_what_sha256sum_says() -> None:
    folder("gt", {"b": [[0, 1]], "a/c": [[2]]})
    folder("pred", {"b": [[0, 1]], "a/c": [[1]]})
    records = load().files
    script = "cd {} && sha256sum a/c.png b.png | sha256sum"
    for record, name in zip(records, ("gt", "pred"), strict=True):
        said = subprocess.run(["sh", "-c", script.format(name)], capture_output=True, check=True)
        assert (record.path, record.rows, record.skipped) == (name, 2, 0)
        assert record.sha256 == said.stdout.decode().split()[0]


def test_pairs_by_the_last_parts_of_names() -> None:
    folder("gt", {"ulm/a": [[1]], "b": [[0]]})
    folder("pred", {"a": [[2]], "out/b": [[2]]})
    (dataset,) = load().datasets.values()
    assert dataset.sample_ids == ("b", "ulm/a")
    assert dataset.places[1] == ("gt/ulm/a.png", "pred/a.png")
    assert coded(dataset, "ulm/a") == ([[1]], [[2]])


def test_several_models() -> None:
    folder("gt", {"a": [[0]], "b": [[1]]})
    folder("one", {"a": [[0]], "b": [[2]]})
    folder("two", {"x/a": [[1]], "x/b": [[1]]})
    loaded = load(predictions={"first": "one", "second": "two"})
    assert {name: coded(found, "b")[1] for name, found in loaded.datasets.items()} == {
        "first": [[2]],
        "second": [[1]],
    }
    assert [one.path for one in loaded.files] == ["gt", "one", "two"]


def test_missing_partners() -> None:
    folder("gt", {"a": [[0]], "b": [[0]], "c": [[0]]})
    folder("one", {"a": [[0]], "b": [[0]], "d": [[0]]})
    folder("two", {"a": [[0]], "c": [[0]]})
    models = {"first": "one", "second": "two"}
    assert error(predictions=models) == [
        "gt/c.png: has no prediction in one",
        "one/d.png: has no ground truth in gt",
        ADVICE,
    ]
    loaded = load(predictions=models, on_invalid="skip")
    # All models are evaluated on the same images.
    assert [found.sample_ids for found in loaded.datasets.values()] == [("a",), ("a",)]
    assert loaded.warnings == [
        "left out: 1 of 3 ground truths have no prediction in one (the first: c)",
        "left out: 1 of 3 predictions of first have no ground truth in gt (the first: d)",
        "left out: 1 of 3 ground truths have no prediction in two (the first: b)",
    ]
    assert [(one.rows, one.skipped) for one in loaded.files] == [(3, 2), (3, 1), (2, 0)]


def test_no_image_that_every_model_has() -> None:
    folder("gt", {"a": [[0]], "b": [[0]]})
    folder("one", {"a": [[0]]})
    folder("two", {"b": [[0]]})
    models = {"first": "one", "second": "two"}
    assert error(predictions=models, on_invalid="skip") == [
        "gt: no label map has a prediction of every model",
        "evaluate the models one by one, or add what is missing",
    ]


def faulty() -> None:
    folder("gt", {name: [[0, 1], [0, 1]] for name in "abcde"})
    folder("pred", {"a": [[0], [1]], "b": [[0, 1]], "e": [[0, 1], [0, 1]]})
    write("pred/c.png", label_map([[0, 1], [0, 1]])[:-30])
    write("pred/d.png", colours([[0, 1], [0, 1]]))


FAULTS = [
    "pred/a.png: is 1 wide and 2 high; its ground truth gt/a.png is 2 wide and 2 high",
    "pred/b.png: is 2 wide and 1 high; its ground truth gt/b.png is 2 wide and 2 high",
]


def test_all_faults_are_listed_at_once() -> None:
    faulty()
    lines = error()
    assert lines[:2] == FAULTS
    assert lines[2].startswith("pred/c.png: the PNG is cut off after ")
    assert lines[3].startswith("pred/d.png: expected gray or a palette, ")
    assert lines[4].startswith("Write each label map with one channel")
    assert len(lines) == 5


def test_images_that_cannot_be_used_may_be_left_out() -> None:
    faulty()
    loaded = load(on_invalid="skip")
    (dataset,) = loaded.datasets.values()
    assert dataset.sample_ids == ("e",)
    assert loaded.warnings == [f"left out: 4 of 5 images cannot be used (the first: {FAULTS[0]})"]
    assert [(one.rows, one.skipped) for one in loaded.files] == [(5, 0), (5, 4)]
    Path("gt/e.png").write_bytes(b"nothing")
    assert error(on_invalid="skip")[-2].startswith("gt/e.png: expected a PNG")


def without_rows(width: int, height: int, rows: bytes = b"\0") -> bytes:
    """A PNG whose chunks are whole and whose pixels are missing, or as `rows` has them."""
    header = struct.pack(">IIBBBBB", width, height, 8, GRAY, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(rows))
    return SIGNATURE + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def test_missing_rows_of_pixels_may_be_left_out() -> None:
    folder("gt", {name: [[0, 1]] for name in "abc"})
    folder("one", {name: [[0, 1]] for name in "abc"})
    folder("two", {name: [[0, 1]] for name in "abc"})
    write("two/b.png", without_rows(2, 1))
    models = {"first": "one", "second": "two"}
    loaded = load(predictions=models, on_invalid="skip")
    assert [found.sample_ids for found in loaded.datasets.values()] == [("a", "c")] * 2
    assert loaded.warnings == [
        f"left out: 1 of 3 images cannot be used (the first: two/b.png: {WITHOUT_ROWS})",
    ]
    # One file is bad, in one folder.
    assert [(one.rows, one.skipped) for one in loaded.files] == [(3, 0), (3, 0), (3, 1)]


def test_all_that_decoding_finds_is_told_at_once() -> None:
    folder("gt", {name: [[0, 1]] for name in "abcd"})
    folder("pred", {"a": [[0, 1]], "b": [[0, 7]]})
    for name in "cd":
        write(f"pred/{name}.png", without_rows(2, 1))
    (dataset,) = load().datasets.values()
    with pytest.raises(DataError) as caught:
        count_confusions(dataset, CountingPlan())
    with pytest.raises(DataError) as same:
        dataset.verify()
    assert str(same.value) == str(caught.value)
    lines = str(caught.value).split("\n")
    assert lines[0] == "pred/b.png: no label for the value 7 (1 pixel)"
    assert lines[1:3] == [f"pred/{name}.png: {WITHOUT_ROWS}" for name in "cd"]
    assert lines[3:] == ["Every value needs a label: `labels` under `data:` names the values."]


def test_damage_that_only_decoding_shows_leaves_the_pair_out() -> None:
    """Evidence is made of the others, without an error; by default it is the error."""
    folder("gt", {name: [[0, 1]] for name in "abc"})
    folder("pred", {name: [[0, 1]] for name in "ac"})
    write("pred/b.png", without_rows(2, 1, b"\x09\0\1"))
    loaded = load(on_invalid="skip")
    (dataset,) = loaded.datasets.values()
    assert dataset.sample_ids == ("a", "c")
    assert count_confusions(dataset, CountingPlan()).unit_count == 2
    (warning,) = loaded.warnings
    start = (
        "left out: 1 of 3 images cannot be used (the first: pred/b.png: the image cannot be read"
    )
    assert warning.startswith(start)
    (dataset,) = load().datasets.values()
    with pytest.raises(DataError, match=r"^pred/b\.png: the image cannot be read"):
        count_confusions(dataset, CountingPlan())


def test_values_that_are_no_label_are_never_left_out() -> None:
    pair([[0, 1]], [[0, 7]])
    (dataset,) = load(on_invalid="skip").datasets.values()
    with pytest.raises(DataError, match=r"^pred/a\.png: no label for the value 7"):
        count_confusions(dataset, CountingPlan())


def test_of_many_faults_twenty_are_listed() -> None:
    folder("gt", {f"{at:03}": [[0]] for at in range(30)})
    folder("pred", {f"{at:03}": [[0, 0]] for at in range(30)})
    lines = error()
    assert (len(lines), lines[20]) == (21, "… and 10 more problems")


def test_files_that_changed_since_they_were_looked_at() -> None:
    pair([[0, 1]], [[0, 1]])
    (dataset,) = load().datasets.values()
    folder("pred", {"a": [[0]]})
    with pytest.raises(DataError, match=r"^pred/a\.png: is 1 wide and 1 high; its ground truth"):
        dataset.read("a")
    Path("pred/a.png").unlink()
    with pytest.raises(DataError, match=r"^pred/a\.png: the PNG cannot be read"):
        dataset.read("a")


def test_other_files_in_a_folder() -> None:
    pair([[0]], [[0]])
    write("gt/a.jpg", b"")
    write("gt/Thumbs.db", b"")
    assert load().warnings == ["gt: files that are no PNG were passed over: 1 (the first: a.jpg)"]


def test_a_side_of_sixteen_bits() -> None:
    folder("gt", {"a": [[0, 2]]}, depth=16)
    folder("pred", {"a": [[1, 2]]})
    (dataset,) = load().datasets.values()
    assert coded(dataset) == ([[0, 2]], [[1, 2]])
    read = dataset.read("a")
    assert (len(read.truth_codes), len(read.prediction_codes)) == (65_536, 256)


def manifest(**changes: Any) -> None:
    folder("m/gt", {"x": [[0]], "y": [[1]], "z": [[2]]})
    folder("m/out", {"x": [[1]], "y": [[1]], "z": [[1]]})
    rows: list[dict[str, Any]] = [
        {"ground_truth": "gt/z.png", "prediction": "out/z.png", "city": "Ulm", "n": 1},
        {"ground_truth": "gt/x.png", "prediction": "out/y.png", "city": "Bonn", "n": 2},
        {"ground_truth": "gt/y.png", "prediction": "out/x.png", "city": "Ulm", "n": None},
    ]
    rows[0] |= changes
    Path("m/pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_a_manifest_of_both_sides() -> None:
    manifest()
    loaded = load(Selection(metadata=("n",)), ground_truth="m/pairs.jsonl", predictions=None)
    ((model, dataset),) = loaded.datasets.items()
    assert (model, dataset.sample_ids) == ("model", ("gt/x", "gt/y", "gt/z"))
    assert dataset.places[0] == ("m/gt/x.png", "m/out/y.png")
    assert metadata_of(loaded) == {"n": [2, None, 1]}
    assert [(one.path, one.rows) for one in loaded.files] == [
        ("m/pairs.jsonl", 3),
        ("m/gt", 3),
        ("m/out", 3),
    ]


def test_a_manifest_and_a_folder() -> None:
    manifest()
    loaded = load(ground_truth="m/pairs.jsonl", predictions="m/out")
    (dataset,) = loaded.datasets.values()
    assert dataset.places[0] == ("m/gt/x.png", "m/out/x.png")


def test_a_row_without_a_prediction() -> None:
    manifest(prediction=None)
    data: dict[str, Any] = {"ground_truth": "m/pairs.jsonl", "predictions": None}
    assert error(**data) == ["m/gt/z.png: has no prediction in m/pairs.jsonl", ADVICE]
    (dataset,) = load(on_invalid="skip", **data).datasets.values()
    assert dataset.sample_ids == ("gt/x", "gt/y")


def test_a_file_of_a_manifest_that_is_not_there() -> None:
    manifest(ground_truth="gt/none.png")
    assert error(ground_truth="m/pairs.jsonl", predictions=None) == [
        "m/gt/none.png: the PNG cannot be read: No such file or directory",
    ]


def test_the_selection() -> None:
    manifest()
    data: dict[str, Any] = {"ground_truth": "m/pairs.jsonl", "predictions": None}

    def kept(**selection: Any) -> tuple[str, ...]:
        (dataset,) = load(Selection(**selection), **data).datasets.values()
        return dataset.sample_ids

    # The first two of the manifest.
    assert kept(limit=2) == ("gt/x", "gt/z")
    assert kept(keep={"metadata.city": ("Ulm",)}) == ("gt/y", "gt/z")
    assert kept(keep={"metadata.city": ("Ulm",)}, limit=1) == ("gt/z",)
    assert kept(keep={"sample_id": ("gt/z", "gt/x")}) == ("gt/x", "gt/z")
    loaded = load(Selection(keep={"metadata.n": (1, None)}), **data)
    assert metadata_of(loaded) == {"n": [None, 1]}
    assert [(one.rows, one.skipped) for one in loaded.files] == [(3, 0), (3, 0), (3, 0)]


def test_a_selection_of_nothing() -> None:
    manifest()
    data: dict[str, Any] = {"ground_truth": "m/pairs.jsonl", "predictions": None}
    assert error(Selection(keep={"metadata.city": ("Rom",)}), **data) == [
        "filter: leaves no image of m/pairs.jsonl",
        "metadata.city has: Bonn, Ulm",
    ]
    assert error(Selection(keep={"image_id": ("gt/q",)}), **data) == [
        "filter.image_id: no image 'gt/q'",
        "image ids look like 'gt/x', 'gt/y', 'gt/z'",
    ]


def test_a_folder_has_no_metadata() -> None:
    pair([[0]], [[0]])
    lines = error(Selection(metadata=("city",)))
    assert lines[0] == "gt: a folder holds no metadata of its images, so no 'city'"


def panoptic(path: str, **changes: Any) -> None:
    segments = [{"id": 300, "category_id": 9}, {"id": 5, "category_id": 4, "iscrowd": 1}]
    document = {
        "images": [{"id": 1, "width": 3, "height": 1}],
        "annotations": [{"image_id": 1, "file_name": "a.png", "segments_info": segments}],
        "categories": [{"id": 9, "name": "sky"}, {"id": 4, "name": "cat"}],
    } | changes
    Path(f"{path}.json").write_text(json.dumps(document))
    write(f"{path}/a.png", colours([[0, 5, 300]]))


def test_panoptic_ground_truth() -> None:
    panoptic("gt")
    folder("pred", {"a": [[4, 4, 9]]})
    loaded = load(ground_truth="gt.json", labels=None, ignore_index=0)
    (dataset,) = loaded.datasets.values()
    assert loaded.labels == ("cat", "sky")
    assert coded(dataset) == ([[IGNORED, 0, 1]], [[0, 0, 1]])
    assert [(one.path, one.rows) for one in loaded.files] == [
        ("gt.json", 1),
        ("gt", 1),
        ("pred", 1),
    ]


def test_panoptic_on_both_sides() -> None:
    panoptic("gt")
    panoptic("pred", images=[{"id": 1}])
    loaded = load(ground_truth="gt.json", predictions="pred.json", labels=None, background="sky")
    (dataset,) = loaded.datasets.values()
    # No segment is ignored in ground truth, and left open in a prediction.
    assert coded(dataset) == ([[IGNORED, 0, 1]], [[2, 0, 1]])


def test_panoptic_predictions_alone() -> None:
    folder("gt", {"a": [[4, 4, 9]]})
    panoptic("pred")
    (dataset,) = load(predictions="pred.json", labels={4: "cat", 9: "sky"}).datasets.values()
    assert coded(dataset) == ([[0, 0, 1]], [[3, 0, 1]])
    assert error(predictions="pred.json", labels={4: "dog", 9: "sky"}) == [
        "pred.json: categories: 4 is 'cat'; in the ground truth it is 'dog'",
    ]


def test_panoptic_ground_truth_names_its_labels() -> None:
    panoptic("gt")
    panoptic("pred")
    assert error(ground_truth="gt.json", predictions="pred.json") == [
        "labels: gt.json names its categories, which are the labels",
        "Leave `labels:` out.",
    ]


def test_photos_that_are_missing() -> None:
    folder("gt", {"a": [[0]], "b": [[0]]})
    folder("pred", {"a": [[0]], "b": [[0]]})
    Path("photos").mkdir()
    Image.new("RGB", (1, 1)).save("photos/a.jpg")
    assert load(images="photos").warnings == [
        "images: 1 of 2 images have no file in photos (the first: b); they are drawn without",
    ]
    assert error(images="none")[0] == "images: none: no such folder"
