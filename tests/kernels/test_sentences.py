"""Where sentences are."""

from __future__ import annotations

import pytest
import sentencex
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.sentences import PIECE, split_sentences

PIECES = st.sampled_from(
    [*'aB. !?\n"()“”。é\U0001f600\u0301\t\r1•-', "Dr. ", "\n\n", "e.g. ", "...", "\r\n", "\ud800"]
)


def texts(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


def test_sentences_by_hand() -> None:
    text = "  Dr. Smith went home.  He slept! \n\nAnd then?\n"
    text += "日本語の文です。 次の文。 Ünï \U0001f600 end. "
    assert texts(text) == [
        "Dr. Smith went home.",
        "He slept!",
        "And then?",
        "日本語の文です。",
        "次の文。",
        "Ünï \U0001f600 end.",
    ]


def test_languages_have_their_own_abbreviations() -> None:
    text = "Er kam z.B. am Montag. Dann ging er."
    assert texts(text, "de") == ["Er kam z.B. am Montag.", "Dann ging er."]


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\t \r\n"])
def test_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_what_sentencex_says(text: str) -> None:
    safe = text.replace("\ud800", "?")
    expected = [one.strip() for one in sentencex.segment("en", safe) if one.strip()]
    found = split_sentences(text)
    assert [safe[start:end] for start, end in found] == expected
    ends = [0, *(end for _, end in found)]
    assert all(end <= start < stop for end, (start, stop) in zip(ends, found, strict=False))


def test_a_long_text_is_split_as_a_whole() -> None:
    text = "".join(f"Sentence number {n} is here. Is it?\n\n" for n in range(2000))
    assert len(text) > 5 * PIECE
    assert texts(text) == [one.strip() for one in sentencex.segment("en", text) if one.strip()]


@pytest.mark.parametrize("unit", ["“", "word ", "a\n", "Yes. "])
def test_pieces_are_bounded(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def segment(language: str, text: str) -> list[str]:
        given.append(text)
        return [text]

    monkeypatch.setattr(sentencex, "segment", segment)
    text = unit * (3 * PIECE // len(unit)) + "end"
    found = split_sentences(text)
    assert "".join(given) == text
    assert max(map(len, given)) <= PIECE
    assert len(given) == 4
    # No word is cut.
    assert unit == "“" or all(text[start:end].strip() == text[start:end] for start, end in found)
