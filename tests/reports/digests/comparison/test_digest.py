"""What the reports of a comparison share: the verdict, values and samples in words."""

from __future__ import annotations

import pytest
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
from valor_cli.reports.digests.comparison.digest import compared_digest, conclusion, notes_of
from valor_cli.reports.digests.comparison.rows import compared_values, probability, remarks
from valor_cli.reports.digests.comparison.rows import tested as told_tests
from valor_cli.reports.digests.comparison.samples import shown_samples
from valor_cli.results import ComparedRuns, ComparisonResult, SampleChange, ShownText


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
    told = conclusion(compared)
    assert (told.word, told.detail) == (word, detail)
    assert (told.word == "WORSE") == compared.worse


def test_p_values_are_never_nothing_and_unadjusted_ones_are_marked() -> None:
    assert [probability(p) for p in (1.0, 0.0496, 0.0005, 0.00049, 0.0)] == [
        "1.000", "0.050", "0.001", "<0.001", "<0.001",
    ]  # fmt: skip
    rows = [row("a", 1, 0, p=0.2, p_adjusted=0.4), row("b", 1, 0, p=0.2), row("c", 1, 0)]
    assert [one.p for one in compared_values(rows)] == ["0.400", "0.200*", "–"]


def test_a_value_in_words() -> None:
    lower = row("wer", 0.1, 0.3, direction="lower", interval=(-0.25, 1.7e-17), p=0.01,
                effect=-0.416, effect_kind="cohens_d", label="cat",
                slice="weather=rain")  # fmt: skip
    told = compared_values([lower])[0]
    assert (told.other, told.value, told.difference) == ("0.300", "0.100", "−0.200")
    assert told.interval == "[−0.250, 0.000]"
    assert (told.effect, told.where, told.n) == ("d −0.42", "cat / weather=rain", "200")


def test_equal_is_told_from_cannot_tell() -> None:
    """A mean may stay the same while samples change."""
    rows = [
        row("a", 0.5, 0.5, wins=0, losses=0),
        row("a", 0.5, 0.5, wins=3, losses=3, p=1.0),
        row("a", 0.5, 0.5, test="paired_bootstrap"),
        row("a", 0.5, None),
        row("a", 0.5, 0.5, test="paired_bootstrap", interval=(-0.1, 0.1), p=1.0),
        row("a", 0.5, 0.5, test="paired_bootstrap", interval=(-1e-17, 0.0)),
    ]
    verdicts = [one.verdict.removeprefix("~ ") for one in compared_values(rows)]
    expected = ["= equal", "cannot tell", "= equal", "? not tested", "cannot tell", "= equal"]
    assert verdicts == expected


def test_siblings_are_told_apart_by_their_parameters() -> None:
    rows = [row("recall", 1, 0, parameters={"at": t, "same": 1}) for t in (0.5, 0.75)]
    assert [one.name for one in compared_values(rows)] == ["recall (at=0.5)", "recall (at=0.75)"]


def test_reasons_and_tests_are_said_once() -> None:
    counts = (5, 9, 9, 7, 1000)
    rows = [row(name, 1, 0, reason="too few", n=n) for name, n in zip("abcde", counts, strict=True)]
    told = compared_values([*rows, row("f", 1, 0, test="mcnemar", n=1000)])
    assert remarks(told) == ["a, b, c and 2 more: too few"]
    assert told_tests(told) == "sign permutation (n 5 to 1,000), McNemar's test (n 1,000)"


def test_pairs_are_named_where_names_say_something() -> None:
    def headings(compared: ComparedRuns) -> list[tuple[str, str, str]]:
        return [(one.title, one.other, one.model) for one in compared_digest(compared).pairs]

    assert headings(texts_compared()) == [("", "A", "B")]
    assert headings(classification_compared()) == [("tiny", "A", "B"), ("large", "A", "B")]
    assert headings(models_compared(("x", "y"))) == [("y against x", "x", "y")]
    renamed = texts_compared(
        pairs=[("new", "old")], comparisons=[row("a", 1, 0, model="new", other="old")]
    )
    assert headings(replace(renamed, changes=())) == [("new against old", "A old", "B new")]
    # a run held against itself is two runs, not two models of one
    twice = replace(equal_compared(), second=equal_compared().first)
    assert headings(twice) == [("", "A", "B")]


