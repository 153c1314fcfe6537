"""Data sets of YOLO as Ultralytics, Roboflow and Label Studio write them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests import program
from valor_cli.data.formats import yolo as reader
from valor_cli.data.formats.yolo_dataset import dataset_file, label_file
from valor_cli.data.inputs.objects import format_of, read_objects
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

BOX = "1 0.5 0.5 0.5 0.5\n"
NAMES = "names: {0: cat, 1: dog}\n"
HINT = "Paths start from `path:`, or from the folder of this file."


def read_yolo(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**how))


def files(**texts: str) -> None:
    """Files by path; an image is made of its width and height."""
    for name, text in texts.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".jpg", ".png"):
            width, height = map(int, text.split("x"))
            Image.new("L", (width, height)).save(path)
        else:
            path.write_text(text)


ULTRALYTICS = {
    "data.yaml": f"path: .\ntrain: images/train\nval: images/val\ntest:\n{NAMES}",
    "images/train/t.jpg": "8x8",
    "labels/train/t.txt": BOX + BOX,
    "images/val/a.jpg": "40x20",
    "images/val/b.jpg": "10x10",
    "images/val/more/c.png": "30x30",
    "labels/val/a.txt": BOX,
    "labels/val/b.txt": "",
}
ROBOFLOW = {
    "data.yaml": "train: ../train/images\nval: ../valid/images\n\nnc: 2\nnames: ['cat', 'dog']\n",
    "README.roboflow.txt": "exported 2026",
    "train/images/t.jpg": "8x8",
    "train/labels/t.txt": BOX + BOX,
    "valid/images/a.jpg": "40x20",
    "valid/labels/a.txt": BOX,
}
LISTED = {
    "coco.yaml": f"path: ../elsewhere/coco\ntrain: train.txt\nval: val.txt\n{NAMES}",
    "val.txt": "./images/val/a.jpg\n\nimages/val/b.jpg\n",
    "images/val/a.jpg": "40x20",
    "images/val/b.jpg": "8x8",
    "labels/val/a.txt": BOX,
}
SEVERAL = {
    "data.yaml": f"val: [one/images, two/images]\n{NAMES}",
    "one/images/a.jpg": "40x20",
    "one/labels/a.txt": BOX,
    "two/images/a.jpg": "8x8",
}
BESIDE = {
    "data.yaml": f"validation: pictures\n{NAMES}",
    "pictures/a.jpg": "40x20",
    "pictures/a.txt": BOX,
}


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (ULTRALYTICS, {"a": 40, "b": 10, "more/c": 30}),
        (ROBOFLOW, {"a": 40}),
        (LISTED, {"a": 40, "b": 8}),
        (SEVERAL, {"one/images/a": 40, "two/images/a": 8}),
        (BESIDE, {"a": 40}),
    ],
)
@pytest.mark.parametrize("by_file", [False, True])
def test_layouts(layout: Mapping[str, str], expected: dict[str, int], by_file: bool) -> None:
    files(**{f"set/{name}": text for name, text in layout.items()})
    path = f"set/{next(iter(layout))}" if by_file else "set"
    assert format_of(path) == "yolo"
    found = read_objects(path, "ground_truth", Reading())
    assert found.images is not None
    ids = found.images["id"].tolist()
    assert dict(zip(ids, found.images["width"].tolist(), strict=True)) == expected
    assert found.objects["image_id"].tolist() == [ids[0]]
    # Centre (20, 10) of 40 x 20, a half of each side.
    assert found.shapes.box.tolist() == [[10, 5, 20, 10]]
    assert found.class_names == {0: "cat", 1: "dog"}
    unlabelled = len(expected) - sum(name.endswith(".txt") for name in layout if "/" in name)
    unlabelled += layout is ULTRALYTICS or layout is ROBOFLOW
    assert [line.partition(": ")[2] for line in found.warnings] == [
        f"val: {unlabelled} image has no label file: treated as images without objects"
    ] * (unlabelled == 1)


def test_a_split_is_chosen() -> None:
    files(**ULTRALYTICS)
    assert len(read_yolo(".", "ground_truth", split="train").objects) == 2
    with pytest.raises(DataError) as caught:
        read_yolo(".", "ground_truth", split="test")
    there = "./data.yaml: this data set has no `test:`; there is: val, train"
    assert str(caught.value) == f"{there}\n{HINT}"
    files(**{"data.yaml": f"train: images/train\n{NAMES}"})
    assert len(read_yolo(".", "ground_truth").objects) == 2
    # The names of a config go before those of the data set.
    found = read_yolo(".", "ground_truth", names=["a", "b"])
    assert found.class_names == {0: "a", 1: "b"}


def test_a_copy_of_the_data_yaml_beside_labels_only_names_the_classes() -> None:
    files(**ULTRALYTICS)
    files(**{"labels/train/data.yaml": ULTRALYTICS["data.yaml"]})
    assert dataset_file("labels/train") is None
    found = read_yolo("labels/train", "ground_truth")
    assert found.objects["image_id"].tolist() == ["t", "t"]


def test_images_beside_labels_say_the_sizes() -> None:
    files(**ULTRALYTICS)
    found = read_yolo("labels/val", "ground_truth")
    assert found.shapes.box.tolist() == [[10, 5, 20, 10]]
    assert (
        found.warnings
        == ["images/val: 1 image has no label file: treated as images without objects"][
            : len(found.warnings)
        ]
    )
    # Label Studio: both in one folder, with the names.
    files(**{"ls/classes.txt": "cat\ndog\n", "ls/images/a.jpg": "40x20", "ls/labels/a.txt": BOX})
    found = read_yolo("ls", "ground_truth")
    assert (found.objects["image_id"].tolist(), found.shapes.box.tolist()) == (
        ["a"],
        [[10, 5, 20, 10]],
    )


@pytest.mark.parametrize(
    ("image", "label"),
    [
        ("images/val/a.jpg", "labels/val/a.txt"),
        ("/d/images/x/images/a.b.png", "/d/images/x/labels/a.b.txt"),
        ("pictures/a.jpg", "pictures/a.txt"),
        ("my_images/a.jpg", "my_images/a.txt"),
    ],
)
def test_the_label_file_of_an_image(image: str, label: str) -> None:
    assert label_file(image) == label


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"data.yaml": f"val: nowhere\n{NAMES}"},
            f"data.yaml:1: val: there is no folder or file 'nowhere'\n{HINT}",
        ),
        (
            {"data.yaml": f"val: /dev/zero\n{NAMES}"},
            f"data.yaml:1: val: there is no folder or file '/dev/zero'\n{HINT}",
        ),
        (
            {"data.yaml": NAMES},
            f"data.yaml: this data set has no `val:` and no `test:` and no `train:`\n{HINT}",
        ),
        (
            {"data.yaml": f"val: labels\n{NAMES}"},
            f"data.yaml:1: val: there are no images in this split\n{HINT}",
        ),
        (
            {"data.yaml": f"val: val.txt\n{NAMES}", "val.txt": "images/val/a.jpg\nx.jpg\n"},
            (
                "val.txt:2: there is no image 'x.jpg'\n"
                "The lines of this file are paths of images, from its folder."
            ),
        ),
        (
            {"data.yaml": f"val: images/val/more\n{NAMES}"},
            (
                "data.yaml:1: val: no image has a label file (the first would be "
                "labels/val/more/c.txt)\nLabels are in a folder `labels` beside the folder "
                "`images`, or beside the images."
            ),
        ),
        (
            {"images/val/a.png": "4x4"},
            "images/val/a.png: there is images/val/a.jpg too; both have one label file",
        ),
        (
            {"data.yaml": f"val: images/val\nkpt_shape: [17, 3]\n{NAMES}"},
            "data.yaml: kpt_shape: the labels of poses are not read\ngive keypoints as COCO JSON",
        ),
        ({"data.yaml": "val: ["}, "data.yaml: not YAML: "),
        (
            {"data.yaml": "val: images/val\nnc: 2\n"},
            "data.yaml: this data set has no `names:` of classes",
        ),
        ({"data.yaml": "val: images/val\nnames: 3\n"}, "data.yaml: expected a list of names"),
        (
            {"labels/val/a.txt": "2 0.5 0.5 1 1\n"},
            "labels/val/a.txt:1: there is no name for class 2 (2 names are known)\n",
        ),
    ],
)
def test_what_is_wrong(changes: dict[str, str], message: str) -> None:
    files(**ULTRALYTICS)
    files(**changes)
    with pytest.raises(DataError) as caught:
        read_yolo("data.yaml", "ground_truth")
    assert str(caught.value).startswith(message)


def test_a_split_is_converted() -> None:
    files(**ULTRALYTICS)
    for arguments, count in ((), 1), (("--split", "train"), 2):
        out = f"{count}.json"
        done = program.run("convert", ".", out, *arguments, cwd=Path.cwd(), environment=os.environ)
        assert f"wrote {count} ground truth" in done.stderr


def predictions(truth: ObjectFile, path: str = "runs/detect/val/labels") -> ObjectFile:
    assert truth.images is not None
    known = KnownImages.of(truth.images, truth.image_names)
    return read_yolo(path, "predictions", class_names=truth.class_names, known=known)


def test_names_and_sizes_of_predictions_are_those_of_the_ground_truth() -> None:
    files(**{f"set/{name}": text for name, text in ULTRALYTICS.items()})
    files(**{"runs/detect/val/labels/a.txt": BOX.replace("\n", " 0.75\n")})
    truth = read_yolo("set", "ground_truth")
    found = predictions(truth)
    assert found.categories is not None
    assert found.categories["name"].tolist() == ["cat", "dog"]
    assert found.shapes.box.tolist() == [[10, 5, 20, 10]]
    # Names of their own go before those.
    files(**{"runs/detect/val/labels/classes.txt": "cow\nsheep\n"})
    assert predictions(truth).class_names == {0: "cow", 1: "sheep"}


def test_predictions_for_other_images() -> None:
    files(**{f"set/{name}": text for name, text in ULTRALYTICS.items()})
    files(**{f"runs/detect/val/labels/x{at}.txt": BOX for at in range(4)})
    with pytest.raises(DataError) as caught:
        predictions(read_yolo("set", "ground_truth"))
    assert str(caught.value) == (
        "runs/detect/val/labels: no label file is named like an image of set (images: 'a.jpg', "
        "'b.jpg', 'more/c.png'; label files: 'x0', 'x1', 'x2', …)\n"
        "Label files are named after their images: give predictions for the same images."
    )
    with pytest.raises(DataError, match="give the folder that --save-txt wrote"):
        read_yolo("set/data.yaml", "predictions")


def test_the_first_try_of_a_real_layout_works() -> None:
    files(**{f"set/{name}": text for name, text in ULTRALYTICS.items()})
    files(
        **{
            "runs/detect/val/labels/a.txt": "1 0.5 0.5 0.5 0.5 0.9\n0 0.1 0.1 0.1 0.1 0.2\n",
            "runs/detect/val/args.yaml": "task: detect\nval: true\n",
            "one.yaml": "task: object_detection\n"
            "data: {ground_truth: set, predictions: runs/detect/val/labels}\n",
            "two.yaml": "task: object_detection\n"
            "data: {ground_truth: set/data.yaml, predictions: runs/detect/val, split: val}\n",
            "wrong.yaml": "task: object_detection\n"
            "data: {ground_truth: set, predictions: runs/detect/val, split: test}\n",
        }
    )
    for config in ("one.yaml", "two.yaml"):
        done = program.run("evaluate", config, cwd=Path.cwd(), environment=os.environ)
        assert done.returncode == 0, done.stderr
        assert "3 images · 1 ground truth " in done.stdout
    done = program.run("evaluate", "wrong.yaml", cwd=Path.cwd(), environment=os.environ)
    assert done.stderr.splitlines() == [
        "error: set/data.yaml: this data set has no `test:`; there is: val, train",
        HINT,
    ]
