"""Stems: the examples of Porter's paper, and nltk's over many words."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from tests.oracles.text_rows import SYSTEMS, lines
from valor_cli.kernels.text import porter
from valor_cli.kernels.text.porter import stem

ENDINGS = (
    *("s", "es", "ies", "ied", "sses", "ed", "eed", "ing", "ating"),
    *("bling", "izing", "y", "ly", "ness", "fulness", "ousness", "iveness", "ational"),
    *("tional", "enci", "anci", "izer", "bli", "abli", "alli", "entli", "eli"),
    *("ousli", "ization", "ation", "ator", "alism", "aliti", "iviti", "biliti", "fulli"),
    *("logi", "icate", "ative", "alize", "iciti", "ical", "ful", "al", "ance"),
    *("ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive"),
    *("ize", "e", "le", "ll", "lle", "ss"),
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("plastered", "plaster"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("feed", "feed"),
        ("cease", "ceas"),
        ("controll", "control"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("adoption", "adopt"),
        # Where nltk leaves the paper: "dies" is "di" there, "enjoy" "enjoi", "skies" "ski".
        ("dies", "die"),
        ("enjoy", "enjoy"),
        ("skies", "sky"),
        ("geologi", "geolog"),
    ],
)
def test_words_of_the_paper(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_a_vocabulary_stems_as_in_nltk() -> None:
    """All words of real summaries, and many with endings put on and letters cut off."""
    rng = random.Random(0)
    real = {
        word
        for system in SYSTEMS
        for row in lines(f"xsum-a/{system}.jsonl")
        for word in re.findall("[a-z0-9]+", json.dumps(row).lower())
    }
    made = {word[: rng.randrange(8)] + ending for word in sorted(real)[::4] for ending in ENDINGS}
    words = sorted(real | made)
    reference = PorterStemmer()
    assert len(words) > 20_000
    assert [stem(word) for word in words] == [reference.stem(word) for word in words]


@settings(max_examples=100, deadline=None)
@given(st.text("aeiouybcdlstzgnwx0", max_size=7), st.sampled_from(["", *ENDINGS]))
def test_any_letters_stem_as_in_nltk(beginning: str, ending: str) -> None:
    assert stem(beginning + ending) == PorterStemmer().stem(beginning + ending)


@pytest.mark.parametrize("letter", ["y", "ay", "a", "b", "alli"])
def test_looks_at_each_letter_of_a_long_word_a_few_times(
    letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0
    sounds = porter._sounds

    def counted(word: str) -> str:
        nonlocal seen
        seen += len(word)
        return sounds(word)

    monkeypatch.setattr(porter, "_sounds", counted)
    word = letter * 20_000 + "ational"
    stem(word)
    assert seen < 12 * len(word)