def test_notes_explain_what_there_is() -> None:
    notes = " ".join(compared_digest(texts_compared()).notes)
    for part in ("95% interval", "Holm", "* not adjusted", "d, g: Cohen's"):
        assert part in notes
    assert "left out" not in notes
    assert "Up to 12 samples" in " ".join(compared_digest(classification_compared()).notes)
    assert compared_digest(nothing_compared()).notes == ()
    # Each is said of what is shown: a terminal leaves out what no verdict is made of.
    shown = compared_values(texts_compared().comparisons)[1:2]
    notes = " ".join(notes_of(texts_compared(), shown))
    assert notes.startswith("Tests: McNemar's test (n 200). Brackets: 95% interval of each")
    assert notes.endswith("g: Cohen's effect size.")
    assert "* not adjusted" not in notes
    asked = notes_of(replace(texts_compared(), level=0.999), shown)
    assert any("99.9% interval" in note for note in asked)


def test_samples_are_bounded_by_pair_and_keep_their_order() -> None:
    names = [one.name for one in shown_samples(models_compared(), 2)]
    assert names == ["faq-000", "faq-001"] * 3


def test_both_answers_of_a_sample() -> None:
    one = shown_samples(texts_compared(), 1)[0]
    assert [title for title, _, _ in one.shared] == ["User input", "Reference"]
    pair = one.texts[0]
    assert pair.title == "Response"
    assert next(text for text, differs in pair.own.parts if differs) == "in the 1950s"
    assert next(text for text, differs in pair.other.parts if differs) == "on 19 March 1932"
    assert (pair.own.left_out, pair.other.left_out) == ("… 4,100 characters left out", "")
    change = one.changes[0]
    assert (change.other, change.value, change.difference, change.word) == (
        "0.900", "0.100", "−0.800", "worse",
    )  # fmt: skip


def test_passes_and_fails_and_texts_of_one_side() -> None:
    sample = text_change(
        0,
        changes=(SampleChange("pii_leakage", "pass", {}, 0.0, 1.0, "worse"),),
        texts=(ShownText("response", "\x1b[31mred"),),
        other_texts=(),
    )
    one = shown_samples(texts_compared(changed=[sample]), 1)[0]
    assert (one.changes[0].other, one.changes[0].value) == ("passes", "fails")
    assert one.texts[0].other.missing
    assert one.texts[0].own.parts == (("‹ESC›[31mred", False),)


def test_the_verdict_claims_what_was_tested() -> None:
    """What changed and was not tested leads over what is better; unchanged zeros test nothing."""
    whole = texts_compared()
    better = row("rouge_l", 0.61, 0.55, p=0.001, p_adjusted=0.001, verdict="better")
    fell = row("AP", 0.289, 0.340, reason="not resampled")
    zero = row("APsmall", 0.0, 0.0, reason="not resampled")
    lost = row("AP50", None, 0.3, reason="no value")
    neither = row("AP75", None, None, reason="no value")

    def told(*rows: ComparisonResult) -> tuple[str, bool]:
        primary = tuple((one.metric, one.output) for one in rows)
        found = replace(whole, comparisons=rows, primary=primary)
        return conclusion(found).word, bool(found.untested)

    assert told(fell) == ("NOT TESTED", True)
    assert told(fell, zero) == ("NOT TESTED", True)
    assert told(better, fell) == ("NOT TESTED", True)
    assert told(better, lost) == ("NOT TESTED", True)
    assert told(better, zero, neither) == ("BETTER", False)
    assert told(zero) == ("EQUAL", False)
    assert told(neither) == ("NOT TESTED", False)
