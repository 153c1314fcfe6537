"""Likelihood on tiny models: transformers' own loss, windows, batches, odd texts, refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles import tiny_models
from valor_cli.errors import ConfigError
from valor_cli.models.language_models import transformers_language_model as module
from valor_cli.models.language_models.transformers_language_model import TransformersLanguageModel
from valor_cli.models.protocols import Passage
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.settings import LanguageModelSettings
from valor_cli.models.text.windows import Runtime

pytestmark = pytest.mark.models

CAUSAL = ("gpt2", "llama", "cohere", "gemma2")
DECODING = ("t5", "bart")
PROMPT = "The capital of France is"
TARGET = " Paris, and the store"
TEXTS = (
    "I am going to the store.",
    "The capital",
    "What the text says is consistent with what the summary says, or so they say. " * 5,
    "é😀 שלום 你好",
    "Rewrite it.",
    "milk " * 60,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("models")
    return {name: getattr(tiny_models, name)(home / name) for name in (*CAUSAL, *DECODING)}


def opened(folder: Path | str, **settings: Any) -> TransformersLanguageModel:
    stop = settings.pop("stop", Stop())
    told = settings.pop("on_progress", lambda *_: None)
    return TransformersLanguageModel(
        LanguageModelSettings(model=str(folder), **settings), Runtime("cpu", stop, told)
    )


def reference(folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer as transformers loads them."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    auto = (
        transformers.AutoModelForSeq2SeqLM
        if config.is_encoder_decoder
        else transformers.AutoModelForCausalLM
    )
    model = auto.from_pretrained(folder, attn_implementation="eager").eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def loss(folder: Path, ids: Sequence[int], first: int) -> float:
    """transformers' own: mean negative log-likelihood of the tokens from `first` on."""
    import torch

    model, _ = reference(folder)
    shown = torch.tensor([list(ids)])
    labels = shown.clone()
    labels[0, :first] = -100
    with torch.no_grad():
        return float(model(input_ids=shown, labels=labels).loss)


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_model_has_the_loss_of_transformers(folders: dict[str, Path], name: str) -> None:
    _, tokenizer = reference(folders[name])
    prompt = [one for one in tokenizer(PROMPT)["input_ids"] if one != 1]
    whole = [one for one in tokenizer(PROMPT + TARGET)["input_ids"] if one != 1]
    assert whole[: len(prompt)] == prompt  # the border is one between tokens

    alone, after = opened(folders[name]).log_probabilities(
        [Passage("", PROMPT + TARGET), Passage(PROMPT, TARGET)]
    )

    # The first token is never scored: without <s> that is the first word, with it <s>.
    assert (len(alone), len(after)) == (len(whole) - 1, len(whole) - len(prompt))
    assert -alone.mean() == pytest.approx(loss(folders[name], whole, 0), rel=1e-6)
    assert -after.mean() == pytest.approx(loss(folders[name], whole, len(prompt)), rel=1e-6)


