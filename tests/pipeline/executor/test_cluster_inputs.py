"""The inputs of a run, looked for by workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli.errors import DataError
from valor_cli.pipeline.executor.cluster_inputs import (
    TRIED,
    check_inputs,
    input_differences,
    local_sizes,
)


def test_the_same_files(tmp_path: Path) -> None:
    file, folder = tmp_path / "a.csv", tmp_path / "maps"
    file.write_bytes(b"12345")
    folder.mkdir()
    others = ["s3://bucket/b.csv", "not-there.csv", "-"]
    sizes = local_sizes([str(file), str(folder), *others, str(file)])
    assert sizes == {str(file): 5, str(folder): 0}
    assert input_differences("/", sizes) == []


def test_files_that_are_missing_or_others(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"123")
    found = input_differences(str(tmp_path), {"a.csv": 5, "b.csv": 5, "maps": 0})
    missing = "No such file or directory"
    assert found == [
        ("a.csv", missing),
        ("b.csv", "it has 3 bytes there, 5 here"),
        ("maps", missing),
    ]
    with pytest.raises(DataError) as caught:
        check_inputs("/data", {"tcp://10.0.0.1:5": found, "tcp://10.0.0.2:5": []})
    assert str(caught.value).splitlines()[0] == (
        "a.csv: worker tcp://10.0.0.1:5 cannot read it (from /data): No such file or directory"
    )
    assert "object store" in caught.value.hint


def test_of_many_files_some_are_looked_for(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:04}.csv" for number in range(TRIED * 3 + 1)]
    for path in paths:
        path.touch()
    sizes = local_sizes(list(map(str, paths)))
    assert len(sizes) <= TRIED
    assert str(paths[0]) in sizes
    # The last quarter is looked at as well.
    assert max(sizes) > str(paths[-len(paths) // 4])


def test_a_worker_that_gives_no_answer() -> None:
    with pytest.raises(DataError, match="cannot be queried: OSError: gone"):
        check_inputs("/", {"tcp://10.0.0.1:5": OSError("gone")})
