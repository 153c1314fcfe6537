"""KITTI, DOTA, LabelMe, CVAT, Open Images, Label Studio: as tools write them, and faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from valor_cli.data.conversion.formats import FORMATS
from valor_cli.data.inputs.objects import format_of, read_objects
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.metric import Selection
from valor_cli.pipeline.convert import Conversion, convert

pytestmark = pytest.mark.usefixtures("in_a_folder")

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."

CAR = "Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59"
CYCLIST = "Cyclist 0.00 3 -1.65 676.60 163.95 688.98 193.93 1.86 0.60 2.02 4.59 1.32 45.84 -1.55"
DONT_CARE = "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10"

PLANE = "2753 2408 2861 2385 2888 2468 2805 2502 plane 0"
SHIP = "937 913 921 912 923 874 940 875 small-vehicle 1"
DOTA = f"imagesource:GoogleEarth\ngsd:0.146343590398\n{PLANE}\n{SHIP}\n"

CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><name>street</name><labels><label><name>car</name></label></labels></task></meta>
  <image id="0" name="day/a.jpg" width="640" height="480">
    <box label="car" source="manual" occluded="0" xtl="10.50" ytl="20.00" xbr="30.50" ybr="60.00"
      z_order="0">
      <attribute name="colour">red</attribute>
    </box>
    <polygon label="person" source="manual" occluded="0" points="1.00,2.00;5.00,2.00;5.00,9.50"
      z_order="0">
    </polygon>
    <tag label="sunny" source="manual"></tag>
  </image>
  <image id="1" name="night/a.jpg" width="640" height="480">
    <box label="car" occluded="0" xtl="10" ytl="20" xbr="30" ybr="60" z_order="0" rotation="30.0">
    </box>
  </image>
</annotations>
"""


