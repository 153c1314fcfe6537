"""Means of token vectors: by hand on tables of a few tokens, and as wordllama has them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from valor_cli.errors import ConfigError, MissingExtraError
from valor_cli.models.embedders.static_embedder import StaticEmbedder
from valor_cli.models.protocols import Embedder, ModelIdentity, Unavailable, sha256_of_files
from valor_cli.models.settings import EmbedderSettings

WORDS = ("[UNK]", "red", "green", "blue")
VECTORS = np.array([[9, 9], [3, 0], [0, 4], [1, 1]], np.float32)


def tokenizer(kind: str = "words") -> Tokenizer:
    if kind == "unigram":
        made = Tokenizer(models.Unigram([(word, -1.0) for word in WORDS], unk_id=0))
    else:
        vocabulary = {word: at for at, word in enumerate(WORDS)}
        made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    # A text has neither of it, whatever the file says.
    made.enable_padding(length=7)
    made.enable_truncation(1)
    return made


def model2vec(folder: Path, kind: str = "words", config: Any = None, **tensors: Any) -> Path:
    save_file({"embeddings": VECTORS, **tensors}, folder / "model.safetensors")
    tokenizer(kind).save(str(folder / "tokenizer.json"))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def opened(folder: Path | None = None, **more: Any) -> StaticEmbedder:
    model = None if folder is None else str(folder)
    return StaticEmbedder(EmbedderSettings(backend="static", model=model, **more))


def embedded(embedder: Embedder, *texts: str) -> Any:
    return asyncio.run(embedder.embed(texts))


@pytest.mark.parametrize("kind", ["words", "unigram"])
def test_a_mean_by_hand(tmp_path: Path, kind: str) -> None:
    found = embedded(opened(model2vec(tmp_path, kind)), "red green", "red zzz blue red", "zzz", "")
    # (3, 0) and (0, 4); unknown words count nothing: (3+1+3, 0+1+0)/3; nothing known: zeros.
    assert found == pytest.approx(np.array([[1.5, 2.0], [7 / 3, 1 / 3], [0, 0], [0, 0]]))
    assert found.dtype == np.float32


def test_vectors_of_length_one_where_the_folder_says_so(tmp_path: Path) -> None:
    folder = model2vec(tmp_path, config={"normalize": True, "seq_length": 9})
    (folder / "README.md").write_text("is not read")
    embedder = opened(folder)
    files = [folder / name for name in ("model.safetensors", "tokenizer.json", "config.json")]
    assert embedder.identity == ModelIdentity(tmp_path.name, sha256_of_files(files))
    assert (embedder.remote, embedder.keeps) == (False, None)
    found = embedded(embedder, "red green", "zzz")
    # (1.5, 2) has the length 2.5; zeros have no direction.
    assert found == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_weights_and_rows_of_tokens(tmp_path: Path) -> None:
    rows = np.array([0, 1, 1, 0], np.int32)
    weights = np.array([1, 0.5, 2, 1], np.float64)
    table = np.array([[1, 1], [3, 5]], np.float16)
    embedder = opened(model2vec(tmp_path, embeddings=table, mapping=rows, weights=weights))
    # 0.5 · (3, 5) + 2 · (3, 5) + 1 · (1, 1), by three tokens, not by their weights.
    found = embedded(embedder, "red green blue")
    assert found == pytest.approx(np.array([[8.5 / 3, 13.5 / 3]]))


def test_whole_numbers_of_eight_bits(tmp_path: Path) -> None:
    table = np.array([[0, 0], [127, -128], [1, 127], [0, 0]], np.int8)
    found = embedded(opened(model2vec(tmp_path, embeddings=table)), "red green")
    assert found.tolist() == [[64.0, -0.5]]


def test_longer_texts_are_cut_and_counted(tmp_path: Path) -> None:
    embedder = opened(model2vec(tmp_path), max_tokens=8)
    long = "red " * 8 + "blue"
    assert embedder.cut(["red", long, "blue " * 8]) == 1
    assert embedded(embedder, long).tolist() == [[3.0, 0.0]]
    # As model2vec has it, unless the folder or the config says otherwise.
    assert opened(tmp_path).longest == 512
    assert opened(tmp_path).cut([long, "red " * 600]) == 1
    assert opened(model2vec(tmp_path, config={"max_length": None})).longest is None
    # A prompt stands before every text.
    prompted = opened(tmp_path, prompt="blue ", max_tokens=8)
    assert embedded(prompted, "red").tolist() == [[2.0, 0.5]]
    assert prompted.cut(["red " * 7, "red " * 8]) == 1
    embedder = opened(model2vec(tmp_path, config={"max_length": 2}))
    assert embedded(embedder, "zzz red green").tolist() == [[3.0, 0.0]]


def test_odd_texts(tmp_path: Path) -> None:
    embedder = opened(model2vec(tmp_path), max_tokens=100_000)
    texts = ["\ud800 red", "\U0001f600 blue", "שלום", "red " * 50_000 + "green", "\0", "  "]
    found = embedded(embedder, *texts)
    assert found[:3].tolist() == [[3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    assert found[3] == pytest.approx([3 * 50_000 / 50_001, 4 / 50_001], abs=1e-6)
    # The same in any company and order.
    for at, text in enumerate(texts):
        assert embedded(embedder, text)[0].tobytes() == found[at].tobytes()
    back = embedded(embedder, *texts[::-1])
    assert back[::-1].tobytes() == found.tobytes()
    assert embedded(embedder).shape == (0, 2)


def wordllama(folder: Path, tokenizers: str = "tokenizers") -> Path:
    (folder / "weights").mkdir(parents=True)
    (folder / tokenizers).mkdir()
    save_file({"embedding.weight": VECTORS}, folder / "weights" / "small_2.safetensors")
    tokenizer().save(str(folder / tokenizers / "small_tokenizer_config.json"))
    return folder


@pytest.mark.parametrize("name", ["tokenizers", "tokenizer"])
def test_a_folder_as_wordllama_has_it(tmp_path: Path, name: str) -> None:
    embedder = opened(wordllama(tmp_path, name))
    # There unknown tokens count as all others do: (9, 9) and (3, 0).
    assert embedded(embedder, "zzz red", "").tolist() == [[6.0, 4.5], [0.0, 0.0]]
    assert embedder.longest is None
    assert embedder.cut(["red " * 9_999]) == 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name; what it says is an error, for it is not to be imported."""
    folder = wordllama(tmp_path / "wordllama")
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    return folder


