"""Whole conversions of real data, there and back, against what the files themselves say."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture
from pycocotools import mask as coco_mask

from valor_cli.errors import DataError, UnknownNameError, ValorError
from valor_cli.kernels.geometry.shapes import Kind
from valor_cli.pipeline.convert import Conversion, Converted, convert

DATA = Path(__file__).parents[1] / "real_data" / "detection"
VOC, COCO = DATA / "voc2012-100", DATA / "coco-val2014-100"
SINGLE = {"jsonl": "out.jsonl", "csv": "out.csv", "yolo": "out", "voc": "out", "coco": "out.json"}

Image = Callable[[dict[str, Any]], Any]


def run(source: Path, out: Path, target: str | None = None, **wishes: Any) -> Converted:
    return convert(Conversion(str(source), str(out), target=target, **wishes))


def loaded(path: Path) -> Any:
    return json.loads(path.read_text())


def outline(annotation: dict[str, Any], image: dict[str, Any]) -> Any:
    """A segmentation in a form that can be compared: rings, or the mask's compressed counts."""
    segmentation = annotation.get("segmentation")
    if not isinstance(segmentation, dict):
        return segmentation
    if isinstance(segmentation["counts"], list):
        height, width = image["height"], image["width"]
        return coco_mask.frPyObjects(segmentation, height, width)["counts"].decode()
    return segmentation["counts"]


def rows(
    document: dict[str, Any], key: Image, *, shapes: bool = True, crowds: bool = True
) -> list[Any]:
    """What a COCO ground truth says, with labels in place of ids of categories."""
    names = {each["id"]: each["name"] for each in document["categories"]}
    images = {each["id"]: each for each in document["images"]}
    found = []
    for each in document["annotations"]:
        image = images[each["image_id"]]
        found.append(
            (
                key(image),
                names[each["category_id"]],
                tuple(each["bbox"]),
                json.dumps(outline(each, image)) if shapes else None,
                each.get("iscrowd", 0) if crowds else None,
            )
        )
    return sorted(found)


def stem(image: dict[str, Any]) -> str:
    return Path(image.get("file_name", str(image["id"]))).stem


def identity(image: dict[str, Any]) -> str:
    return str(image["id"])


@pytest.mark.parametrize(
    ("source", "target", "key"),
    [
        (VOC, "coco", identity),
        (VOC, "jsonl", identity),
        (VOC, "csv", identity),
        (VOC, "voc", stem),
        (COCO, "coco", identity),
        (COCO, "jsonl", identity),
    ],
)
def test_ground_truth_there_and_back(source: Path, target: str, key: Image, tmp_path: Path) -> None:
    truth = source / "groundtruth.coco.json"
    run(truth, tmp_path / SINGLE[target], target)
    run(tmp_path / SINGLE[target], tmp_path / "back.json", role="ground_truth")
    before, after = loaded(truth), loaded(tmp_path / "back.json")
    assert rows(before, key) == rows(after, key)
    assert sorted(map(key, before["images"])) == sorted(map(key, after["images"]))
    if target in ("coco", "jsonl"):
        assert sorted(each["id"] for each in before["annotations"]) == sorted(
            each["id"] for each in after["annotations"]
        )
        for name in ("width", "height", "file_name"):
            assert [each[name] for each in before["images"]] == [
                each[name] for each in after["images"]
            ]
    if target != "voc":
        areas = [
            {each["id"]: each["area"] for each in document["annotations"]}
            for document in (before, after)
        ]
        assert areas[0] == areas[1]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """A folder of blank pictures of the right sizes for each source."""
    pillow = pytest.importorskip("PIL.Image")
    folders = {}
    for source in (VOC, COCO):
        folders[source] = tmp_path_factory.mktemp(source.name)
        for each in loaded(source / "groundtruth.coco.json")["images"]:
            name = Path(each["file_name"]).with_suffix(".png")
            pillow.new("1", (each["width"], each["height"])).save(folders[source] / name)
    return folders


def same_but_for_rounding(before: list[Any], after: list[Any], *, at: int, exact: bool) -> None:
    """Rows are equal; the numbers at a position of each within 1e-9 pixels, or also equal."""
    if exact:
        assert before == after
        return
    order = [
        sorted(each, key=lambda row: (*row[:at], [round(side, 6) for side in row[at]]))
        for each in (before, after)
    ]
    assert len(before) == len(after)
    for one, other in zip(*order, strict=True):
        assert one[:at] == other[:at]
        assert one[at] == pytest.approx(other[at], abs=1e-9, rel=0)


