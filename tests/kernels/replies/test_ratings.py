"""Ratings in replies: what is one, and what only looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.replies.ratings import (
    fraction_in_words,
    fraction_of,
    rating_in_words,
    rating_of,
    word_in_reply,
    word_of,
)

WORDS = ("present", "absent", "not sure", "größer", "同じ", "C", "C++", "n/a")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("present", "present"),
        ("Absent.", "absent"),
        (" PRESENT\n", "present"),
        ("[[present]]", "present"),
        ("> present", "present"),
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


ONE_TO_FIVE = (1, 2, 3, 4, 5)
NVIDIA = (0, 2, 4)
TO_TEN = range(11)
MANY = 20_000


@pytest.mark.parametrize(
    ("value", "rating"),
    [
        (4, 4),
        (4.0, 4),
        ("4", 4),
        (" 4.0 ", 4),
        ("+4", 4),
        (4.5, None),
        (7, None),
        (-4, None),
        ("-4", None),
        ("−4", None),
        ("4.5", None),
        ("four", None),
        ("4/5", None),
        ("", None),
        ("nan", None),
        ("1_0", None),
        (10**400, None),
        (True, None),
        (None, None),
        ([4], None),
        ({"rating": 4}, None),
    ],
)
def test_a_json_value_as_a_rating(value: Any, rating: int | None) -> None:
    assert rating_of(value, ONE_TO_FIVE) == rating


def test_a_scale_may_have_gaps_and_negative_numbers() -> None:
    assert [rating_of(value, NVIDIA) for value in (0, 1, 2, 3, 4)] == [0, None, 2, None, 4]
    assert [rating_of(value, (-1, 0, 1)) for value in (-1, "-1", "−1.0", 2)] == [-1, -1, -1, None]
    assert rating_in_words("Rating: -1", (-1, 0, 1)) == -1
    assert rating_in_words("-1", (-1, 0, 1)) == -1


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        ("0.25", 0.25),
        (1e-9, 1e-9),
        (1.01, None),
        (-0.1, None),
        ("80%", None),
        (False, None),
        (None, None),
    ],
)
def test_a_json_value_as_a_fraction(value: Any, fraction: float | None) -> None:
    assert fraction_of(value) == fraction


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        # The whole text.
        ("4", 4),
        (" 4.0\n", 4),
        ("4.", 4),
        ("**4**", 4),
        ('"4"', 4),
        ("[[4]]", 4),
        ("`4`", 4),
        ("```\n4\n```", 4),
        ("# 4", 4),
        ("\ufeff4", 4),
        ("<think>perhaps 3</think>4", 4),
        ("perhaps 3</think>4", 4),
        ("4.5", None),
        ("7", None),
        ("-4", None),
        (".4", None),
        ("9" * 5_000, None),
        # Behind a label.
        ("Rating: 4", 4),
        ("RATING：4", 4),
        ("rating\n\n4", 4),
        ("**Rating**: 4", 4),
        ("**Rating:** **4**.", 4),
        ("__Score__ = 4", 4),
        ("score of 4", 4),
        ("grade = 4", 4),
        ("My grade is a 4!", 4),
        ("Score - 4/5", 4),
        ("Score – 4", 4),
        ("Rating: 4 out of 5", 4),
        ("Rating: 4.0/5.0", 4),
        ("Rating: [[4]]", 4),
        ("I rate this response a 4, for 2 reasons.", 4),
        ("Rating (1-5): 4", 4),
        ("**Rating (1, 2, 3, 4 or 5):** 4", 4),
        ("overall_rating: 4", 4),
        ("Scores: 4", 4),
        ("Rating: 4\n- 3 claims hold\n- 1 does not", 4),
        ("Clarity score: 2. Depth score: 3. Final rating: 4", 4),
        ("Rating: 4. Similarity score: 0.93.", 4),
        # Another scale, or no number of it: the words around are not searched.
        ("Rating: 7. There were 3 errors.", None),
        ("Rating: 4.5, for 3 reasons", None),
        ("Rating: -1, and 3 errors", None),
        ("Rating: 80/100, with 3 errors", None),
        ("Rating: 7 out of 5", None),
        # No labels, or no rating behind them.
        ("The iterate 4 is the second 2 of it", None),
        ("Ratings differ; 3 say so", 3),
        ("Rating: 4-5", None),
        ("Rating: 3 to 4", None),
        ("Rating: 4%", None),
        ("Rating: 4th", None),
        ("Rating: 4,5", None),
        ("Rating: 1,000", None),
        ("Rating: 1 000", None),
        ("Rating: 4:30", None),
        ("Rating: 4/5/2024", None),
        ("Rating: 2024-01-01", None),
        ("Rating: v2.4", None),
        # Out of.
        ("I would give it 4/5.", 4),
        ("It is 4 out of 5", 4),
        ("It is **4** out of **5**", 4),
        ("It meets 3/4 of the points; that is 5/5.", 5),
        ("It is 5/5, as it meets 3/4 of the points.", 5),
        ("4 out  of 10", 4),
        ("It is 7 out of 5", None),
        ("It is -4/5", None),
        ("On 4/5/2024", None),
        # Alone.
        ("I'd say 4.", 4),
        ("4 stars", 4),
        ("4 is what it deserves, so 4 it is.", 4),
        ("It deserves a 4.0; 17 of the claims hold.", 4),
        ("3 or 4", None),
        ("There is no number here", None),
        ("On 2024-01-01, v2.4 cost $3 or 2%, 1-2 times, 5th", None),
        ("1,000 of them, 3.5 each", None),
        ("1 000 of them, or 4", 4),
        ("1. It is clear.\n2. It is not.\n7. It ends.", None),
        ("1. It is clear.\n7. It ends.\n\n4", 4),
        ("4. It is clear.", 4),
        # Objects: keys only.
        ('{"grade": 4}', 4),
        ('{"overall_score": "4"}', 4),
        ('{"reason": "3 claims hold", "rating": 4, "cut": "and so', 4),
        ("{'rating': 4, 'reason': 'a score of 2 would be for 3 errors'}", 4),
        ('{"reason": "score 3 would need', None),
        ('Here: {"reason": "I found 3', None),
        ('{"verdict": 4}', None),
        ('{"reason": "a rating of 3"} Rating: 4', 4),
        ("{4}", 4),
        # Nothing.
        ("", None),
        ("I'm sorry, but I can't help with that.", None),
        ("<think>Rating: 4", None),
    ],
)
def test_a_rating_in_words(reply: str, rating: int | None) -> None:
    assert rating_in_words(reply, ONE_TO_FIVE) == rating


@pytest.mark.parametrize(
    ("reply", "scale", "rating"),
    [
        ("2", NVIDIA, 2),
        ("3", NVIDIA, None),
        ("Rating: 3, not 4", NVIDIA, None),
        ("1. One\n2. Two\n3. Three", NVIDIA, None),
        ("The 3 claims make it a 2.", NVIDIA, 2),
        ("10", TO_TEN, 10),
        ("Rating: 10/10", TO_TEN, 10),
        ("Rating: 0", TO_TEN, 0),
        ("00", TO_TEN, 0),
        ("11", TO_TEN, None),
        ("4", (), None),
    ],
)
def test_a_rating_of_other_scales(reply: str, scale: Any, rating: int | None) -> None:
    assert rating_in_words(reply, scale) == rating


@pytest.mark.parametrize(
    ("reply", "fraction"),
    [
        ("0.8", 0.8),
        ("**1.0**", 1.0),
        ("evaluation_score: 0.8", 0.8),
        ("Score: 0.8, from 0.9 at first", 0.8),
        ("Score: 0.9. After a second look, score: 0.5", 0.5),
        ('{"evaluation_score": 0.8, "evaluation_summary": "cut', 0.8),
        ("80%", None),
        ("Score: 80", None),
        ("1.2", None),
        ("There is 1 claim", None),
        ("", None),
    ],
)
def test_a_fraction_in_words(reply: str, fraction: float | None) -> None:
    assert fraction_in_words(reply) == fraction


@pytest.mark.parametrize(
    "piece",
    [
        "score ",
        "score: 3-",
        "rating (",
        "rating of a ",
        "1",
        "1.",
        "1 000 ",
        "1 out ",
        "1/",
        "\n1. ",
    ]
    + ["\n 1", " " * 20, '{"a', '{"a":1}', "{   ", '{"rating'],
)
def test_hostile_replies_take_time_in_proportion(piece: str) -> None:
    assert rating_in_words(piece * MANY, NVIDIA) is None
    assert fraction_in_words(piece * MANY) is None


LABELS = st.sampled_from(["Rating: ", "**Score**: ", "grade = ", "I rate it ", '"rating": '])


@given(st.text(st.characters(categories=["L", "Zs"])), LABELS, st.sampled_from(TO_TEN))
def test_a_rating_behind_a_label_is_read(prose: str, label: str, rating: int) -> None:
    assert rating_in_words(f"{prose}. {label}{rating}", TO_TEN) == rating


PIECES = [*"0124 .,/-:*\n{}[]\"'", "rating", "score of", "out of"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_gives_a_rating_of_the_scale_or_none(text: str) -> None:
    assert rating_in_words(text, NVIDIA) in (*NVIDIA, None)
    fraction = fraction_in_words(text)
    assert fraction is None or 0 <= fraction <= 1


@given(st.text(st.characters(exclude_categories=["N", "Cs"])))
def test_a_text_without_numbers_gives_none(text: str) -> None:
    assert rating_in_words(text, TO_TEN) is None
