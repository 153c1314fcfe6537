"""Optional packages: there, not there, and there in vain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from valor_cli.errors import MissingExtraError
from valor_cli.extras import extra


def test_a_package_that_is_there() -> None:
    assert extra("json", "x", "this") is sys.modules["json"]


def test_one_that_is_not_installed() -> None:
    with pytest.raises(MissingExtraError, match="needs the package no_such_one") as caught:
        extra("no_such_one", "png", "PNG charts")
    assert caught.value.hint == "pip install 'valor-cli[png]'"


@pytest.mark.parametrize(
    "lack", ["ImportError('libz.so.9: cannot open')", "ModuleNotFoundError('no x', name='x')"]
)
def test_one_that_does_not_load(lack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in_vain_one.py").write_text(f"raise {lack}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match="in_vain_one is installed but cannot be imported"):
        extra("in_vain_one", "png", "PNG charts")
