"""Pascal VOC XML: what is read, what is refused, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, scene, text, with_categories, with_images
from valor_cli.data.formats import voc as reader
from valor_cli.data.formats.voc import write_voc
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes

pytestmark = pytest.mark.usefixtures("in_a_folder")

COCO = Path(__file__).parents[2] / "real_data/detection/voc2012-100/groundtruth.coco.json"


def read_voc(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**how))


def box(left: Any = 1, top: Any = 2, right: Any = 4, bottom: Any = 6) -> str:
    return (
        f"<bndbox><xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax>"
        f"<ymax>{bottom}</ymax></bndbox>"
    )


def thing(*inside: str, name: str = "<name>cat</name>") -> str:
    return f"<object>{name}{''.join(inside)}</object>"


def write(*inside: str, name: str = "a.xml", file: str = "a.jpg") -> str:
    """An annotation whose objects begin in line 3."""
    head = f"<filename>{file}</filename>" if file else ""
    lines = ["<annotation>", head, *inside, "</annotation>"]
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("\n".join(lines))
    return name


def error(path: str = "a.xml", role: Any = "ground_truth", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_voc(path, role, **options)
    return str(caught.value)


def test_the_same_data_in_coco_json() -> None:
    document = json.loads(COCO.read_text())
    names = {category["id"]: category["name"] for category in document["categories"]}
    expected = []
    for image in sorted(document["images"], key=lambda image: image["file_name"]):
        objects = [one for one in document["annotations"] if one["image_id"] == image["id"]]
        size = f"<size><width>{image['width']}</width><height>{image['height']}</height></size>"
        inside = []
        for one in objects:
            x, y, width, height = one["bbox"]
            label = f"<name>{escape(names[one['category_id']])}</name>"
            inside.append(thing(box(x, y, x + width, y + height), name=label))
            expected.append((Path(image["file_name"]).stem, names[one["category_id"]], one["bbox"]))
        stem = Path(image["file_name"]).stem
        write(size, *inside, name=f"voc/{stem}.xml", file=image["file_name"])
    found = read_voc("voc", "ground_truth")
    assert found.categories is not None
    labels = found.categories["name"][found.objects["category_id"]].tolist()
    ids = found.objects["image_id"].tolist()
    boxes = found.shapes.box.tolist()
    assert list(zip(ids, labels, boxes, strict=True)) == expected
    assert found.images is not None
    by_name = {image["file_name"]: image["width"] for image in document["images"]}
    widths = zip(found.images["file_name"], found.images["width"].tolist(), strict=True)
    assert dict(widths) == by_name
    assert [(file.path, file.rows) for file in found.files] == [("voc", 273)]
    assert found.image_names == "file"


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/x.dtd"> %b;]>',
        '<!DOCTYPE a SYSTEM "a.dtd">',
        '<!DOCTYPE a PUBLIC "-//a//EN" "http://localhost/a.dtd">',
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>',
    ],
)
def test_entities_and_references_are_refused(prologue: str) -> None:
    Path("a.xml").write_text(f'<?xml version="1.0"?>\n{prologue}\n<annotation/>')
    assert "entity declarations and external references are refused" in error()
    Path("a.xml").write_text("<!DOCTYPE annotation>\n<annotation/>")
    assert len(read_voc("a.xml", "ground_truth").objects) == 0


def test_deep_nesting_is_no_problem() -> None:
    depth = 100_000
    Path("a.xml").write_text("<annotation>" + "<a>" * depth + "</a>" * depth + "</annotation>")
    assert len(read_voc("a.xml", "ground_truth").objects) == 0


def test_corners_and_scores() -> None:
    written = write_voc(
        replace(scene(BOXES, score=np.array([0.5, 1, 0.1])), coded=True), WriteOptions()
    )
    assert sorted(written.files) == ["five.xml", "seven.xml", "three.xml"]
    assert written.files["five.xml"] == (
        b"<annotation>\n"
        b"  <filename>five.jpg</filename>\n"
        b"  <size><width>200</width><height>100</height></size>\n"
        b"  <object><name>dog</name><score>0.5</score><bndbox><xmin>0.1</xmin><ymin>0.2</ymin>"
        b"<xmax>20.1</xmax><ymax>10.2</ymax></bndbox></object>\n"
        b"  <object><name>cat</name><score>0.1</score><bndbox><xmin>8.0</xmin><ymin>8.0</ymin>"
        b"<xmax>8.0</xmax><ymax>12.0</ymax></bndbox></object>\n"
        b"</annotation>\n"
    )
    assert written.files["seven.xml"] == (
        b"<annotation>\n"
        b"  <filename>seven.jpg</filename>\n"
        b"  <size><width>50</width><height>40</height></size>\n"
        b"</annotation>\n"
    )


def test_names_are_escaped() -> None:
    objects = with_categories(scene(BOXES), "a<b>&amp;", "dög")
    content = write_voc(objects, WriteOptions()).files["three.xml"]
    assert ElementTree.fromstring(content).findtext("object/name") == "a<b>&amp;"  # noqa: S314


@pytest.mark.parametrize("label", ["a\x01", "", " a", "a\ufffe"])
def test_labels_that_xml_cannot_hold(label: str) -> None:
    with pytest.raises(DataError, match="XML cannot hold the label"):
        write_voc(with_categories(scene(BOXES), label, "dog"), WriteOptions())


def test_file_names_that_xml_cannot_hold() -> None:
    objects = scene(BOXES)
    assert objects.images is not None
    names = text(["a\x01/three.jpg", "five.jpg", "seven.jpg"])
    objects = with_images(objects, **{**objects.images.columns, "file_name": names})
    with pytest.raises(DataError, match="XML cannot hold the file name"):
        write_voc(objects, WriteOptions())


def test_sides_that_corners_do_not_give_back_are_told() -> None:
    # 0.1 + 0.2 is 0.30000000000000004, less 0.1 is 0.20000000000000004.
    boxes = Shapes.boxes(np.array([[0.1, 0, 0.2, 1], [1, 1, 1, 1], [2, 2, 2, 2]]))
    warning = write_voc(scene(boxes), WriteOptions()).warnings[-1]
    assert warning.startswith("VOC stores corners: the sides of 1 boxes are off by up to 3e-17")


def test_lost_keypoints_are_counted_by_object() -> None:
    points = np.zeros((3, 2, 3))
    points[:2, 0] = [1, 2, 2]
    warnings = write_voc(scene(BOXES, keypoints=points), WriteOptions()).warnings
    assert "VOC holds no keypoints: those of 2 objects are lost" in warnings


def test_without_a_box_no_side_is_off() -> None:
    nothing = np.zeros(0, np.int64)
    none = scene(Shapes.boxes(np.zeros((0, 4))), image_id=nothing, category_id=nothing)
    written = write_voc(none, WriteOptions())
    assert len(written.files) == 3
    assert not any("VOC stores corners" in one for one in written.warnings)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(DataError, match="VOC holds no rotated_box, found 3\nconvert them: --geo"):
        write_voc(scene(Shapes.rotated_boxes(np.ones((3, 5)))), WriteOptions())
