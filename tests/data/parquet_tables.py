"""Parquet files that tests make, and what is said of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError


def saved(columns: dict[str, Any], name: str = "a.parquet", **options: Any) -> str:
    """The path of a table; lists have the types that Arrow finds for them."""
    pq.write_table(pa.table(columns), name, **options)
    return name


def read_table(table: dict[str, Any], side: Side, **options: Any) -> ScoreFile:
    return read_scores(saved(table), side, ScoreReading(**options))


def table_error(table: dict[str, Any], side: Side, **options: Any) -> list[str]:
    """The lines of what is said."""
    with pytest.raises(DataError) as caught:
        read_table(table, side, **options)
    return str(caught.value).splitlines()
