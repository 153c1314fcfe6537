"""Names of files that come from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from valor_cli.data.shapes.objects.scene import Images, stems_of
from valor_cli.errors import DataError


def named(ids: list[Any], names: list[str | None] | None = None) -> Images:
    size = np.zeros((len(ids), 2), np.int64)
    return Images(ids, size, names or [None] * len(ids))


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
    assert stems_of(named([number], [name]), "in.json") == [stem]


@pytest.mark.parametrize(
    "name", ["", "..", "a/..", "a\nb", ".hidden.jpg", " a.jpg", "x" * 300, "classes.txt", "CLASSES"]
)
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(DataError, match=r"in\.json: image 1: no file can be named"):
        stems_of(named([1], [name]), "in.json", reserved=("classes",))


def test_two_images_of_one_name() -> None:
    with pytest.raises(DataError, match="the images 1 and 2 would both be written as 'X'"):
        stems_of(named([1, 2], ["a/x.jpg", "b/X.jpg"]), "in.json")
