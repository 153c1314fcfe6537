"""Pascal VOC by hand."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.conversion.scenes import BOXES, scene, text, with_categories, with_images
from valor_cli.data.formats.voc import write_voc
from valor_cli.data.shapes.objects.scene import WriteOptions
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes


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


def test_other_shapes_are_refused() -> None:
    with pytest.raises(DataError, match="VOC holds no rotated_box, found 3\nconvert them: --geo"):
        write_voc(scene(Shapes.rotated_boxes(np.ones((3, 5)))), WriteOptions())
