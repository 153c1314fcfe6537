"""How inputs are cut, and how the evidence of pieces is merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from valor_cli.errors import ValorError
from valor_cli.pipeline.piece_size import (
    PIECE,
    PIECE_BYTES,
    UNPACKED,
    bytes_to_read,
    input_paths,
    piece_bytes,
    piece_of,
)
from valor_cli.pipeline.streaming import TOGETHER, Merging


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
@pytest.mark.parametrize("total", [PIECE + 1, 106_000_000, 754_000_000, 10**11 + 7])
def test_each_process_gets_as_many_pieces(total: int, processes: int) -> None:
    size = piece_of(total, processes)
    assert size <= PIECE
    assert -(-total // size) % processes == 0


def test_small_inputs_are_one_piece() -> None:
    assert piece_of(0, 2) == piece_of(PIECE, 8) == PIECE


def test_the_environment_says_how_large_pieces_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PIECE_BYTES, raising=False)
    assert piece_bytes() is None
    monkeypatch.setenv(PIECE_BYTES, "4096")
    assert piece_bytes() == 4096


@pytest.mark.parametrize("said", ["", "0", "-1", "16MiB", "1e6", "٣"])
def test_what_is_no_number_of_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(PIECE_BYTES, said)
    with pytest.raises(ValorError, match=PIECE_BYTES) as caught:
        piece_bytes()
    assert "16777216" in str(caught.value.hint)


def test_paths_of_both_sides_and_of_every_model() -> None:
    inputs = SimpleNamespace(ground_truth="gt.json", predictions={"a": "a.json", "b": "b.json"})
    assert input_paths(inputs) == ["gt.json", "a.json", "b.json"]
    assert input_paths(SimpleNamespace(samples="s.csv", ground_truth=None)) == ["s.csv"]


def test_bytes_of_files_patterns_and_urls(tmp_path: Path) -> None:
    for name, size in (("a.csv", 10), ("b.csv", 20), ("c.csv.gz", 5)):
        (tmp_path / name).write_bytes(b"x" * size)
    pattern, packed = str(tmp_path / "*.csv"), str(tmp_path / "c.csv.gz")
    assert bytes_to_read([pattern], 1000) == 30
    assert bytes_to_read([packed, "s3://bucket/a.csv"], 1000) == 5 * UNPACKED + 1000


def test_what_is_not_there_is_for_readers_to_tell(tmp_path: Path) -> None:
    assert bytes_to_read([str(tmp_path / "no*.csv"), str(tmp_path / "no.csv"), "-"], 1) == 0


@pytest.mark.parametrize("count", [1, 2, TOGETHER - 1, TOGETHER, TOGETHER**2, TOGETHER**2 + 3])
@pytest.mark.parametrize("early", [False, True])
def test_all_shards_are_merged(count: int, *, early: bool) -> None:
    sizes = []

    def merge(parts: Sequence[list[int]]) -> list[int]:
        sizes.append(len(parts))
        return [one for part in parts for one in part]

    merging = Merging(merge, early=early)
    for number in range(count):
        merging.add([number])
    assert sorted(merging.merged()) == list(range(count))
    if not early:
        assert sizes == [count]
    else:
        # Never more are held than a few of each weight.
        assert max(sizes) <= 2 * TOGETHER
