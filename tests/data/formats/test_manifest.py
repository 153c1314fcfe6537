"""Manifests of label maps: where their paths lead."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.data.png_files import label_map, write
from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.shapes.label_maps import LabelMaps

pytestmark = pytest.mark.usefixtures("in_a_folder")


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
