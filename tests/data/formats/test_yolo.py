"""Folders of YOLO labels: what is read, and what is said of what cannot be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from valor_cli.data.formats import yolo as reader
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.table import Table
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."
SIZES = (
    "YOLO labels are in units of the image: name the folder of the image files as `images:` "
    "under `data:`."
)


def read_yolo(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**how))


def folder(labels: dict[str, str], sizes: dict[str, tuple[int, int]] | None = None) -> str:
    """Label files, and images of (width, height)."""
    for name, text in labels.items():
        path = Path("labels") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    for name, size in (sizes or {}).items():
        path = Path("images") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size).save(path)
    return "labels"


def error(role: Any = "ground_truth", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_yolo("labels", role, **{"names": ["cat", "dog"], "images": "images", **options})
    return str(caught.value)


def test_boxes_are_in_pixels() -> None:
    folder(
        {"a.txt": "1 0.5 0.5 0.25 0.5\r\n0 0.5 0.25 1 0.5 0.75\n\n", "b.txt": "", "c.txt": "\n"},
        {"a.jpg": (640, 480), "b.PNG": (32, 16), "c.jpeg": (8, 8)},
    )
    found = read_yolo("labels", "ground_truth", names=["cat", "dog"], images="images")
    # 1: centre (320, 240), 160 x 240. 0: centre (320, 120), 640 x 240.
    assert found.shapes.box.tolist() == [[240, 120, 160, 240], [0, 0, 640, 240]]
    assert found.objects["category_id"].tolist() == [1, 0]
    assert found.objects["image_id"].tolist() == ["a", "a"]
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b", "c"]
    assert found.images["width"].tolist() == [640, 32, 8]
    assert found.images["height"].tolist() == [480, 16, 8]
    assert found.images["file_name"].tolist() == ["a.jpg", "b.PNG", "c.jpeg"]
    assert found.categories is not None
    assert found.categories["id"].tolist() == [0, 1]
    assert found.categories["name"].tolist() == ["cat", "dog"]
    assert found.image_names == "file"
    assert found.coded
    assert found.warnings == []


def test_one_record_for_the_folder() -> None:
    folder({"b.txt": "0 0.5 0.5 1 1\n", "a.txt": ""}, {"a.png": (8, 8), "b.png": (8, 8)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in (("a.txt", b""), ("b.txt", b"0 0.5 0.5 1 1\n"))
    ]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert [(file.path, file.sha256, file.rows) for file in found.files] == [("labels", digest, 1)]


def test_predictions_end_with_their_score() -> None:
    polygon = "0 0 0 0.5 0 0.5 0.5 0.3\n"
    corners = "1 0 0 1 0 1 1 0 1 0.25\n"
    folder({"a.txt": "0 0.5 0.5 1 1 0.9\n" + polygon + corners}, {"a.png": (10, 20)})
    found = read_yolo("labels", "predictions", names={0: "cat", 1: "dog"}, images="images")
    assert found.objects["score"].tolist() == [0.9, 0.3, 0.25]
    assert found.shapes.kinds == ("box", "polygon")
    points = [[0, 0], [5, 0], [5, 10], [0, 0], [10, 0], [10, 20], [0, 20]]
    assert found.shapes.polygon.points.tolist() == points
    assert found.shapes.polygon.objects.tolist() == [0, 1, 2]


def test_polygons_of_ground_truth_may_be_closed() -> None:
    folder({"a.txt": "0 0 0 1 0 1 1 0 0\n"}, {"a.png": (2, 2)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    assert found.shapes.polygon.points.tolist() == [[0, 0], [2, 0], [2, 2]]


def test_sub_folders_go_together() -> None:
    folder(
        {"val/a.txt": "0 0.5 0.5 1 1\n", "train/a.txt": "0 0.5 0.5 1 1\n"},
        {"val/a.png": (2, 2), "train/a.png": (4, 4), "test/z.png": (4, 4)},
    )
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    assert found.objects["image_id"].tolist() == ["train/a", "val/a"]
    assert found.shapes.box[:, 2].tolist() == [4, 2]


def test_images_without_label_file_are_images_without_objects() -> None:
    folder({"a.txt": ""}, {"a.png": (2, 2), "b.png": (4, 6)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b"]
    assert found.images["height"].tolist() == [2, 6]
    assert found.warnings == [
        "images: 1 image has no label file: treated as images without objects"
    ]
    predicted = read_yolo("labels", "predictions", names=["cat"], images="images")
    assert predicted.images is not None
    assert len(predicted.images) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels/classes.txt", "cat\r\ndog\n\n"),
        ("classes.txt", "cat\ndog"),
        ("data.yaml", "path: .\nnames: [cat, dog]\n"),
        ("data.yaml", "names:\n  0: cat\n  1: dog\n"),
    ],
)
def test_names_stand_beside_the_labels(name: str, text: str) -> None:
    folder({"a.txt": "1 0.5 0.5 1 1\n"}, {"a.png": (2, 2)})
    Path(name).write_text(text)
    found = read_yolo("labels", "ground_truth", images="images")
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat", "dog"]
    assert len(found.objects) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("classes.txt", "cat\n\ndog\n", "classes.txt:2: expected a name"),
        ("classes.txt", "\n", "classes.txt: there are no names"),
        ("data.yaml", "names: 3", "data.yaml: expected a list of names or a map from index to"),
        ("data.yaml", "names: {a: cat}", "data.yaml:1: expected an index of 0 or more, found"),
        ("data.yaml", "names: [", "data.yaml: not YAML: "),
    ],
)
def test_names_that_cannot_be_read(name: str, text: str, message: str) -> None:
    folder({"a.txt": ""})
    Path(name).write_text(text)
    found = error(names=())
    assert message in found
    assert found.startswith(str(Path.cwd()))


def test_names_must_be_known() -> None:
    folder({"a.txt": ""})
    assert error(names=()).startswith(
        "labels: the names of the classes are not known\nGive the names as `names:` under `data:`"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 0.5 0.5 1 1", ": there is no name for class 2 (2 names are known)"),
        ("-1 0.5 0.5 1 1", ": expected a class of 0, 1, 2, …, found -1"),
        ("0.5 0.5 0.5 1 1", ": expected a class of 0, 1, 2, …, found 0.5"),
        ("cat 0.5 0.5 1 1", ': field 1: expected a finite number, found the string "cat"'),
        ("0 0.5 nan 1 1", ': field 3: expected a finite number, found the string "nan"'),
        ("0 0.5 1_0 1 1", ': field 3: expected a finite number, found the string "1_0"'),
        ("0 0.5 \u0663 1 1", ': field 3: expected a finite number, found the string "\u0663"'),
        ("0 0.5 0.5 -1 1", ": expected a width of 0 or more, found -1.0"),
        ("0 0.5 0.5 1 -1", ": expected a height of 0 or more, found -1.0"),
        ("0 1e300 0.5 1 1", ": expected fractions of the image, found 1e+300 (pixels?)"),
        ("0 0 0 1 1 0 0", ": expected a polygon of at least 3 points, found 2"),
        (
            "0 0.5 0.5 1",
            (
                ": expected a class and cx, cy, width, height, or a class and x, y, x, y, … of a "
                "polygon, found a class and 3 numbers"
            ),
        ),
    ],
)
def test_a_wrong_line(line: str, message: str) -> None:
    good = "0 0.5 0.5 1 1\n"
    folder({"a.txt": good, "b.txt": good + line + "\n" + good}, {"a.png": (2, 2), "b.png": (2, 2)})
    assert error() == f"labels/b.txt:2{message}\n{SKIP}"
    found = read_yolo(
        "labels", "ground_truth", names=["cat", "dog"], images="images", invalid="skip"
    )
    assert len(found.objects) == 3
    assert (found.files[0].rows, found.files[0].skipped, found.objects.skipped) == (4, 1, 1)


def test_predictions_without_scores() -> None:
    folder({"a.txt": "0 0.5 0.5 1 1\n"}, {"a.png": (2, 2)})
    assert error("predictions") == (
        "labels/a.txt:1: expected a class, cx, cy, width, height and a score, or a class, x, y, "
        "x, y, … of a polygon and a score, found a class and 4 numbers: the score is missing; "
        f"predict with save_conf=True\n{SKIP}"
    )


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_sizes_must_be_known(invalid: str) -> None:
    folder({"a.txt": "0 0.5 0.5 1 1\n", "b.txt": ""})
    assert error(images=None, invalid=invalid) == (
        f"labels/a.txt: the size of its image is not known\n{SIZES}"
    )
    Path("images").mkdir()
    assert error(invalid=invalid) == (
        "labels/a.txt: the size of its image is not known: there is no image 'a.*' in images\n"
        + SIZES
    )
    Path("images/a.png").write_text("no image")
    assert error(invalid=invalid) == (
        "labels/a.txt: the size of its image is not known "
        f"(images/a.png: not a readable image)\n{SIZES}"
    )
    assert error(images="pictures") == (
        "images: pictures: no such folder\nname the folder that holds the image files"
    )


def test_sizes_of_the_ground_truth_go_before_those_of_files() -> None:
    folder({"a.txt": "0 0.5 0.5 0.5 1 0.9\n", "b.txt": "0 0.5 0.5 0.5 1 0.9\n"})
    images = Table(
        "gt.json",
        {
            "id": np.array([7, 8]),
            "file_name": np.array(["x/b.jpg", "x/a.jpg"], object),
            "width": np.array([40, 0]),
            "height": np.array([20, 30]),
        },
    )
    known = KnownImages.of(images, "typed")
    assert error("predictions", images=None, known=known).startswith(
        "labels/a.txt: the size of its image is not known\n"
    )
    Path("images").mkdir()
    Image.new("L", (100, 60)).save("images/a.png")
    Image.new("L", (100, 60)).save("images/b.png")
    found = read_yolo("labels", "predictions", names=["cat"], images="images", known=known)
    # a: 100 x 60 of its file; b: 40 x 20 of the ground truth.
    assert found.shapes.box.tolist() == [[25, 0, 50, 60], [10, 0, 20, 20]]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("0 20 0.5 0.1 0.1", "20"),
        ("0 0.5 -1.5 0.1 0.1", "-1.5"),
        ("0 0.5 0.5 2.5 0.1", "2.5"),
        ("0 0.5 0.5 320 240", "320"),
        ("0 10 10 20 10 20 20", "10"),
    ],
)
def test_pixels_are_no_fractions(line: str, found: str) -> None:
    folder({"a.txt": line + "\n"}, {"a.png": (8, 8)})
    message = f"labels/a.txt:1: expected fractions of the image, found {found} (pixels?)"
    assert error().startswith(message)


def test_a_box_may_reach_over_the_edges() -> None:
    folder({"a.txt": "0 -0.5 1.5 2 0\n"}, {"a.png": (10, 10)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    assert found.shapes.box.tolist() == [[-15, 15, 20, 0]]


def test_a_row_names_its_own_file() -> None:
    folder({"a.txt": "", "b.txt": "\n0 0.5 0.5 1 1\n"}, {"a.png": (8, 8), "b.png": (8, 8)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    assert found.objects.place_of(0, "image_id") == "labels/b.txt:2: image_id"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("names: {0: cat, 1: dog, 0: bird}", "data.yaml:1: duplicate index 0"),
        ("names: [cat]\nnc: 1\nnames: [dog]", "data.yaml:3: names: duplicate key"),
    ],
)
def test_a_key_of_names_that_stands_twice(text: str, message: str) -> None:
    folder({"a.txt": ""})
    Path("data.yaml").write_text(text)
    assert message in error(names=())


def test_files_without_objects_need_no_sizes() -> None:
    folder({"a.txt": "", "b.txt": "\n"})
    found = read_yolo("labels", "ground_truth", names=["cat"])
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b"]
    assert set(found.images.columns) == {"id"}
    assert len(found.objects) == 0


def test_a_folder_without_labels_is_an_error() -> None:
    Path("labels").mkdir()
    Path("labels/classes.txt").write_text("cat")
    assert error() == "labels: there are no label files (.txt) in this folder"
    assert error(metadata=["camera"]).startswith(
        "labels: this format has no image metadata, so no 'camera'"
    )


def test_many_boxes_against_the_formula() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.random((50, 4))
    text = "\n".join("0 " + " ".join(map(repr, row)) for row in numbers.tolist())
    folder({"a.txt": text}, {"a.png": (640, 427)})
    found = read_yolo("labels", "ground_truth", names=["cat"], images="images")
    cx, cy, width, height = numbers.T
    expected = np.column_stack(
        [(cx - width / 2) * 640, (cy - height / 2) * 427, width * 640, height * 427]
    )
    np.testing.assert_array_equal(found.shapes.box, expected)
