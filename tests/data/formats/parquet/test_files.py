"""Parquet inputs of all kinds, and broken ones: what is there is said, and nothing crashes."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from tests.data.parquet_tables import saved
from valor_cli.data.batch import Block, Part, TypedReading
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import Span, cut, seamless
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError, MissingExtraError

pytestmark = pytest.mark.usefixtures("in_a_folder")
TABLE = {"id": ["a", "b"], "label": ["cat", "dog"], "pred": ["cat", "cat"]}


def error(path: str = "a.parquet") -> str:
    with pytest.raises(DataError) as caught:
        read_scores(path, "samples", ScoreReading(), "parquet")
    return str(caught.value)


def changed(content: bytes) -> str:
    Path("a.parquet").write_bytes(content)
    return error()


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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "a.parquet: the file is empty"),
        (b"id,label\n", "a.parquet: not a Parquet file: it does not begin with PAR1"),
        (b"PAR1", "a.parquet: the Parquet file is cut off: its end"),
        (b"PAR1PAR1", "a.parquet: the Parquet file is cut off: its end"),
        (b"PAR1" + bytes(100) + b"PARE", "a.parquet: the Parquet file is encrypted, and no key"),
        (b"PAR1\xff\xff\xff\x7fPAR1", "a.parquet: the Parquet file cannot be read: "),
        (b"PAR1\x00\x00\x00\x00PAR1", "a.parquet: the Parquet file cannot be read: "),
        (
            gzip.compress(b"PAR1", mtime=0),
            "a.parquet: a Parquet file that is compressed as a whole is not",
        ),
    ],
)
def test_files_that_are_none(content: bytes, expected: str) -> None:
    assert changed(content).startswith(expected)


def test_a_file_that_is_not_there() -> None:
    saved(TABLE)
    assert error("b.parquet").startswith("b.parquet: no such file (relative to ")
    Path("folder.parquet").mkdir()
    with pytest.raises(DataError, match=r"folder.parquet: this is a folder; a file, or a pattern"):
        read_scores("folder.parquet", "samples", ScoreReading())


def test_files_that_are_cut_off_or_damaged() -> None:
    content = Path(saved(TABLE, write_page_checksum=True)).read_bytes()
    assert changed(content[:-5]).startswith("a.parquet: the Parquet file is cut off")
    # The first page holds the ids: its checksum is that of other bytes.
    at = content.index(b"a\x01\x00\x00\x00b") if b"a\x01\x00\x00\x00b" in content else 40
    damaged = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    assert changed(damaged).startswith("a.parquet: row group 0: the Parquet file cannot be read: ")


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


def test_texts_that_are_no_utf8() -> None:
    ids = pa.array([b"a"] * 6 + [b"\xff"] + [b"c"] * 2).view(pa.string())
    saved({"id": ids, "label": ["cat"] * 9, "pred": ["cat"] * 9}, row_group_size=4)
    assert error().splitlines() == [
        "a.parquet: row 7: id: not UTF-8 text",
        "Write the file again, or write the table as CSV or JSONL.",
    ]
    labels = pa.array([b"cat", b"\xff"]).view(pa.string()).dictionary_encode()
    saved({"id": ["a", "b"], "label": labels, "pred": ["cat"] * 2})
    assert error().startswith("a.parquet: row")
    saved({"id": ["a", "b"], "answer": pa.array([b"x", b"\xff"])})
    with pytest.raises(DataError, match=r"a.parquet: .*answer: not UTF-8 text"):
        read_samples("a.parquet", SampleReading())


def test_bytes_that_are_no_utf8() -> None:
    saved({"id": pa.array([b"a", b"\xff"]), "label": ["cat"] * 2, "pred": ["cat"] * 2})
    assert error().startswith("a.parquet: row 2: id: not UTF-8 text")


def test_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array(["a"])] * 3, ["id", "label", "label"])
    pq.write_table(table, "a.parquet")
    assert error() == "a.parquet: duplicate column 'label' (columns 2 and 3)"
    nested: Any = pa.StructArray.from_arrays([pa.array([0.5])] * 2, ["cat", "cat"])
    saved({"id": ["a"], "label": ["cat"], "predictions": nested})
    assert error().startswith("a.parquet: predictions: expected a list of structs")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(TABLE)
    for name in list(sys.modules):
        if (name.startswith("valor_cli.data.") and "parquet" in name) or name.startswith("pyarrow"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError) as caught:
        read_scores(path, "samples", ScoreReading())
    assert caught.value.hint == "pip install 'valor-cli[parquet]'"
