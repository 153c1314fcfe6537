"""Files of SummaC-Conv's weights: three forms, and what is wrong with others."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.errors import ConfigError
from valor_cli.kernels.vectors.summac import EDGES
from valor_cli.models.classifiers.convolution_weights import convolution_weights


def arrays(bins: int = 23, kind: type = np.float32) -> dict[str, Any]:
    return {
        "mlp.weight": np.arange(bins, dtype=kind)[None] / 8,
        "mlp.bias": np.array([0.5], kind),
        "layer_final.weight": np.array([[1, 2, 3], [4, 5, 6]], kind),
        "layer_final.bias": np.array([-0.25, 0.75], kind),
    }


def as_json(found: dict[str, Any]) -> str:
    return json.dumps({name: np.asarray(value).tolist() for name, value in found.items()})


def written(folder: Path, suffix: str, found: dict[str, Any]) -> Path:
    path = folder / f"weights{suffix}"
    if suffix == ".json":
        path.write_text("\ufeff" + as_json(found), encoding="utf-8")
    elif suffix == ".npz":
        np.savez(path, **found)
    else:
        numpy_safetensors = pytest.importorskip("safetensors.numpy")
        numpy_safetensors.save_file(found, path)
    return path


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors"])
@pytest.mark.parametrize(("bins", "name"), [(23, "percentile"), (50, "even50")])
def test_each_form(tmp_path: Path, suffix: str, bins: int, name: str) -> None:
    path = written(tmp_path, suffix, arrays(bins))
    found = convolution_weights(str(path))
    assert found.identity.name == path.name
    assert found.identity.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.bins == name
    assert found.layers.edges is EDGES[name]
    assert found.layers.bin_weights.tolist() == [at / 8 for at in range(bins)]
    assert found.layers.bin_bias == 0.5
    assert found.layers.class_weights.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert found.layers.class_biases.tolist() == [-0.25, 0.75]


def refused(path: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        convolution_weights(str(path))
    assert all(problem.place == str(path) for problem in caught.value.problems)
    return caught.value


@pytest.mark.parametrize("suffix", [".bin", ".PT", ".pth", ".pkl"])
def test_pickles_are_never_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"weights{suffix}"
    path.write_bytes(pickle.dumps({}))
    error = refused(path)
    assert "is a pickle" in str(error)
    assert "weights_only=True" in error.hint


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mlp.weight", np.zeros((1, 22)), r"mlp.weight has the shape (1, 22), expected (1, 23) or"),
        ("mlp.weight", np.zeros(23), "has the shape (23,), expected (1, 23) or (1, 50)"),
        ("mlp.bias", np.zeros(()), "mlp.bias has the shape (), expected (1,)"),
        ("layer_final.weight", np.zeros((3, 2)), "has the shape (3, 2), expected (2, 3)"),
        (
            "layer_final.bias",
            [0.0, float("inf")],
            "layer_final.bias holds values that are not numbers",
        ),
        (
            "layer_final.bias",
            [0.0, float("nan")],
            "layer_final.bias holds values that are not numbers",
        ),
        ("layer_final.bias", [0.0, 1e300], "holds values that are not numbers up to 1e9"),
        ("layer_final.bias", ["a", "b"], "holds values that are not numbers"),
        ("layer_final.bias", [True, False], "holds values that are not numbers"),
        ("mlp.bias", "x", "mlp.bias holds values that are not numbers"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_arrays_that_do_not_fit(
    tmp_path: Path, suffix: str, name: str, value: Any, message: str
) -> None:
    path = written(tmp_path, suffix, arrays() | {name: value})
    assert message in str(refused(path))


def test_all_that_is_missing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text('{"other\\u001b[31m": 1}')
    error = refused(path)
    assert len(error.problems) == 4
    for value in ("null", "[[1, 2], [3]]", "{}", "1e999", f"[{'9' * 400}]"):
        path.write_text(as_json(arrays())[:-1] + f', "mlp.bias": {value}}}')
        assert "mlp.bias" in str(refused(path))
    path = path.rename(tmp_path / "w.JSON")
    path.write_text(as_json(arrays(kind=np.int64) | {"mlp.bias": [1]}))
    assert convolution_weights(str(path)).layers.bin_bias == 1
    assert "mlp.weight is missing; there is other\\x1b[31m" in str(error)


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors"])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff\xfe", b"PK\x03\x04rubbish", b"\xff" * 64, b"[" * 9000]
)
def test_broken_files(tmp_path: Path, suffix: str, content: bytes) -> None:
    if suffix == ".safetensors":
        pytest.importorskip("safetensors")
    path = tmp_path / f"weights{suffix}"
    path.write_bytes(content)
    assert f"is no {suffix} file of weights" in str(refused(path))


def test_an_archive_that_unpacks_to_much_or_to_objects(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    np.savez(path, **(arrays() | {"mlp.bias": np.array([{}], object)}))
    assert "is no .npz file of weights" in str(refused(path))
    array = io.BytesIO()
    np.save(array, np.zeros((1, 1 << 20)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mlp.weight.npy", array.getvalue())
    assert path.stat().st_size < 1 << 16
    assert "more than 1 MiB" in str(refused(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read" in str(refused(tmp_path / "none.json"))
    (tmp_path / "folder.json").mkdir()
    assert "is not a file" in str(refused(tmp_path / "folder.json"))
    (tmp_path / "large.json").write_bytes(b" " * ((1 << 20) + 1))
    assert "larger than 1 MiB" in str(refused(tmp_path / "large.json"))
    assert "found '.onnx'" in str(refused(tmp_path / "weights.onnx"))
    assert "found ''" in str(refused(tmp_path / "-"))


@pytest.mark.models
def test_the_command_that_converts_a_pickle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from valor_cli.models.classifiers.convolution_weights import CONVERT

    state = {name: torch.tensor(value) for name, value in arrays().items()}
    torch.save(state, tmp_path / "summac_conv_vitc_sent_perc_e.bin")
    monkeypatch.chdir(tmp_path)
    code = CONVERT.partition('-c "')[2].removesuffix('"')
    exec(code)  # noqa: S102 - the very words that the hint shows
    found = convolution_weights("summac_conv.safetensors")
    assert found.layers.bin_weights.tolist() == [at / 8 for at in range(23)]
