"""The front door: which reader an input is given to, and how several inputs become one."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import zstandard
from PIL import Image

from valor_cli.data.inputs.objects import FORMATS, format_of, read_objects
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

TRUTH = {
    "images": [{"id": 1, "file_name": "a.jpg"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]}],
    "categories": [{"id": 3, "name": "cat"}],
}
RESULTS = [{"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "score": 0.5}]
LINE = {"image_id": 1, "objects": [{"label": "cat", "box": [1, 2, 3, 4], "score": 0.5}]}
TABLE = "image_id,label,x,y,width,height,score\na,cat,1,2,3,4,0.5\n"
VOC = (
    "<annotation><filename>a.jpg</filename><object><name>cat</name><score>0.5</score><bndbox>"
    "<xmin>1</xmin><ymin>2</ymin><xmax>4</xmax><ymax>6</ymax></bndbox></object></annotation>"
)


def write(path: str, content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    Path(path).write_bytes(gzip.compress(data) if path.endswith(".gz") else data)
    return path


def read(path: str, role: Any = "predictions", format: str | None = None, **how: Any) -> Any:  # noqa: A002
    return read_objects(path, role, Reading(**how), format)


def error(path: str, role: Any = "predictions", format: str | None = None) -> str:  # noqa: A002
    with pytest.raises(DataError) as caught:
        read(path, role, format)
    return str(caught.value)


def every_format() -> dict[str, str]:
    Path("images").mkdir()
    Image.new("L", (10, 10)).save("images/a.png")
    write("yolo/classes.txt", "cat")
    write("yolo/a.txt", "0 0.25 0.4 0.3 0.4 0.5\n")
    pq.write_table(pa.Table.from_pylist([LINE]), "dt.parquet")
    return {
        "parquet": "dt.parquet",
        "coco": write("dt.json", RESULTS),
        "jsonl": write("dt.jsonl", LINE),
        "csv": write("dt.csv", TABLE),
        "yolo": "yolo",
        "voc": write("dt.xml", VOC),
    }


def test_every_format_by_its_name() -> None:
    paths = every_format()
    # Those of panoptic files and of open formats have tests of their own.
    others = {"coco_panoptic", "cvat", "dota", "kitti", "labelme", "open_images", "label_studio"}
    assert {*paths, *others, "json"} == set(FORMATS)
    assert read(write("list.json", [LINE]), format="json").objects["score"].tolist() == [0.5]
    for name, path in paths.items():
        assert format_of(path) == name
        for given in (None, name):
            found = read(path, format=given, images="images")
            # YOLO's centre 2.5, 4 and size 3, 4 in units of the image is this box too.
            assert found.shapes.box.round(9).tolist() == [[1, 2, 3, 4]]
            assert found.objects["score"].tolist() == [0.5]
            assert found.path == path


IMAGES = [
    {"image_id": "a", "width": 9, "height": 8, "objects": [
        {"label": "cat", "box": [1.0, 2.0, 3.0, 4.0], "score": 0.5},
        {"label": "dog", "box": [0.0, 0.5, 2.0, 2.0], "score": 0.25}]},
    {"image_id": "b", "width": 9, "height": 8, "objects": []},
    {"image_id": "c", "width": 9, "height": 8, "objects": [
        {"label": "cat", "box": [5.0, 6.0, 7.0, 8.0], "score": 1.0}]},
]  # fmt: skip
LISTS = [
    {**image, "objects": {key: [one[key] for one in image["objects"]]
                          for key in ("label", "box", "score")}}
    for image in IMAGES
]  # fmt: skip
BOXES = [
    {"image_id": image["image_id"], "label": one["label"], "score": one["score"],
     **dict(zip(("x", "y", "width", "height"), one["box"], strict=True))}
    for image in IMAGES for one in image["objects"]
]  # fmt: skip


@pytest.mark.parametrize("rows", [IMAGES, LISTS, BOXES], ids=["images", "lists", "boxes"])
@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet", "arrow"])
def test_rows_mean_the_same_in_every_format(rows: list[dict[str, Any]], form: str) -> None:
    path = f"a.{form}"
    if form == "jsonl":
        write(path, "".join(json.dumps(row) + "\n" for row in rows))
    elif form == "json":
        write(path, rows)
    elif form == "csv":
        if rows is not BOXES:
            pytest.skip("a cell holds no list of objects")
        lines = [BOXES[0], *(row.values() for row in BOXES)]
        write(path, "".join(",".join(map(str, line)) + "\n" for line in lines))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        feather.write_feather(pa.Table.from_pylist(rows), path, compression="uncompressed")
    found = read(path, format="json" if form == "json" else None)
    assert found.objects["image_id"].tolist() == ["a", "a", "c"]
    assert found.objects["score"].tolist() == [0.5, 0.25, 1.0]
    assert found.categories["name"][found.objects["category_id"]].tolist() == ["cat", "dog", "cat"]
    assert found.shapes.box.tolist() == [[1, 2, 3, 4], [0, 0.5, 2, 2], [5, 6, 7, 8]]
    if rows is not BOXES:
        assert found.images["id"].tolist() == ["a", "b", "c"]
        assert found.images["width"].tolist() == [9, 9, 9]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {**LISTS[0], "objects": {"label": ["cat", "dog"], "box": [[1, 2, 3, 4]]}},
            ": objects: expected a list, found an object",
        ),
        (
            {**LISTS[0], "objects": {**LISTS[0]["objects"], "score": [0.5, "high"]}},
            ': objects[1].score: expected a number, found the string "high"',
        ),
        ({**BOXES[0], "width": -3}, ": width: expected a width of 0 or more, found -3.0"),
        ({**BOXES[0], "x": "left"}, ': x: expected a number, found the string "left"'),
    ],
)
def test_faults_of_rows(row: dict[str, Any], expected: str) -> None:
    write("a.jsonl", "".join(json.dumps(one) + "\n" for one in (BOXES[0], row)
                             ) if "x" in row else json.dumps(row) + "\n")  # fmt: skip
    line = 2 if "x" in row else 1
    assert error("a.jsonl").startswith(f"a.jsonl:{line}{expected}")


def test_a_data_set_in_a_folder() -> None:
    Path("set").mkdir()
    for at, image in enumerate(IMAGES):
        pq.write_table(pa.Table.from_pylist([image], schema=pa.Table.from_pylist(IMAGES).schema),
                       f"set/test-0000{at}-of-00003.parquet")  # fmt: skip
    found = read("set", "ground_truth")
    assert found.objects["image_id"].tolist() == ["a", "a", "c"]
    assert [one.rows for one in found.files] == [2, 0, 1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TRUTH, "coco"),
        (json.dumps(TRUTH, indent=2), "coco"),
        (RESULTS, "coco"),
        ("[]", "coco"),
        ("\ufeff \n\t" + json.dumps(RESULTS), "coco"),
        (LINE, "jsonl"),
        (json.dumps(LINE) + "\n" + json.dumps(LINE), "jsonl"),
        ({"image_id": 4}, "jsonl"),
        ({"image_id": 1, "objects": [{"label": "cat" * 9}] * 5000}, "jsonl"),
        (TABLE, "csv"),
        (TABLE.replace(",", ";"), "csv"),
        ("\n" + TABLE.replace(",", "\t"), "csv"),
        (VOC, "voc"),
    ],
)
@pytest.mark.parametrize("name", ["data", "data.txt", "data.gz"])
def test_the_content_tells_what_the_name_does_not(content: Any, expected: str, name: str) -> None:
    assert format_of(write(name, content)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.json", "coco"),
        ("a.JSON.gz", "coco"),
        ("a.json.zst", "coco"),
        ("a.ndjson", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("a.tsv", "csv"),
        ("a.CSV", "csv"),
        ("a.xml", "voc"),
    ],
)
def test_the_extension_decides(name: str, expected: str) -> None:
    write(name, "<")
    assert format_of(name) == expected


class _Pipe(io.BufferedReader):
    """Bytes that can be read once."""

    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize("stream", [io.BytesIO, lambda data: _Pipe(io.BytesIO(data))])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("content", [json.dumps(RESULTS), json.dumps(LINE), TABLE])
def test_standard_input(
    stream: Any, packed: Any, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = stream(packed(content.encode()))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(buffer))
    assert read("-").objects["score"].tolist() == [0.5]


def test_much_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    # A block of zstd says nothing before its end, which is far behind what a pipe holds ready.
    rng = np.random.default_rng(0)
    lines = [{**LINE, "image_id": at, "noise": rng.bytes(50).hex()} for at in range(5000)]
    text = "\n".join(map(json.dumps, lines)).encode()
    buffer = _Pipe(io.BytesIO(zstandard.compress(text)))  # type: ignore[arg-type] # as good as raw
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(buffer))
    assert len(read("-").objects) == 5000


def labels(found: Any) -> list[str]:
    ids, names = found.categories["id"].tolist(), found.categories["name"].tolist()
    return [dict(zip(ids, names, strict=True))[one] for one in found.objects["category_id"]]


@pytest.mark.parametrize(
    ("changed", "ids", "labels"),
    [
        ({}, ["a", "b"], ["cat", "dog"]),
        ({"image_id": [1.5, 2.5]}, ["1.5", "2.5"], ["cat", "dog"]),
        ({"label": [1.5, 2.5]}, ["a", "b"], ["1.5", "2.5"]),
        ({"label": [2, 3], "x": ["1", "1"]}, ["a", "b"], ["2", "3"]),
    ],
)
def test_objects_of_typed_columns(changed: dict[str, Any], ids: list[str], labels: Any) -> None:
    sides = {name: [1.0, 1.0] for name in ("x", "y", "width", "height")}
    columns = {"image_id": ["a", "b"], "label": ["cat", "dog"], **sides, "image_width": [8.0, 9.0]}
    pq.write_table(pa.table(columns | changed), "gt.parquet")
    found = read("gt.parquet", "ground_truth")
    assert found.objects["image_id"].tolist() == ids
    assert found.images["id"].tolist() == ids
    assert found.images["width"].tolist() == [8, 9]
    assert found.categories["name"].tolist() == labels
    assert found.shapes.box.tolist() == [[1.0, 1.0, 1.0, 1.0]] * 2


SEVERAL = [("crowd", [True]), ("crowd", {"a": 1}), ("area", [4.0]), ("id", [7]), ("label", ["cat"])]


@pytest.mark.parametrize(("name", "value"), SEVERAL)
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_value_of_an_object_is_a_single_one(name: str, value: Any, form: str) -> None:
    said = {"image_id": "i", "label": "cat", "x": 1, "y": 1, "width": 2, "height": 2} | {
        name: value
    }
    path, place = f"gt.{form}", "gt.jsonl:1" if form == "jsonl" else "gt.parquet: row 1"
    if form == "jsonl":
        write(path, said)
    else:
        pq.write_table(pa.Table.from_pylist([said]), path)
    kind = "a list" if isinstance(value, list) else "an object"
    found = error(path, "ground_truth").split("\n")[0]
    assert found == f"{place}: {name}: expected a single value, found {kind}"


def test_an_object_of_typed_columns_without_a_label() -> None:
    sides = {name: [1.0, 1.0] for name in ("x", "y", "width", "height")}
    table = pa.table({"image_id": ["a", "b"], "label": ["cat", None], **sides})
    pq.write_table(table, "gt.parquet")
    expected = "gt.parquet: row 2: label: expected a label, found nothing"
    assert error("gt.parquet", "ground_truth").startswith(expected)
