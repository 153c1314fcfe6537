"""Folders and manifests of label maps, and which names of two sides belong together."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.data.png_files import label_map, write
from valor_cli.data.formats.folders import files_under
from valor_cli.data.formats.label_map_folders import read_folder
from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.inputs.label_maps import format_of
from valor_cli.data.shapes.label_map_pairs import pair_maps
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

MANIFEST = (
    "list the pairs in a manifest (.jsonl or .csv with the columns ground_truth and prediction)."
)
PNGS = "Label maps are PNGs of one channel, in the folder or in folders in it."
DOT = label_map([[0]])


def side(path: str, *names: str) -> LabelMaps:
    return LabelMaps(path, path, {name: PngLabelMap(f"{path}/{name}.png") for name in names})


def refused(truth: LabelMaps, found: LabelMaps, *, skip: bool = False) -> list[str]:
    with pytest.raises(DataError) as caught:
        pair_maps(truth, found, "model", skip=skip)
    return str(caught.value).split("\n")


def paired(truth: LabelMaps, found: LabelMaps) -> tuple[dict[str, str], list[str]]:
    """The file of the prediction by name of the ground truth, and warnings."""
    maps, warnings = pair_maps(truth, found, "model", skip=True)
    return {name: one.path for name, one in maps.items()}, warnings


def left_out(count: str, of: str, other: str, first: str) -> str:
    return f"left out: {count} {of} in {other} (the first: {first})"


TRUTHS, PREDICTIONS = (
    "ground truths have no prediction",
    "predictions of model have no ground truth",
)


def folder_error(path: str) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_folder(path)
    return str(caught.value).split("\n")


def test_a_folder_and_its_sub_folders() -> None:
    for name in ("b.png", "a/c.png", "a/d.x.PNG", ".hidden.png", "notes.txt", "e.jpg"):
        write(f"maps/{name}", DOT)
    found = read_folder("maps")
    assert {name: one.path for name, one in found.maps.items()} == {
        "b": "maps/b.png",
        "a/c": "maps/a/c.png",
        "a/d.x": "maps/a/d.x.PNG",
    }
    assert (found.path, found.folder, found.others) == ("maps", "maps", ["e.jpg"])


def test_no_folder() -> None:
    assert folder_error("maps") == ["maps: no such folder"]
    write("maps", DOT)
    assert folder_error("maps") == ["maps: this is a file; a folder is needed"]


def test_no_png() -> None:
    write("maps/a.jpg", DOT)
    write("maps/b.tif", DOT)
    assert folder_error("maps") == [
        "maps: there is no .png file in this folder; there are files of .jpg, .tif",
        f"{PNGS} JPEG and WebP change values of pixels; make PNGs from the original labels.",
    ]
    Path("empty").mkdir()
    assert folder_error("empty")[0] == "empty: there is no .png file in this folder"


def test_two_files_of_one_name() -> None:
    write("maps/a.png", DOT)
    write("maps/a.PNG", DOT)
    assert folder_error("maps") == [
        "maps/a.png: there is maps/a.PNG too; one name, one sample",
    ]


def test_a_name_that_is_no_text() -> None:
    write("maps/a.png", DOT)
    Path(os.fsdecode(b"maps/\xff.png")).write_bytes(DOT)
    assert folder_error("maps") == ["maps/\\udcff.png: the name is no UTF-8 text; rename the file"]


@pytest.mark.parametrize(
    ("truths", "predictions", "pairs", "alone"),
    [
        # Equal paths meet.
        (("x/a", "y/a", "b"), ("y/a", "x/a", "c"), {"x/a": "x/a", "y/a": "y/a"}, "bc"),
        # Last parts decide where no path is equal.
        (("city/a", "city/b", "c"), ("a", "out/b", "d"), {"city/a": "a", "city/b": "out/b"}, "cd"),
        # One equal path is enough to compare paths.
        (("city/a", "b"), ("a", "b"), {"b": "b"}, ("city/a", "a")),
    ],
)
def test_paths_that_meet(
    truths: Sequence[str], predictions: Sequence[str], pairs: dict[str, str], alone: Sequence[str]
) -> None:
    found, warnings = paired(side("gt", *truths), side("pred", *predictions))
    assert found == {name: f"pred/{path}.png" for name, path in pairs.items()}
    share = f"1 of {len(truths)}"
    assert warnings == [
        left_out(share, TRUTHS, "pred", alone[0]),
        left_out(share, PREDICTIONS, "gt", alone[1]),
    ]


def test_ids_of_images_go_before_names() -> None:
    truth = replace(side("gt", "1", "2", "3"), images={"1": 10, "2": 20, "3": 30})
    found = replace(side("pred", "1", "b", "c"), images={"1": 20, "b": 10, "c": 40})
    assert paired(truth, found) == (
        {"1": "pred/b.png", "2": "pred/1.png"},
        [
            left_out("1 of 3", TRUTHS, "pred", "3"),
            left_out("1 of 3", PREDICTIONS, "gt", "c"),
        ],
    )
    # Where one side says no ids, names decide.
    assert paired(truth, replace(found, images=None))[0] == {"1": "pred/1.png"}


def test_last_parts_that_are_not_unique() -> None:
    truth, found = side("gt", "x/a", "y/a", "z/b"), side("pred", "a", "b")
    assert refused(truth, found) == [
        "gt, pred: 'a' names several: x/a, y/a",
        f"Give both sides the same sub-folders, or {MANIFEST}",
    ]
    assert refused(found, truth, skip=True)[0] == "pred, gt: 'a' names several: x/a, y/a"


def test_no_pair_at_all() -> None:
    truth, found = side("gt", "d_gt", "a_gt", "b_gt", "c_gt"), side("pred", "a_pred")
    message = (
        "no label map has a prediction of its name in pred (ground truth has a_gt, b_gt, c_gt, …; "
        "predictions have a_pred)"
    )
    hint = (
        "Give both sides the same names (street_1.png), or names of which all of a side begin "
        "and end alike (street_1_mask.png, street_2_mask.png; street_1_pred.png, "
        f"street_2_pred.png), or {MANIFEST}"
    )
    for skip in (False, True):
        assert refused(truth, found, skip=skip) == [f"gt: {message}", hint]


def test_missing_partners_are_listed() -> None:
    truth, found = side("gt", "a", "b"), side("pred", "b", "c")
    assert refused(truth, found) == [
        "gt/a.png: has no prediction in pred",
        "pred/c.png: has no ground truth in gt",
        "Add the missing files, or set `on_invalid: skip` under `data:` to leave these out.",
    ]
    assert paired(truth, found)[0] == {"b": "pred/b.png"}


def test_of_many_missing_partners_twenty_are_listed() -> None:
    truth, found = side("gt", *(f"{at:03}" for at in range(200))), side("pred", "000")
    lines = refused(truth, found)
    assert len(lines) == 22
    assert lines[19] == "gt/020.png: has no prediction in pred"
    assert lines[20] == "… and 179 more problems"


FORMATS = {
    "manifest": ("a.jsonl", "a.CSV", "x/a.tsv", "a.ndjson", "a.csv.zst", "a.csv.GZ"),
    "coco_panoptic": ("a.json", "a.JSON", "a.json.gz", "a.json.GZ"),
    "png": ("maps", "maps.v2", "a.png", "csv", "json"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_formats_by_extension(form: str) -> None:
    assert {path: format_of(path) for path in FORMATS[form]} == dict.fromkeys(FORMATS[form], form)


def test_links_to_folders_are_followed_once_and_never_in_circles(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data" / "inside", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    for path in (inside / "a.png", outside / "b.PNG", outside / "c.txt"):
        path.write_bytes(b"")
    (tmp_path / "data" / "link").symlink_to(outside)
    (tmp_path / "data" / "again").symlink_to(inside)
    (tmp_path / "data" / "round").symlink_to(tmp_path)
    (inside / "here").symlink_to(inside)
    assert files_under(str(tmp_path / "data"), ".png") == ["again/a.png", "link/b.PNG"]


def paths(maps: LabelMaps) -> dict[str, str]:
    return {name: one.path for name, one in maps.maps.items()}


def test_jsonl() -> None:
    rows: list[dict[str, Any]] = [
        {"ground_truth": "gt/a.png", "prediction": "p/x.png", "sample_id": "one", "night": True},
        {"ground_truth": "gt/b.png", "prediction": None, "metadata": {"night": False}},
        {"sample_id": 17, "prediction": "p/z.png", "ground_truth": "../c.png"},
    ]
    Path("set").mkdir()
    Path("set/pairs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    truth = read_manifest("set/pairs.jsonl", "ground_truth", metadata=["night"])
    assert paths(truth) == {"one": "set/gt/a.png", "gt/b": "set/gt/b.png", "17": "c.png"}
    assert truth.metadata == {"night": {"one": True, "gt/b": False, "17": None}}
    found = read_manifest("set/pairs.jsonl", "predictions")
    assert paths(found) == {"one": "set/p/x.png", "17": "set/p/z.png"}
    assert (found.folder, found.metadata) == ("set/p", {})
    digest = hashlib.sha256(Path("set/pairs.jsonl").read_bytes()).hexdigest()
    assert [(one.path, one.sha256, one.rows) for one in found.texts] == [
        ("set/pairs.jsonl", digest, 3)
    ]


def test_absolute_and_relative_paths_in_one_manifest() -> None:
    here = str(Path.cwd())
    Path("set").mkdir()
    rows = [f"{here}/set/gt/a.png,../out/a.png", f"gt/b.png,{here}/out/b.png"]
    Path("set/pairs.csv").write_text("\n".join(["ground_truth,prediction", *rows]))
    truth = read_manifest("set/pairs.csv", "ground_truth")
    assert paths(truth) == {"gt/a": f"{here}/set/gt/a.png", "gt/b": "set/gt/b.png"}
    assert truth.folder == "set/gt"
    found = read_manifest("set/pairs.csv", "predictions")
    assert paths(found) == {"gt/a": "out/a.png", "gt/b": f"{here}/out/b.png"}
    assert found.folder == "out"
    alone = read_manifest(f"{here}/set/pairs.csv", "ground_truth")
    assert alone.folder == f"{here}/set/gt"


def test_a_path_behind_a_link() -> None:
    """`..` leads out of the folder that the link names, not out of the link's own."""
    Path("real/inner").mkdir(parents=True)
    Path("set").mkdir()
    Path("set/link").symlink_to("../real/inner")
    write("real/up.png", label_map([[1, 2]]))
    write("set/up.png", label_map([[3]]))
    Path("set/pairs.csv").write_text("ground_truth\nlink/../up.png\nup.png\nnone/../b.png\n")
    maps = read_manifest("set/pairs.csv", "ground_truth").maps
    assert maps["link/../up"].values().tolist() == [[1, 2]]
    assert maps["up"].values().tolist() == [[3]]
    assert maps["b"].path == "set/b.png"


def test_a_path_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    Path("pairs.csv").write_text("ground_truth\n~/gt/a.png\n")
    truth = read_manifest("pairs.csv", "ground_truth")
    assert paths(truth) == {"gt/a": str(Path.cwd() / "gt/a.png")}
