"""Common subsequences: by hand, and rouge-score's own table and way back through it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import lcs_ind

from valor_cli.kernels.text import common_subsequence
from valor_cli.kernels.text.common_subsequence import (
    common_lengths,
    common_positions,
    union_positions,
)

FEW = st.lists(st.integers(0, 3), max_size=14)


def numbers(text: str) -> list[int]:
    return [ord(letter) for letter in text]


def test_of_equally_long_ones_it_is_that_read_from_the_end() -> None:
    # Both "ab" and "ac" are longest. From the end of "abc" and "acb": c and b differ, and as each
    # can be dropped without loss, the reference goes back: to b, which is equal. Then a.
    assert common_positions(numbers("abc"), numbers("acb")) == [1, 0]
    # From the end of "acb" and "abc" it goes back to c.
    assert common_positions(numbers("acb"), numbers("abc")) == [1, 0]


@pytest.mark.parametrize("block", [1, 2, 3, 2048])
@settings(max_examples=100)
@given(reference=FEW, hypothesis=FEW)
def test_the_choice_of_rouge_score(block: int, reference: list[int], hypothesis: list[int]) -> None:
    """Blocks of any size: a long reference is read in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_subsequence, "BLOCK", block)
        found = common_positions(reference, hypothesis)
    assert found[::-1] == lcs_ind(reference, hypothesis)
    assert common_lengths([reference], [hypothesis]) == [len(found)]


@given(FEW, st.lists(FEW, max_size=4))
def test_positions_with_any_of_several(reference: list[int], hypotheses: list[list[int]]) -> None:
    expected = set().union(*(lcs_ind(reference, one) for one in hypotheses))
    assert union_positions(reference, hypotheses) == sorted(expected)


def test_equal_hypotheses_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    positions = common_subsequence._positions

    def counted(blocks: Sequence[common_subsequence._Block], other: Sequence[int]) -> list[int]:
        looked_at.append(other)
        return positions(blocks, other)

    monkeypatch.setattr(common_subsequence, "_positions", counted)
    # Of 1 2 and 2 1 it is the 1.
    assert union_positions([1, 2], [[2, 1]] * 300 + [[1]] * 100) == [0]
    assert sorted(looked_at) == [(1,), (2, 1)]


def test_memory_of_long_sequences_grows_with_their_length() -> None:
    """No mask is wider than a block, however long the reference is."""
    blocks = common_subsequence._blocks(range(10_000))
    masks = [mask for block in blocks for mask in block.masks.values()]
    assert max(masks) < 1 << common_subsequence.BLOCK
    assert common_positions(range(10_000), [9_999, 5_000, 0, 9_998]) == [9_998, 0]
