"""Folders with a model small enough to work its vectors out by hand.

Its tokens are words: [CLS] 1 0 0, [SEP] 0 1 0, one 2 0 0, two 0 4 0, three 0 0 6, all others 1 1 1.
A token's hidden state is its vector, whatever stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracles.onnx_graphs import FLOAT, INT64, Node, Port, onnx_bytes

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "one", "two", "three")
VECTORS = np.array(
    [[9, 9, 9], [1, 1, 1], [1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 4, 0], [0, 0, 6]], np.float32
)
IDS = Port("input_ids", INT64, ("batch", "sequence"))
MASK = Port("attention_mask", INT64, ("batch", "sequence"))
KINDS = Port("token_type_ids", INT64, ("batch", "sequence"))
STATES = Port("last_hidden_state", FLOAT, ("batch", "sequence", 3))
LOOKUP = Node("Gather", ("vectors", "input_ids"), ("last_hidden_state",))


def tokenizer(**more: Any) -> dict[str, Any]:
    """What tokenizer.json says: words, [CLS] before and [SEP] after them."""
    marks = {name: VOCABULARY.index(name) for name in ("[CLS]", "[SEP]")}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": at,
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for at, name in enumerate(VOCABULARY[:4])
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {
                name: {"id": name, "ids": [at], "tokens": [name]} for name, at in marks.items()
            },
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {name: at for at, name in enumerate(VOCABULARY)},
            "unk_token": "[UNK]",
        },
        **more,
    }


def tiny(
    folder: Path,
    *,
    nodes: Sequence[Node] = (LOOKUP,),
    inputs: Sequence[Port] = (IDS, MASK, KINDS),
    outputs: Sequence[Port] = (STATES,),
    constants: Mapping[str, np.ndarray] | None = None,
    file: str = "model.onnx",
    said: Mapping[str, object] | None = None,
) -> Path:
    """A folder with the model; `said`: more files, and what each says."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {"vectors": VECTORS, **(constants or {})}
    path.write_bytes(onnx_bytes(nodes, inputs, outputs, known))
    for name, content in {"tokenizer.json": tokenizer(), **(said or {})}.items():
        other = folder / name
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(json.dumps(content), encoding="utf-8")
    return folder
