"""A comparison in words: its verdict, pairs, values, notes, and both answers of samples."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.oracles.compared import (
    classification_compared,
    equal_compared,
    models_compared,
    nothing_compared,
    row,
    text_change,
    texts_compared,
    unpaired_compared,
)
from tests.reports.catalogue import COMPARED, HOSTILE_RUNS
from tests.reports.rendered import markdown, terminal
from valor_cli.reports.digests.compared_values import compared_values, probability, remarks
from valor_cli.reports.digests.compared_values import tested as told_tests
from valor_cli.reports.document import Card, Cards
from valor_cli.reports.sections.compared import compared_report, notes_of, pairs_of
from valor_cli.reports.sections.samples import WORDS, changed_cards, word_differences
from valor_cli.results import ComparedRuns, ComparisonResult, SampleChange, ShownText
from valor_cli.results.document import compared_json

NAMED = ("exact_match", "custom_judge")
TEXTS = st.text(alphabet="ab \n漢字é,.", max_size=60)


@pytest.mark.parametrize(
    ("compared", "word", "detail"),
    [
        # of 7 headline values faithfulness and exact_match are worse, rouge_l better,
        # perplexity equal; token_f1 and looping cannot be told, custom_judge has nothing to test
        (
            texts_compared(),
            "WORSE",
            "2 of 7 headline values, 1 not tested, 1 better, 1 equal, 2 cannot tell",
        ),
        (
            classification_compared(),
            "BETTER",
            "2 of 4 headline values of 2 pairs of models, 2 cannot tell",
        ),
        (equal_compared(), "EQUAL", "6 of 6 headline values"),
        (unpaired_compared(), "NOT TESTED", "3 of 3 headline values"),
        (nothing_compared(), "NOTHING TO COMPARE", "the runs have no value in common"),
        # without headline values all count: of 9 two headline ones and a slice are worse
        (
            texts_compared(primary=()),
            "WORSE",
            "3 of 9 values, 1 not tested, 1 better, 1 equal, 3 cannot tell",
        ),
    ],
)
def test_the_verdict_comes_first(compared: ComparedRuns, word: str, detail: str) -> None:
    told = compared_report(compared)
    assert (told.word, told.detail) == (word, detail)
    assert (told.word == "WORSE") == compared.worse


BETTER = row("rouge_l", 0.61, 0.55, p=0.001, p_adjusted=0.001, verdict="better")
FELL = row("AP", 0.289, 0.340, reason="not resampled")
ZERO = row("APsmall", 0.0, 0.0, reason="not resampled")
LOST = row("AP50", None, 0.3, reason="no value")
NEITHER = row("AP75", None, None, reason="no value")


@pytest.mark.parametrize(
    ("rows", "word", "untested"),
    [
        # What changed and was not tested leads over what is better; unchanged zeros test nothing.
        ([FELL], "NOT TESTED", True),
        ([FELL, ZERO], "NOT TESTED", True),
        ([BETTER, FELL], "NOT TESTED", True),
        ([BETTER, LOST], "NOT TESTED", True),
        ([BETTER, ZERO, NEITHER], "BETTER", False),
        ([ZERO], "EQUAL", False),
        ([NEITHER], "NOT TESTED", False),
    ],
)
def test_the_verdict_claims_what_was_tested(
    rows: list[ComparisonResult], word: str, untested: bool
) -> None:
    primary = tuple((one.metric, one.output) for one in rows)
    found = texts_compared(comparisons=rows, primary=primary)
    assert (compared_report(found).word, bool(found.untested)) == (word, untested)


RENAMED = texts_compared(
    pairs=[("new", "old")], comparisons=[row("a", 1, 0, model="new", other="old")], changes=()
)


@pytest.mark.parametrize(
    ("compared", "headings"),
    [
        (texts_compared(), [("", "A", "B")]),
        (classification_compared(), [("tiny", "A", "B"), ("large", "A", "B")]),
        (models_compared(("x", "y")), [("y against x", "x", "y")]),
        (RENAMED, [("new against old", "A old", "B new")]),
    ],
)
def test_pairs_are_named_where_names_say_something(
    compared: ComparedRuns, headings: list[tuple[str, str, str]]
) -> None:
    pairs = pairs_of(compared, one_run=compared.first == compared.second)
    assert [(one.title, one.other, one.model) for one in pairs] == headings


def test_a_run_held_against_itself_is_two_runs() -> None:
    twice = replace(equal_compared(), second=equal_compared().first)
    assert compared_report(twice).sections[0].anchor == "sides"


@pytest.mark.parametrize(
    ("compared", "told", "untold"),
    [
        (
            texts_compared(),
            ["95% interval", "Holm", "* not adjusted", "d, g: Cohen's"],
            "left out",
        ),
        (classification_compared(), ["Up to 12 samples"], "* not adjusted"),
        (nothing_compared(), [], "."),
    ],
)
def test_notes_explain_what_there_is(compared: ComparedRuns, told: list[str], untold: str) -> None:
    notes = " ".join(notes_of(compared, compared_values(compared.comparisons)))
    assert all(part in notes for part in told)
    assert untold not in notes


def test_notes_explain_what_is_shown() -> None:
    # A terminal leaves out what no verdict is made of.
    shown = compared_values(texts_compared().comparisons)[1:2]
    notes = " ".join(notes_of(texts_compared(), shown))
    assert notes.startswith("Tests: McNemar's test (n 200). Brackets: 95% interval of each")
    assert notes.endswith("g: Cohen's effect size.")
    assert "* not adjusted" not in notes
    asked = notes_of(replace(texts_compared(), level=0.999), shown)
    assert any("99.9% interval" in note for note in asked)


def test_p_values_are_never_nothing_and_unadjusted_ones_are_marked() -> None:
    told = ["1.000", "0.050", "0.0496", "0.049", "0.001", "<0.001", "<0.001"]
    assert [probability(p) for p in (1.0, 0.05, 0.0496, 0.0494, 0.0005, 0.00049, 0.0)] == told
    rows = [row("a", 1, 0, p=0.2, p_adjusted=0.4), row("b", 1, 0, p=0.2), row("c", 1, 0)]
    assert [one.p for one in compared_values(rows)] == ["0.400", "0.200*", "–"]


def test_a_value_in_words() -> None:
    at = {"label": "cat", "slice": "weather=rain", "direction": "lower", "p": 0.01}
    effect = {"effect": -0.416, "effect_kind": "cohens_d"}
    (told,) = compared_values([row("wer", 0.1, 0.3, interval=(-0.25, 1.7e-17), **at, **effect)])
    assert (told.other, told.value, told.difference) == ("0.300", "0.100", "−0.200")
    assert told.interval == "[−0.250, 0.000]"
    assert (told.effect, told.where, told.n) == ("d −0.42", "cat / weather=rain", "200")


BOOTSTRAP = {"test": "paired_bootstrap"}


@pytest.mark.parametrize(
    ("compared", "outcome"),
    [
        # A mean may stay the same while samples change.
        (row("a", 0.5, 0.5, wins=0, losses=0), "equal"),
        (row("a", 0.5, 0.5, wins=3, losses=3, p=1.0), "cannot tell"),
        (row("a", 0.5, 0.5, **BOOTSTRAP), "equal"),
        (row("a", 0.5, None), "not tested"),
        (row("a", 0.5, 0.5, interval=(-0.1, 0.1), p=1.0, **BOOTSTRAP), "cannot tell"),
        (row("a", 0.5, 0.5, interval=(-1e-17, 0.0), **BOOTSTRAP), "equal"),
    ],
)
def test_equal_is_told_from_cannot_tell(compared: ComparisonResult, outcome: str) -> None:
    assert compared_values([compared])[0].outcome == outcome


def test_siblings_are_told_apart_and_reasons_and_tests_said_once() -> None:
    rows = [row("recall", 1, 0, parameters={"at": t, "same": 1}) for t in (0.5, 0.75)]
    assert [one.name for one in compared_values(rows)] == ["recall (at=0.5)", "recall (at=0.75)"]
    counts = (5, 9, 9, 7, 1000)
    rows = [row(name, 1, 0, reason="too few", n=n) for name, n in zip("abcde", counts, strict=True)]
    told = compared_values([*rows, row("f", 1, 0, test="mcnemar", n=1000)])
    assert remarks(told) == ["a, b, c and 2 more: too few"]
    assert told_tests(told) == "sign permutation (n 5 to 1,000), McNemar's test (n 1,000)"


def test_a_line_of_a_terminal_says_all_of_a_value() -> None:
    lines = terminal(texts_compared(), width=100).split("\n")
    found = (next(line for line in lines if line.startswith(name)) for name in NAMED)
    assert [re.sub(r" {2,}", "  ", line.strip()) for line in found] == [
        "exact_match  0.580  0.500  −0.080 [−0.130, −0.030]  0.020  g −0.25  ✗ worse  200",
        "custom_judge  –  0.800  –  –  –  ? not tested  –",
    ]


def test_markdown_marks_the_words_that_differ() -> None:
    text = markdown(texts_compared())
    for line in (
        "  - A · Response: The harbour bridge was opened <b>on 19 March 1932</b>.",
        "  - B · Response: The harbour bridge was opened <b>in the 1950s</b>.",
        "| 0.820 | 0.710 | −0.110 [−0.160, −0.061] | &lt;0.001 | d −0.41 | ✗ worse |",
    ):
        assert line in text


def test_answers_begin_before_the_first_word_that_differs() -> None:
    same = "word " * 200
    new, old = (ShownText("response", f"{same}{word} end") for word in ("new", "old"))
    sample = text_change(0, texts=(new,), other_texts=(old,))
    text = " ".join(terminal(texts_compared(changed=[sample])).split())
    assert "A · Response … word word" in text
    assert "word new end" in text
    assert text.count("word ") < 60


def test_every_pair_is_told() -> None:
    lines = terminal(models_compared(tuple(f"m{at}" for at in range(7)))).split("\n")
    end = "2 worse, 1 better, 1 equal, 2 cannot tell"
    assert sum(line.endswith(end) for line in lines) == 21
    assert len(lines) < 120


def test_markdown_says_what_it_leaves_out() -> None:
    long = ShownText("response", "other words " * 300)
    samples = [replace(text_change(at), texts=(long,)) for at in range(200)]
    text = markdown(texts_compared(changed=samples))
    assert "- … 188 more are left out here" in text
    assert len(text) < 40_000


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
    titles = ["User input", "Reference", "A · Response", "B · Response"]
    assert [part.title for part in card.parts] == titles
    for part, words, cut in (
        (card.parts[2], "on 19 March 1932", False),
        (card.parts[3], "in the 1950s", True),
    ):
        assert part.text
        (start, end, _), *_ = part.text.marks
        assert part.text.text[start:end] == words
        assert bool(part.text.left_out) == cut
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


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        # What differs stands in brackets.
        (
            *("It carries eight lanes, and rail.", "It carries six lanes, and  rail!"),
            ("It carries [eight] lanes, and rail[.]", "It carries [six] lanes, and  rail[!]"),
        ),
        ("a b", "a b c", ("a b", "a b [c]")),
        ("", "a", ("", "[a]")),
        ("", "", ("", "")),
        ("東京に行く", "京都に行く", ("[東]京に行く", "京[都]に行く")),
        (
            *("x " * (WORDS + 5) + "end", "x " * WORDS + "other end"),
            ("x " * (WORDS + 5) + "end", "x " * WORDS + "other end"),
        ),
    ],
    ids=["words", "more", "nothing", "neither", "no spaces", "beyond the bound"],
)
def test_words_that_differ(one: str, other: str, parts: tuple[str, str]) -> None:
    told = ("".join(f"[{text}]" if differs else text for text, differs in side)
            for side in word_differences(one, other))  # fmt: skip
    assert tuple(told) == parts


@given(TEXTS, TEXTS)
def test_parts_are_the_whole_text_and_alternate(a: str, b: str) -> None:
    same = []
    for text, parts in zip((a, b), word_differences(a, b), strict=True):
        assert "".join(part for part, _ in parts) == text
        assert all(part for part, _ in parts)
        assert all(one != two for (_, one), (_, two) in pairwise(parts))
        same.append("".join("".join(part for part, differs in parts if not differs).split()))
    assert same[0] == same[1]  # what does not differ stands in both
    assert not any(differs for _, differs in word_differences(a, a)[0])


@pytest.mark.parametrize("made", [*COMPARED.values(), HOSTILE_RUNS["compared"]])
def test_json_holds_the_record(made: Callable[[], ComparedRuns]) -> None:
    compared = made()
    document = json.loads(compared_json(compared))
    assert list(document) == list(ComparedRuns.__struct_fields__)
    assert document["worse"] == compared.worse
    assert len(document["comparisons"]) == len(compared.comparisons)
    assert compared_json(made()) == compared_json(compared)


def test_json_refuses_nan() -> None:
    bad = texts_compared(comparisons=[row("a", math.nan, 0.5)])
    with pytest.raises(ValueError, match=r"comparisons\.0\.value: NaN"):
        compared_json(bad)
    change = replace(text_change(0).changes[0], value=math.inf)
    with pytest.raises(ValueError, match=r"changed\.0\.changes\.0\.value: NaN"):
        compared_json(texts_compared(changed=[text_change(0, changes=(change,))]))