@pytest.mark.parametrize("source", [VOC, COCO])
@pytest.mark.parametrize("target", ["coco", "jsonl", "csv", "voc", "yolo"])
def test_detections_there_and_back(
    source: Path, target: str, pictures: dict[Path, Path], tmp_path: Path
) -> None:
    truth, detections = str(source / "groundtruth.coco.json"), source / "predictions.bbox.json"
    out, back = tmp_path / SINGLE[target], tmp_path / "back.json"
    done = run(detections, out, target, ground_truth=truth)
    count = len(loaded(detections))
    assert done.summary == f"wrote {count} detections of 100 images to {out} ({target})"
    folder = str(pictures[source]) if target == "yolo" else None
    run(out, back, ground_truth=truth, images=folder)
    before = sorted(map(values, loaded(detections)))
    after = sorted(map(values, loaded(back)))
    same_but_for_rounding(before, after, at=3, exact=target in ("coco", "jsonl", "csv"))


def test_polygons_through_yolo(pictures: dict[Path, Path], tmp_path: Path) -> None:
    # Rotated boxes as polygons of four corners, which YOLO calls OBB.
    run(VOC / "groundtruth.coco.json", tmp_path / "yolo", "yolo", geometry="polygon")
    run(tmp_path / "yolo", tmp_path / "back.json", images=str(pictures[VOC]))
    expected = []
    for each in loaded(VOC / "groundtruth.coco.json")["annotations"]:
        x, y, width, height = each["bbox"]
        right, bottom = x + width, y + height
        expected.append([x, y, right, y, right, bottom, x, bottom])
    found = [each["segmentation"][0] for each in loaded(tmp_path / "back.json")["annotations"]]
    for one, other in zip(sorted(expected), sorted(found, key=rounded), strict=True):
        assert one == pytest.approx(other, abs=1e-9, rel=0)


def rounded(sides: list[float]) -> list[float]:
    return [round(side, 6) for side in sides]


@pytest.mark.parametrize("target", ["coco", "jsonl"])
def test_masks_there_and_back(target: str, tmp_path: Path) -> None:
    truth, detections = str(COCO / "groundtruth.coco.json"), COCO / "predictions.segm.json"
    out, back = tmp_path / SINGLE[target], tmp_path / "back.json"
    run(detections, out, target, ground_truth=truth)
    run(out, back, ground_truth=truth)
    before, after = [
        sorted((each["image_id"], each["score"], each["segmentation"]["counts"]) for each in rows)
        for rows in map(loaded, (detections, back))
    ]
    # A box beside a mask would be its area to pycocotools.
    assert not any("bbox" in each for each in loaded(back))
    assert len(before) == 734
    assert before == after


def test_metadata_is_carried_or_told(tmp_path: Path) -> None:
    document = loaded(VOC / "groundtruth.coco.json")
    document["images"][0]["metadata"] = {"weather": "rain", "lens": 35, "tags": ["a"]}
    (tmp_path / "in.json").write_text(json.dumps(document))
    done = run(tmp_path / "in.json", tmp_path / "out.jsonl")
    assert "metadata values that are lists or objects are dropped: 'tags'" in done.warnings
    run(tmp_path / "out.jsonl", tmp_path / "back.json")
    image = next(each for each in loaded(tmp_path / "back.json")["images"] if each["id"] == 1)
    assert image["metadata"] == {"weather": "rain", "lens": 35}
    done = run(tmp_path / "in.json", tmp_path / "out.csv")
    assert "CSV holds no metadata: 'weather' of 1 images is lost" in done.warnings


def values(row: dict[str, Any]) -> Any:
    return row["image_id"], row["category_id"], row["score"], row["bbox"]


def test_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        run(COCO / "groundtruth.coco.json", tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_standard_output(tmp_path: Path) -> None:
    run(VOC / "groundtruth.coco.json", tmp_path / "out.csv")
    done = convert(Conversion(str(VOC / "groundtruth.coco.json"), "-", target="csv"))
    assert done.content == (tmp_path / "out.csv").read_bytes()
    assert done.summary == "wrote 273 ground truths of 100 images to standard output (csv)"
    with pytest.raises(DataError, match="yolo is a folder of files"):
        convert(Conversion(str(VOC / "groundtruth.coco.json"), "-", target="yolo"))


@pytest.mark.parametrize("geometry", ["box", "rotated_box", "polygon", "mask"])
def test_every_shape_becomes_the_one_asked_for(geometry: Kind, tmp_path: Path) -> None:
    run(COCO / "groundtruth.coco.json", tmp_path / "out.jsonl", geometry=geometry)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    objects = [each for line in lines for each in line["objects"]]
    assert len(objects) == 839
    assert all(geometry in each for each in objects)


def test_a_shape_that_the_target_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"CSV holds no polygon, found 830\n.*no mask, found 9\n"):
        run(COCO / "groundtruth.coco.json", tmp_path / "out.csv")
    assert os.listdir(tmp_path) == []


