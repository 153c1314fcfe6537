"""Models of Hugging Face form, small enough to make in a test: seeded or hand-set weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

_SAID = (
    "the a cat dog bird sat ran flew slept on under over mat tree house red blue small big is was "
    "not and it he she they rain sun cold warm one two three four five text1 text2 pad sep good bad"
)
WORDS = _SAID.split()
"""What the tiny tokenizers know, beside letters."""

NLI = ("contradiction", "neutral", "entailment")
TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")

_LETTERS = [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?<>/{}[]|:"]
_BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def seeded(model: Any, seed: int = 1, scale: float = 0.3) -> Any:
    """The model with weights that are the seed's own, large enough that all matters."""
    import torch

    made = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            if "norm" in name.lower():
                continue
            weight.copy_(torch.randn(weight.shape, generator=made) * scale)
    return model.eval()


def words_tokenizer(longest: int) -> Any:
    """A WordPiece tokenizer of BERT's form over the tiny vocabulary."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [*_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    vocabulary = [*_BERT_SPECIAL, *dict.fromkeys([*WORDS, *letters])]
    ids = {word: at for at, word in enumerate(vocabulary)}
    backend = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=longest,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def bytes_tokenizer(longest: int, *, spaced: bool = False) -> Any:
    """A byte-level BPE tokenizer of RoBERTa's form, without merges but for the commonest.

    Args:
        longest: Tokens of a text.
        spaced: Whether it puts a space before a text itself.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import RobertaTokenizer

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "a"), ("a", "t"), ("Ġ", "c")]
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet, *(a + b for a, b in merges)]
    ids = {word: at for at, word in enumerate(words)}
    backend = Tokenizer(models.BPE(ids, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return RobertaTokenizer(
        tokenizer_object=backend, model_max_length=longest, add_prefix_space=spaced
    )


def sentencepiece_tokenizer() -> Any:
    """A `tokenizers.Tokenizer` of T5's form: Unigram pieces, split at white space first."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    named = ["Determine", "if", "hypothesis", "true", "given", "premise", "Premise", "Hypothesis"]
    letters = [*_LETTERS, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    pieces = [(f"▁{word}", -3.0 - at / 100) for at, word in enumerate([*WORDS[3:], *named])]
    pieces = [*pieces, ("▁", -4.0), *((letter, -6.0) for letter in letters)]
    known = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    backend = Tokenizer(models.Unigram([*known, *pieces], unk_id=2))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"),
        ]
    )
    backend.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    backend.add_special_tokens(["<pad>", "</s>", "<unk>"])
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return backend


def _bert_config(labels: tuple[str, ...], tokenizer: Any, longest: int, **more: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=longest,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
        **more,
    )


def bert_classifier(
    folder: Path, labels: tuple[str, ...] = NLI, *, longest: int = 64, **more: Any
) -> Path:
    """A folder with a `BertForSequenceClassification`; `more` goes into its config."""
    from transformers import BertForSequenceClassification

    tokenizer = words_tokenizer(longest)
    config = _bert_config(labels, tokenizer, longest, **more)
    return _saved(folder, seeded(BertForSequenceClassification(config)), tokenizer)


def bert_encoder(folder: Path, *, longest: int = 64, layers: int = 3, seed: int = 1) -> Path:
    """A folder with a `BertModel`."""
    from transformers import BertModel

    tokenizer = words_tokenizer(longest)
    config = _bert_config(("a",), tokenizer, longest)
    config.num_hidden_layers = layers
    return _saved(folder, seeded(BertModel(config), seed), tokenizer)


def roberta_classifier(folder: Path, labels: tuple[str, ...] = NLI, *, longest: int = 64) -> Path:
    """A folder with a `RobertaForSequenceClassification` that sees `longest` tokens."""
    from transformers import RobertaForSequenceClassification

    tokenizer = bytes_tokenizer(longest)
    config = _roberta_config(labels, tokenizer, longest)
    return _saved(folder, seeded(RobertaForSequenceClassification(config)), tokenizer)


def roberta_encoder(folder: Path, *, longest: int = 64, spaced: bool = False) -> Path:
    """A folder with a `RobertaModel`."""
    from transformers import RobertaModel

    tokenizer = bytes_tokenizer(longest, spaced=spaced)
    return _saved(folder, seeded(RobertaModel(_roberta_config(NLI, tokenizer, longest))), tokenizer)


def _roberta_config(labels: tuple[str, ...], tokenizer: Any, longest: int) -> Any:
    from transformers import RobertaConfig

    return RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        # Positions are counted from behind that of the padding, which is 1.
        max_position_embeddings=longest + 2,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
    )


def t5_config(**more: Any) -> Any:
    """The config of a tiny T5 of the form that flan-t5-base has."""
    from transformers import T5Config

    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
    return T5Config(
        **sizes,
        vocab_size=sentencepiece_tokenizer().get_vocab_size(),
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        dropout_rate=0.0,
        num_labels=2,
        **more,
    )


def t5_classifier(folder: Path, *, tokenizer: bool = True) -> Path:
    """A folder with a `T5ForTokenClassification` of two labels."""
    folder.mkdir(parents=True, exist_ok=True)
    _t5().save_pretrained(folder)
    if tokenizer:
        sentencepiece_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def _t5() -> Any:
    from transformers import T5ForTokenClassification

    return seeded(T5ForTokenClassification(t5_config()))


def hhem(folder: Path, *, foundation: str = "foundation", shared: str = "shared") -> Path:
    """A folder in the form of HHEM-2.1-Open, with the same weights as `t5_classifier`.

    Args:
        folder: To make it in.
        foundation: What its config calls what it was made of.
        shared: Under which of its two names the table of vectors is stored: "shared" or
            "encoder.embed_tokens".
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tables = ("transformer.shared.weight", "transformer.encoder.embed_tokens.weight")
    weights = {name: tensor for name, tensor in _t5().state_dict().items() if name not in tables}
    table = _t5().state_dict()["transformer.shared.weight"]
    weights[f"transformer.{shared}.weight"] = table
    stored = {f"t5.{name}": tensor.contiguous() for name, tensor in weights.items()}
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    said = {
        "architectures": ["HHEMv2ForSequenceClassification"],
        "auto_map": {"AutoConfig": "configuration_hhem_v2.HHEMv2Config"},
        "foundation": foundation,
        "model_type": "HHEMv2Config",
    }
    (folder / "config.json").write_text(json.dumps(said))
    return folder


def t5_foundation(folder: Path) -> Path:
    """A folder with what HHEM takes of its foundation: a config and a tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    t5_config().save_pretrained(folder)
    sentencepiece_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def softmax(logits: Any) -> Any:
    """(…, labels) probabilities, in float64, by the definition."""
    powers = np.exp(np.asarray(logits, np.float64))
    return powers / powers.sum(axis=-1, keepdims=True)


def _saved(folder: Path, model: Any, tokenizer: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
