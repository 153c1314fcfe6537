"""Names and hashes of models."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from valor_cli.errors import ConfigError
from valor_cli.models.protocols import ModelIdentity, sha256_of, sha256_of_files


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
