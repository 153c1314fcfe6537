"""Words as BLEU's tokenizers split them, against NLTK's treebank and sacrebleu's mteval-v13a."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from tests.oracles.text_rows import e2e
from valor_cli.kernels.text.bleu import mteval_words, treebank_words

# Without marks that combine and controls: there NLTK's `regex` engine and `re` see other words.
PIECES = [
    *"aBs9 .,-'\"`&;:!?()[]{}<>/\\@^_+*$%#\n\t«»“”‘’„–—é中",
    "n't",
    "N'T",
    "'ll",
    "'S",
    "can",
] + ["not", "cannot", "gonna", "wanna ", "'tis", "d'ye", "more'n", "''", "``", "--", "...", ". "]
MORE = [*"~=|", "…", "&quot;", "&amp;lt;", "<skipped>", "-\n", "..", ",,", "1,234.5"] + [
    "\u00a0",
    "\x85",
    "\x1c",
    "\u0301",
]
TREEBANK, MTEVAL = NLTKWordTokenizer(), Tokenizer13a()


def mteval(text: str) -> list[str]:
    return str(MTEVAL(text.rstrip())).split()


def test_by_hand() -> None:
    text = "They'll say: \"I can't (cannot) pay $3.88,\" won't they? Yes. No."
    assert treebank_words(text) == (
        ["They", "'ll", "say", ":", "``", "I", "ca", "n't", "(", "can", "not", ")", "pay", "$"]
        + ["3.88", ",", "''", "wo", "n't", "they", "?", "Yes.", "No", "."]
    )
    # Points and commas stay between digits; a dash parts from a digit before it.
    text = "It's &quot;new&quot;: $1,234.5 (net), 3-4 of well-known."
    assert mteval_words(text) == (
        ["It's", '"', "new", '"', ":", "$", "1,234.5", "(", "net", ")", ",", "3", "-", "4", "of"]
        + ["well-known", "."]
    )


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_any_text_is_split_as_nltk_splits_it(text: str) -> None:
    assert treebank_words(text) == TREEBANK.tokenize(text)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES + MORE), max_size=20).map("".join) | st.text(max_size=30))
def test_any_text_is_split_as_sacrebleu_splits_it(text: str) -> None:
    assert mteval_words(text) == mteval(text)


def test_real_texts_are_split_as_both_split_them() -> None:
    for response, references in e2e():
        for text in (response, *references):
            assert treebank_words(text) == TREEBANK.tokenize(text)
            assert mteval_words(text) == mteval(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [".", ". ", ".'", "'", "`", '."', ".\n", "' ", "--", "[", "'s "])
def test_long_runs_take_time_in_proportion(piece: str) -> None:
    # Were a pattern to look at the rest of the text from every place, this would take hours.
    assert treebank_words(piece * 200_000 + "x")[-1].endswith("x")
