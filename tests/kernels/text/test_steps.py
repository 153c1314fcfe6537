"""The steps of texts, and how two lists of them are aligned."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.text.steps import align, find_steps, words_of


def said(text: str) -> list[str]:
    return [words_of(text, step) for step in find_steps(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Boil water.\n2. Add pasta.\n\nServe and enjoy!", ["boil water", "add pasta"]),
        ("1) a b\n2) c d", ["a b", "c d"]),
        ("(1) foo (2) bar (3) baz", ["foo", "bar", "baz"]),
        ("To cook: 1. Preheat 2. Mix flour 3. Bake", ["preheat", "mix flour", "bake"]),
        ("- one\n* two\n• three", ["one", "two", "three"]),
        ("Step 1: Prepare. Step 2: Mix", ["prepare", "mix"]),
        ("### Step one - Prepare\n\n**Step 2**: Mix  it", ["prepare", "mix it"]),
        (
            "First, do this. Then do that! Next: rest. Finally, we go.",
            ["do this", "do that", "rest", "we go"],
        ),
        ("Secondly add it\nLastly, stir", ["add it", "stir"]),
        # Words of a step may begin after its marker, and end with its paragraph.
        ("**Step 1**\n\nDo it\nnow.\n\nNo more.\n\nStep 2: ok", ["do it now", "ok"]),
        # What is marked in another way, or further to the right, belongs to the step.
        ("Step 1: get\n- flour\n- eggs\nStep 2: mix", ["get - flour - eggs", "mix"]),
        ("1. a\n   1. sub\n2. b", ["a 1. sub", "b"]),
        ("- a\n  - sub\n- b", ["a - sub", "b"]),
        ("1. First, boil. Then wait.\n2. Eat", ["first, boil. then wait", "eat"]),
        ("Intro\n1. the only one", ["the only one"]),
    ],
)
def test_steps(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain prose, and nothing else.",
        "He came in 1. 2 men left, in 2024. 3 stayed.",
        "Pi is 3.14 and e is 2.71.",
        "The First World War ended. First World War veterans came. Next Generation is a name.",
        "Then we left.",  # one ordinal word makes no list
        "1.\n2.\n-\n- \n",
        "A well-known fact - and a dash.",
        "We took steps. Step by step we went.",
    ],
)
def test_no_steps(text: str) -> None:
    assert find_steps(text) == []


def test_places() -> None:
    text = "Do:\n 1. Boil **it**.\n 2. Eat. \n"
    first, second = find_steps(text)
    assert text[first.start : first.end] == " 1. Boil **it**."
    assert text[first.body : first.end] == "Boil **it**."
    assert text[second.start : second.end] == " 2. Eat."


@pytest.mark.parametrize("unit", ["1. ", "1.\n\n", "- \n", "step 1 ", "> #", "(1) ", "\n ", "**"])
def test_long_nothing(unit: str) -> None:
    assert len(find_steps(unit * 20_000)) <= 1


# Rows are the expected steps, columns the given ones.


def aligned(*rows: str) -> str:
    """As M(atch), X (mismatch), I(nsertion) and D(eletion), in order."""
    equal = np.array([[one == "=" for one in row] for row in rows], bool)
    letters = {"match": "M", "mismatch": "X", "insertion": "I", "deletion": "D"}
    return "".join(letters[pairing.edit] for pairing in align(equal))


def test_alignments_by_hand() -> None:
    assert aligned("=..", ".=.", "..=") == "MMM"
    # The second of three is missing.
    assert aligned("=.", "..", ".=") == "MIM"
    # One between is too many.
    assert aligned("=..", "..=") == "MDM"
    # Something else in its place: one mismatch, not a deletion and an insertion.
    assert aligned("=..", "...", "..=") == "MXM"
    # a b to b c: two mismatches, or as few edits with b kept.
    assert aligned("..", "=.") == "IMD"
    # Two the other way round: two mismatches, or one kept; the pair at the end goes first.
    assert aligned(".=", "=.") == "IMD"
    # Of equal steps the last is taken.
    assert aligned("=", "=") == "IM"
    assert aligned("==") == "DM"
    # Too few, none of them equal: the missing come first.
    assert aligned(".", ".") == "IX"


def test_nothing_to_align() -> None:
    assert align(np.zeros((0, 0), bool)) == []
    assert [one.edit for one in align(np.zeros((2, 0), bool))] == ["insertion"] * 2
    assert [one.edit for one in align(np.zeros((0, 2), bool))] == ["deletion"] * 2


def fewest(equal: list[list[bool]]) -> tuple[int, int]:
    """(edits, mismatches), by trying all alignments."""
    expected, wanted = len(equal), len(equal[0]) if equal else 0

    @cache
    def rest(i: int, j: int) -> tuple[int, int]:
        if i == expected or j == wanted:
            return expected - i + wanted - j, 0
        pair, insert, delete = rest(i + 1, j + 1), rest(i + 1, j), rest(i, j + 1)
        cost = 0 if equal[i][j] else 1
        return min(
            (pair[0] + cost, pair[1] + cost), (insert[0] + 1, insert[1]), (delete[0] + 1, delete[1])
        )

    return rest(0, 0)


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=7)
    )
)
def test_fewest_edits(equal: list[list[bool]]) -> None:
    pairings = align(np.array(equal))
    edits = [pairing.edit for pairing in pairings]
    assert (len(edits) - edits.count("match"), edits.count("mismatch")) == fewest(equal)
    assert [one.expected for one in pairings if one.expected is not None] == list(range(len(equal)))
    assert [one.given for one in pairings if one.given is not None] == list(range(len(equal[0])))
    for edit, i, j in pairings:
        if i is not None and j is not None:
            assert edit == ("match" if equal[i][j] else "mismatch")
        else:
            assert edit == ("deletion" if i is None else "insertion")
