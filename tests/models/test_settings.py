"""Names and hashes of models; what the `embedder:` and `language_model:` blocks accept."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from valor_cli.errors import ConfigError
from valor_cli.models.protocols import ModelIdentity, sha256_of, sha256_of_files
from valor_cli.models.settings import EmbedderSettings, LanguageModelSettings, model_name


def settings(folder: Path | None = None, **said: Any) -> EmbedderSettings:
    context = None if folder is None else {"folder": folder}
    return EmbedderSettings.model_validate(said, context=context)


def test_the_default_is_the_packaged_model() -> None:
    assert settings().called == "minilm-int8"
    assert settings(backend="static").called == "wordllama"


def test_a_folder_is_found_from_the_config_and_an_id_stays(tmp_path: Path) -> None:
    (tmp_path / "my-model").mkdir()
    own = settings(tmp_path, backend="onnx", model="my-model")
    assert own.model == str(tmp_path / "my-model")
    assert own.called == "my-model"
    far = settings(tmp_path, backend="sentence_transformers", model="BAAI/bge-small-en-v1.5")
    assert (far.model, far.called) == ("BAAI/bge-small-en-v1.5", "BAAI/bge-small-en-v1.5")


@pytest.mark.parametrize("model", ["./gone", "/nowhere/gone", "gone/model.onnx"])
def test_a_path_to_nothing_is_told(tmp_path: Path, model: str) -> None:
    with pytest.raises(ValidationError, match="there is no file or folder"):
        settings(tmp_path, model=model)


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        ({"backend": "litellm"}, "model"),
        ({"backend": "precomputed"}, "vectors"),
        ({"backend": "sentence_transformers"}, "model"),
    ],
)
def test_what_a_backend_needs(said: dict[str, Any], needed: str) -> None:
    with pytest.raises(ValidationError, match=f"needs `{needed}:`"):
        settings(**said)


def test_a_language_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        LanguageModelSettings.model_validate({})
    with pytest.raises(ValidationError, match="found an empty text"):
        LanguageModelSettings.model_validate({"model": " "}, context={"folder": tmp_path})
    (tmp_path / "x.gguf").touch()
    own = LanguageModelSettings.model_validate({"model": "x.gguf"}, context={"folder": tmp_path})
    assert own.called == "x.gguf"


def test_names_of_models(tmp_path: Path) -> None:
    assert model_name("org/name") == "org/name"
    assert model_name(f"{tmp_path}/") == tmp_path.name


def test_what_people_and_results_are_shown() -> None:
    known = ModelIdentity("minilm-int8", "8199be6f" + "0" * 56)
    assert known.shown == "minilm-int8 (sha256 8199be6f0000)"
    assert known.beside == {"model": "minilm-int8", "model_sha256": "8199be6f" + "0" * 56}
    assert ModelIdentity("openai/x").shown == "openai/x"
    assert ModelIdentity("openai/x").beside == {"model": "openai/x", "model_sha256": None}


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"x" * (3 << 20))
    assert sha256_of(file) == hashlib.sha256(b"x" * (3 << 20)).hexdigest()


def test_the_hash_of_files_knows_names_and_bytes_and_no_folder(tmp_path: Path) -> None:
    def files(folder: str, **contents: str) -> list[Path]:
        place = tmp_path / folder
        place.mkdir()
        for name, text in contents.items():
            (place / name).write_text(text)
        return sorted(place.iterdir())

    one = files("one", a="1", b="2")
    assert sha256_of_files(one) == sha256_of_files(one[::-1])
    assert sha256_of_files(one) == sha256_of_files(files("two", a="1", b="2"))
    assert sha256_of_files(one) != sha256_of_files(files("three", a="1", c="2"))
    assert sha256_of_files(one) != sha256_of_files(files("four", a="1", b="3"))


def test_a_file_that_cannot_be_read_is_the_user_s_to_mend(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match=r"loop: cannot be read: Too many levels"):
        sha256_of_files([tmp_path / "loop"])
