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


def index(*names: object) -> str:
    return json.dumps({"weight_map": dict(enumerate(names))})


@pytest.mark.parametrize(
    ("config", "weights", "beside", "lacking"),
    [
        (None, None, ("model.safetensors",), r"^config\.json$"),
        ("{}", None, (), r"^model\.safetensors$"),
        ("{}", index("a", "b", "c"), ("a", "pytorch_model.bin"), r"^b and 1 more$"),
        *(("{}", said, (), "index") for said in ("", "[]", "{}", '{"weight_map": [1]}', index(1))),
    ],
)
def test_what_is_not_there_is_named(
    tmp_path: Path, config: str | None, weights: str | None, beside: tuple[str, ...], lacking: str
) -> None:
    folder(tmp_path, *beside)
    for name, said in (("config.json", config), ("model.safetensors.index.json", weights)):
        if said is not None:
            (tmp_path / name).write_text(said)
    if not beside:
        # A link to nothing is no file.
        (tmp_path / "model.safetensors").symlink_to(tmp_path / "blob")
    with pytest.raises(Incomplete, match=lacking):
        check_folder("here", tmp_path)


@pytest.mark.parametrize(
    ("names", "config", "told"),
    [
        *(
            (["config.json", name], "{}", f"only {name}.*never pickles.*\n.*convert")
            for name in ("pytorch_model.bin", "tf_model.h5", "model.pt")
        ),
        (["adapter_config.json", "adapter_model.safetensors"], None, "is an adapter"),
        *(
            (["model.safetensors"], said, f"here: cannot be loaded: config.json is {told}")
            for said, told in (("{", "not JSON: "), ("[]", "not a JSON object"))
        ),
    ],
)
def test_folders_that_are_refused(
    tmp_path: Path, names: list[str], config: str | None, told: str
) -> None:
    folder(tmp_path, *names)
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(ConfigError, match=told):
        check_folder("here", tmp_path)
