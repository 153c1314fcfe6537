"""Common subsequences: by hand, and rouge-score's own table and way back through it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _summary_level_lcs, lcs_ind

from valor_cli.kernels import common_subsequence
from valor_cli.kernels.common_subsequence import common_lengths, common_positions, union_hits

FEW = st.lists(st.integers(0, 3), max_size=14)
TEXT = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=5)


def numbers(text: str) -> list[int]:
    return [ord(letter) for letter in text]


def test_of_equally_long_ones_it_is_that_read_from_the_end() -> None:
    # Both "ab" and "ac" are longest. From the end of "abc" and "acb": c and b differ, and as each
    # can be dropped without loss, the reference goes back: to b, which is equal. Then a.
    assert common_positions(numbers("abc"), numbers("acb")) == [1, 0]
    # From the end of "acb" and "abc" it goes back to c.
    assert common_positions(numbers("acb"), numbers("abc")) == [1, 0]


@pytest.mark.parametrize("block", [1, 2, 3, 2048])
@settings(max_examples=200)
@given(reference=FEW, hypothesis=FEW)
def test_the_choice_of_rouge_score(block: int, reference: list[int], hypothesis: list[int]) -> None:
    """Blocks of any size: a long reference is read in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_subsequence, "BLOCK", block)
        found = common_positions(reference, hypothesis)
    assert found[::-1] == lcs_ind(reference, hypothesis)
    assert common_lengths([reference], [hypothesis]) == [len(found)]


@settings(max_examples=300)
@given(TEXT, TEXT)
def test_hits_of_lines_are_those_of_rouge_score(
    reference: list[list[int]], hypothesis: list[list[int]]
) -> None:
    found = _summary_level_lcs(reference, hypothesis)
    words = sum(map(len, reference))
    assert union_hits(reference, hypothesis) == round(found.recall * words)


def test_hits_of_lines_by_hand() -> None:
    # Lin (2004): w1 w2 w3 w4 w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5. The longest common
    # subsequences are w1 w2 and w1 w3 w5, their union w1 w2 w3 w5.
    assert union_hits([[1, 2, 3, 4, 5]], [[1, 2, 6, 7, 8], [1, 3, 8, 9, 5]]) == 4
    # Both lines of the reference hold a word that the hypothesis has once.
    assert union_hits([[1], [1]], [[1]]) == 1
    assert union_hits([], [[1]]) == union_hits([[1]], []) == 0


def test_equal_lines_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    positions = common_subsequence._positions

    def counted(blocks: Sequence[common_subsequence._Block], other: Sequence[int]) -> list[int]:
        nonlocal looked_at
        looked_at += 1
        return positions(blocks, other)

    monkeypatch.setattr(common_subsequence, "_positions", counted)
    # Of 1 2 both lines share the 1: 500 of the reference, 400 of the hypothesis.
    assert union_hits([[1, 2]] * 500, [[2, 1]] * 300 + [[1]] * 100) == 400
    assert looked_at == 2


def test_memory_of_long_sequences_grows_with_their_length() -> None:
    """No mask is wider than a block, however long the reference is."""
    blocks = common_subsequence._blocks(range(10_000))
    masks = [mask for block in blocks for mask in block.masks.values()]
    assert max(masks) < 1 << common_subsequence.BLOCK
    assert common_positions(range(10_000), [9_999, 5_000, 0, 9_998]) == [9_998, 0]
