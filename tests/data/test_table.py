"""Tables: equal lengths, and places of rows when some were skipped."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.data.table import LINE, Table, places_in


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