def test_losses_are_told(tmp_path: Path) -> None:
    truth = COCO / "groundtruth.coco.json"
    done = run(truth, tmp_path / "yolo", "yolo", geometry="box")
    told = "\n".join(done.warnings)
    assert "YOLO holds no crowd flags: 9 crowds now are single objects" in told
    assert "YOLO holds no ids of objects: 839 are lost" in told
    assert "YOLO holds no stated areas: " in told
    assert "YOLO holds no category ids: 80 are lost" in told


def test_names_of_a_results_list(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="give the file with the names: --ground-truth FILE"):
        run(VOC / "predictions.bbox.json", tmp_path / "out.jsonl")
    run(VOC / "predictions.bbox.json", tmp_path / "out.json")
    assert loaded(tmp_path / "out.json") == loaded(VOC / "predictions.bbox.json")


def test_the_split_that_is_named_is_converted(tmp_path: Path) -> None:
    for split, label in (("train", 0), ("val", 1)):
        for kind, text in (("images", ""), ("labels", f"{label} 0.5 0.5 0.5 0.5\n")):
            folder = tmp_path / kind / split
            folder.mkdir(parents=True)
            (folder / f"a.{'txt' if text else 'jpg'}").write_text(text)
    data = "train: images/train\nval: images/val\nnames: [cat, dog]\n"
    (tmp_path / "data.yaml").write_text(data)
    for image in tmp_path.glob("images/*/a.jpg"):
        Picture.new("L", (8, 8)).save(image)
    for split, label in (("train", "cat"), ("val", "dog")):
        out = tmp_path / f"{split}.csv"
        run(tmp_path / "data.yaml", out, source_format="yolo", split=split)
        assert out.read_text().splitlines()[1].split(",")[1] == label


def test_standard_input_is_one_file(tmp_path: Path) -> None:
    wish = Conversion("-", str(tmp_path / "dt.csv"), role="predictions", ground_truth="-")
    with pytest.raises(DataError, match="--ground-truth: standard input"):
        convert(wish)


def test_detections_may_lack_keypoints_in_a_conversion(tmp_path: Path) -> None:
    row = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
    document = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{**row, "keypoints": [1, 2, 2]}, row],
    }
    (tmp_path / "dt.json").write_text(json.dumps(document))
    run(tmp_path / "dt.json", tmp_path / "dt.csv")
    assert len((tmp_path / "dt.csv").read_text().splitlines()) == 3


def test_a_ground_truth_of_a_ground_truth(tmp_path: Path) -> None:
    truth = VOC / "groundtruth.coco.json"
    with pytest.raises(DataError, match=r"--ground-truth: .* is ground truth itself"):
        run(truth, tmp_path / "out.jsonl", ground_truth=str(truth))


@pytest.mark.parametrize(
    ("out", "wishes", "message"),
    [
        ("out.parquet", {}, "its name does not say the format\nname the format with --to: coco"),
        ("out.csv", {"target": "cvs"}, "--to: no format 'cvs' (did you mean 'csv'?)"),
        ("no/out.csv", {}, "there is no folder"),
        ("there.csv", {}, "exists already\nreplace it with --force"),
        ("there.csv", {"target": "voc", "force": True}, "this is not a folder"),
        ("out.csv", {"source_format": "nosuch"}, "nosuch"),
    ],
)
def test_wishes_that_cannot_be(
    out: str, wishes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "there.csv").write_text("before")
    with pytest.raises(ValorError) as error:
        run(VOC / "groundtruth.coco.json", tmp_path / out, **wishes)
    assert message in str(error.value)
    assert isinstance(error.value, DataError | UnknownNameError)
    assert os.listdir(tmp_path) == ["there.csv"]
    assert (tmp_path / "there.csv").read_text() == "before"


def test_an_invalid_input_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("before")
    bad = tmp_path / "bad.json"
    document = loaded(VOC / "groundtruth.coco.json")
    document["annotations"][3]["bbox"][2] = -1
    bad.write_text(json.dumps(document))
    with pytest.raises(DataError, match=r"annotations\[3\]"):
        run(bad, out, force=True)
    assert out.read_text() == "before"
    done = run(bad, out, force=True, invalid="skip")
    assert f"{bad}: left out as invalid: 1 of 273 rows" in done.warnings
    assert done.summary.startswith("wrote 272 ground truths of 100 images")


def test_a_role_that_cannot_be_seen(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="set --role ground_truth or --role predictions"):
        convert(Conversion("-", str(tmp_path / "out.csv")))
