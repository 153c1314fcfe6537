"""Pascal VOC XML: what is read, and what is said of what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from valor_cli.data.formats import voc as reader
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."
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


def test_a_single_file_of_predictions() -> None:
    difficult = "<difficult>1</difficult><pose>Left</pose>"
    path = write(
        thing(box(), "<score>0.5</score>", difficult),
        thing(box(0, 0, 0, 0), "<confidence>1</confidence>", name="<name>dog</name>"),
        file="",
    )
    found = read_voc(path, "predictions")
    assert found.objects["score"].tolist() == [0.5, 1]
    assert found.objects["image_id"].tolist() == ["a", "a"]
    assert found.shapes.box.tolist() == [[1, 2, 3, 4], [0, 0, 0, 0]]
    assert found.images is not None
    assert set(found.images.columns) == {"id"}


def test_polygons_are_taken_where_shapes_are_wanted() -> None:
    polygon = "".join(
        f"<x{at}>{x}</x{at}><y{at}>{y}</y{at}>"
        for at, (x, y) in enumerate([(0, 0), (2, 0), (2, 2), (0, 0)], 1)
    )
    path = write(thing(box(), f"<polygon>{polygon}</polygon>"))
    assert read_voc(path, "ground_truth").shapes.kinds == ("box",)
    shapes = read_voc(path, "ground_truth", wanted="shape").shapes
    assert shapes.polygon.points.tolist() == [[0, 0], [2, 0], [2, 2]]


def test_parts_of_objects_are_no_objects() -> None:
    path = write(thing(box(), f"<part><name>head</name>{box(0, 0, 9, 9)}</part>"))
    assert read_voc(path, "ground_truth").shapes.box.tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (thing(box(), name=""), ":4: object: <name> is missing"),
        (thing(), ":4: object: <bndbox> is missing"),
        (
            thing("<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>1</xmax></bndbox>"),
            ":4: bndbox: <ymax> is missing",
        ),
        (
            thing(box(left="x")),
            ':4: bndbox.xmin: expected a finite number, found the string "x"',
        ),
        (thing(box(top="")), ":4: bndbox.ymin: expected a finite number, found nothing"),
        (
            thing(box(top="nan")),
            ':4: bndbox.ymin: expected a finite number, found the string "nan"',
        ),
        (
            thing(box(right="1e200")),
            ':4: bndbox.xmax: expected at most 1e+150, found the string "1e200"',
        ),
        (
            thing(box(left=5)),
            ":4: bndbox: expected xmax of at least xmin (5.0), found 4.0",
        ),
        (
            thing("<polygon><x1>1</x1><y1>1</y1><x2>2</x2></polygon>"),
            ":4: polygon: <y2> is missing",
        ),
        (
            thing("<polygon><x1>1</x1><y1>1</y1><x2>2</x2><y2>2</y2></polygon>"),
            ":4: polygon: expected at least 3 points, found 2",
        ),
    ],
)
def test_a_wrong_object(inside: str, message: str) -> None:
    path = write(thing(box()), inside)
    assert error(path) == f"a.xml{message}\n{SKIP}"
    found = read_voc(path, "ground_truth", invalid="skip")
    assert len(found.objects) == 1
    assert (found.files[0].rows, found.files[0].skipped) == (2, 1)


def test_predictions_need_scores() -> None:
    path = write(thing(box()))
    assert error(path, "predictions") == (
        f"a.xml:3: object: <score> (or <confidence>) is missing, which predictions need\n{SKIP}"
    )


@pytest.mark.parametrize("invalid", ["error", "skip"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<annotation>\n<object>", "a.xml:2:9: not XML: no element found"),
        ("<annotation>\n</object>", "a.xml:2:3: not XML: mismatched tag"),
        ("plain text", "a.xml:1:1: not XML: syntax error"),
        ("<kml/>", "a.xml:1: expected <annotation> (Pascal VOC), found <kml>"),
        (
            "<annotation><size><width>-1</width></size></annotation>",
            (
                "a.xml:1: size.width: expected a whole number from 0 to 1,048,576, "
                'found the string "-1"'
            ),
        ),
    ],
)
def test_a_wrong_file_is_an_error_always(text: str, message: str, invalid: str) -> None:
    Path("a.xml").write_text(text)
    assert error(invalid=invalid) == message


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


def test_an_image_of_two_files() -> None:
    write(name="voc/a.xml", file="x.jpg")
    write(name="voc/b.xml", file="folder\\x.png")
    assert error("voc") == "voc/b.xml:2: filename: duplicate image 'x', also in voc/a.xml"


def test_a_folder_without_annotations_is_an_error() -> None:
    Path("voc").mkdir()
    assert error("voc") == "voc: there are no XML files in this folder"
    assert error(metadata=["camera"]).startswith("a.xml: this format has no image metadata")
