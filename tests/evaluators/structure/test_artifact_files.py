"""The files of a folder: which there are, which a pattern names, and what is not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.evaluators.structure import artifact_files
from valor_cli.evaluators.structure.artifact_files import (
    ArtifactFile,
    Artifacts,
    TooMuchError,
    UnusableFileError,
    _matches,
    is_pattern,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "artifacts"
    for name in ("a.json", "b.JSON", "x/c.json", "x/y/d.json", "x/.hidden", "[z].md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*", ["[z].md", "a.json", "b.JSON", "x/.hidden", "x/c.json", "x/y/d.json"]),
        ("**", ["[z].md", "a.json", "b.JSON", "x/.hidden", "x/c.json", "x/y/d.json"]),
        ("*", ["[z].md", "a.json", "b.JSON"]),
        ("**/*.json", ["a.json", "x/c.json", "x/y/d.json"]),
        ("x/**/*.json", ["x/c.json", "x/y/d.json"]),
        ("x/*/*.json", ["x/y/d.json"]),
        ("**/y/**", ["x/y/d.json"]),
        ("?.json", ["a.json"]),
        ("[ab].*", ["a.json", "b.JSON"]),
        ("[[]z].md", ["[z].md"]),
        ("a.json", ["a.json"]),
        ("x", []),
        ("x/y/*/*", []),
        ("nowhere/*", []),
    ],
)
def test_patterns(folder: Path, pattern: str, expected: list[str]) -> None:
    assert [file.path for file in Artifacts(str(folder)).matching(pattern)] == expected


def by_definition(path: list[str], pattern: list[str]) -> bool:
    """By recursion: ** is no part, or one and more of the same."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return by_definition(path, pattern[1:]) or (bool(path) and by_definition(path[1:], pattern))
    return bool(path) and path[0] == pattern[0] and by_definition(path[1:], pattern[1:])


@given(
    st.lists(st.sampled_from("ab"), max_size=6),
    st.lists(st.sampled_from(["a", "b", "**"]), max_size=6),
)
def test_folders_in_between(path: list[str], pattern: list[str]) -> None:
    assert _matches(path, pattern) == by_definition(path, pattern)


def test_what_is_a_pattern() -> None:
    assert [is_pattern(one) for one in ("a/b.c", "*", "a?", "[a]", "**/x")] == [False] + [True] * 4


def test_sizes_and_bytes(folder: Path) -> None:
    artifacts = Artifacts(str(folder))
    (file,) = artifacts.matching("x/c.json")
    assert file == ArtifactFile("x/c.json", 8)
    assert artifacts.read(file) == b"x/c.json"


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("{}")
    (folder / "link.json").symlink_to(outside / "secret.json")
    (folder / "folder").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    artifacts = Artifacts(str(folder))
    assert len(artifacts.files) == 6
    assert artifacts.matching("link.json") == artifacts.matching("folder/*") == []
    # Nor what became one since.
    with pytest.raises(UnusableFileError, match="cannot be read"):
        artifacts.read(ArtifactFile("link.json", 2))


def test_pipes_are_no_files(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    artifacts = Artifacts(str(folder))
    assert artifacts.matching("pipe") == []
    with pytest.raises(UnusableFileError, match="no ordinary file"):
        artifacts.read(ArtifactFile("pipe", 1))


def test_a_file_that_went_away(folder: Path) -> None:
    artifacts = Artifacts(str(folder))
    (folder / "a.json").unlink()
    with pytest.raises(UnusableFileError, match="cannot be read: No such file"):
        artifacts.read(artifacts.matching("a.json")[0])


def test_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "LARGEST", 7)
    artifacts = Artifacts(str(folder))
    with pytest.raises(TooMuchError, match="8 bytes; at most 7 are read"):
        artifacts.read(artifacts.matching("x/c.json")[0])
    monkeypatch.setattr(artifact_files, "MOST_FILES", 5)
    with pytest.raises(TooMuchError, match="more than 5 files"):
        Artifacts(str(folder))
    monkeypatch.setattr(artifact_files, "MOST_FILES", 10)
    monkeypatch.setattr(artifact_files, "DEEPEST", 1)
    with pytest.raises(TooMuchError, match="more than 1 levels deep"):
        Artifacts(str(folder))


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/" * 100 + "b"])
def test_patterns_with_many_stars(folder: Path, pattern: str) -> None:
    (folder / ("a" * 200)).write_text("x")
    assert Artifacts(str(folder)).matching(pattern) == []