def put(name: str, content: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def shape(label: str, points: Any, kind: str = "polygon", group: Any = None) -> dict[str, Any]:
    return {
        "label": label,
        "points": points,
        "group_id": group,
        "description": "",
        "shape_type": kind,
        "flags": {},
    }


def labelme(*shapes: Any, **changes: Any) -> str:
    document = {
        "version": "5.4.1",
        "flags": {},
        "shapes": list(shapes),
        "imagePath": "..\\pictures\\a.jpg",
        "imageData": None,
        "imageHeight": 480,
        "imageWidth": 640,
    }
    return json.dumps(document | changes)


def read(path: str, role: Role = "ground_truth", **options: Any) -> ObjectFile:
    return read_objects(path, role, Reading(wanted="shape", **options))


def labels(found: ObjectFile) -> list[tuple[str, str]]:
    """Image and label of each object."""
    assert found.categories is not None
    names = found.categories["name"][found.objects["category_id"]].tolist()
    return list(zip(found.objects["image_id"].tolist(), names, strict=True))


def test_kitti() -> None:
    put("label_2/000001.txt", f"{CAR}\n{CYCLIST}\n{DONT_CARE}\n")
    put("label_2/000000.txt", "")
    assert format_of("label_2") == "kitti"
    found = read("label_2")
    assert labels(found) == [("000001", "Car"), ("000001", "Cyclist")]
    np.testing.assert_allclose(found.shapes.box[0], [587.01, 173.33, 27.11, 26.79])
    assert found.images is not None
    assert found.images["id"].tolist() == ["000000", "000001"]
    assert found.warnings == [
        "label_2: regions marked DontCare are left out, and detections in them count: 1"
    ]
    assert found.objects.place_of(1, "score") == "label_2/000001.txt:2: score"
    put("results/000001.txt", f"{CAR} 0.95\n")
    assert read("results", "predictions").objects["score"].tolist() == [0.95]


def test_dota() -> None:
    put("labelTxt/P0001.txt", DOTA)
    assert format_of("labelTxt") == "dota"
    found = read("labelTxt")
    assert labels(found) == [("P0001", "plane"), ("P0001", "small-vehicle")]
    assert found.shapes.kinds == ("polygon",)
    assert found.shapes.polygon.points[:4].tolist() == [
        [2753, 2408],
        [2861, 2385],
        [2888, 2468],
        [2805, 2502],
    ]
    assert found.objects["difficult"].tolist() == [False, True]
    # Without the two lines at the top, and without the last column.
    put("short/P1.txt", PLANE.removesuffix(" 0"))
    assert format_of("short") == "dota"
    assert len(read("short").objects) == 1


def test_results_of_dota() -> None:
    put("Task1/Task1_plane.txt", "P0002 0.75 0 0 10 0 10 5 0 5\nP0001 0.5 1 1 4 1 4 4 1 4\n")
    put("Task1/Task1_storage-tank.txt", "P0001 0.25 2 2 6 2 6 6 2 6\n")
    assert format_of("Task1") == "dota"
    found = read("Task1", "predictions")
    assert labels(found) == [("P0002", "plane"), ("P0001", "plane"), ("P0001", "storage-tank")]
    assert found.objects["score"].tolist() == [0.75, 0.5, 0.25]
    assert found.shapes.polygon.points[:4].tolist() == [[0, 0], [10, 0], [10, 5], [0, 5]]
    assert found.objects.place_of(2) == "Task1/Task1_storage-tank.txt:1"
    # Upright boxes by two corners.
    put("Task2/Task2_plane.txt", "P1 0.5 1 2 4 8\n")
    assert read("Task2", "predictions").shapes.polygon.points.tolist() == [
        [1, 2], [4, 2], [4, 8], [1, 8]
    ]  # fmt: skip


def result(kind: str, labels: Any, score: Any = None, **value: Any) -> dict[str, Any]:
    size = {"original_width": 200, "original_height": 100}
    value = {**value, kind: labels}
    return {"type": kind, "value": value, **size, **({} if score is None else {"score": score})}


CAT = result("rectanglelabels", ["cat"], x=10, y=20, width=30, height=40, rotation=0)
TURNED = result("rectanglelabels", ["cat"], x=50, y=20, width=10, height=40, rotation=90)
OUTLINE = result("polygonlabels", ["dog"], points=[[0, 0], [50, 0], [50, 100]])
SUNNY = {"type": "choices", "value": {"choices": ["sunny"]}}


def tasks(*results: Any, predicted: Any = (), **more: Any) -> str:
    annotations = [
        {"was_cancelled": True, "result": [OUTLINE]},
        {"result": [OUTLINE]},
        {"ground_truth": True, "result": list(results)},
    ]
    predictions = [{"score": 0.25, "result": list(predicted)}]
    first = {"data": {"image": "/data/upload/1/a.jpg"}, "annotations": annotations}
    second = {"data": {"image": "/data/local-files/?d=day/b.png"}, "annotations": []}
    return json.dumps([{**first, "predictions": predictions, **more}, second])


def test_label_studio() -> None:
    put("a.json", tasks(CAT, TURNED, OUTLINE, SUNNY, predicted=[{**CAT, "score": 0.5}, CAT]))
    assert format_of("a.json") == "label_studio"
    found = read("a.json")
    assert labels(found) == [("a", "cat"), ("a", "cat"), ("a", "dog")]
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b"]
    assert found.images["width"].tolist() == [200, 0]
    # In percent of 200 x 100 pixels.
    assert found.shapes.box.tolist() == [[20, 20, 60, 40]]
    # 20 wide and 40 high, turned about 100, 20 by a quarter: from 60 to 100, and from 20 to 40.
    np.testing.assert_allclose(found.shapes.rotated_box, [[80, 30, 20, 40, 90]])
    assert found.shapes.polygon.points.tolist() == [[0, 0], [100, 0], [100, 100]]
    assert found.objects.place_of(0) == "a.json: [0]"
    assert found.files[0].rows == 3
    predicted = read("a.json", "predictions")
    assert predicted.objects["score"].tolist() == [0.5, 0.25]
    done = convert(Conversion("a.json", "out.jsonl", geometry="box"))
    assert "3 ground truths of 2 images" in done.summary


def test_label_studio_with_values_alone() -> None:
    value = {**CAT["value"], "original_width": 200, "original_height": 100}
    put("a.json", json.dumps([{"image": "/data/upload/1/a.jpg", "id": 1, "label": [value]}]))
    found = read("a.json")
    assert labels(found) == [("a", "cat")]
    assert found.shapes.box.tolist() == [[20, 20, 60, 40]]


def of_cat(kind: str = "rectanglelabels", labels: Any = ("cat",), **value: Any) -> str:
    return tasks(result(kind, list(labels), **value))


RESULT = "[0].annotations[2].result[0]."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "expected a list of tasks, found an object"),
        ("[3]", '[0]: expected a task with an image under "data", found 3'),
        (
            of_cat("brushlabels", rle=[1]),
            RESULT + "type: expected rectanglelabels or polygonlabels, found the string "
            '"brushlabels"',
        ),
        (
            of_cat(labels=[], x=1, y=1, width=1, height=1),
            RESULT + "value.rectanglelabels: expected a list of labels, found an empty list",
        ),
        (of_cat(x=1, y=1, width=1), RESULT + "value.height: expected a number, found null"),
        (
            of_cat("polygonlabels", points=[[1, 2], [3]]),
            RESULT + "value.points[1]: expected a number, found a list",
        ),
        (
            tasks({**CAT, "original_width": None}),
            RESULT + "original_width: expected a whole number from 1 to 1,048,576, found null",
        ),
        (tasks(annotations=3), "[0].annotations: expected a list, found 3"),
    ],
)
def test_a_wrong_file_of_label_studio(content: str, message: str) -> None:
    put("a.json", content)
    with pytest.raises(DataError) as caught:
        read_objects("a.json", "ground_truth", Reading(), "label_studio")
    assert str(caught.value).startswith(f"a.json: {message}")


