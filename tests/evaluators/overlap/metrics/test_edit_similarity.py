"""Edit similarity: by hand, against rapidfuzz and the table of the definition, and huge texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from tests.oracles.text_samples import measured, outcome, samples, values
from valor_cli.evaluators.overlap.metrics import edit_similarity as edits
from valor_cli.evaluators.overlap.metrics.edit_similarity import (
    EDIT_SIMILARITY,
    edit_distance,
    max_edits,
)

TEXT = st.text(alphabet="abcЖ漢😀", max_size=40)


def test_worked_by_hand() -> None:
    data = samples(
        ["kitten", "", "", "abc", None, "x"],
        references=[["mitts", "sitting"], [""], ["ab"], ["abc"], ["x"], []],
    )
    outcomes = measured(EDIT_SIMILARITY, data)
    # kitten → mitts: k→m, e→s, −n: 3 of 6. kitten → sitting: 3 of 7.
    assert outcome(outcomes, 0).values == {"value": 1 - 3 / 7}
    assert outcome(outcomes, 0).details == {"reference": 1, "distance": 3}
    assert outcomes.columns["value"][1:4].tolist() == [1, 0, 1]
    assert values(EDIT_SIMILARITY, data)["value"] == pytest.approx((4 / 7 + 1 + 0 + 1) / 4)


def test_case() -> None:
    data = samples(["STRASSE"], references=[["Straße"]])
    # S is kept; T R A → t r a, S → ß, −S, E → e: 6 edits.
    assert values(EDIT_SIMILARITY, data) == {"value": 1 - 6 / 7}
    assert values(EDIT_SIMILARITY, data, case_sensitive=False) == {"value": 1}


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_against_rapidfuzz(response: str, references: list[str]) -> None:
    expected = max(Levenshtein.normalized_similarity(response, each) for each in references)
    data = samples([response], references=[references])
    assert values(EDIT_SIMILARITY, data) == {"value": expected}


def test_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MOST_PAIRS", 100)  # of 20 characters each: 2 edits
    data = samples(
        ["a" * 20] * 3,
        references=[["b" * 20], ["b" * 20, "a" * 19 + "b"], ["b" * 20, "aa"]],
    )
    outcomes = measured(EDIT_SIMILARITY, data)
    assert outcome(outcomes, 0).status == "skipped"
    assert outcome(outcomes, 0).reason == (
        "too long to compare: 20 characters of the response and 20 of references[0] differ by "
        "more than 2 edits"
    )
    # The second is nearer than the first could be, with 3 edits or more.
    assert outcome(outcomes, 1).values == {"value": 0.95}
    # "aa" makes 40 pairs and has 0.1: the first may have more.
    assert outcome(outcomes, 2).status == "skipped"
    assert values(EDIT_SIMILARITY, data)["value"] == 0.95


@given(TEXT, TEXT)
def test_distances_are_bounded(a: str, b: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edits, "MOST_PAIRS", 200)
        most = max_edits(a, b)
        distance = Levenshtein.distance(a, b)
        assert edit_distance(a, b) == (distance if distance <= most else None)
    assert most == max(len(a), len(b)) or most * 2 * max(len(a), len(b)) <= 200


def test_huge_texts() -> None:
    a = "abcdefgh" * 500_000
    assert max_edits(a, a) == 5_000
    assert edit_distance(a, "x" + a[1:-1] + "y") == 2
    assert edit_distance(a, "z" * len(a)) is None
