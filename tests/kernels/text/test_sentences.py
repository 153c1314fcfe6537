"""Where sentences are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sentencex
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.text.sentences import PIECE, split_sentences

PIECES = st.sampled_from(
    [*'aB. !?\n"()“”。é\U0001f600\u0301\t\r1•-', "Dr. ", "\n\n", "e.g. ", "...", "\r\n", "\ud800"]
    + ["\n- ", "\n2. ", "|", "---", "```", "# ", "Ok. "]
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


ANSWERS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "golden/sentences/answers.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def test_a_hundred_answers_were_read() -> None:
    assert len({one["text"] for one in ANSWERS}) == 100


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda one: one["id"])
def test_answers_with_lists_headings_tables_and_code(answer: dict[str, Any]) -> None:
    assert texts(answer["text"]) == answer["sentences"]


@pytest.mark.parametrize("language", ["de", "fr", "ja"])
def test_lists_are_lists_in_every_language(language: str) -> None:
    assert texts("Los:\n1. Wasser.\n2. Mehl. Salz.\n", language) == [
        *("Los:", "1. Wasser.", "2. Mehl.", "Salz."),
    ]


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_all_that_is_said_stands_in_a_sentence(text: str) -> None:
    safe = text.replace("\ud800", "?")
    found = split_sentences(text)
    ends = [0, *(end for _, end in found)]
    assert all(end <= start < stop for end, (start, stop) in zip(ends, found, strict=False))
    assert all(safe[start:stop] == safe[start:stop].strip() for start, stop in found)
    starts = [*(start for start, _ in found), len(safe)]
    between = [safe[end:start] for end, start in zip(ends, starts, strict=True)]
    # White space, and rules.
    assert all(one.isspace() or one in "|>-=*_:+" for one in "".join(between))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["Dr. ", "We left. ", "Is it? ", "e.g. ", "It ", "is "])).map("".join)
)
def test_prose_is_what_sentencex_says(text: str) -> None:
    assert texts(text) == [one.strip() for one in sentencex.segment("en", text) if one.strip()]


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
