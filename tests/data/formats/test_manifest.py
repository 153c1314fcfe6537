"""Manifests of label maps: the pairs they list, and what can be wrong with them."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.data.png_files import label_map, write
from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")


def paths(maps: LabelMaps) -> dict[str, str]:
    return {name: one.path for name, one in maps.maps.items()}


def error(name: str, text: str, role: Any = "ground_truth", **options: Any) -> list[str]:
    Path(name).write_text(text, newline="")
    with pytest.raises(DataError) as caught:
        read_manifest(name, role, **options)
    return str(caught.value).split("\n")


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


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv(delimiter: str, end: str) -> None:
    rows = [
        ["sample_id", "prediction", "ground_truth", "city"],
        ["one", '"p/x, y; z.png"', "gt/a.png", "Ulm"],
        ["", "p/b.png", "gt/b.png", ""],
        [""],
    ]
    text = "\ufeff" + end.join(delimiter.join(row) for row in rows)
    Path("pairs.csv").write_text(text, newline="", encoding="utf-8")
    truth = read_manifest("pairs.csv", "ground_truth", metadata=["city"])
    assert paths(truth) == {"one": "gt/a.png", "gt/b": "gt/b.png"}
    assert truth.metadata == {"city": {"one": "Ulm", "gt/b": None}}
    assert paths(read_manifest("pairs.csv", "predictions")) == {
        "one": "p/x, y; z.png",
        "gt/b": "p/b.png",
    }


def test_predictions_alone() -> None:
    Path("p.csv").write_text("prediction\nout/a.png\nout/b.png\n")
    found = read_manifest("p.csv", "predictions")
    assert paths(found) == {"out/a": "out/a.png", "out/b": "out/b.png"}


def test_columns_of_other_names() -> None:
    Path("pairs.tsv").write_text("mask\tid\na.png\tone\n")
    columns: Any = {"ground_truth": "mask", "sample_id": "id"}
    assert paths(read_manifest("pairs.tsv", "ground_truth", columns=columns)) == {"one": "a.png"}


def test_gzip() -> None:
    with gzip.open("pairs.jsonl.gz", "wt") as file:
        file.write('{"ground_truth": "a.png"}')
    assert paths(read_manifest("pairs.jsonl.gz", "ground_truth")) == {"a": "a.png"}


def test_faulty_values() -> None:
    rows: list[dict[str, Any]] = [
        {"ground_truth": "a.png"},
        {"ground_truth": 3},
        {"ground_truth": ""},
        {"prediction": "a.png"},
        {"ground_truth": "\ud800.png"},
        {"ground_truth": "b.png", "sample_id": 1.5},
        {"ground_truth": "c.png", "sample_id": "a"},
        {"ground_truth": "sub/../a.png"},
    ]
    assert error("pairs.jsonl", "\n".join(map(json.dumps, rows))) == [
        "pairs.jsonl:2: ground_truth: expected the path of a PNG, found 3",
        'pairs.jsonl:3: ground_truth: expected the path of a PNG, found the string ""',
        "pairs.jsonl:4: ground_truth: expected the path of a PNG, found nothing",
        'pairs.jsonl:5: ground_truth: expected the path of a PNG, found the string "\\ud800.png"',
        "pairs.jsonl:6: sample_id: expected text or a whole number, found 1.5",
        "pairs.jsonl:7: sample_id: duplicate sample 'a', first on line 1",
        "pairs.jsonl:8: sample_id: duplicate sample 'a', first on line 1",
    ]


def test_missing_columns() -> None:
    hint = "Map other names under `data: columns:`, as {ground_truth: mask}."
    near = "(did you mean 'groundtruth'?); there is: groundtruth, city"
    assert error("pairs.csv", "groundtruth,city\na.png,Ulm\n") == [
        f"pairs.csv: the column 'ground_truth' is missing {near}",
        hint,
    ]
    assert error("pairs.csv", "ground_truth\na.png\n", role="predictions")[0] == (
        "pairs.csv: the column 'prediction' is missing; there is: ground_truth"
    )
    columns: Any = {"sample_id": "ident"}
    assert error("pairs.csv", "ground_truth,id\na.png,1\n", columns=columns)[0].startswith(
        "pairs.csv: the column 'ident' is missing"
    )
    message = error("pairs.csv", "ground_truth,city\na.png,Ulm\n", metadata=["cities"])
    assert message[0].startswith("pairs.csv: no image has the metadata 'cities' (did you mean")


def test_no_row_with_a_prediction() -> None:
    assert error("p.csv", "ground_truth,prediction\na.png,\n", role="predictions") == [
        "p.csv: prediction: no row names a file in this column",
    ]


def test_unreadable_text() -> None:
    assert error("pairs.csv", "") == ["pairs.csv: the file is empty"]
    Path("pairs.csv").write_bytes("ground_truth\na.png\n".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        read_manifest("pairs.csv", "ground_truth")
    with pytest.raises(DataError, match="no such file"):
        read_manifest("none.csv", "ground_truth")


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


def test_paths_above_and_below_the_current_folder() -> None:
    Path("pairs.csv").write_text("ground_truth\n../elsewhere/a.png\nb.png\n")
    assert read_manifest("pairs.csv", "ground_truth").folder == ".."


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


def test_a_key_that_stands_twice() -> None:
    lines = [
        '{"ground_truth": "a.png", "ground_truth": "b.png"}',
        '{"ground_truth": "c.png", "metadata": {"night": 1, "night": 2}}',
    ]
    assert error("pairs.jsonl", "\n".join(lines)) == [
        "pairs.jsonl:1: ground_truth: duplicate key in this object",
        "pairs.jsonl:2: night: duplicate key in this object",
    ]


def test_numbers_of_metadata_are_plain() -> None:
    row = '{"ground_truth": "a.png", "n": 3, "metadata": {"share": 0.25}}'
    Path("pairs.jsonl").write_text(row)
    found = read_manifest("pairs.jsonl", "ground_truth", metadata=["n", "share"]).metadata
    values = [found["n"]["a"], found["share"]["a"]]
    assert [(type(value), value) for value in values] == [(int, 3), (float, 0.25)]
