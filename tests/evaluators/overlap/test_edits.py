"""Edit distances: against the table of the definition, and their bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.evaluators.overlap.metrics import edit_similarity as edits
from valor_cli.evaluators.overlap.metrics.edit_similarity import edit_distance, max_edits

TEXT = st.text(alphabet="abЖ漢😀", max_size=40)


def levenshtein(a: str, b: str) -> int:
    """Row by row through the table of all prefixes."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]


def test_worked_by_hand() -> None:
    assert edit_distance("kitten", "sitting") == 3  # k→s, e→i, +g
    assert edit_distance("", "abc") == 3
    assert edit_distance("", "") == 0


@given(TEXT, TEXT)
def test_against_the_definition(a: str, b: str) -> None:
    assert edit_distance(a, b) == levenshtein(a, b)


@given(TEXT, TEXT)
def test_bounded(a: str, b: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edits, "MOST_PAIRS", 200)
        most = max_edits(a, b)
        distance = levenshtein(a, b)
        assert edit_distance(a, b) == (distance if distance <= most else None)
    assert most == max(len(a), len(b)) or most * 2 * max(len(a), len(b)) <= 200


def test_huge_texts() -> None:
    a = "abcdefgh" * 500_000
    assert max_edits(a, a) == 5_000
    assert edit_distance(a, "x" + a[1:-1] + "y") == 2
    assert edit_distance(a, "z" * len(a)) is None
