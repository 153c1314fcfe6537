"""Finding and loading models: the cache of the hub, refusals, silence, no network."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.oracles import tiny_models
from valor_cli.errors import ConfigError
from valor_cli.models.files.hugging_face import Located, loaded, located, tokenizer_of, transformers
from valor_cli.models.protocols import Unavailable, sha256_of
from valor_cli.models.text.windows import device_of

pytestmark = pytest.mark.models

ID = "somebody/tiny-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2(tmp_path_factory.mktemp("models") / "tiny-gpt2")


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copied"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of the hub, empty."""
    from huggingface_hub import constants

    # Read from the environment at import.
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def fetched(hub: Path, folder: Path, *names: str) -> Path:
    """What `hf download` leaves: blobs, a snapshot of links to them, a reference to it."""
    home = hub / f"models--{ID.replace('/', '--')}"
    snapshot = home / "snapshots" / COMMIT
    for part in (home / "blobs", home / "refs", snapshot):
        part.mkdir(parents=True)
    (home / "refs" / "main").write_text(COMMIT)
    for name in names or [path.name for path in folder.iterdir()]:
        blob = home / "blobs" / sha256_of(folder / name)
        shutil.copy(folder / name, blob)
        (snapshot / name).symlink_to(f"../../blobs/{blob.name}")
    return snapshot


def load(found: Located) -> Any:
    return loaded(transformers("test").AutoModelForCausalLM, found, device_of("cpu"))


def test_a_folder_is_found_by_its_path(folder: Path) -> None:
    found = located(str(folder), "test")

    assert (found.folder, found.gguf) == (folder, None)
    assert found.identity.name == "tiny-gpt2"
    assert load(found).config.model_type == "gpt2"
    assert tokenizer_of(found)("I am").input_ids


def test_an_id_is_found_where_it_was_fetched_to(hub: Path, folder: Path) -> None:
    snapshot = fetched(hub, folder)

    found = located(ID, "test")

    assert found.folder == snapshot
    assert found.identity.name == ID
    assert found.identity.sha256 == located(str(folder), "test").identity.sha256
    assert load(found).config.model_type == "gpt2"


def test_an_id_that_was_never_fetched_says_how_to(hub: Path) -> None:
    with pytest.raises(Unavailable, match=f"not on this machine; fetch it: hf download {ID}$"):
        located(ID, "test")


@pytest.mark.parametrize(
    ("names", "lacking"),
    [(["config.json", "tokenizer.json"], "model.safetensors"), (["tokenizer.json"], "config.json")],
)
def test_an_id_fetched_in_part_says_what_is_not_there(
    hub: Path, folder: Path, names: list[str], lacking: str
) -> None:
    fetched(hub, folder, *names)

    with pytest.raises(Unavailable, match=f"incomplete .* {lacking} is missing; fetch it: hf"):
        located(ID, "test")


@pytest.mark.parametrize("model", ["no/such/folder", "a name", "x" * 200, "x" * 4_000])
def test_what_can_be_no_id_is_no_command_to_fetch(hub: Path, model: str) -> None:
    with pytest.raises(Unavailable, match="no such file or folder") as caught:
        located(model, "test")
    assert "hf download" not in str(caught.value)


def test_the_hash_is_that_of_what_is_read(copied: Path) -> None:
    before = located(str(copied), "test").identity
    (copied / "README.md").write_text("another")
    assert located(str(copied), "test").identity == before

    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config))
    assert located(str(copied), "test").identity != before


def test_finding_imports_neither_torch_nor_transformers(folder: Path) -> None:
    code = (
        "import sys; from valor_cli.models.files.hugging_face import located; "
        f"located({str(folder)!r}, 'test').identity; "
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_weights_in_parts_are_loaded(folder: Path, tmp_path: Path) -> None:
    import torch

    whole = load(located(str(folder), "test"))
    tiny_models.silence()
    whole.save_pretrained(tmp_path, max_shard_size="50KB")
    parts = sorted(tmp_path.glob("*.safetensors"))
    assert len(parts) > 1

    again = load(located(str(tmp_path), "test"))
    assert all(map(torch.equal, whole.state_dict().values(), again.state_dict().values()))

    parts[0].unlink()
    with pytest.raises(ConfigError, match=f"{parts[0].name} is missing"):
        located(str(tmp_path), "test")


def test_a_head_that_was_never_trained_is_refused(tmp_path: Path) -> None:
    found = located(str(tiny_models.bert(tmp_path, "BertModel")), "test")
    auto = transformers("test").AutoModelForSequenceClassification

    with pytest.raises(
        ConfigError, match=r"is missing weights \(classifier.bias, classifier.weight\)"
    ):
        loaded(auto, found, device_of("cpu"))
    loaded(auto, found, device_of("cpu"), may_lack=lambda name: name.startswith("classifier"))


def without_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def config(**change: object) -> Any:
    """A config that says something else."""

    def changed(folder: Path) -> None:
        (folder / "own.py").write_text("raise SystemExit('run')")
        said = json.loads((folder / "config.json").read_text()) | change
        (folder / "config.json").write_text(json.dumps(said))

    return changed


OWN = {"AutoConfig": "own.Own", "AutoModel": "own.Own"}
HALF = b"\x10\0\0\0\0\0\0\0{"


def both(folder: Path) -> None:
    found = located(str(folder), "test")
    load(found)
    tokenizer_of(found)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (config(model_type="own", auto_map=OWN), "code from its own repository"),
        (config(model_type="own"), r"cannot be loaded: .*`own`"),
        (config(n_positions=7), r"other sizes than its config.json says"),
        (lambda folder: (folder / "model.safetensors").write_bytes(HALF), "cannot be loaded: "),
        (lambda folder: (folder / "config.json").unlink(), r"config\.json is missing"),
        (without_tokenizer, "has no tokenizer"),
        (
            lambda folder: (folder / "tokenizer.json").write_text("{}"),
            "one of its JSON files does not have the expected form",
        ),
    ],
)
def test_folders_that_cannot_be_used(copied: Path, spoil: Any, told: str) -> None:
    spoil(copied)
    with pytest.raises(ConfigError, match=told) as caught:
        both(copied)
    assert "\n" not in caught.value.problems[0].message
    (copied / "model.onnx").write_bytes(b"")
    with pytest.raises(ConfigError, match="neither a model folder nor a GGUF file"):
        located(str(copied / "model.onnx"), "test")


def test_nothing_is_printed_and_no_address_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("asked the network")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)

    found = located(str(folder), "test")
    load(found)
    tokenizer_of(found)("word " * 500)

    assert capfd.readouterr() == ("", "")
