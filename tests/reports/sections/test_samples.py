"""Both answers of samples, and the words in which two texts differ."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.compared import models_compared, text_change, texts_compared
from valor_cli.reports.document import Card, Cards
from valor_cli.reports.sections.compared import compared_report
from valor_cli.reports.sections.samples import WORDS, changed_cards, word_differences
from valor_cli.results import ComparedRuns, SampleChange, ShownText

TEXTS = st.text(alphabet="ab \n漢字é,.", max_size=60)


def _cards(compared: ComparedRuns) -> list[Card]:
    blocks = [block for one in compared_report(compared).sections for block in one.blocks]
    return [card for one in blocks if isinstance(one, Cards) for card in one.cards]


def test_samples_are_bounded_by_pair_and_keep_their_order() -> None:
    compared = models_compared()
    headings = {(model, other): ("", other, model) for model, other in compared.pairs}
    names = [one.title for one in changed_cards(compared, headings, 2)]
    assert names == ["faq-000", "faq-001"] * 3


def test_both_answers_of_a_sample() -> None:
    card = _cards(texts_compared())[0]
    assert [part.title for part in card.parts] == [
        *("User input", "Reference", "A · Response", "B · Response"),
    ]
    other, own = (part.text for part in card.parts[2:])
    assert other
    assert own
    (start, end, _), *_ = own.marks
    assert own.text[start:end] == "in the 1950s"
    (start, end, _), *_ = other.marks
    assert other.text[start:end] == "on 19 March 1932"
    assert (bool(own.left_out), bool(other.left_out)) == (True, False)
    assert card.told.startswith("worse ")
    assert "0.900 → 0.100" in card.told


def test_passes_and_fails_and_texts_of_one_side() -> None:
    sample = text_change(
        0,
        changes=(SampleChange("pii_leakage", "pass", {}, 0.0, 1.0, "worse"),),
        texts=(ShownText("response", "\x1b[31mred"),),
        other_texts=(),
    )
    card = _cards(texts_compared(changed=[sample]))[0]
    assert card.told == "worse pii_leakage pass passes → fails"
    assert [part.text for part in card.parts[-2:]] == [None, ShownText("", "‹ESC›[31mred", [])]


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
