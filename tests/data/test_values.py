"""Single values: how they are named in messages, and how problems are counted."""

from __future__ import annotations

import pytest

from valor_cli.data.values import Problems, describe, stop_on
from valor_cli.errors import DataError


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (17, "17"),
        (-0.5, "-0.5"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (10**50, "a number of 51 digits"),
        ([], "an empty list"),
        ([1], "a list"),
        ({}, "an object"),
        ('a "köln" \n', 'the string "a \\"köln\\" \\n"'),
        ("\ud800", 'the string "\\ud800"'),
        ("x" * 100, f'the string "{"x" * 39}…"'),
    ],
)
def test_values_are_named_as_json_has_them(value: object, words: str) -> None:
    assert describe(value) == words


def test_problems_of_several_lists_are_one_error() -> None:
    images, annotations = Problems("gt.json", "images"), Problems("gt.json", "annotations")
    stop_on([images, annotations])
    images.add(3, ".id", "is odd")
    for row in range(30):
        annotations.add(row, "", "is bad")
    with pytest.raises(DataError) as caught:
        stop_on([images, annotations], "Mend them.")
    lines = str(caught.value).splitlines()
    assert lines == [
        "gt.json: images[3].id: is odd",
        *(f"gt.json: annotations[{row}]: is bad" for row in range(3)),
        "… and 27 more like this",
        "Mend them.",
    ]
    assert caught.value.total == 31
