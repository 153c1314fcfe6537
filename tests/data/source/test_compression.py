"""What one compressed input may unpack to, in every format."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from valor_cli.data.formats.class_names import read_names
from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.data.source import compression
from valor_cli.data.source.files import TextSource
from valor_cli.errors import ConfigError, DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstandard.compress}
HINT = "If the file is sound, unpack it first, or set VALOR_UNPACK_"

READERS: dict[str, Callable[[str], Any]] = {
    "a.json": lambda path: read_objects(path, "ground_truth", Reading(), "coco"),
    "o.jsonl": lambda path: read_objects(path, "ground_truth", Reading()),
    "o.csv": lambda path: read_objects(path, "ground_truth", Reading()),
    "t.csv": lambda path: read_scores(path, "samples", ScoreReading()),
    "t.jsonl": lambda path: read_scores(path, "samples", ScoreReading()),
    "s.json": lambda path: read_samples(path, SampleReading()),
    "s.jsonl": lambda path: read_samples(path, SampleReading()),
    "s.csv": lambda path: read_samples(path, SampleReading()),
    "m.jsonl": lambda path: read_manifest(path, "ground_truth"),
    "m.csv": lambda path: read_manifest(path, "ground_truth"),
    "names.json": read_names,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", PACKED)
def test_every_reader_stops_at_the_ratio(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "FREE", 1 << 16)
    heads = {
        "t.csv": b"sample_id,label,prediction,score\n",
        "o.csv": b"image_id,label,x,y,width,height\n",
    }
    text = heads.get(name, b"") + b" " * (1 << 20) + b"\n"
    Path(f"{name}.{kind}").write_bytes(PACKED[kind](text))
    with pytest.raises(DataError, match=r"unpacks to .* MiB from") as caught:
        READERS[name](f"{name}.{kind}")
    assert str(caught.value).endswith(f"{HINT}RATIO to more.")


@pytest.mark.parametrize("kind", PACKED)
def test_a_bomb_is_never_in_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "FREE", 1 << 22)
    Path(f"a.json.{kind}").write_bytes(PACKED[kind](b" " * (1 << 28)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="unpacks to"):
            TextSource(f"a.json.{kind}").whole()
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", PACKED)
def test_the_size_is_bounded_whatever_the_ratio(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"[" + b" " * (1 << 20) + b"]"
    Path(f"a.json.{kind}").write_bytes(PACKED[kind](text))
    assert TextSource(f"a.json.{kind}").whole() == text  # below what is free
    monkeypatch.setenv(compression.SIZE, "0.0005")
    with pytest.raises(DataError) as caught:
        TextSource(f"a.json.{kind}").whole()
    assert str(caught.value) == (
        f"a.json.{kind}: unpacks to more than 0.0005 GiB\n{HINT}GIB to more."
    )


def test_members_and_frames_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compression.SIZE, "0.0005")
    for kind, packed in PACKED.items():
        Path(f"a.{kind}").write_bytes(packed(b"x\n" * 100_000) * 5)
        with pytest.raises(DataError, match=r"more than 0\.0005 GiB"):
            TextSource(f"a.{kind}").whole()


def test_a_ratio_that_was_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "FREE", 0)
    Path("a.gz").write_bytes(gzip.compress(b" " * 100_000 + b"[]"))
    with pytest.raises(DataError, match="times as many"):
        TextSource("a.gz").whole()
    monkeypatch.setenv(compression.RATIO, "1040")
    assert TextSource("a.gz").whole().endswith(b" []")


def test_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"response": ["x" * 1_000_000], "id": ["1"]})
    pq.write_table(table, "a.parquet", compression="zstd", use_dictionary=False)
    TypedFile("a.parquet")
    monkeypatch.setattr(compression, "FREE", 0)
    with pytest.raises(DataError, match=r"a.parquet: unpacks to .* more than 200 times as many"):
        TypedFile("a.parquet")


def test_plain_text_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compression.SIZE, "1e-9")
    Path("a.json").write_text("[1, 2, 3]")
    assert TextSource("a.json").whole() == b"[1, 2, 3]"


@pytest.mark.parametrize("said", ["", "x", "0", "-1", "nan", "inf"])
@pytest.mark.parametrize("name", [compression.SIZE, compression.RATIO])
def test_bounds_that_are_none(said: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, said)
    Path("a.gz").write_bytes(gzip.compress(b"[]"))
    with pytest.raises(ConfigError, match=f"{name}: expected a number above 0, found"):
        TextSource("a.gz").whole()
