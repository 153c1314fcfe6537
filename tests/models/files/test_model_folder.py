"""Folders of models: which files are read, and which folders are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from valor_cli.errors import ConfigError
from valor_cli.models.files.model_folder import Incomplete, check_folder, files_read


def folder(path: Path, *names: str, shards: tuple[str, ...] = ()) -> Path:
    for name in names:
        (path / name).write_text("{}")
    if shards:
        weights = {f"layer.{at}": name for at, name in enumerate(shards)}
        (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    return path


def test_weights_config_and_tokenizer_are_read_and_no_notes(tmp_path: Path) -> None:
    folder(
        tmp_path,
        *("config.json", "model.safetensors", "tokenizer.json", "merges.txt", "spiece.model"),
        *("README.md", "LICENSE.txt", "all_results.json", "other.safetensors", "model.onnx"),
    )

    check_folder("here", tmp_path)
    assert sorted(path.name for path in files_read(tmp_path)) == [
        "config.json",
        "merges.txt",
        "model.safetensors",
        "spiece.model",
        "tokenizer.json",
    ]


def test_weights_may_be_in_parts(tmp_path: Path) -> None:
    folder(tmp_path, "config.json", "a.safetensors", "b.safetensors")
    folder(tmp_path, shards=("b.safetensors", "a.safetensors", "b.safetensors"))

    check_folder("here", tmp_path)
    assert [path.name for path in files_read(tmp_path)] == [
        "model.safetensors.index.json",
        "a.safetensors",
        "b.safetensors",
        "config.json",
    ]


def test_a_part_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder(tmp_path, "config.json", "a.safetensors", "pytorch_model.bin")
    folder(tmp_path, shards=("a.safetensors", "b.safetensors", "c.safetensors"))

    with pytest.raises(Incomplete, match=r"^b\.safetensors and 1 more$"):
        check_folder("here", tmp_path)


@pytest.mark.parametrize(
    "said", ["", "[]", "{}", '{"weight_map": [1]}', '{"weight_map": {"a": 1}}']
)
def test_an_index_that_tells_nothing_is_named(tmp_path: Path, said: str) -> None:
    folder(tmp_path, "config.json")
    (tmp_path / "model.safetensors.index.json").write_text(said)

    with pytest.raises(Incomplete, match="index"):
        check_folder("here", tmp_path)


def test_a_link_to_nothing_is_no_file(tmp_path: Path) -> None:
    folder(tmp_path, "config.json")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "blob")

    with pytest.raises(Incomplete, match=r"model\.safetensors"):
        check_folder("here", tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "tf_model.h5", "model.pt"])
def test_pickles_are_refused(tmp_path: Path, name: str) -> None:
    folder(tmp_path, "config.json", name)

    with pytest.raises(ConfigError, match=f"only {name}.*never pickles") as caught:
        check_folder("here", tmp_path)
    assert "convert" in caught.value.hint


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, "adapter_config.json", "adapter_model.safetensors")

    with pytest.raises(ConfigError, match="is an adapter"):
        check_folder("here", tmp_path)


def test_a_folder_without_a_config_is_incomplete(tmp_path: Path) -> None:
    folder(tmp_path, "model.safetensors")

    with pytest.raises(Incomplete, match=r"config\.json"):
        check_folder("here", tmp_path)


@pytest.mark.parametrize(
    ("said", "told"),
    [("{", "not JSON: "), ("[]", "not a JSON object"), ("null", "not a JSON object")],
)
def test_a_config_of_another_form_is_told(tmp_path: Path, said: str, told: str) -> None:
    folder(tmp_path, "model.safetensors")
    (tmp_path / "config.json").write_text(said)

    with pytest.raises(ConfigError, match=f"here: cannot be loaded: config.json is {told}"):
        check_folder("here", tmp_path)
