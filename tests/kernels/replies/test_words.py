"""Words as replies: the word alone, in any dress, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.replies.words import word_in_reply, word_of

WORDS = ("present", "absent", "not sure", "größer", "同じ", "C", "C++", "n/a")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("present", "present"),
        ("Absent.", "absent"),
        (" PRESENT\n", "present"),
        ("**present**", "present"),
        ("***Present!***", "present"),
        ("_present_", "present"),
        ("`present`", "present"),
        ('"present"', "present"),
        ("“present”.", "present"),
        ("'present'", "present"),
        ("«present»", "present"),
        ("(present)", "present"),
        ("[[present]]", "present"),
        ("# present", "present"),
        ("> present", "present"),
        ("- present", "present"),
        ("...present...", "present"),
        ("\ufeffpresent", "present"),
        ("present\u200b", "present"),
        ("<think>absent?</think>present", "present"),
        ("absent? no\n</think>\npresent", "present"),
        ("```\npresent\n```", "present"),
        ("```text\npresent\n```", "present"),
        ("~~~\npresent", "present"),
        ("```present```", "present"),
        ("Not  Sure", "not sure"),
        ("not\nsure", "not sure"),
        ("GRÖSSER", "größer"),
        ("gro\u0308ßer", "größer"),
        ("同じ。", "同じ"),
        ("ｐｒｅｓｅｎｔ", "present"),
        ("c++", "C++"),
        ("C", "C"),
        ("N/A", "n/a"),
        ("N/A.", "n/a"),
        # "C++" without its marks is "C", and both are words.
        ("C++.", None),
        ("", None),
        ("...", None),
        ("present absent", None),
        ("present, absent", None),
        ("present/absent", None),
        ("not present", None),
        ("!present", None),
        ("¬present", None),
        ("presents", None),
        ("un-present", None),
        ("The answer is present.", None),
        ("Verdict: present", None),
        ("present\n\nThe answer has an address.", None),
        ("Here:\n```\npresent\n```", None),
        ("```\npresent\n```\nSo it is.", None),
        ("```\npresent\n```\n```\nabsent\n```", None),
        ("<think>present", None),
        ("I'm sorry, but I can't help with that.", None),
        ("present" + "!" * 100, "present"),
        ("!" * 1_000_000 + "present", None),
        ("\u0301\u0323" * 500_000, None),
    ],
)
def test_a_word_as_a_reply(reply: str, word: str | None) -> None:
    assert word_in_reply(reply, WORDS) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("present", "present"),
        (" Absent. ", "absent"),
        ("it is present", None),
        ("", None),
        (None, None),
        (1, None),
        (True, None),
        (["present"], None),
        ({"verdict": "present"}, None),
    ],
)
def test_a_json_value_as_a_word(value: Any, word: str | None) -> None:
    assert word_of(value, WORDS) == word


def test_true_and_false_may_be_words() -> None:
    assert word_of(True, ("true", "false")) == "true"
    assert word_of(False, ("True", "False")) == "False"
    assert word_of(1, ("true", "false")) is None
    assert word_in_reply("True.", ("true", "false")) == "true"


def test_words_that_are_alike_are_not_told_apart() -> None:
    assert word_in_reply("yes!", ("yes", "Yes")) is None
    assert word_in_reply("?", ("?", "!")) == "?"
    assert word_in_reply("present", ()) is None


DRESSES = st.text(st.sampled_from(list(" \n*_`\"'().,:;?“”«»#-")), max_size=20)


@given(DRESSES, st.sampled_from(("present", "absent", "not sure", "同じ")), DRESSES)
def test_any_dress_comes_off(before: str, word: str, behind: str) -> None:
    assert word_in_reply(f"{before}{word.upper()}{behind}", WORDS) == word


@given(st.text())
def test_any_text_is_one_of_the_words_or_none(text: str) -> None:
    assert word_in_reply(text, WORDS) in (*WORDS, None)
