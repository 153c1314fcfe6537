"""A folder of its own for tests that name files without a path."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is an empty one."""
    monkeypatch.chdir(tmp_path)
