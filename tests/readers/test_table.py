"""Tables: equal lengths, and places of rows when some were skipped."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.readers.table import Table


def test_a_row_is_named_by_its_position_in_the_file() -> None:
    columns = {"score": np.array([0.5, 0.25])}
    whole = Table("dt.json", columns)
    assert (whole.place_of(1), len(whole), whole.skipped) == ("dt.json: [1]", 2, 0)
    rows = np.array([3, 17], dtype=np.int64)
    partial = Table("gt.json", columns, "annotations[{row}]", rows, skipped=16)
    assert partial.place_of(1) == "gt.json: annotations[17]"
    assert partial["score"][1] == 0.25


def test_a_path_with_braces_is_taken_as_it_is() -> None:
    assert Table("{row}.json", {"id": np.arange(1)}).place_of(0) == "{row}.json: [0]"


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="columns differ in length"):
        Table("x", {"a": np.arange(1), "b": np.arange(2)})


def test_no_columns_are_no_rows() -> None:
    assert len(Table("x", {})) == 0
