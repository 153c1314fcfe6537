"""Files of several formats meet: images by one scheme, labels by name, sizes from the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.metric import Selection

BOXES = ((2, 2, 10, 10), (20, 2, 10, 10), (2, 15, 10, 10))
"""A box per image, each at another place."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, content: Any) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def truth(files: list[str | None], **sizes: int) -> str:
    """COCO ids from 1; each image has its own of `BOXES`."""
    images = [{"id": at, "file_name": name, **sizes} for at, name in enumerate(files, 1)]
    boxes = zip(range(1, len(files) + 1), BOXES, strict=False)
    document = {
        "images": images,
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": at, "image_id": at, "category_id": 1, "bbox": list(box)} for at, box in boxes
        ],
    }
    return write("gt.json", document)


def load(ground_truth: str, predictions: str, **data: Any) -> DetectionDataset:
    inputs = DetectionInputs(ground_truth=ground_truth, predictions=predictions, **data)
    loaded = load_detections(inputs, DetectionOptions(), Selection())
    return next(iter(loaded.datasets.values()))


def error(ground_truth: str, predictions: str, **data: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(ground_truth, predictions, **data)
    return str(caught.value)


def fits(dataset: DetectionDataset) -> bool:
    """Whether every detection is on its image: it lies where the object of the image does."""
    boxes = dataset.detections.shapes.box.round(9).tolist()
    return all(
        tuple(box) == BOXES[image]
        for box, image in zip(boxes, dataset.detections.image.tolist(), strict=True)
    )


def csv(names: list[str]) -> str:
    rows = [
        f"{name},cat,{x},{y},{width},{height},0.9"
        for name, (x, y, width, height) in zip(names, BOXES, strict=False)
    ]
    return write("dt.csv", "\n".join(["image_id,label,x,y,width,height,score", *rows, ""]))


def voc(names: list[str]) -> str:
    for name, (x, y, width, height) in zip(names, BOXES, strict=False):
        corners = {"xmin": x, "ymin": y, "xmax": x + width, "ymax": y + height}
        sides = "".join(f"<{key}>{value}</{key}>" for key, value in corners.items())
        thing = f"<object><name>cat</name><score>1</score><bndbox>{sides}</bndbox></object>"
        text = f"<annotation><filename>{name}</filename>{thing}</annotation>"
        write(f"voc/{name}.xml", text)
    return "voc"


def yolo(names: list[str], width: int, height: int) -> str:
    for name, (x, y, w, h) in zip(names, BOXES, strict=False):
        sides = ((x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
        write(f"yolo/{name}.txt", f"0 {' '.join(map(repr, sides))} 0.9\n")
    write("yolo/classes.txt", "cat\n")
    return "yolo"


def test_files_that_count_from_0_beside_ids_from_1() -> None:
    """Read as ids, "1" and "2" would be the images before theirs."""
    names = ["0", "1", "2"]
    gt = truth([f"{name}.jpg" for name in names], width=40, height=30)
    predictions = [csv(names), voc([f"{name}.jpg" for name in names]), yolo(names, 40, 30)]
    for found in predictions:
        dataset = load(gt, found)
        assert dataset.detections.image.tolist() == [0, 1, 2]
        assert fits(dataset)


def test_an_id_is_not_taken_from_the_end_of_a_path() -> None:
    gt = truth(["train/1.jpg", "val/1.jpg"])
    write("dt.csv", "image_id,label,x,y,width,height,score\nval/1.jpg,cat,20,2,10,10,0.9\n")
    assert fits(load(gt, "dt.csv"))
    assert load(gt, "dt.csv").detections.image.tolist() == [1]
    write("dt.csv", "image_id,label,x,y,width,height,score\nx/1.png,cat,20,2,10,10,0.9\n")
    assert error(gt, "dt.csv").startswith(
        "dt.csv:2: image_id: two images are named '1' in gt.json: 'train/1.jpg' and 'val/1.jpg'\n"
    )


def test_a_file_name_as_an_id_meets_files() -> None:
    rows = [f"{name}.jpg,cat,{x},{y},{w},{h}" for name, (x, y, w, h) in zip("abc", BOXES, strict=1)]
    gt = write("gt.csv", "\n".join(["image_id,label,x,y,width,height", *rows, ""]))
    assert fits(load(gt, voc(["a.jpg", "b.jpg", "c.jpg"])))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "voc", "yolo"])
def test_ids_without_names_need_a_truth_with_ids_of_its_own(kind: str) -> None:
    box = [2, 2, 10, 10]
    write("gt.jsonl", {"image_id": 1, "objects": [{"label": "cat", "box": box}]})
    write("gt.csv", "image_id,label,x,y,width,height\n1,cat,2,2,10,10\n")
    results = [{"image_id": "0.jpg", "category_id": 0, "bbox": box, "score": 0.9}]
    paths = {"jsonl": "gt.jsonl", "csv": "gt.csv"}
    if kind == "voc":
        paths["voc"] = voc(["0.jpg"])
    if kind == "yolo":
        write("labels/0.txt", "")
        write("labels/classes.txt", "cat\n")
        paths["yolo"] = "labels"
    found = error(paths[kind], write("dt.json", results))
    assert found == (
        f"dt.json: its category ids mean nothing to {paths[kind]}, which names its labels\n"
        "give predictions with names (a COCO dictionary with categories, JSONL, CSV, …), or the "
        "COCO ground truth"
    )


def test_an_empty_list_of_results_has_nothing_to_name() -> None:
    write("gt.jsonl", {"image_id": 1, "objects": [{"label": "cat", "box": [2, 2, 10, 10]}]})
    assert len(load("gt.jsonl", write("dt.json", [])).detections.score) == 0


def test_a_class_that_the_truth_lacks_is_no_mix_up() -> None:
    """YOLO's class 1 and the category 1 of COCO have nothing to do with each other."""
    gt = truth(["a.jpg"], width=40, height=30)
    yolo(["a"], 40, 30)
    write("yolo/classes.txt", "cat\ndog\n")
    write("yolo/a.txt", "1 0.5 0.5 0.5 0.5 0.9\n")
    assert load(gt, "yolo").labels == ("cat", "dog")


def test_places_name_the_file_and_the_line() -> None:
    gt = truth(["a.jpg", "b.jpg", "c.jpg"])
    lines = [{"image_id": name, "objects": []} for name in "abc"]
    lines.append({"image_id": "x", "objects": [{"label": "cat", "box": [1, 1, 1, 1], "score": 1}]})
    write("s/1.jsonl", lines[0])
    write("s/2.jsonl", "\n".join(map(json.dumps, lines[1:])))
    assert error(gt, "s/*.jsonl").startswith(
        "s/2.jsonl:3: image_id: no image 'x' in gt.json\nCheck that both files belong together."
    )
    voc(["a.jpg"])
    write("voc/z.xml", Path("voc/a.jpg.xml").read_text().replace("a.jpg", "z.jpg"))
    assert error(gt, "voc").startswith("voc/z.xml:1: image_id: no image 'z' in gt.json\n")


def test_metadata_of_a_list_is_placed_as_other_faults_of_it() -> None:
    rows = [{"image_id": 1, "camera": "x"}, {"image_id": 2, "camera": ["y"], "objects": []}]
    write("gt.json", rows)
    inputs = DetectionInputs(
        ground_truth="gt.json", predictions=write("dt.json", rows[:1]), format="json"
    )
    with pytest.raises(DataError) as caught:
        load_detections(inputs, DetectionOptions(), Selection(metadata=("camera",)))
    assert str(caught.value) == "gt.json: [1].camera: expected a single value, found a list"


def test_metadata_of_lines_is_found_by_line() -> None:
    lines = [{"image_id": 1, "camera": "x"}, {"image_id": 2, "camera": ["y"], "objects": []}]
    write("gt.jsonl", "\n" + "\n".join(map(json.dumps, lines)))
    inputs = DetectionInputs(ground_truth="gt.jsonl", predictions=write("dt.jsonl", lines[0]))
    with pytest.raises(DataError) as caught:
        load_detections(inputs, DetectionOptions(), Selection(metadata=("camera",)))
    assert str(caught.value) == "gt.jsonl:3: camera: expected a single value, found a list"
    with pytest.raises(DataError, match=r"^gt\.jsonl: no image has the metadata 'lens'"):
        load_detections(inputs, DetectionOptions(), Selection(metadata=("lens",)))


@pytest.mark.parametrize(
    ("ground_truth", "predictions"), [("-", "-"), ("gt.json", {"a": "-", "b": "-"})]
)
def test_standard_input_is_one_file(ground_truth: str, predictions: Any) -> None:
    with pytest.raises(ValidationError, match=r"standard input \(-\) can be one input only"):
        DetectionInputs(ground_truth=ground_truth, predictions=predictions)


def test_one_label_has_one_frequency() -> None:
    images = [{"id": 1, "neg_category_ids": [], "not_exhaustive_category_ids": []}]
    document = {
        "images": images,
        "categories": [
            {"id": one, "name": name, "frequency": frequency}
            for one, name, frequency in ((1, "cat", "r"), (2, "dog", "f"), (3, "cow", "r"))
        ],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}],
    }
    inputs = DetectionInputs(
        ground_truth=write("gt.json", document), predictions=write("dt.json", [])
    )
    needs = frozenset({"federated"})

    def merged(*names: str) -> Selection:
        return Selection(label_map=dict.fromkeys(names, "animal"), needs=needs)

    with pytest.raises(DataError) as caught:
        load_detections(inputs, DetectionOptions(), merged("cat", "dog"))
    assert str(caught.value) == (
        "label_map: 'cat' (frequency r) and 'dog' (frequency f) become 'animal'\n"
        "merge labels of one frequency, or leave out lvis"
    )
    loaded = load_detections(inputs, DetectionOptions(), merged("cat", "cow"))
    (dataset,) = loaded.datasets.values()
    assert dataset.federation is not None
    assert (dataset.labels, dataset.federation.frequency) == (("animal",), ("r",))
    for category in document["categories"]:
        del category["frequency"]
    write("gt.json", document)
    with pytest.raises(DataError, match=r"gt\.json: categories: no frequency, which lvis needs"):
        load_detections(inputs, DetectionOptions(), merged("cat", "cow"))


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"category_id": 0}, "All category ids would be in the ground truth if they were one more"),
        ({"category_id": 2}, "All category ids would be in the ground truth if they were one less"),
        ({"category_id": "cat"}, "These are names of categories: write the category ids"),
        ({"image_id": 0}, "All image ids would be in the ground truth if they were one more"),
        ({"category_id": 9}, "gt.json\nCheck that both files belong together."),
    ],
)
def test_what_explains_unknown_ids(ids: dict[str, Any], expected: str) -> None:
    detection = {"image_id": 1, "category_id": 1, "bbox": [2, 2, 10, 10], "score": 0.5, **ids}
    assert expected in error(truth([None, None]), write("dt.json", [detection]))
