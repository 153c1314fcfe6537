"""Classifiers of Hugging Face form, against transformers asked directly."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles import tiny_classifiers as tiny
from valor_cli.errors import ConfigError
from valor_cli.models.classifiers.transformers_classifier import TransformersClassifier
from valor_cli.models.protocols import Pair
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.text.windows import Runtime

pytestmark = pytest.mark.models

Floats = NDArray[np.float64]

TEXTS = [
    "the cat sat on the mat",
    "a dog ran",
    "",
    " \n",
    "one two three four five red blue small big tree house bird flew over the rain",
    "cat",
    "😀 the cat 👩‍👩‍👧",
    "القط على السجادة the cat",
    "\ud800 broken",
]
PAIRS = [
    Pair("the cat sat on the mat", "a cat sat"),
    Pair("", "the bird flew"),
    Pair("the sun is warm", ""),
    Pair("a dog ran under the house and the rain was cold", "it was warm"),
]


def opened(
    folder: Path, stop: Stop | None = None, tell: Any = lambda *_: None
) -> TransformersClassifier:
    runtime = Runtime("cpu", stop or Stop(), tell)
    return TransformersClassifier(str(folder), "toxicity_detoxify", runtime)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert_classifier(tmp_path_factory.mktemp("nli"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.roberta_classifier(tmp_path_factory.mktemp("roberta"), longest=256)


@pytest.fixture(scope="module")
def toxic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert_classifier(
        tmp_path_factory.mktemp("toxic"),
        tiny.TOXIC,
        problem_type="multi_label_classification",
    )


def asked(folder: Path) -> Callable[..., Floats]:
    """Logits of one text or pair at a time, unpadded, as transformers itself has them."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def logits(*texts: str, ids: Sequence[int] | None = None) -> Floats:
        # As lists: of a pair alone, transformers leaves out an empty second text.
        lists = [[text] for text in texts]
        given = (
            {"input_ids": torch.tensor([ids])} if ids else tokenizer(*lists, return_tensors="pt")
        )
        with torch.no_grad():
            found: Floats = model(**given).logits[0].numpy().astype(np.float64)
        return found

    return logits


