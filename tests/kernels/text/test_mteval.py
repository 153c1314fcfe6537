"""Words as mteval-v13a.pl splits them, against sacrebleu's Tokenizer13a."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from tests.oracles.text_rows import e2e
from valor_cli.kernels.text.bleu import mteval_words

PIECES = st.sampled_from(
    [*"ab9 .,-'\"`&;:!?()[]{}<>/\\~@^_+*$%#=|\n\t", "é", "中", "…", "&quot;", "&amp;lt;"]
    + ["<skipped>", "-\n", "..", ",,", "1,234.5", "\u00a0", "\x85", "\x1c", "\u0301"]
)
TOKENIZER = Tokenizer13a()


def theirs(text: str) -> list[str]:
    return str(TOKENIZER(text.rstrip())).split()


def test_by_hand() -> None:
    # Points and commas stay between digits; a dash parts from a digit before it.
    text = "It's &quot;new&quot;: $1,234.5 (net), 3-4 of well-known."
    assert mteval_words(text) == (
        ["It's", '"', "new", '"', ":", "$", "1,234.5", "(", "net", ")", ",", "3", "-", "4", "of"]
        + ["well-known", "."]
    )


@settings(max_examples=100)
@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=30))
def test_any_text_is_split_as_sacrebleu_splits_it(text: str) -> None:
    assert mteval_words(text) == theirs(text)


def test_real_texts_are_split_as_sacrebleu_splits_them() -> None:
    for response, references in e2e():
        for text in (response, *references):
            assert mteval_words(text) == theirs(text)
