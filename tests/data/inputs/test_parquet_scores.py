"""Parquet files of labels and scores: what columns may hold, and what is said of others."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.data.joined_parts import joined_parts
from tests.data.parquet_tables import saved, table_error
from tests.data.scored import said, written
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import UnsplittableError, cut, seamless
from valor_cli.data.shapes.scores.joined import ScorePart
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")
WIDE: dict[str, list[Any]] = {
    "id": ["a", "b"],
    "label": ["cat", "dog"],
    "cat": [0.9, 0.2],
    "dog": [0.1, 0.8],
}


ITEMS = pa.list_(
    pa.struct([("class", pa.string()), ("conf", pa.float32()), ("box", pa.list_(pa.int8()))])
)


def parts_of(path: str, size: int) -> list[ScorePart]:
    """What is read of the pieces of a file."""
    return [read_score_piece(piece, "samples", ScoreReading()) for piece in cut(path, size)]


def check_joined(path: str, parts: list[ScorePart]) -> None:
    """See that parts are the file."""
    whole = read_scores(path, "samples", ScoreReading())
    spans = [one.facts.span for one in parts if one.facts.span]
    assert seamless(spans, Path(path).stat().st_size)
    joined = joined_parts(path, "samples", parts, whole.files[0].sha256 or "")
    assert joined is not None
    assert said(joined) == said(whole)
    assert list(joined.files) == list(whole.files)
    assert joined.samples.rows is not None
    assert whole.samples.rows is not None
    assert joined.samples.rows.tolist() == whole.samples.rows.tolist()


@pytest.mark.parametrize("size", [1, 50, 100, 500])
def test_the_parts_of_a_file_are_the_file(size: int) -> None:
    columns: dict[str, Any] = {name: one * 3 for name, one in WIDE.items()}
    columns["id"] = list("abcdef")
    path = saved(columns, row_group_size=2)
    parts = parts_of(path, size)
    check_joined(path, parts)
    files = [one.file for one in parts]
    assert {file.files[0].sha256 for file in files} == {""}
    places = [file.samples.place_of(0) for file in files if len(file.samples)]
    assert places[0] == "a.parquet: row 1"
    assert size > 100 or places[1:] == ["a.parquet: row 3", "a.parquet: row 5"]


@pytest.mark.parametrize("size", [20, 200, 1000])
@pytest.mark.parametrize("group", [1, 2, 3, 4])
def test_a_sample_of_several_rows_is_in_one_part(group: int, size: int) -> None:
    """Row groups end inside of samples, one of which is larger than a group."""
    samples = ["a"] * 2 + ["b"] * 7 + ["c"] + ["d"] * 3
    columns = {
        "id": samples,
        "label": ["cat" if one != other else None for one, other in pairwise(["", *samples])],
        "prediction": [f"p{at}" for at in range(len(samples))],
        "score": np.arange(len(samples)) / 16,
    }
    path = saved(columns, row_group_size=group)
    check_joined(path, parts_of(path, size))


def test_a_part_that_needs_the_others() -> None:
    # The true label of a row of one label each may stand in another row group.
    columns = {"id": ["a", "b", "a"], "label": ["cat", "cat", None], "pred": ["cat", "cat", "dog"]}
    path = saved({**columns, "score": [0.5] * 3}, row_group_size=1)
    with pytest.raises(UnsplittableError):
        parts_of(path, 20)


def test_shards_of_several_formats() -> None:
    saved(WIDE, "s1.parquet")
    written("id,label,cat,dog\nc,cat,1,0\n", "s2.csv")
    found = read_scores("s*", "samples", ScoreReading())
    assert [one[0] for one in said(found)] == ["a", "b", "c"]
    places = [found.samples.place_of(at) for at in range(3)]
    assert places == ["s1.parquet: row 1", "s1.parquet: row 2", "s2.csv:2"]
    saved({**WIDE, "id": ["x", "c"]}, "s3.parquet")
    with pytest.raises(DataError, match=r"s3.parquet: row 2: the sample 'c' is also in s2.csv:2"):
        read_scores("s*", "samples", ScoreReading())


def test_no_rows() -> None:
    columns = {"id": pa.array([], pa.string()), "cat": pa.array([], pa.float64())}
    expected = "a.parquet: there are no samples; at least one is needed"
    assert table_error(columns, "predictions") == [expected]
