"""The report of a comparison: its verdict, pairs and notes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.oracles.compared import (
    classification_compared,
    equal_compared,
    models_compared,
    nothing_compared,
    row,
    texts_compared,
    unpaired_compared,
)
from valor_cli.reports.digests.compared_values import compared_values
from valor_cli.reports.document import Note
from valor_cli.reports.sections.compared import compared_report, notes_of, pairs_of
from valor_cli.results import ComparedRuns, ComparisonResult


def _notes(compared: ComparedRuns) -> str:
    blocks = [
        block
        for one in compared_report(compared).sections
        if one.anchor == "notes"
        for block in one.blocks
    ]
    return " ".join(one.text for one in blocks if isinstance(one, Note))


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
        return compared_report(found).word, bool(found.untested)

    assert told(fell) == ("NOT TESTED", True)
    assert told(fell, zero) == ("NOT TESTED", True)
    assert told(better, fell) == ("NOT TESTED", True)
    assert told(better, lost) == ("NOT TESTED", True)
    assert told(better, zero, neither) == ("BETTER", False)
    assert told(zero) == ("EQUAL", False)
    assert told(neither) == ("NOT TESTED", False)


def test_pairs_are_named_where_names_say_something() -> None:
    def headings(compared: ComparedRuns) -> list[tuple[str, str, str]]:
        one_run = compared.first == compared.second
        return [(one.title, one.other, one.model) for one in pairs_of(compared, one_run=one_run)]

    assert headings(texts_compared()) == [("", "A", "B")]
    assert headings(classification_compared()) == [("tiny", "A", "B"), ("large", "A", "B")]
    assert headings(models_compared(("x", "y"))) == [("y against x", "x", "y")]
    renamed = texts_compared(
        pairs=[("new", "old")], comparisons=[row("a", 1, 0, model="new", other="old")]
    )
    assert headings(replace(renamed, changes=())) == [("new against old", "A old", "B new")]
    # a run held against itself is two runs, not two models of one
    twice = replace(equal_compared(), second=equal_compared().first)
    assert compared_report(twice).sections[0].anchor == "sides"


def test_notes_explain_what_there_is() -> None:
    notes = _notes(texts_compared())
    for part in ("95% interval", "Holm", "* not adjusted", "d, g: Cohen's"):
        assert part in notes
    assert "left out" not in notes
    assert "Up to 12 samples" in _notes(classification_compared())
    assert _notes(nothing_compared()) == ""
    # Each is said of what is shown: a terminal leaves out what no verdict is made of.
    shown = compared_values(texts_compared().comparisons)[1:2]
    notes = " ".join(notes_of(texts_compared(), shown))
    assert notes.startswith("Tests: McNemar's test (n 200). Brackets: 95% interval of each")
    assert notes.endswith("g: Cohen's effect size.")
    assert "* not adjusted" not in notes
    asked = notes_of(replace(texts_compared(), level=0.999), shown)
    assert any("99.9% interval" in note for note in asked)
