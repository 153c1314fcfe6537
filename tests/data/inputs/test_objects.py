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

from valor_cli.data.inputs import objects
from valor_cli.data.inputs.objects import FORMATS, format_of, read_objects
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

HINT = objects._HINT
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


def test_folders() -> None:
    write("xml/sub/a.xml", VOC)
    write("xml/classes.txt", "cat")
    assert format_of("xml") == "voc"
    write("both/a.txt", "")
    write("both/a.xml", VOC)
    assert error("both") == (
        f"both: this folder holds both .txt and .xml files: are they yolo or voc?\n{HINT}"
    )
    Path("none").mkdir()
    assert error("none") == "none: this folder is empty"
    write("none/a.md", "")
    assert error("none") == (
        f"none: this folder holds no .txt (yolo), .xml (voc) or .json files (labelme)\n{HINT}"
    )


def test_what_cannot_be_told() -> None:
    write("a.txt", "hello\nworld, and more")
    assert error("a.txt") == f"a.txt: the format cannot be detected from the content\n{HINT}"
    assert error("a.txt", format="jason").startswith("a.txt: there is no format 'jason'")
    assert error("a.txt", format="cocoo") == (
        f"a.txt: there is no format 'cocoo' (did you mean 'coco'?)\n{HINT}"
    )
    assert error("none.dat").startswith("none.dat: no such file")


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


def test_a_glob_is_read_in_sorted_order() -> None:
    other = {"image_id": 2, "objects": [{"label": "dog", "box": [1, 1, 1, 1], "score": 1}]}
    last = {"image_id": 0, "objects": [*LINE["objects"], *other["objects"]]}  # type: ignore[misc]
    write("shards/b.jsonl", other)
    write("shards/a.jsonl.gz", LINE)
    write("shards/deep/c.jsonl", last)
    found = read("shards/**/*.jsonl*")
    assert found.objects["image_id"].tolist() == [1, 2, 0, 0]
    names = found.categories["name"][found.objects["category_id"]].tolist()
    assert names == ["cat", "dog", "cat", "dog"]
    assert found.images["id"].tolist() == [1, 2, 0]
    assert [file.path for file in found.files] == [
        "shards/a.jsonl.gz",
        "shards/b.jsonl",
        "shards/deep/c.jsonl",
    ]
    assert found.path == "shards/**/*.jsonl*"
    assert error("shards/*.csv").startswith("shards/*.csv: no file matches")
    assert error("sh\0/*.csv").startswith("sh\\x00/*.csv: no file matches")


def test_a_file_may_be_named_like_a_glob() -> None:
    write("a[1].csv", TABLE)
    assert len(read("a[1].csv").objects) == 1


def test_skipped_objects_of_all_parts_are_counted() -> None:
    bad = "a,cat,1,2,-3,4,0.5\n"
    write("1.csv", TABLE + bad)
    write("2.csv", TABLE.replace("a,", "b,") + bad + bad)
    found = read("?.csv", invalid="skip")
    assert found.objects.skipped == 3
    assert [(file.rows, file.skipped) for file in found.files] == [(2, 1), (3, 2)]
    assert found.image_names == "text"


def test_coco_results_without_categories_join() -> None:
    write("1.json", RESULTS)
    write("2.json", [])
    write("3.json", [{**RESULTS[0], "image_id": 9}])
    found = read("*.json")
    assert found.categories is None
    assert found.objects["image_id"].tolist() == [1, 9]


def test_coco_ground_truth_keeps_its_category_ids() -> None:
    write("1.json", TRUTH)
    more = {
        "images": [{"id": 2}],
        "annotations": [{"id": 8, "image_id": 2, "category_id": 1, "bbox": [0, 0, 1, 1]}],
        "categories": [{"id": 1, "name": "dog"}, {"id": 3, "name": "cat"}],
    }
    write("2.json", more)
    found = read("?.json", "ground_truth")
    assert found.objects["category_id"].tolist() == [3, 1]
    assert found.objects["id"].tolist() == [1, 8]
    assert dict(zip(found.categories["id"], found.categories["name"], strict=True)) == {
        3: "cat",
        1: "dog",
    }
    assert found.images["id"].tolist() == [1, 2]


