"""Rows in memory are written as what lines of JSONL are."""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.source.rows import write_rows
from valor_cli.errors import DataError


class Frame:
    """A data frame of pandas, as far as rows are asked of it."""

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return [{"id": 1, "score": float("nan")}]


def lines(rows: Any, folder: Path) -> list[Any]:
    text = Path(write_rows(rows, "samples", str(folder))).read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_values_of_a_program(tmp_path: Path) -> None:
    row = {
        "id": np.int64(7),
        "scores": np.array([0.5, 1.0]),
        "when": datetime.date(2026, 1, 2),
        "tags": {"b", "a"},
        3: None,
    }
    found = {"id": 7, "scores": [0.5, 1.0], "when": "2026-01-02", "tags": ["a", "b"], "3": None}
    assert lines([row], tmp_path) == [found]
    assert lines(iter([{"id": "ä"}, {}]), tmp_path) == [{"id": "ä"}, {}]


def test_data_frames(tmp_path: Path) -> None:
    import pyarrow as pa

    assert lines(Frame(), tmp_path) == [{"id": 1, "score": None}]
    assert lines(pa.table({"id": [1, 2]}), tmp_path) == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{}, [1]], "samples: row 2: expected a mapping, found list"),
        ([{"a": object()}], "samples: row 1: cannot be written as JSON"),
        ([{"a": decimal.Decimal(1)}], "samples: row 1: cannot be written as JSON"),
        ({"id": [1, 2]}, "samples: expected rows, one mapping each, found a mapping"),
    ],
)
def test_what_is_no_row(rows: Any, expected: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        write_rows(rows, "samples", str(tmp_path))
    assert str(caught.value).startswith(expected)