def test_labelme() -> None:
    put(
        "json/a.json",
        labelme(
            shape("cat", [[10, 20], [50.5, 20], [50.5, 60]]),
            shape("dog", [[30, 40], [10, 20]], "rectangle"),
            shape("cat", [[0, 0], [4, 0], [4, 4]], group=1),
            shape("dog", [[0, 0], [4, 0], [4, 4]], group=1),
            shape("cat", [[8, 8], [12, 8], [12, 12]], group=1),
        ),
    )
    put("json/b.json", labelme(imagePath="b.png"))
    assert format_of("json") == "labelme"
    found = read("json")
    assert labels(found) == [("a", "cat"), ("a", "dog"), ("a", "cat"), ("a", "dog")]
    assert found.shapes.box.tolist() == [[10, 20, 20, 20]]
    # The parts of one group are one object.
    assert np.diff(found.shapes.polygon.objects).tolist() == [1, 2, 1]
    assert found.images is not None
    assert found.images["id"].tolist() == ["a", "b"]
    assert found.images["width"].tolist() == [640, 640]
    assert found.objects.place_of(1) == "json/a.json: shapes[1]"
    assert (found.files[0].rows, found.files[0].skipped) == (4, 0)


def test_cvat() -> None:
    put("annotations.xml", CVAT)
    assert format_of("annotations.xml") == "cvat"
    found = read("annotations.xml")
    assert labels(found) == [("day/a", "car"), ("day/a", "person"), ("night/a", "car")]
    assert found.shapes.box.tolist() == [[10.5, 20, 20, 40]]
    assert found.shapes.rotated_box.tolist() == [[20, 40, 20, 40, 30]]
    assert found.shapes.polygon.points.tolist() == [[1, 2], [5, 2], [5, 9.5]]
    assert found.images is not None
    assert found.images["height"].tolist() == [480, 480]
    assert found.objects.place_of(0) == "annotations.xml:6"
    put("folder/annotations.xml", CVAT)
    assert format_of("folder") == "cvat"


