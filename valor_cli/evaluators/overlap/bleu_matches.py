"""Count the n-grams that responses share with their references, once per sample."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from valor_cli.evaluators.overlap.reference_texts import comparable
from valor_cli.evaluators.samples.outcomes import Texts
from valor_cli.kernels.text.bleu import NgramMatches, mteval_words, ngram_matches, treebank_words

Words = Callable[[str], list[str]]
Tokenizer = Literal["valor", "whitespace", "word", "13a"]

WORDS: Final[Mapping[str, Words]] = {
    # What valor-lite gives NLTK's RegexpTokenizer. Up to NLTK 3.9 that searches with `re`, as here;
    # 3.10 takes `regex`, to which accents of their own and joiners too are letters.
    "valor": re.compile(r"\w+|\$[\d]+|[^\s\.]+").findall,
    "whitespace": str.split,
    "word": treebank_words,
    "13a": mteval_words,
}
"""How a text falls into words, by the name that a config gives it."""

USUAL_ORDER = 4
"""The longest n-grams that are counted, at least: BLEU of every usual order reads the same."""


def matches_of(texts: Texts, key: object, words: Words, order: int) -> dict[int, NgramMatches]:
    """N-gram matches of the samples that can be compared, by position.

    Args:
        texts: The samples.
        key: Names `words`: what two metrics ask for under one name is made once.
        words: Splits a text into words.
        order: The longest n-grams; those of up to `USUAL_ORDER` words are always counted.
    """
    order = max(order, USUAL_ORDER)

    def make() -> dict[int, NgramMatches]:
        return {
            at: ngram_matches(words(response), list(map(words, references)), order)
            for at, response, references in comparable(texts.data)
        }

    return texts.once(("ngram matches", key, order), make)
