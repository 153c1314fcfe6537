"""Arrow files and folders of shards, as the package `datasets` saves them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.scored import said
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import cut
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

TABLE = pa.table(
    {
        "id": [f"s{number}" for number in range(50)],
        "label": ["cat", "dog"] * 25,
        "prediction": ["cat"] * 50,
        "metadata": [{"site": "north"}] * 50,
    }
)
READING = ScoreReading(metadata=["site"])


def write(path: str, table: pa.Table = TABLE) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".parquet"):
        pq.write_table(table, path)
        return path
    kind = pa.ipc.new_file if path.endswith(".feather") else pa.ipc.new_stream
    with pa.OSFile(path, "wb") as sink, kind(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return path


@pytest.mark.parametrize("name", ["a.arrow", "a.feather"])
def test_arrow_is_read_as_parquet(name: str) -> None:
    expected = said(read_scores(write("a.parquet"), "samples", READING))
    assert said(read_scores(write(name), "samples", READING)) == expected
    (block, *_) = TypedFile(name).blocks()
    assert len(block.batches[0]) == 7


@pytest.mark.parametrize("size", [100, 1000])
def test_pieces_are_the_file(size: int) -> None:
    path = write("a.arrow")
    whole = said(read_scores(path, "samples", READING))
    parts = [read_score_piece(piece, "samples", READING) for piece in cut(path, size)]
    assert len(parts) > 1
    assert [row for part in parts for row in said(part.file)] == whole


def test_a_folder_of_shards_is_one_input() -> None:
    for shard in range(3):
        rows = TABLE.slice(20 * shard, 20)
        write(f"data/train-{shard:05}-of-00003.parquet", rows)
        write(f"saved/train/data-{shard:05}-of-00003.arrow", rows)
    expected = said(read_scores(write("a.parquet"), "samples", READING))
    for folder in ("data", "saved/train"):
        assert said(read_scores(folder, "samples", READING)) == expected


def test_a_folder_of_several_splits() -> None:
    for split in ("train", "test"):
        write(f"data/{split}-00000-of-00001.parquet")
    with pytest.raises(DataError) as caught:
        read_scores("data", "samples", READING)
    lines = str(caught.value).split("\n")
    assert lines == [
        "data: this folder has the splits test, train",
        "Name the files of one, such as data/test-*",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"id,label\n", "a.arrow: not an Arrow file"),
        (b"ARROW1\0\0 cut off", "a.arrow: the Arrow file cannot be read"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "a.arrow: the Arrow file cannot be read"),
        (b"", "a.arrow: "),
    ],
)
def test_what_is_no_arrow_file(content: bytes, expected: str) -> None:
    Path("a.arrow").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_scores("a.arrow", "samples", READING)
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["a.arrow", "a.feather"])
def test_any_damage_is_said_or_does_no_harm(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    views = pa.array(["a text that is longer than a view"] * 50, pa.string_view())
    content = np.frombuffer(
        Path(write(name, TABLE.append_column("note", views))).read_bytes(), "u1"
    )
    for _ in range(25):
        damaged = content.copy()
        at = rng.integers(8, len(content), int(rng.integers(1, 4)))
        damaged[at] = rng.integers(0, 256, len(at))
        Path(name).write_bytes(damaged.tobytes())
        with suppress(DataError):
            list(TypedFile(name).blocks())