OPEN_IMAGES = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,"
    "IsDepiction,IsInside\n"
    "0001eeaf4aed83f9,xclick,/m/0cmf2,1,0.25,0.5,0.125,0.375,0,0,0,0,0\n"
    "000595fe6fee6369,xclick,/m/02wbm,1,0,1,0,0.5,0,0,1,0,0\n"
    "0001eeaf4aed83f9,xclick,/m/0cmf2,1,0,0.5,0,0.5,0,0,0,0,0\n"
)


@pytest.fixture
def pictures(in_a_folder: None) -> None:
    Path("pictures").mkdir()
    for name in ("0001eeaf4aed83f9", "000595fe6fee6369"):
        Image.new("L", (800, 400)).save(f"pictures/{name}.jpg")


@pytest.mark.usefixtures("pictures")
def test_open_images() -> None:
    put("boxes.csv", OPEN_IMAGES)
    assert format_of("boxes.csv") == "open_images"
    found = read_objects("boxes.csv", "ground_truth", Reading(images="pictures"), "open_images")
    assert labels(found) == [
        ("0001eeaf4aed83f9", "/m/0cmf2"),
        ("0001eeaf4aed83f9", "/m/0cmf2"),
        ("000595fe6fee6369", "/m/02wbm"),
    ]
    # 0.25 to 0.5 of 800, 0.125 to 0.375 of 400.
    assert found.shapes.box.tolist() == [[200, 50, 200, 100], [0, 0, 400, 200], [0, 0, 800, 200]]
    assert found.objects["crowd"].tolist() == [False, False, True]
    assert found.objects.place_of(1) == "boxes.csv:4"
    put(
        "found.csv", "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n0001eeaf4aed83f9,a,0.5,0,1,0,1\n"
    )
    assert found.images is not None
    known = KnownImages.of(found.images, found.image_names)
    predicted = read_objects("found.csv", "predictions", Reading(known=known), "open_images")
    assert predicted.shapes.box.tolist() == [[0, 0, 800, 400]]
    assert predicted.objects["score"].tolist() == [0.5]
    done = convert(Conversion("found.csv", "out.jsonl", "open_images", images="pictures"))
    assert done.summary == "wrote 1 detection of 1 image to out.jsonl (jsonl)"


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("XMin", "left", " columns are missing: XMin; there is: ImageID, Source, Label"),
        ("0.25", "x", '2: XMin: expected a finite number, found the string "x"\n'),
        ("0.25", "200", "2: expected fractions of the image, found 200 (pixels?)\n"),
        ("0.25", "0.75", "2: expected xmax of at least xmin (600.0), found 400.0\n"),
        (",0,0,0,0,0\n0005", "\n0005", "2: expected 13 fields as in the first line, found 8"),
        ("/m/0cmf2", "", "2: LabelName: expected a name, found nothing\n"),
        (
            "000595fe6fee6369",
            "b",
            "3: ImageID: the size of image 'b' is not known: there is no such file in pictures\n",
        ),
    ],
)
def test_a_wrong_row_of_open_images(old: str, new: str, message: str) -> None:
    put("boxes.csv", OPEN_IMAGES.replace(old, new, 1))
    with pytest.raises(DataError) as caught:
        read_objects("boxes.csv", "ground_truth", Reading(images="pictures"), "open_images")
    assert str(caught.value).startswith(f"boxes.csv:{message}")


def test_predictions_match_by_the_names_of_images() -> None:
    """The boxes of CVAT's images against a CSV: both are right, one is left over."""
    put("annotations.xml", CVAT.replace(' rotation="30.0"', ""))
    put(
        "found.csv",
        "image_id,label,score,x,y,width,height\n"
        "day/a.jpg,car,0.9,10.5,20,20,40\nnight/a.jpg,car,0.8,10,20,20,40\n"
        "night/a.jpg,car,0.7,0,0,5,5\n",
    )
    inputs = DetectionInputs(ground_truth="annotations.xml", predictions="found.csv")
    (dataset,) = load_detections(inputs, DetectionOptions(), Selection()).datasets.values()
    assert (len(dataset.ground_truths.label), len(dataset.detections.score)) == (3, 3)
    assert dataset.image_ids.tolist() == ["day/a", "night/a"]


