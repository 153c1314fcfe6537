"""Parquet inputs of all kinds, and broken ones: what is there is said, and nothing crashes."""

from __future__ import annotations

import hashlib
import io
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.data.scored import saved
from valor_cli.data.batch import Block, Part, TypedReading
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import Span, cut, seamless
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError, MissingExtraError

pytestmark = pytest.mark.usefixtures("in_a_folder")
TABLE = {"id": ["a", "b"], "label": ["cat", "dog"], "pred": ["cat", "cat"]}


@pytest.mark.parametrize("name", ["a.parquet", "A.PARQUET", "a.pq", "a.bin", "a"])
def test_a_format_is_told_by_name_or_content(name: str) -> None:
    saved(TABLE, name)
    assert format_of(name) == "parquet"


def test_what_is_no_parquet() -> None:
    Path("a").write_bytes(b"PAR")
    with pytest.raises(DataError, match="the format cannot be detected from the content"):
        format_of("a")
    with pytest.raises(DataError, match=r"none: no such file"):
        format_of("none")


def test_the_digest_is_that_of_the_stored_bytes() -> None:
    path = saved(TABLE)
    expected = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert TypedFile(path).sha256 == expected
    assert read_scores(path, "samples", ScoreReading()).files[0].sha256 == expected


def test_rows_come_in_batches_by_row_group() -> None:
    path = saved({"a": np.arange(10), "b": np.arange(10)}, row_group_size=4)
    found = [rows_of(block) for block in TypedFile(path).blocks(typed=reading("b", 3))]
    assert found == [(1, [0, 1, 2]), (4, [3]), (5, [4, 5, 6]), (8, [7]), (9, [8, 9])]
    part = Part(6, 9, Span(0, 0))
    some = TypedFile(path).blocks(part, typed=reading("a", 3))
    assert [rows_of(block) for block in some] == [(6, [5, 6]), (8, [7])]


def reading(name: str, most: int) -> TypedReading:
    return TypedReading([(name,)], (), most)


def rows_of(block: Block) -> tuple[int, list[Any]]:
    """The number of the first row, and the values of the only column."""
    (batch,) = block.batches
    (name,) = batch.names
    return int(batch.line[0]), batch.column(name).scalars().tolist()


@pytest.mark.parametrize("size", [1, 100, 300, 1000, 1 << 20])
def test_every_row_group_is_in_one_piece(size: int) -> None:
    path = saved({"a": np.arange(100)}, row_group_size=7)
    file, total = TypedFile(path), Path(path).stat().st_size
    parts = [file.part_of(replace(one, end=one.end or total)) for one in cut(path, size)]
    assert seamless([part.span for part in parts], total)
    read = [block.batches[0] for part in parts for block in file.blocks(part)]
    assert [int(batch.line[0]) for batch in read] == list(range(1, 101, 7))
    values = [row for batch in read for row in batch.column("a").scalars().tolist()]
    assert values == list(range(100))


def test_a_file_that_grew_between_two_pieces() -> None:
    path = saved({"a": np.arange(10)}, row_group_size=4)
    first, second = cut(path, Path(path).stat().st_size // 2 + 1)
    begun = TypedFile(path).part_of(first).span
    saved({"a": np.arange(12)}, row_group_size=4)
    assert not seamless([begun, TypedFile(path).part_of(second).span], second.end or 0)


def test_long_values_make_small_batches() -> None:
    # 16 rows of 1 MiB, and a little more that says how long each is: 7 of them are within 8 MiB.
    path = saved({"a": [str(at) * 2**20 for at in range(8)] * 2}, use_dictionary=False)
    found = TypedFile(path).blocks(typed=reading("a", 1 << 16))
    assert max(len(block.batches[0]) for block in found) == 7


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    content = Path(saved(TABLE)).read_bytes()
    for stream in (io.BytesIO(content), io.BufferedReader(io.BytesIO(content))):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        found = read_scores("-", "samples", ScoreReading())
        assert found.labels == ("cat", "dog")
        assert found.samples.place_of(1) == "-: row 2"
        assert found.files[0].sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("seed", range(12))
def test_any_damage_is_said_or_does_no_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = [[{"label": "cat", "score": 0.5}]] * 40
    path = saved(
        {"id": np.arange(40), "label": ["cat"] * 40, "predictions": lists}, row_group_size=9
    )
    content = np.frombuffer(Path(path).read_bytes(), np.uint8)
    for _ in range(25):
        damaged = content.copy()
        at = rng.integers(4, len(content) - 4, int(rng.integers(1, 4)))
        damaged[at] = rng.integers(0, 256, len(at))
        Path(path).write_bytes(damaged.tobytes())
        with suppress(DataError):
            read_scores(path, "samples", ScoreReading())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(TABLE)
    for name in list(sys.modules):
        if (name.startswith("valor_cli.data.") and "parquet" in name) or name.startswith("pyarrow"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError) as caught:
        read_scores(path, "samples", ScoreReading())
    assert caught.value.hint == "pip install 'valor-cli[parquet]'"
