"""Languages: what is read of a text, and what the model makes of real sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.text import languages
from valor_cli.kernels.text.languages import (
    LANGUAGES,
    NO_LANGUAGE,
    Language,
    language_of,
    letters,
    one_language,
    prose,
    shares,
)

DATA = Path(__file__).parents[2] / "real_data" / "safety" / "language-id" / "sentences.jsonl"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hallo Welt", "hallo welt"),
        ("vor ```python\nx = 1\n``` nach", "vor   nach"),
        ("vor ```offen bis zum Ende", "vor "),
        ("mit `range()` gut", "mit   gut"),
        ("it`s and it's", "it`s and it's"),
        ("siehe https://a.example/b?c=d dort", "siehe   dort"),
        ("本です。https://a.example/bです", "本です。 です"),
        ("<p class='x'>Hallo</p>", " hallo "),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("", ""),
    ],
)
def test_prose(text: str, left: str) -> None:
    assert prose(text) == left


def test_pieces_of_long_texts() -> None:
    assert len(prose("a" * 6_000)) == 6_000
    text = "".join(chr(ord("a") + at // 5_000) for at in range(50_000))  # 5,000 × a, b … j
    found = prose(text)
    assert len(found) == 6 * 1_000 + 5
    # The pieces start at 0, 9,800, 19,600 … 49,000.
    assert Counter(found) == {
        " ": 5, "a": 1_000, "b": 200, "c": 800, "d": 400, "e": 600, "f": 600, "g": 400,
        "h": 800, "i": 200, "j": 1_000,
    }  # fmt: skip


@given(
    st.sampled_from("`<"),
    st.text(alphabet="ab /<>`\nh", max_size=12),
    st.text(alphabet="ab>`<\n", max_size=12),
)
def test_an_attempt_ends_where_the_next_begins(opening: str, body: str, rest: str) -> None:
    """No attempt looks behind the next place where another starts: all of them are linear."""
    text = opening + body.replace(opening, "") + opening
    alone, more = (languages._NO_PROSE.match(each) for each in (text, text + rest))
    assert (alone and alone.span()) == (more and more.span())


@pytest.mark.parametrize("text", ["`", "<a", "https://", "www.", "<", "`a\n", "```", "www.`<a`>"])
def test_nothing_but_openings(text: str) -> None:
    assert len(prose(text * 100_000)) <= 6_005


def test_letters_of_scripts_with_a_word_in_a_letter_count_more() -> None:
    assert [letters(text) for text in ("ab 12 é!", "漢字かなカナ한글", "😀 123")] == [3, 16, 0]


def test_names_are_those_of_the_model() -> None:
    told = set(languages._identifier().labels)
    assert {code for code in told if len(code) == 2} == LANGUAGES
    assert NO_LANGUAGE in told
    assert set(languages._ONE) <= {*told, "nb"}


def test_real_sentences() -> None:
    """Six sentences in each of 36 languages, and all but those known to be taken for others."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    wrong = {
        row["id"]: found.code
        for row in rows
        if one_language((found := language_of(prose(row["text"]))).code)
        != one_language(row["language"])
    }
    assert len(rows) == 216
    assert wrong == {"lang-da-05": "no"}


def test_shares() -> None:
    text = prose("Film se odlikuje kvalitetom produkcije i bogatim zvučnim efektima.")
    found = shares(text)
    assert sum(found.values()) == pytest.approx(1, abs=1e-5)
    assert max(found, key=lambda code: found[code]) == "hr"
    assert found["hr"] > language_of(text).confidence
    assert "bs" not in found


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800 hello", "😀" * 3, "1234"])
def test_any_text_has_an_answer(text: str) -> None:
    code, confidence = language_of(prose(text))
    assert code
    assert 0 <= confidence <= 1
    assert language_of(prose(text)) == Language(code, confidence)


def test_model_is_loaded_when_needed() -> None:
    code = (
        "import sys; import valor_cli.kernels.text.languages as kernel; assert 'py3langid' not in "
        "sys.modules; kernel.language_of('hallo'); import py3langid.langid as own; "
        "assert own.IDENTIFIER is None"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