def put_objects(form: str, content: Any) -> None:
    """A file of a format whose last object is this one."""
    if form == "cvat":
        put("in/a.xml", f'<annotations>\n<image name="a.jpg">\n{content}\n</image></annotations>')
    elif form == "labelme":
        put("in/a.json", labelme(content))
    else:
        put("in/a.txt", f"{CAR if form == 'kitti' else PLANE}\n{content}\n")


TRIANGLE = [[1, 2], [3, 4], [5, 7]]
BOX = '<box label="a" xtl="{}" ytl="2" xbr="{}" ybr="4"/>'
WRONG_OBJECTS = {
    ("kitti", "a.txt:2: "): [
        ("Car 0 0", "expected 15 fields, found 3"),
        (CAR.replace("587.01", "x"), 'left: expected a finite number, found the string "x"'),
        (CAR.replace("614.12", "500"), "expected xmax of at least xmin (587.01), found 500.0"),
    ],
    ("dota", "a.txt:2: "): [
        (
            "1 2 3 4 plane 0",
            "expected 8 coordinates, a category and whether it is difficult, found 6 fields",
        ),
        (PLANE.replace("2408", "nan"), 'y1: expected a finite number, found the string "nan"'),
        (PLANE[:-1] + "no", 'difficult: expected 0, 1 or 2, found the string "no"'),
    ],
    ("cvat", "a.xml:3: "): [
        ('<box label="a" xtl="1"/>', "box: attributes are missing: ytl, xbr, ybr"),
        (BOX.format(1, "x"), 'box.xbr: expected a finite number, found the string "x"'),
        (BOX.format(5, 1), "box: expected xmax of at least xmin (5.0), found 1.0"),
        ('<polygon label="a" points="1,2;3"/>', "polygon.points: expected points as x,y;x,y;…"),
        (
            '<polygon label="a" points="1,2;3,4"/>',
            "polygon: expected at least 3 points, found 2",
        ),
        ('<ellipse label="a" cx="1"/>', "ellipse: expected <box> or <polygon>, found <ellipse>"),
    ],
    ("labelme", "a.json: shapes[0]"): [
        (
            shape("a", [[1, 2], [3, 4]], "circle"),
            '.shape_type: expected a polygon or a rectangle, found the string "circle"',
        ),
        (shape("", TRIANGLE), '.label: expected a name, found the string ""'),
        (shape("a", [[1, 2], [3], [5, 7]]), ".points[1]: expected x and y, found a list"),
        (
            shape("a", [[1, 2], [3, "4"], [5, 7]]),
            '.points[1]: expected a number, found the string "4"',
        ),
        (shape("a", [[1, 2], [3, 4]], group=2), ".points: expected at least 3 points, found 2"),
        (
            shape("a", [[1, 2]], "rectangle"),
            ".points: expected 2 or 4 points of a rectangle, found 1",
        ),
        (3, ": expected an object, found 3"),
    ],
}


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        (form, content, f"in/{place}{message}")
        for (form, place), faults in WRONG_OBJECTS.items()
        for content, message in faults
    ],
)
def test_a_wrong_object(form: str, content: Any, message: str) -> None:
    put_objects(form, content)
    with pytest.raises(DataError) as caught:
        read("in")
    assert str(caught.value) == f"{message}\n{SKIP}"
    assert read("in", invalid="skip").objects.skipped == 1


SIZE = "expected a whole number from 0 to 1,048,576, found"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "[]", ': expected an object with a list "shapes", found an empty list'),
        ("a.json", "{}", ': expected an object with a list "shapes", found none'),
        ("a.json", labelme(imageWidth=-1), f": imageWidth: {SIZE} -1"),
        ("a.xml", '<image name="a.jpg" width="x"/>', f':1: image.width: {SIZE} the string "x"'),
        ("a.xml", "<image/>", ":1: image: the attribute 'name' is missing"),
        (
            "a.xml",
            '<track id="0" label="car"/>',
            ':1: track: tracks are not read; export the task as "CVAT for images 1.1"',
        ),
        (
            "a.xml",
            '<image name="a.jpg"/><image name="a.jpg"/>',
            ":1: image.name: duplicate image 'a', also in in/a.xml",
        ),
    ],
)
def test_a_wrong_file(name: str, content: str, message: str) -> None:
    form = "labelme"
    if name.endswith(".xml"):
        form, content = "cvat", f"<annotations>{content}</annotations>"
    put(f"in/{name}", content)
    with pytest.raises(DataError) as caught:
        read_objects("in", "ground_truth", Reading(), form)
    assert str(caught.value).startswith(f"in/{name}{message}")


