"""Samples come in; the n-grams that each response shares with its references go out, made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from valor_cli.evaluators.samples import Outcome, Texts, missing
from valor_cli.kernels.bleu import NgramMatches, ngram_matches
from valor_cli.kernels.mteval import mteval_words
from valor_cli.kernels.treebank import treebank_words

Words = Callable[[str], list[str]]
Tokenizer = Literal["valor", "whitespace", "word", "13a"]

WORDS: Final[Mapping[str, Words]] = {
    # What valor-lite gives NLTK's RegexpTokenizer.
    "valor": re.compile(r"\w+|\$[\d]+|[^\s\.]+").findall,
    "whitespace": str.split,
    "word": treebank_words,
    "13a": mteval_words,
}
"""How a text falls into words, by the name that a config gives it."""

USUAL_ORDER = 4
"""The longest n-grams that are counted, at least: BLEU of every usual order reads the same."""


def lacking(response: str | None) -> Outcome:
    """What is said of a sample that has no response, or else no references."""
    return missing("no response" if response is None else "no reference")


def matches_of(texts: Texts, key: str, words: Words, order: int) -> list[NgramMatches | None]:
    """What BLEU rests on, of each sample; None where there is nothing to compare.

    Args:
        texts: The samples.
        key: Names `words`: what two metrics ask for under one name is made once.
        words: Splits a text into words.
        order: The longest n-grams; those of up to `USUAL_ORDER` words are always counted.
    """
    order = max(order, USUAL_ORDER)
    data = texts.data

    def make() -> list[NgramMatches | None]:
        return [
            None
            if response is None or not references
            else ngram_matches(words(response), [words(each) for each in references], order)
            for response, references in zip(data.response, data.references, strict=True)
        ]

    return texts.once(("ngram matches", key, order), make)