def test_the_package_is_found_and_not_imported(package: Path) -> None:
    embedder = opened()
    assert embedder.identity.name == "wordllama"
    assert embedded(embedder, "red").tolist() == [[3.0, 0.0]]
    assert "wordllama" not in sys.modules


def test_what_is_not_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match=r"hf download minishlab/potion-base-8M --local-dir"):
        StaticEmbedder(EmbedderSettings(backend="static", model="minishlab/potion-base-8M"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"wordllama, which.*\n.*'valor-cli\[static\]'"):
        opened()


@pytest.mark.parametrize("name", ["tokenizers", "safetensors"])
def test_what_reads_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = model2vec(tmp_path)
    for module in [one for one in sys.modules if one.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=f"needs the package {name}"):
        opened(folder)


def two_tables(folder: Path) -> None:
    shutil.rmtree(folder)
    wordllama(folder)
    save_file({"embedding.weight": VECTORS}, folder / "weights" / "small_4.safetensors")


HEAD = json.dumps({"embeddings": {"dtype": "BF16", "shape": [4, 1], "data_offsets": [0, 8]}})
BFLOAT16 = len(HEAD).to_bytes(8, "little") + HEAD.encode() + bytes(8)


def holding(name: str, content: bytes) -> Any:
    """One file of the folder holds this."""
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "holds no vectors of tokens"),
        (two_tables, "small_2.safetensors, small_4.safetensors"),
        (holding("config.json", b'{"normalize": "yes"}'), "cannot be used: Expected `bool`"),
        (holding("model.safetensors", b"\x80\x04\x95" * 9), "model.safetensors: cannot be read"),
        (holding("model.safetensors", BFLOAT16), "cannot be read: data type 'bfloat16'"),
        (holding("tokenizer.json", b"{}"), "is not a readable tokenizer"),
        (lambda folder: model2vec(folder, embeddings=VECTORS[0]), "no table `embeddings`"),
        (lambda folder: model2vec(folder, embeddings=VECTORS[:3]), "has vectors of 3, and its"),
        (lambda folder: model2vec(folder, mapping=np.array([0, 1])), "has rows of 2, and its"),
        (lambda folder: model2vec(folder, weights=np.ones(3)), "has weights of 3, and its"),
        (lambda folder: model2vec(folder, mapping=np.array([0, 1, 2, 4])), "rows over the 4"),
        (lambda folder: model2vec(folder, mapping=np.array([0, 1, 2, -1])), "rows over the 4"),
    ],
)
def test_folders_that_cannot_be_used(tmp_path: Path, spoil: Any, said: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    spoil(model2vec(folder))
    with pytest.raises(ConfigError) as caught:
        opened(folder)
    assert said in str(caught.value)


@pytest.mark.models
def test_as_wordllama_has_it() -> None:
    from wordllama import WordLlama  # type: ignore[import-not-found, unused-ignore]

    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    reference = WordLlama.load(cache_dir=folder, disable_download=True)
    texts = [
        *("", " ", "a", "Hello world", "<s>not special</s>", "\U0001f600 emoji", "שלום עולם"),
        *("Ünïcödé ﬁ ligature", "tab\tand\nline", "1,234.56 USD", "word " * 2_000),
        *(f"This is sentence {at} about topic {at % 7}." for at in range(200)),
    ]
    found = embedded(opened(), *texts)
    assert found == pytest.approx(reference.embed(texts), abs=1e-5)
    assert opened().identity.sha256 is not None