def test_formats_without_scores_are_no_predictions() -> None:
    put("in/a.json", labelme())
    with pytest.raises(DataError) as caught:
        read("in", "predictions")
    assert str(caught.value) == (
        "in: LabelMe has no scores, which predictions need\n"
        "give predictions as COCO, JSONL, CSV, YOLO, VOC or KITTI"
    )
    put("kitti/a.txt", f"{CAR}\n")
    with pytest.raises(DataError, match="expected 16 fields, found 15: the score is missing"):
        read("kitti", "predictions")


def test_difficult_objects_stay_so_in_voc_alone() -> None:
    put("in/P1.txt", DOTA)
    Path("pictures").mkdir()
    Image.new("L", (3000, 3000)).save("pictures/P1.png")
    done = convert(Conversion("in", "voc", target="voc", geometry="box", images="pictures"))
    assert done.warnings == []
    again = read_objects("voc", "ground_truth", Reading())
    assert again.objects["difficult"].tolist() == [False, True]
    done = convert(Conversion("in", "out.jsonl", geometry="box"))
    assert "JSONL holds no difficult flags: 1 difficult objects now count" in done.warnings


@pytest.mark.parametrize("target", [*FORMATS])
@pytest.mark.parametrize("name", ["kitti", "dota", "labelme", "cvat", "data_set", "panoptic"])
def test_whatever_is_read_can_be_converted(name: str, target: str) -> None:
    """Boxes of every format that is read, in every format that is written."""
    source = "in"
    if name == "panoptic":
        put_panoptic()
        source = "panoptic.json"
    elif name == "data_set":
        put("in/data.yaml", "val: images\nnames: [car]\n")
        put("in/labels/a.txt", "0 0.5 0.5 0.5 0.5\n")
        Path("in/images").mkdir()
        Image.new("L", (640, 480)).save("in/images/a.png")
    elif name == "labelme":
        put("in/a.json", labelme(shape("cat", [[1, 2], [5, 2], [5, 9]])))
    elif name == "cvat":
        put("in/a.xml", CVAT.replace(' rotation="30.0"', "").replace("night/a", "night/b"))
    else:
        put("in/a.txt", CAR if name == "kitti" else PLANE)
    Path("pictures").mkdir()
    for image in ("a", "b"):
        Image.new("L", (3000, 3000)).save(f"pictures/{image}.png")
    out = "out" if FORMATS[target].in_folder else f"out{FORMATS[target].endings[0]}"
    images = "pictures" if name in ("kitti", "dota") else None
    done = convert(Conversion(source, out, target=target, geometry="box", images=images))
    assert " ground truth" in done.summary
    again = read_objects(out, "ground_truth", Reading(images="pictures"), target)
    first = read_objects(source, "ground_truth", Reading())
    assert len(again.shapes.box) == len(first.objects) > 0


def put_panoptic() -> None:
    segments = [{"id": 5, "category_id": 1}]
    document = {
        "images": [{"id": 1, "file_name": "a.png", "width": 640, "height": 480}],
        "categories": [{"id": 1, "name": "car", "isthing": 1}],
        "annotations": [{"image_id": 1, "file_name": "a.png", "segments_info": segments}],
    }
    put("panoptic.json", json.dumps(document))
    pixels = np.zeros((480, 640, 3), np.uint8)
    pixels[10:20, 30:50, 0] = 5
    Path("panoptic").mkdir()
    Image.fromarray(pixels).save("panoptic/a.png")
