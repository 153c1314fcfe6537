"""Encode the words of texts as integers, and warn of texts that a tokenizer mostly drops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal

from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.porter import stem
from valor_cli.kernels.text.token_codes import (
    WordCodes,
    ascii_lines,
    ascii_words,
    is_mostly_lost,
    unicode_words,
)

Tokenizer = Literal["rouge", "unicode"]

LOST: Final = "mostly_lost"
"""The count of samples whose texts lose most of their letters."""

LOST_REASON: Final = "most letters are no a-z or 0-9 and are dropped by the tokenizer rouge"

_SPLIT: Final[dict[Tokenizer, Callable[[str], list[str]]]] = {
    "rouge": ascii_words,
    "unicode": unicode_words,
}


def word_codes(tokenizer: Tokenizer, use_stemmer: bool) -> WordCodes:
    """Codes of words, or of their stems."""
    at_once = ascii_lines if tokenizer == "rouge" else None
    return WordCodes(_SPLIT[tokenizer], _stem_of_word if use_stemmer else None, at_once)


def drops_most_letters(texts: list[str], tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer drops more letters of the texts than it keeps."""
    return tokenizer == "rouge" and is_mostly_lost(texts)


def lost_warning(sampled: Sampled) -> Iterator[str]:
    """A warning if most samples lose most of their letters."""
    scored = int(sampled.scored.sum())
    lost = int(sampled.outcomes.numbers[LOST][sampled.scored].sum())
    if 2 * lost > scored:
        many = f"{lost:,} of {scored:,} samples"
        yield f"{many} are mostly in letters that the tokenizer rouge drops: set tokenizer: unicode"


def _stem_of_word(word: str) -> str:
    """As rouge-score: words of up to three characters stay; so do those not in ASCII."""
    return stem(word) if len(word) > 3 and word.isascii() else word
