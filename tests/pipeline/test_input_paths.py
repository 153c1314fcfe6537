"""What there is to read of the inputs that a config names."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from valor_cli.pipeline.input_paths import UNPACKED, bytes_to_read, input_paths


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
