"""What a key means in one format it means in all, and no list of objects goes unread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.shapes.objects.names import IMAGE_NAMES, OBJECT_NAMES
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError
from valor_cli.kernels import engine

pytestmark = pytest.mark.usefixtures("in_a_folder")

BOX = [1, 2, 3, 4]
OWN = {"label": "cat", "score": 0.5, "crowd": 1, "area": 7.0, "id": 9}
RING = [[1, 2, 4, 2, 4, 6]]
MASK = {"size": [2, 2], "counts": [1, 3]}


def jsonl(path: str, /, **keys: Any) -> str:
    line = {"image_id": "a", "objects": [{"box": BOX, **keys}]}
    Path(path).write_text(json.dumps(line) + "\n")
    return path


def csv(path: str, /, **cells: Any) -> str:
    cells = {"image_id": "a", **cells, **dict(zip(("x", "y", "width", "height"), BOX, strict=True))}
    Path(path).write_text(",".join(cells) + "\n" + ",".join(map(str, cells.values())) + "\n")
    return path


def coco(path: str, /, **keys: Any) -> str:
    annotation = {"image_id": 1, "category_id": 1, "bbox": BOX, **keys}
    Path(path).write_text(
        json.dumps(
            {
                "images": [{"id": 1, "width": 2, "height": 2}],
                "categories": [{"id": 1, "name": "cat"}],
                "annotations": [annotation],
            }
        )
    )
    return path


def read(path: str, role: Role = "ground_truth", **how: Any) -> ObjectFile:
    return read_objects(path, role, Reading(**how))


def message(path: str, role: Role = "predictions", **how: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, role, **how)
    return str(caught.value)


NAMES = [
    (standard, name)
    for standard, value in OWN.items()
    for alias in (standard, *OBJECT_NAMES[standard])
    for name in (alias, alias.capitalize())
]


@pytest.mark.parametrize("write", [jsonl, csv])
@pytest.mark.parametrize(("standard", "name"), NAMES)
def test_a_name_means_the_same_in_every_format(write: Any, standard: str, name: str) -> None:
    keys = {name if key == standard else key: value for key, value in OWN.items()}
    truth = read(write(f"a.{write.__name__}", **keys))
    assert truth.categories is not None
    assert truth.categories["name"].tolist() == ["cat"]
    assert truth.objects["crowd"].tolist() == [True]
    assert truth.objects["area"].tolist() == [7]
    assert str(truth.objects["id"][0]) == "9"
    found = read(write(f"a.{write.__name__}", **keys), "predictions")
    assert found.objects["score"].tolist() == [0.5]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", ["crowd", *OBJECT_NAMES["crowd"]])
@pytest.mark.parametrize("value", [1, True, 0])
def test_crowds_of_coco(
    name: str, value: Any, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(engine, "compiled", None)
    for wanted in ("box", "shape"):
        found = read(coco("a.json", **{name: value}), wanted=wanted)
        assert found.objects["crowd"].tolist() == [bool(value)]


@pytest.mark.parametrize("name", ["box", "bbox", "BBox"])
def test_boxes_of_jsonl(name: str) -> None:
    line = {"image_id": 1, "objects": [{"label": "cat", name: BOX}]}
    Path("a.jsonl").write_text(json.dumps(line))
    assert read("a.jsonl").shapes.box.tolist() == [BOX]


@pytest.mark.parametrize(
    "shape", [RING, MASK, {"type": "Polygon", "coordinates": [[[1, 2], [4, 2], [4, 6]]]}]
)
@pytest.mark.parametrize("box", [{}, {"box": BOX}])
def test_a_segmentation_is_a_polygon_or_a_mask(shape: Any, box: Any) -> None:
    own = "mask" if shape is MASK else "polygon"
    both = []
    for name in (own, "segmentation"):
        line = {"image_id": 1, "objects": [{"label": "cat", **box, name: shape}]}
        Path("a.jsonl").write_text(json.dumps(line))
        both.append(read("a.jsonl", wanted="shape").shapes)
    assert both[0].kind.tolist() == both[1].kind.tolist() != [0]


def test_shapes_under_jsonls_names_are_not_left_out_of_coco() -> None:
    assert "segmentation" in message(coco("a.json", polygon=RING), "ground_truth", wanted="shape")
    assert len(read(coco("a.json", polygon=RING), wanted="box").objects) == 1


@pytest.mark.parametrize("key", ["objects", *IMAGE_NAMES["objects"], "Objects", "DETECTIONS"])
@pytest.mark.parametrize("more", [{}, {"camera": "x"}, {"tags": ["x"]}])
def test_objects_under_another_key(key: str, more: dict[str, Any]) -> None:
    one = {"category": "cat", "bbox": BOX, "confidence": 0.5, "attributes": {"a": 1}}
    lines = [{"image_id": at, **more, key: [one] * at} for at in range(3)]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    found = read("a.jsonl", "predictions")
    assert found.objects["image_id"].tolist() == [1, 2, 2]
    assert found.shapes.box.tolist() == [BOX] * 3
    truth = read("a.jsonl", metadata=tuple(name for name in more if name == "camera"))
    assert len(truth.objects) == 3


@pytest.mark.parametrize("first", [[], [{"image_id": 0, "objects": []}]])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            {"detection": [{"label": "cat"}]},
            "\"detection\" holds a list (did you mean 'detections'?)",
        ),
        ({"boxes": [BOX], "labels": ["cat"], "scores": [1]}, '"boxes" holds a list'),
        ({"preds": {"boxes": [BOX]}}, '"preds" holds a list'),
        (
            {"objects": [], "predictions": [{"label": "cat"}]},
            '"predictions" holds a list of objects, which is not read beside "objects"',
        ),
        ({"objects": [], "Objects": [{"label": "cat"}]}, 'not read beside "objects"'),
        ({"objects": [], "others": [{"label": "cat"}]}, 'not read beside "objects"'),
    ],
)
def test_no_list_of_objects_goes_unread(first: list[Any], line: Any, expected: str) -> None:
    lines = [*first, {"image_id": 1, **line}]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    found = message("a.jsonl")
    assert found.startswith(f"a.jsonl:{len(lines)}: ")
    assert expected in found


@pytest.mark.parametrize("line", [{}, {"objects": []}, {"camera": "x"}, {"metadata": {"a": [1]}}])
def test_an_image_without_objects(line: Any) -> None:
    Path("a.jsonl").write_text(json.dumps({"image_id": 1, **line}))
    found = read("a.jsonl")
    assert not len(found.objects)
    assert found.images is not None
    assert found.images["id"].tolist() == [1]


def test_sizes_have_the_names_of_csv() -> None:
    Path("a.jsonl").write_text('{"filename": "b", "image_width": 5, "image_height": 6}')
    images = read("a.jsonl").images
    assert images is not None
    assert images["id"].tolist() == ["b"]
    assert (images["width"].tolist(), images["height"].tolist()) == ([5], [6])


def test_two_names_in_one_file() -> None:
    """What some objects say under one name and some under another is read of all."""
    objects = [{"label": "cat", "box": BOX, key: 1} for key in ("crowd", "iscrowd", "is_crowd")]
    lines = [{"image_id": at, "objects": [one]} for at, one in enumerate(objects)]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert read("a.jsonl").objects["crowd"].tolist() == [True] * 3


def test_an_object_of_voc_under_another_name() -> None:
    one = "<Object><name>cat</name><bndbox/></Object>"
    Path("a.xml").write_text(f"<annotation><filename>a.jpg</filename>\n{one}</annotation>")
    expected = "a.xml:2: Object: <Object> holds an object that is not read: objects are <object>"
    assert message("a.xml", "ground_truth") == expected