def test_what_stands_in_two_parts() -> None:
    write("1.json", TRUTH)
    write("2.json", TRUTH)
    assert error("?.json", "ground_truth") == "2.json: duplicate image 1, also in 1.json"
    second = {**TRUTH, "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2}]}
    write("2.json", second)
    assert error("?.json", "ground_truth") == "2.json: duplicate image 1, also in 1.json"
    ids = [{**TRUTH["annotations"][0], "id": 5}]
    write("1.json", {**TRUTH, "annotations": ids})
    third = {**TRUTH, "images": [{"id": 2}], "annotations": [{**ids[0], "image_id": 2}]}
    write("2.json", third)
    assert error("?.json", "ground_truth") == "2.json: duplicate id 5, also in 1.json"


def test_parts_must_be_alike() -> None:
    write("1.jsonl", LINE)
    write("2.jsonl", {**LINE, "image_id": "b"})
    assert error("?.jsonl") == "2.jsonl: image ids are text here and numbers in 1.jsonl"
    write("1.json", RESULTS)
    write("2.json", {**TRUTH, "annotations": RESULTS})
    assert error("?.json") == (
        "1.json: categories are not named here, and are in 2.json\n"
        "join COCO results lists with results lists alone, or give all of them names"
    )
    write("1.json", [])
    assert len(read("?.json").objects) == 1


def dictionary(image: int, categories: dict[Any, str], *used: Any) -> dict[str, Any]:
    """Detections of one image in a COCO dictionary."""
    return {
        "categories": [{"id": one, "name": name} for one, name in categories.items()],
        "annotations": [
            {"image_id": image, "category_id": one, "bbox": [1, 2, 3, 4], "score": 0.5}
            for one in used
        ],
    }


def labels(found: Any) -> list[str]:
    ids, names = found.categories["id"].tolist(), found.categories["name"].tolist()
    return [dict(zip(ids, names, strict=True))[one] for one in found.objects["category_id"]]


@pytest.mark.parametrize(
    "second",
    [
        {1: "dog", 2: "cat"},
        {5: "dog", 6: "cat"},
        {"d": "dog", "c": "cat"},
    ],
)
def test_labels_of_parts_meet_by_name(second: dict[Any, str]) -> None:
    dog, cat = second
    write("1.json", dictionary(1, {1: "cat", 2: "dog"}, 1, 2))
    write("2.json", dictionary(2, second, dog, cat, cat))
    found = read("?.json")
    assert labels(found) == ["cat", "dog", "dog", "cat", "cat"]
    assert found.categories["name"].tolist() == ["cat", "dog"]
    # Its ids are no longer those of any file.
    assert found.coded
    assert read("1.json").coded is False


def test_labels_of_formats_meet_by_name() -> None:
    write("a.json", dictionary(1, {0: "dog", 1: "cat"}, 0, 1))
    second = {**LINE, "image_id": 2}
    write("b.jsonl", second)
    found = read("[ab].json*")
    assert labels(found) == ["dog", "cat", "cat"]
    assert [found.objects.place_of(row, "x") for row in (1, 2)] == [
        "a.json: annotations[1].x",
        "b.jsonl:1: x",
    ]


def test_categories_of_one_name_in_a_part_stay_apart() -> None:
    write("1.json", dictionary(1, {1: "cat", 2: "cat", 3: "dog"}, 1, 2, 3))
    write("2.json", dictionary(2, {7: "dog"}, 7))
    found = read("?.json")
    assert labels(found) == ["cat", "cat", "dog", "dog"]
    first, second, *dogs = found.objects["category_id"].tolist()
    assert len({first, second, *dogs}) == 3


def test_lists_of_lvis_follow_their_categories() -> None:
    for name, image, ids in (("1", 1, (1, 2)), ("2", 2, (2, 1))):
        one, other = ids
        truth = {
            "images": [{"id": image, "neg_category_ids": [one], "not_exhaustive_category_ids": []}],
            "categories": [
                {"id": one, "name": "cat", "frequency": "r"},
                {"id": other, "name": "dog", "frequency": "f"},
            ],
            "annotations": [
                {"id": image, "image_id": image, "category_id": other, "bbox": [1, 2, 3, 4]}
            ],
        }
        write(f"{name}.json", truth)
    found = read("?.json", "ground_truth", fields=frozenset({"federated"}))
    names = found.categories["name"].tolist()
    number = dict(zip(names, found.categories["id"].tolist(), strict=True))
    assert labels(found) == ["dog", "dog"]
    assert found.images["negative"].tolist() == [[number["cat"]], [number["cat"]]]
    frequency = dict(zip(names, found.categories["frequency"].tolist(), strict=True))
    assert frequency == {"cat": "r", "dog": "f"}


def test_ids_of_files_and_of_tables_are_names() -> None:
    write("1.csv", TABLE)
    write("2.xml", VOC.replace("a.jpg", "b.jpg"))
    assert read("[12].*").image_names == "text"
    write("3.xml", VOC.replace("a.jpg", "c.jpg"))
    assert read("?.xml").image_names == "file"


def test_images_that_a_part_does_not_list_are_those_of_its_objects() -> None:
    more = [{**RESULTS[0], "image_id": one, "category_id": 0} for one in (5, 4, 5)]
    write("a.json", dictionary(4, {0: "dog"}) | {"annotations": more})
    write("b.jsonl", LINE | {"image_id": 4, "width": 8, "height": 6})
    found = read("[ab].json*")
    assert found.images["id"].tolist() == [5, 4]
    assert found.images["width"].tolist() == [0, 8]
    assert found.objects["image_id"].tolist() == [5, 4, 5, 4]


def test_metadata_and_sizes_join() -> None:
    write("1.jsonl", {**LINE, "camera": "x", "width": 4, "height": 3})
    write("2.jsonl", {"image_id": 2, "file_name": "b.jpg", "camera": None})
    found = read("?.jsonl", "ground_truth", metadata=["camera"])
    assert found.metadata == {"camera": ["x", None]}
    assert found.images["width"].tolist() == [4, 0]
    assert found.images["file_name"].tolist() == [None, "b.jpg"]


def test_reading_goes_to_the_readers() -> None:
    text = "bild,label,x,y,width,height,cx,cy,angle\na,cat,1,2,3,4,5,6,7\n"
    path = write("a.csv", text)
    found = read(path, "ground_truth", columns={"image_id": "bild"}, wanted="shape")
    assert found.shapes.kinds == ("rotated_box",)
    write("labels/a.txt", "0 0.5 0.5 1 1\n")
    Path("images").mkdir()
    Image.new("L", (4, 4)).save("images/a.png")
    found = read("labels", "ground_truth", names={0: "cat"}, images="images")
    assert found.categories["name"].tolist() == ["cat"]


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


def test_an_object_of_typed_columns_without_a_label() -> None:
    sides = {name: [1.0, 1.0] for name in ("x", "y", "width", "height")}
    table = pa.table({"image_id": ["a", "b"], "label": ["cat", None], **sides})
    pq.write_table(table, "gt.parquet")
    expected = "gt.parquet: row 2: label: expected a label, found nothing"
    assert error("gt.parquet", "ground_truth").startswith(expected)
