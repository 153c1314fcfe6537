"""Embedders of sentence-transformers, against transformers and pooling by hand."""

from __future__ import annotations

import asyncio
import json
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles import tiny_classifiers as tiny
from valor_cli.errors import ConfigError
from valor_cli.models.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.settings import EmbedderSettings

pytestmark = pytest.mark.models

TEXTS = ["the cat sat on the mat", "a dog ran", "", "it was cold 😀", "القط", "\ud800", "cat " * 40]
CLOSE = 3e-6
"""Numbers of a size of 2 in float32, whose order of summation depends on the length of a batch."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in the form of the hub: an encoder, and a folder that says how it is pooled."""
    made = tiny.bert_encoder(tmp_path_factory.mktemp("made") / "tiny-embedder")
    kinds = {"0": "Transformer", "1": "Pooling"}
    modules = [
        {
            "idx": int(at),
            "name": at,
            "path": "" if at == "0" else "1_Pooling",
            "type": f"sentence_transformers.models.{kind}",
        }
        for at, kind in kinds.items()
    ]
    (made / "modules.json").write_text(json.dumps(modules))
    (made / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (made / "1_Pooling").mkdir()
    (made / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return made


def opened(folder: Path | str, stop: Stop | None = None, **more: Any) -> Any:
    settings = EmbedderSettings(backend="sentence_transformers", model=str(folder), **more)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return SentenceTransformersEmbedder(settings, "cpu", stop or Stop())


def vectors(embedder: Any, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
    found: NDArray[np.floating[Any]] = asyncio.run(embedder.embed(texts))
    return found


def means(folder: Path, texts: Sequence[str], longest: int = 32) -> NDArray[np.float32]:
    """Means of the last hidden states, of one text at a time."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = []
    for text in texts:
        clean = text.replace("\ud800", "\ufffd")
        given = tokenizer(clean, return_tensors="pt", truncation=True, max_length=longest)
        with torch.no_grad():
            found.append(model(**given).last_hidden_state[0].mean(dim=0).numpy())
    return np.stack(found)


def test_as_transformers_and_a_mean_have_it(folder: Path) -> None:
    embedder = opened(folder)
    assert embedder.name == "tiny-embedder"
    assert not embedder.remote
    assert embedder.longest == 32
    np.testing.assert_allclose(vectors(embedder, TEXTS), means(folder, TEXTS), rtol=0, atol=CLOSE)
    found = vectors(opened(folder, prompt="it is "), TEXTS[:2])
    wanted = means(folder, [f"it is {text}" for text in TEXTS[:2]])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)


def test_company_order_and_batches_change_nothing(folder: Path) -> None:
    embedder = opened(folder)
    together = vectors(embedder, TEXTS)
    assert vectors(embedder, []).shape[0] == 0
    np.testing.assert_allclose(vectors(embedder, TEXTS[::-1])[::-1], together, rtol=0, atol=CLOSE)
    for size in (1, 2):
        found = vectors(opened(folder, batch_size=size), TEXTS)
        np.testing.assert_allclose(found, together, rtol=0, atol=CLOSE)


def test_long_texts_are_cut(folder: Path) -> None:
    # "cat" thirty times with [CLS] and [SEP] just fits; a prompt takes its place.
    texts = ["cat " * 30, "cat " * 31, "cat " * 50_000]
    assert opened(folder).cut(texts) == 2
    assert opened(folder, prompt="the ").cut(texts) == 3
    wider = opened(folder, max_tokens=64)
    assert wider.longest == 64
    assert wider.cut(texts) == 1
    np.testing.assert_allclose(vectors(wider, texts), means(folder, texts, 64), rtol=0, atol=CLOSE)
    with pytest.raises(ConfigError, match="sees 64 tokens, not 65"):
        opened(folder, max_tokens=65)


def test_it_is_kept_under_all_that_changes_its_vectors(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    assert opened(other).keeps == opened(folder).keeps
    pooling = other / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text().replace("mean_tokens", "cls_token"))
    (other / ".cache").mkdir()
    kept = {
        opened(folder).keeps,
        opened(other).keeps,
        opened(folder, prompt="it ").keeps,
        opened(folder, max_tokens=16).keeps,
    }
    assert len(kept) == 4
    (other / ".cache" / "when.json").write_text("{}")
    (other / "README.md").write_text("words")
    assert opened(other).keeps in kept


def test_a_run_that_ends(folder: Path) -> None:
    stop = Stop()
    embedder = opened(folder, stop)
    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped):
        vectors(embedder, TEXTS)


def test_code_of_a_model_is_refused(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    modules = (other / "modules.json").read_text()
    (other / "modules.json").write_text(
        modules.replace("sentence_transformers.models.Pooling", "mine.Mine")
    )
    (other / "mine.py").write_text("raise SystemExit('run')")
    with pytest.raises(ConfigError, match=r"wants the code mine\.Mine"):
        opened(other)


@pytest.mark.parametrize("part", ["", "1_Pooling"])
def test_pickles_are_refused(folder: Path, tmp_path: Path, part: str) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "model.safetensors").rename(other / part / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"only pytorch_model\.bin"):
        opened(other)


def test_what_is_no_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded"):
        opened(tmp_path)
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "modules.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a list of modules"):
        opened(other)
