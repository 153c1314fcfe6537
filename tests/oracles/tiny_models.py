"""Folders of tiny models with seeded weights: the real loading code runs on them in a moment.

Imported without torch; the functions need it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SENTENCES = (
    "I am going to the store to buy some milk.",
    "The capital of France is Paris, and the capital of Spain is Madrid.",
    "Yes, the summary says what the text says.",
    "Rewrite the following text with consistent facts: it rains in the north today.",
)
VOCABULARY = 400
CONTEXT = 32


def tokenizer_files(folder: Path, *, template: str = "$A", length: int = CONTEXT) -> None:
    """A byte-level tokenizer that reads any text.

    Args:
        folder: Gets tokenizer.json and tokenizer_config.json.
        template: What stands around a text: "<s> $A", "$A </s>".
        length: What the tokenizer says that the model takes.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    specials = ["<pad>", "</s>", "<s>"]
    made.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(
                single=template,
                special_tokens=[(name, at) for at, name in enumerate(specials)],
            ),
        ]
    )
    made.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": length,
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "bos_token": "<s>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def gpt2(folder: Path, **more: Any) -> Path:
    """A causal model with learned positions, and no token before a text."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        **{"n_layer": 2, "n_embd": 32, "n_head": 2, "n_positions": CONTEXT} | more,
        vocab_size=VOCABULARY,
        bos_token_id=2,
        eos_token_id=1,
    )
    return _saved(folder, GPT2LMHeadModel, config)


def llama(folder: Path, **more: Any) -> Path:
    """A causal model with rotary positions, and a token before every text."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return _saved(folder, LlamaForCausalLM, _llama_like(LlamaConfig, **more), "<s> $A")


def cohere(folder: Path) -> Path:
    """A causal model that scales its logits."""
    from transformers import CohereConfig, CohereForCausalLM

    return _saved(folder, CohereForCausalLM, _llama_like(CohereConfig, logit_scale=0.25))


def gemma2(folder: Path) -> Path:
    """A causal model that bounds its logits."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = _llama_like(Gemma2Config, final_logit_softcapping=2.0, head_dim=16)
    return _saved(folder, Gemma2ForCausalLM, config, "<s> $A </s>")


def t5(folder: Path, **more: Any) -> Path:
    """An encoder-decoder without positions of its own."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        **{"num_layers": 2, "d_model": 32, "num_heads": 2, "d_ff": 64, "d_kv": 16} | more,
        vocab_size=VOCABULARY,
        decoder_start_token_id=0,
    )
    return _saved(folder, T5ForConditionalGeneration, config, "$A </s>", factor=1.0)


def bart(folder: Path) -> Path:
    """An encoder-decoder with learned positions."""
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=CONTEXT,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        decoder_start_token_id=1,
        forced_eos_token_id=1,
    )
    return _saved(folder, BartForConditionalGeneration, config, "<s> $A </s>")


def bert(folder: Path, head: str) -> Path:
    """An encoder.

    Args:
        folder: For its files.
        head: Of which class: "BertForMaskedLM", "BertModel", "BertForSequenceClassification".
    """
    import transformers

    config = transformers.BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=CONTEXT,
    )
    return _saved(folder, getattr(transformers, head), config, "<s> $A </s>")


def _llama_like(config: Any, **more: Any) -> Any:
    return config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        **{"max_position_embeddings": CONTEXT} | more,
        bos_token_id=2,
        eos_token_id=1,
        pad_token_id=0,
    )


def _saved(
    folder: Path, model: Any, config: Any, template: str = "$A", factor: float = 6.0
) -> Path:
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    made = model(config)
    with torch.no_grad():
        # Weights as most are drawn say nearly the same of every token; T5's do not.
        for weights in made.parameters():
            weights.mul_(factor if weights.ndim > 1 else 1.0)
    silence()
    made.save_pretrained(folder)
    tokenizer_files(folder, template=template)
    return folder


def silence() -> None:
    """Have transformers say nothing."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
