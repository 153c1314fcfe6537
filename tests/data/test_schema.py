"""Fields of a shape, single values and tables: names, places, and what messages say of them."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.data.json_records import parsed
from valor_cli.data.schema import Field, Path, Schema, column_at, dotted, path_of, value_at
from valor_cli.data.table import LINE, Problems, Table, places_in, stop_on
from valor_cli.data.tape import tape_of
from valor_cli.data.values import describe
from valor_cli.errors import DataError

SCHEMA = Schema(
    Field("response", aliases=("answer", "actual_output"), single=True),
    Field("references", "texts", ("ground_truth", "__expected"), single=True),
    Field("duration_s", "amount"),
)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", ("a",)),
        ("vars.question", ("vars", "question")),
        ("choices[0].message.content", ("choices", 0, "message", "content")),
        ("m[0][12]", ("m", 0, 12)),
        ("[0]", ("[0]",)),
        ("a[x]", ("a[x]",)),
        ("", ("",)),
    ],
)
def test_paths(name: str, path: Path) -> None:
    assert path_of(name) == path
    if path != ("",):
        assert dotted(path) == name


VALUE = '{"a": {"b": [{"c": 1.50}, null]}, "b": "x"}'


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b[0].c", "1.50"), ("b", "x"), ("a.b[7].c", ""), ("b[0]", ""), ("b.c", ""), ("c", "")],
)
def test_values_at_paths(path: str, found: str) -> None:
    record = parsed(VALUE.encode())
    assert column_at(tape_of([record]), path_of(path)).texts() == [found]
    value = value_at(record, path_of(path))
    assert (getattr(value, "text", value) or "") == found


@pytest.mark.parametrize(
    ("names", "columns", "layout"),
    [
        (["answer", "response"], {}, {"response": ("response",)}),
        (["actualOutput"], {}, {"response": ("actualOutput",)}),
        (["Actual Output", "answer"], {}, {"response": ("answer",)}),
        (["expected"], {}, {}),
        (["__expected"], {}, {"references": ("__expected",)}),
        (["answer", "x"], {"response": "x"}, {"response": ("x",)}),
        (["answer", "x"], {"response": "x.y[0]"}, {"response": ("x", "y", 0)}),
        (["x", "x.y"], {"response": "x.y"}, {"response": ("x.y",)}),
        (["answer"], {"response": "y"}, {}),
        (["answer"], {"references": "answer"}, {"references": ("answer",)}),
        (["answer", "ground_truth"], {"duration_s": "answer.s"}, {
            "references": ("ground_truth",), "duration_s": ("answer", "s"),
        }),
    ],
)  # fmt: skip
def test_the_way_to_each_field(
    names: list[str], columns: dict[str, str], layout: dict[str, Path]
) -> None:
    assert SCHEMA.layout(names, columns) == layout


def test_several_ways_are_in_the_order_of_looking() -> None:
    names = ["ANSWER", "actual_output", "answer", "Response"]
    ways = SCHEMA.candidates(names, {})["response"]
    assert ways == [("Response",), ("answer",), ("ANSWER",), ("actual_output",)]
    assert SCHEMA.ambiguous(["actual_output", "answer"], {}) == {
        "response": ["answer", "actual_output"]
    }
    assert SCHEMA.ambiguous(names, {}) == {}
    assert SCHEMA.ambiguous(["actual_output", "answer"], {"response": "answer"}) == {}


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
    images, annotations = (
        Problems("gt.json", f"{name}[{{row}}]") for name in ("images", "annotations")
    )
    stop_on([images, annotations])
    images.add(3, "id", "is odd")
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


def test_a_row_is_named_by_its_position_in_the_file() -> None:
    columns = {"score": np.array([0.5, 0.25])}
    whole = Table("dt.json", columns)
    assert (whole.place_of(1), len(whole), whole.skipped) == ("dt.json: [1]", 2, 0)
    rows = np.array([3, 17], dtype=np.int64)
    partial = Table("gt.json", columns, "annotations[{row}]", rows, skipped=16)
    assert partial.place_of(1) == "gt.json: annotations[17]"
    assert partial["score"][1] == 0.25


def test_a_line_and_a_value_of_a_row() -> None:
    columns = {"x": np.arange(2)}
    table = Table("a.csv", columns, LINE, np.array([2, 5]))
    assert (table.place_of(1), table.place_of(1, "x")) == ("a.csv:5", "a.csv:5: x")
    assert Table("a.json", columns).place_of(0, "bbox") == "a.json: [0].bbox"


def test_rows_of_several_files_keep_their_places() -> None:
    columns = {"x": np.arange(2)}
    lines = Table("a.csv", columns, LINE, np.array([2, 5]))
    listed = Table("b.json", columns, "annotations[{row}]")
    rows, parts = places_in([lines, listed])
    both = Table("*", {"x": np.arange(4)}, rows=rows, parts=parts)
    more, nested = places_in([Table("c.csv", {"x": np.arange(1)}, LINE, np.array([9])), both])
    every = Table("**", {"x": np.arange(5)}, rows=more, parts=nested)
    assert [every.place_of(row, "x") for row in range(5)] == [
        "c.csv:9: x",
        "a.csv:2: x",
        "a.csv:5: x",
        "b.json: annotations[0].x",
        "b.json: annotations[1].x",
    ]
    kept = every.take(np.array([True, False, True, False, True]))
    assert kept["x"].tolist() == [0, 2, 4]
    assert kept.skipped == 2
    assert [kept.place_of(row) for row in (1, 2)] == ["a.csv:5", "b.json: annotations[1]"]


def test_a_path_with_braces_is_taken_as_it_is() -> None:
    assert Table("{row}.json", {"id": np.arange(1)}).place_of(0) == "{row}.json: [0]"


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="columns differ in length"):
        Table("x", {"a": np.arange(1), "b": np.arange(2)})


def test_no_columns_are_no_rows() -> None:
    assert len(Table("x", {})) == 0
