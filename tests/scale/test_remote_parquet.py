"""Parquet inputs in a store."""

from __future__ import annotations

import hashlib
from pathlib import Path

import fsspec
import pytest

from tests.data.scored import saved
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.scores.score_file import ScoreReading

pytestmark = pytest.mark.scale


def test_files_in_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = Path(
        saved({"id": ["a", "b", "c"], "label": ["x"] * 3, "pred": ["x"] * 3})
    ).read_bytes()
    with fsspec.open("memory://bucket/a.parquet", "wb") as stored:
        stored.write(content)
    found = read_scores("memory://bucket/*.parquet", "samples", ScoreReading())
    assert len(found.samples) == 3
    assert found.files[0].sha256 == hashlib.sha256(content).hexdigest()
    whole = TypedFile("memory://bucket/a.parquet")
    piece = Piece("memory://bucket/a.parquet", 0, len(content))
    assert whole.part_of(piece) == (1, 4, (0, len(content)))