@pytest.mark.parametrize("name", DECODING)
def test_an_encoder_decoder_has_the_loss_of_transformers(
    folders: dict[str, Path], name: str
) -> None:
    import torch

    model, tokenizer = reference(folders[name])
    read = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    labels = tokenizer(text_target=TARGET, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = float(model(input_ids=read, labels=labels).loss)

    # In company, so that both sides are padded.
    [*_, found] = opened(folders[name]).log_probabilities(
        [Passage("a much longer prompt, it is", "and a longer target too"), Passage(PROMPT, TARGET)]
    )

    assert len(found) == labels.shape[1]  # the end of the target included
    assert -found.mean() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("stride", [None, 5, 31])
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_long_texts_have_the_perplexity_of_the_documentations_loop(
    folders: dict[str, Path], name: str, stride: int | None
) -> None:
    import torch

    model, tokenizer = reference(folders[name])
    ids = tokenizer(TEXTS[2], return_tensors="pt")["input_ids"]
    context, step = tiny_models.CONTEXT, stride or tiny_models.CONTEXT // 2
    lost, scored, previous = 0.0, 0, 0
    for begin in range(0, ids.shape[1], step):
        end = min(begin + context, ids.shape[1])
        part = ids[:, begin:end]
        labels = part.clone()
        labels[:, : -(end - previous)] = -100
        with torch.no_grad():
            tokens = int((labels[:, 1:] != -100).sum())
            lost += float(model(part, labels=labels).loss) * tokens
        scored, previous = scored + tokens, end
        if end == ids.shape[1]:
            break

    [found] = opened(folders[name]).log_probabilities([Passage("", TEXTS[2])], stride=stride)

    assert len(found) == scored == ids.shape[1] - 1 > 2 * context
    assert -found.mean() == pytest.approx(lost / scored, rel=1e-6)


def test_weights_set_by_hand_give_the_probabilities_worked_by_hand(tmp_path: Path) -> None:
    # Blocks are zero and the last norm gives (1, 0, …) everywhere, so a token's logit is the first
    # number of its own vector: ln 3 for "a", ln 2 for "b", 0 for the other 398. The sum is 403.
    import torch
    from transformers import GPT2LMHeadModel

    tiny_models.gpt2(tmp_path)
    made = GPT2LMHeadModel.from_pretrained(tmp_path)
    _, tokenizer = reference(tmp_path)
    a, b = (tokenizer(one)["input_ids"][0] for one in "ab")
    with torch.no_grad():
        for weights in made.parameters():
            weights.zero_()
        made.transformer.ln_f.bias[0] = 1.0
        made.transformer.wte.weight[a, 0] = math.log(3)
        made.transformer.wte.weight[b, 0] = math.log(2)
    made.save_pretrained(tmp_path)

    [found] = opened(tmp_path).log_probabilities([Passage("Q", "Qab")])

    assert found == pytest.approx([-math.log(403), math.log(3 / 403), math.log(2 / 403)], abs=1e-6)


@pytest.mark.parametrize("name", [*CAUSAL, *DECODING])
def test_company_order_and_padding_change_nothing(folders: dict[str, Path], name: str) -> None:
    passages = [Passage(prompt, text) for text in TEXTS for prompt in ("", PROMPT, TEXTS[2])]

    alone = opened(folders[name], batch_size=1).log_probabilities(passages)
    together = opened(folders[name]).log_probabilities(passages)
    model = opened(folders[name], batch_size=4)
    turned = model.log_probabilities(passages[::-1])[::-1]

    for one, two, three in zip(alone, together, turned, strict=True):
        assert two == pytest.approx(one, rel=1e-5, abs=1e-5)
        assert two.mean() == pytest.approx(one.mean(), rel=1e-6)
        assert three.mean() == pytest.approx(one.mean(), rel=1e-6)
    again = model.log_probabilities(passages[::-1])[::-1]
    assert all(np.array_equal(*pair) for pair in zip(turned, again, strict=True))


def test_a_token_over_the_border_is_the_targets(folders: dict[str, Path]) -> None:
    _, tokenizer = reference(folders["gpt2"])
    whole = tokenizer("The capital")["input_ids"]
    assert tokenizer.decode(whole[-1:]) == " capital"

    model = opened(folders["gpt2"])
    [cut] = model.log_probabilities([Passage("The cap", "ital")])
    [alone] = model.log_probabilities([Passage("", "The capital")])

    assert cut == pytest.approx(alone[-1:])


@pytest.mark.parametrize("name", CAUSAL)
def test_no_target_has_no_tokens(folders: dict[str, Path], name: str) -> None:
    model = opened(folders[name])

    found = model.log_probabilities([Passage("", ""), Passage(PROMPT, "")])

    assert [len(one) for one in found] == [0, 0]
    assert model.log_probabilities([]) == []
    # Only a token with something before it is scored: llama has <s>.
    if name in ("gpt2", "llama"):
        assert len(model.log_probabilities([Passage("", "I")])[0]) == (name == "llama")


@pytest.mark.parametrize("name", ["gpt2", "t5"])
@pytest.mark.parametrize(
    "text", ["😀", "\ud83d alone", "\0\x1b", "‮שלום", "</s> <pad>", " ", "\n\n\n", "e" * 3_000]
)
def test_odd_texts_have_finite_likelihoods(folders: dict[str, Path], name: str, text: str) -> None:
    model = opened(folders[name])

    found = model.log_probabilities([Passage("", text), Passage(text, "yes"), Passage("no", text)])

    assert all(np.isfinite(one).all() and (one <= 0).all() for one in found)
    assert len(found[1]) >= 1


def test_an_encoder_sees_the_end_of_a_long_prompt_and_says_so(folders: dict[str, Path]) -> None:
    model = opened(folders["t5"])
    _, tokenizer = reference(folders["t5"])
    ids = tokenizer(TEXTS[2])["input_ids"]
    end = tokenizer.decode(ids[-tiny_models.CONTEXT : -1])

    long, short = model.log_probabilities([Passage(TEXTS[2], "Yes"), Passage(end, "Yes")])

    assert len(ids) > tiny_models.CONTEXT
    assert model.cut == 1
    assert long == pytest.approx(short, rel=1e-5)


def test_it_tells_how_far_it_is_and_stops_between_batches(folders: dict[str, Path]) -> None:
    told: list[tuple[str, int, int]] = []
    stop = Stop()

    def tell(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))
        if done == 2:
            stop.now("interrupted", "interrupted")

    model = opened(folders["gpt2"], batch_size=1, stop=stop, on_progress=tell)
    with pytest.raises(Stopped, match="interrupted"):
        model.log_probabilities([Passage("", text) for text in ("a b", "c d", "e f")])

    assert told == [("scoring texts", done, 3) for done in range(3)]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (
            "BertForMaskedLM",
            "is an encoder, not a language model: it sees what comes after a token",
        ),
        ("BertModel", "is missing weights .*not trained for this"),
        ("BertForSequenceClassification", "its architecture is BertForSequenceClassification"),
    ],
)
def test_encoders_are_no_language_models(tmp_path: Path, head: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        opened(tiny_models.bert(tmp_path, head))


def test_a_tokenizer_of_another_model_is_found_out(tmp_path: Path) -> None:
    tiny_models.gpt2(tmp_path)
    made = reference(tmp_path)[0]
    made.resize_token_embeddings(300)
    made.save_pretrained(tmp_path)

    with pytest.raises(ConfigError, match=r"knows a token 3\d\d, the model only those below 300"):
        opened(tmp_path).log_probabilities([Passage("", " ".join(tiny_models.SENTENCES))])


def test_the_context_is_the_models_or_its_tokenizers(tmp_path: Path) -> None:
    folder = tiny_models.llama(tmp_path, max_position_embeddings=64)
    assert opened(folder).context == 32  # as the tokenizer says

    tiny_models.tokenizer_files(folder, length=10**30)
    assert opened(folder).context == 64


SMOLLM2 = "smollm2-135m"
GRAMMAR = ("I am going to the store to buy some milk.", "I is go store for buying of the milks.")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("VALOR_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_gguf_file_is_converted_once_and_says_the_same(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = [Passage("", text) for text in GRAMMAR] + [Passage("Say yes.", " Yes")]
    first = opened(SMOLLM2)
    kept = cache / "models" / str(first.identity.sha256)
    assert sorted(path.name for path in kept.parent.iterdir()) == [kept.name]
    expected = first.log_probabilities(passages)

    def refused(*_: object) -> None:
        raise AssertionError("converted again")

    monkeypatch.setattr(module, "keep_converted", refused)
    second = opened(SMOLLM2)
    found = second.log_probabilities(passages)

    assert second.identity == first.identity
    assert first.identity.sha256 is not None
    assert first.identity.sha256.startswith("b179c952")
    assert second.context == first.context == 8192
    for one, two in zip(found, expected, strict=True):
        assert np.array_equal(one, two)
    # As llama.cpp has them, too: 28 and 852.
    right, wrong = (math.exp(-one.mean()) for one in found[:2])
    assert right == pytest.approx(28, abs=0.5)
    assert wrong == pytest.approx(852, abs=2)
    # Not all that the tokenizers of GGUF files tell is kept alike by every version.
    assert len(found[2]) == 1


def test_prompts_that_leave_a_window_are_counted(folders: dict[str, Path]) -> None:
    model = opened(folders["gpt2"])
    long = "the cat sat on the mat. " * model.context
    model.log_probabilities([Passage(long, " yes"), Passage("the cat", " sat"), Passage("", long)])
    # Without a prompt there is no beginning to lose.
    assert model.cut == 1