@pytest.mark.parametrize("name", ["nli", "roberta"])
def test_texts_and_pairs_as_transformers_has_it(name: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(name)
    found = opened(folder)
    logits = asked(folder)
    assert found.labels == tiny.NLI
    assert found.exclusive
    for text, each in zip(TEXTS, found.of_texts(TEXTS), strict=True):
        assert each.dtype == np.float64
        clean = text.replace("\ud800", "\ufffd")
        np.testing.assert_allclose(each, [tiny.softmax(logits(clean))], rtol=0, atol=1e-6)
    for pair, each in zip(PAIRS, found.of_pairs(PAIRS), strict=True):
        wanted = tiny.softmax(logits(pair.premise, pair.hypothesis))
        np.testing.assert_allclose(each, [[wanted]], rtol=0, atol=1e-6)


def test_labels_of_which_several_may_hold(toxic: Path) -> None:
    found = opened(toxic)
    logits = asked(toxic)
    assert found.labels == tiny.TOXIC
    assert not found.exclusive
    for text, each in zip(TEXTS[:4], found.of_texts(TEXTS[:4]), strict=True):
        wanted = 1 / (1 + np.exp(-logits(text)))
        np.testing.assert_allclose(each, [wanted], rtol=0, atol=1e-6)


def with_bias(folder: Path, bias: Sequence[float]) -> Path:
    """Weights set by hand: whatever a text says, its logits are the bias."""
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
    return folder


def test_probabilities_worked_by_hand(tmp_path: Path) -> None:
    # exp of the logits is 1, 2 and 5: of their sum, 8, these are shares of 0.125, 0.25 and 0.625.
    folder = with_bias(tiny.bert_classifier(tmp_path), np.log([1, 2, 5]).tolist())
    (found,) = opened(folder).of_texts(["the cat"])
    np.testing.assert_allclose(found, [[0.125, 0.25, 0.625]], rtol=0, atol=1e-7)


def test_one_label_is_a_probability(tmp_path: Path) -> None:
    # The logit log 3 is a probability of 3 / (3 + 1).
    folder = with_bias(tiny.bert_classifier(tmp_path, ("similar",)), [float(np.log(3))])
    found = opened(folder)
    assert found.labels == ("similar",)
    assert not found.exclusive
    np.testing.assert_allclose(found.of_pairs(PAIRS)[0], [[[0.75]]], rtol=0, atol=1e-7)


def test_regression_is_refused_unless_it_names_a_sigmoid(tmp_path: Path) -> None:
    folder = tiny.bert_classifier(tmp_path, ("stars",), problem_type="regression")
    with pytest.raises(ConfigError, match="gives no probabilities"):
        opened(folder)
    config = json.loads((folder / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
    (folder / "config.json").write_text(json.dumps(config))
    assert 0 < opened(folder).of_texts(["the cat"])[0].item() < 1


def test_windows_of_a_long_text(nli: Path) -> None:
    # 64 tokens, of which [CLS] and [SEP] take 2: windows of 62, each from 62 - 62 // 4 = 47 on.
    from transformers import AutoTokenizer

    text = " ".join(np.random.default_rng(3).choice(tiny.WORDS[:30], 120))
    ids = AutoTokenizer.from_pretrained(nli)(text, add_special_tokens=False)["input_ids"]
    assert len(ids) == 120
    logits = asked(nli)
    (found,) = opened(nli).of_texts([text])
    starts = [0, 47, 94]
    wanted = [tiny.softmax(logits(ids=[2, *ids[at : at + 62], 3])) for at in starts]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


def test_windows_of_a_long_pair(nli: Path) -> None:
    # [CLS] and twice [SEP] leave 61: the hypothesis takes 30, its windows start at 0 and 23; the
    # premise takes 31, and its windows start at 0, 24, 48 and 72.
    from transformers import AutoTokenizer

    words = np.random.default_rng(4).choice(tiny.WORDS[:30], 140)
    pair = Pair(" ".join(words[:90]), " ".join(words[90:]))
    tokenizer = AutoTokenizer.from_pretrained(nli)
    (found,) = opened(nli).of_pairs([pair])
    assert found.shape == (2, 4, 3)
    logits = asked(nli)
    for row, mine in enumerate([pair.hypothesis.split()[:30], pair.hypothesis.split()[23:]]):
        for column, at in enumerate([0, 24, 48, 72]):
            premise = pair.premise.split()[at : at + 31]
            wanted = tiny.softmax(logits(" ".join(premise), " ".join(mine)))
            np.testing.assert_allclose(found[row, column], wanted, rtol=0, atol=1e-6)
    assert len(tokenizer(pair.premise)["input_ids"]) == 92


def test_roberta_sees_two_tokens_fewer_than_it_has_positions(roberta: Path) -> None:
    found = opened(roberta)
    assert found.window == 256
    assert json.loads((roberta / "config.json").read_text())["max_position_embeddings"] == 258
    assert len(found.of_texts(["the cat sat on the mat " * 20])[0]) > 1


def test_company_order_and_batches_change_nothing(
    nli: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*TEXTS, "the cat " * 70, "a bird flew " * 9]
    found = opened(nli)
    together = found.of_texts(texts)
    backwards = found.of_texts(texts[::-1])[::-1]
    monkeypatch.setattr("valor_cli.models.text.windows.tokens_at_once", lambda *_: 1)
    alone = found.of_texts(texts)
    for each in zip(together, backwards, alone, strict=True):
        np.testing.assert_allclose(each[1], each[0], rtol=0, atol=1e-6)
        np.testing.assert_allclose(each[2], each[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["nli", "roberta"])
def test_special_tokens_in_a_text_are_plain_text(name: str, request: pytest.FixtureRequest) -> None:
    found = opened(request.getfixturevalue(name))
    tokens = found._texts.tokens
    hostile = "[CLS] a [SEP] cat [PAD] </s><s> <pad> [MASK]<mask>"
    (ids,) = tokens.of([hostile])
    assert not set(ids) & {0, 2, 3 if name == "nli" else 2, 4}
    assert found.of_pairs([Pair("[SEP] a </s>", "</s>")])[0].shape == (1, 1, 3)


def test_each_distinct_text_is_computed_once(nli: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    found = opened(nli, tell=lambda *step: steps.append(step))
    first, other, again = found.of_texts(["the cat", "a dog", "the cat"])
    assert steps[0] == ("classifying texts", 0, 2)
    assert steps[-1] == ("classifying texts", 2, 2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    steps.clear()
    found.of_pairs([PAIRS[0], PAIRS[0]])
    assert steps[-1][2] == 1
    assert (found.of_texts([]), found.of_pairs([])) == ([], [])


def test_a_run_that_ends(nli: Path) -> None:
    stop = Stop()
    found = opened(nli, stop)
    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped, match="interrupted"):
        found.of_texts(["the cat"])


def test_a_model_without_padding(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast

    backend = tiny.bytes_tokenizer(32).backend_tokenizer
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=32, eos_token="</s>", unk_token="</s>"
    )
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}
    config = GPT2Config(
        **sizes, vocab_size=len(tokenizer), num_labels=3, eos_token_id=2, bos_token_id=2
    )
    model = tiny.seeded(GPT2ForSequenceClassification(config))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    logits = asked(tmp_path)
    texts = ["the cat", "a dog ran over", "it"]
    for text, each in zip(texts, opened(tmp_path).of_texts(texts), strict=True):
        np.testing.assert_allclose(each, [tiny.softmax(logits(text))], rtol=0, atol=1e-6)


def test_a_model_that_reads_the_last_place(tmp_path: Path) -> None:
    from transformers import XLNetConfig, XLNetForSequenceClassification

    tokenizer = tiny.words_tokenizer(64)
    sizes = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32, "vocab_size": len(tokenizer)}
    model = XLNetForSequenceClassification(XLNetConfig(**sizes, num_labels=3, pad_token_id=0))
    tiny.seeded(model).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    logits = asked(tmp_path)
    for text, each in zip(TEXTS[:4], opened(tmp_path).of_texts(TEXTS[:4]), strict=True):
        np.testing.assert_allclose(each, [tiny.softmax(logits(text))], rtol=0, atol=1e-6)


def test_a_window_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sees 8 tokens at once, of which 3 are its own"):
        opened(tiny.bert_classifier(tmp_path, longest=8))
