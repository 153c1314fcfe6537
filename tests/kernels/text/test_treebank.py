"""Words of the Penn Treebank, against NLTK's tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from tests.oracles.text_rows import e2e
from valor_cli.kernels.text.bleu import treebank_words

# Without marks that combine and controls: there NLTK's `regex` engine and `re` see other words.
PIECES = st.sampled_from(
    [*"aBs9 .,-'\"`&;:!?()[]{}<>/\\@^_+*$%#\n\t«»“”‘’„–—é中", "n't", "N'T", "'ll", "'S", "can"]
    + ["not", "cannot", "gonna", "wanna ", "'tis", "d'ye", "more'n", "''", "``", "--", "...", ". "]
)


def test_by_hand() -> None:
    text = "They'll say: \"I can't (cannot) pay $3.88,\" won't they? Yes. No."
    assert treebank_words(text) == (
        ["They", "'ll", "say", ":", "``", "I", "ca", "n't", "(", "can", "not", ")", "pay", "$"]
        + ["3.88", ",", "''", "wo", "n't", "they", "?", "Yes.", "No", "."]
    )


@settings(max_examples=100)
@given(st.lists(PIECES, max_size=20).map("".join))
def test_any_text_is_split_as_nltk_splits_it(text: str) -> None:
    assert treebank_words(text) == NLTKWordTokenizer().tokenize(text)


def test_real_texts_are_split_as_nltk_splits_them() -> None:
    for response, references in e2e():
        for text in (response, *references):
            assert treebank_words(text) == NLTKWordTokenizer().tokenize(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [".", ". ", ".'", "'", "`", '."', ".\n", "' ", "--", "[", "'s "])
def test_long_runs_take_time_in_proportion(piece: str) -> None:
    # Were a pattern to look at the rest of the text from every place, this would take hours.
    assert treebank_words(piece * 200_000 + "x")[-1].endswith("x")
