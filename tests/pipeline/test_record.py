"""The commit of a config, read from its repository's files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from valor_cli.pipeline.record import commit_of

FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / "configs").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"HEAD": FIRST}, FIRST),
        ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{FIRST}\n"}, FIRST),
        (
            {"HEAD": "ref: refs/heads/a/b", "packed-refs": f"# pack\n{SECOND} refs/heads/a/b\n"},
            SECOND,
        ),
        ({"HEAD": "ref: refs/heads/none"}, None),
        ({"HEAD": "ref: refs/../../../secret"}, None),
        ({"HEAD": "ref: refs/heads/main", "refs/heads/main": "a secret"}, None),
        ({"HEAD": "\x00\xff"}, None),
        ({}, None),
    ],
)
def test_a_commit(repository: Path, files: dict[str, str], found: str | None) -> None:
    for name, text in files.items():
        path = repository / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert commit_of(repository / "configs") == found


def test_a_worktree(repository: Path) -> None:
    inside = repository / ".git" / "worktrees" / "w"
    inside.mkdir(parents=True)
    (inside / "HEAD").write_text("ref: refs/heads/side\n")
    (inside / "commondir").write_text("../..\n")
    (repository / ".git" / "refs" / "heads" / "side").write_text(SECOND)
    (repository / "w").mkdir()
    (repository / "w" / ".git").write_text(f"gitdir: {inside}\n")
    assert commit_of(repository / "w") == SECOND


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_as_git_says_it(tmp_path: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for command in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment)
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert commit_of(tmp_path) == said.stdout.strip()
