"""Names of files that come from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from valor_cli.data.shapes.objects.object_file import ObjectFile, id_column, text_column
from valor_cli.data.shapes.objects.scene import Scene
from valor_cli.data.table import Table
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes


def named(ids: list[Any], names: list[str | None]) -> Scene:
    columns = {"id": id_column(ids), "file_name": text_column(names)}
    objects = Table("in.json", {"image_id": id_column(ids[:0])})
    shapes = Shapes.boxes(np.zeros((0, 4)))
    return Scene(ObjectFile("in.json", objects, shapes, Table("in.json", columns), None, {}, []))


@pytest.mark.parametrize(
    ("number", "name", "stem"),
    [
        (17, None, "17"),
        (17, "a.b.jpg", "a.b"),
        (17, "train/x.png", "x"),
        (17, "C:\\pictures\\x.png", "x"),
        (17, "../../etc/passwd", "passwd"),
        ("x.jpg", None, "x"),
        ("v1.5", None, "v1.5"),
        ("a/b", None, "b"),
    ],
)
def test_names(number: Any, name: str | None, stem: str) -> None:
    assert named([number], [name]).stems() == [stem]


@pytest.mark.parametrize(
    "name", ["", "..", "a/..", "a\nb", ".hidden.jpg", " a.jpg", "x" * 300, "classes.txt", "CLASSES"]
)
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(DataError, match=r"in\.json: image 1: no file can be named"):
        named([1], [name]).stems(reserved=("classes",))


def test_two_images_of_one_name() -> None:
    with pytest.raises(DataError, match="the images 1 and 2 would both be written as 'X'"):
        named([1, 2], ["a/x.jpg", "b/X.jpg"]).stems()
