"""Hidden states of tokens, against bert-score and against transformers asked directly."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles import tiny_classifiers as tiny
from valor_cli.errors import ConfigError
from valor_cli.models.embedders.transformers_token_encoder import (
    USUAL_LAYERS,
    TransformersTokenEncoder,
)
from valor_cli.models.protocols import TokenStates
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.text.windows import Runtime

pytestmark = pytest.mark.models

HYPOTHESES = ["the cat sat on the mat", " a dog ran ", "it was cold and he slept", "bird 😀 flew"]
REFERENCES = ["a cat slept on a mat", "the dog ran over the tree", "the rain was warm", "القط bird"]


def opened(
    folder: Path, layer: int | None = None, stop: Stop | None = None
) -> TransformersTokenEncoder:
    runtime = Runtime("cpu", stop or Stop(), lambda *_: None)
    return TransformersTokenEncoder(str(folder), layer, runtime)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its tokenizer puts a space before texts: bert-score asks for it in words that transformers 5
    no longer hears."""
    return tiny.roberta_encoder(tmp_path_factory.mktemp("roberta"), spaced=True)


def greedy_f1(hypothesis: TokenStates, reference: TokenStates) -> float:
    """BERTScore's F1 as bert-score has it: special tokens weigh nothing, and may be matched."""
    mine, theirs = (
        one.states / np.linalg.norm(one.states, axis=1, keepdims=True)
        for one in (hypothesis, reference)
    )
    cosines = mine @ theirs.T
    precision = cosines.max(axis=1)[~hypothesis.special].mean()
    recall = cosines.max(axis=0)[~reference.special].mean()
    return float(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize(("name", "layer"), [("bert", 2), ("bert", 3), ("roberta", 1)])
def test_as_bert_score_has_it(name: str, layer: int, request: pytest.FixtureRequest) -> None:
    import bert_score

    folder = request.getfixturevalue(name)
    with warnings.catch_warnings(action="ignore"):
        *_, wanted = bert_score.score(
            HYPOTHESES, REFERENCES, model_type=str(folder), num_layers=layer, device="cpu"
        )
    found = opened(folder, layer)
    states = list(found.states([*HYPOTHESES, *REFERENCES]))
    pairs = zip(states[:4], states[4:], strict=True)
    np.testing.assert_allclose(
        [greedy_f1(*pair) for pair in pairs], wanted.numpy(), rtol=0, atol=1e-5
    )


def test_a_first_word_is_as_one_further_on(roberta: Path, tmp_path: Path) -> None:
    bare = tiny.roberta_encoder(tmp_path)
    texts = ["the cat", " the cat ", ""]
    found = [[one.ids.tolist() for one in opened(of).states(texts)] for of in (roberta, bare)]
    assert found[0] == found[1]
    assert found[0][0] == found[0][1]
    assert found[0][2] == [0, 2]


def test_layers_are_those_that_bert_score_recommends() -> None:
    from bert_score.utils import model2layers

    usual = {name.rpartition("/")[2]: layer for name, layer in model2layers.items()}
    assert {name: usual[name] for name in USUAL_LAYERS} == dict(USUAL_LAYERS)


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_layers_are_counted_from_the_embeddings(bert: Path, layer: int) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(bert).eval(), AutoTokenizer.from_pretrained(bert)
    found = opened(bert, layer)
    assert found.layer == layer
    for text, states in zip(HYPOTHESES, found.states(HYPOTHESES), strict=True):
        given = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            wanted = model(**given, output_hidden_states=True).hidden_states[layer][0]
        assert states.ids.tolist() == given["input_ids"][0].tolist()
        assert states.special.tolist() == [True, *[False] * (len(states.ids) - 2), True]
        np.testing.assert_allclose(states.states, wanted.numpy(), rtol=0, atol=1e-5)


def test_the_layer_that_is_usual_for_a_name(bert: Path, tmp_path: Path) -> None:
    assert opened(bert).layer == 3
    # It has three layers only: what is called so need not be it.
    assert opened(shutil.copytree(bert, tmp_path / "roberta-large")).layer == 3
    deep = tiny.bert_encoder(tmp_path / "distilbert-base-uncased", layers=6)
    assert opened(deep).layer == 5
    with pytest.raises(ConfigError, match="has 3 layers, and layer 4 is asked for"):
        opened(bert, 4)


def test_long_texts_are_cut(bert: Path) -> None:
    found = opened(bert)
    texts = ["the cat " * 31, "the cat " * 31 + "sat", "the cat " * 25_000]
    assert found.longest == 64
    assert found.cut(texts) == 2
    assert [len(states.ids) for states in found.states(texts)] == [64, 64, 64]
    assert [states.special.sum() for states in found.states(texts)] == [2, 2, 2]


@pytest.mark.parametrize("text", ["", "  ", "[SEP]", "\ud800", "😀"])
def test_odd_texts(bert: Path, text: str) -> None:
    (states,) = opened(bert).states([text])
    assert states.ids[0] == 2
    assert states.ids[-1] == 3
    assert not {0, 2, 3} & {*states.ids[1:-1]}
    assert np.isfinite(states.states).all()


def test_company_changes_nothing(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*HYPOTHESES, *REFERENCES, "the cat " * 90, *HYPOTHESES]
    found = opened(bert, 2)
    together = list(found.states(texts))
    monkeypatch.setattr(
        "valor_cli.models.embedders.transformers_token_encoder._CHARACTERS_AT_ONCE", 10
    )
    for states, alone in zip(together, found.states(texts), strict=True):
        # Numbers of a size of 3 in float32; what is made of them agrees as far as it must.
        np.testing.assert_allclose(alone.states, states.states, rtol=0, atol=5e-6)
        assert greedy_f1(alone, together[0]) == pytest.approx(
            greedy_f1(states, together[0]), rel=0, abs=1e-6
        )


def test_a_model_whose_layers_are_kept_elsewhere(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2Model

    tokenizer = tiny.bytes_tokenizer(32)
    sizes = {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 32}
    model = tiny.seeded(GPT2Model(GPT2Config(**sizes, vocab_size=len(tokenizer))))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert _agrees(tmp_path, model, 1)


def test_encoders_of_encoder_decoders(tmp_path: Path) -> None:
    from transformers import BartConfig, BartModel

    tokenizer = tiny.bytes_tokenizer(32)
    sizes: dict[str, Any] = {"d_model": 16, "max_position_embeddings": 32}
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 2, f"{part}_attention_heads": 2, f"{part}_ffn_dim": 32}
    model = tiny.seeded(BartModel(BartConfig(**sizes, vocab_size=len(tokenizer))))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert _agrees(tmp_path, model.get_encoder(), 1)


def _agrees(folder: Path, model: Any, layer: int) -> bool:
    import torch

    (found,) = opened(folder, layer).states(["the cat"])
    with torch.no_grad():
        out = model(torch.from_numpy(found.ids)[None], output_hidden_states=True)
    return np.allclose(found.states, out.hidden_states[layer][0].numpy(), rtol=0, atol=1e-5)


def test_t5_ends_with_its_normalisation(tmp_path: Path) -> None:
    from transformers import T5EncoderModel

    folder = tiny.t5_classifier(tmp_path)
    T5EncoderModel(tiny.t5_config()).save_pretrained(folder)
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(str(tokenizer).replace("'", '"'))
    (found,) = opened(folder, 1).states(["dog sat"])
    # A last normalisation of T5 leaves a mean square of 1.
    np.testing.assert_allclose((found.states**2).mean(axis=1), 1.0, rtol=0, atol=1e-3)


def test_a_run_that_ends(bert: Path) -> None:
    stop = Stop()
    found = opened(bert, stop=stop)
    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped):
        list(found.states(["the cat"]))
