"""The words in which two texts differ."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from valor_cli.reports.digests.comparison.samples import WORDS, word_differences

TEXTS = st.text(alphabet="ab \n漢字é,.", max_size=60)


def _differing(parts: list[tuple[str, bool]]) -> list[str]:
    return [text for text, differs in parts if differs]


def test_words_that_differ() -> None:
    first, second = word_differences(
        "It carries eight lanes, and rail.", "It carries six lanes, and  rail!"
    )
    assert first == [
        ("It carries ", False), ("eight", True), (" lanes, and rail", False), (".", True)
    ]  # fmt: skip
    assert second == [
        ("It carries ", False), ("six", True), (" lanes, and  rail", False), ("!", True)
    ]  # fmt: skip


def test_what_one_text_alone_has() -> None:
    assert word_differences("a b", "a b c") == ([("a b", False)], [("a b ", False), ("c", True)])
    assert word_differences("", "a") == ([], [("a", True)])
    assert word_differences("", "") == ([], [])


def test_scripts_without_spaces_are_told_apart_by_their_characters() -> None:
    first, second = word_differences("東京に行く", "京都に行く")
    assert _differing(first) == ["東"]
    assert _differing(second) == ["都"]


def test_words_beyond_the_bound_stand_as_they_are() -> None:
    first, second = word_differences("x " * (WORDS + 5) + "end", "x " * WORDS + "other end")
    assert _differing(first) == _differing(second) == []


@given(TEXTS, TEXTS)
def test_parts_are_the_whole_text_and_alternate(a: str, b: str) -> None:
    for text, parts in zip((a, b), word_differences(a, b), strict=True):
        assert "".join(part for part, _ in parts) == text
        assert all(part for part, _ in parts)
        kinds = [differs for _, differs in parts]
        assert all(one != two for one, two in pairwise(kinds))


@given(TEXTS, TEXTS)
def test_what_does_not_differ_stands_in_both(a: str, b: str) -> None:
    same = [
        "".join("".join(part for part, differs in parts if not differs).split())
        for parts in word_differences(a, b)
    ]
    assert same[0] == same[1]


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert not _differing(word_differences(text, text)[0])
