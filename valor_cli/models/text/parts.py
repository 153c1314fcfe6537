"""Divide texts into small groups for tokenizers, to bound memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.kernels.vectors.batching import runs

_CHARACTERS_AT_ONCE = 1 << 20
"""What a tokenizer tells of a text takes far more memory than its tokens."""


def parts_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in groups whose tokens need little memory."""
    for run in runs(map(len, texts), _CHARACTERS_AT_ONCE):
        yield [whole_characters(text) for text in texts[run]]
