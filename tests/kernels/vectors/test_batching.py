"""Batches: nothing is left out, nothing too large goes together, and what is alike does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.vectors.batching import batches, runs

LENGTHS = st.lists(st.integers(0, 50), max_size=40)


def test_texts_of_like_lengths_go_together_the_longest_first() -> None:
    # Padded to 5 two take 10 tokens, three would take 15; padded to 3 four take 12.
    lengths = [3, 5, 1, 5, 2, 3]

    assert batches(lengths, most_tokens=12) == [[1, 3], [0, 5, 4, 2]]


def test_a_text_beyond_the_budget_is_a_batch_of_its_own() -> None:
    assert batches([2, 90, 2], most_tokens=10) == [[1], [0, 2]]


def test_the_number_of_texts_may_be_bounded() -> None:
    assert batches([1] * 5, most_tokens=100, most_texts=2) == [[0, 1], [2, 3], [4]]


def test_texts_without_tokens_count_as_one_token() -> None:
    assert batches([0, 0, 0], most_tokens=2) == [[0, 1], [2]]


def test_of_nothing_there_is_no_batch() -> None:
    assert batches([], most_tokens=10) == []


@given(LENGTHS, st.integers(1, 80), st.none() | st.integers(1, 5))
def test_every_text_is_in_one_batch_within_the_bounds(
    lengths: list[int], most_tokens: int, most_texts: int | None
) -> None:
    found = batches(lengths, most_tokens=most_tokens, most_texts=most_texts)

    assert sorted(at for group in found for at in group) == list(range(len(lengths)))
    for group in found:
        longest = max(lengths[at] for at in group)
        assert len(group) == 1 or len(group) * longest <= most_tokens
        assert most_texts is None or len(group) <= most_texts
    flat = [lengths[at] for group in found for at in group]
    assert flat == sorted(lengths, reverse=True)


@given(LENGTHS, st.integers(0, 80))
def test_every_text_is_in_one_run_within_the_bound(sizes: list[int], most: int) -> None:
    found = [sizes[run] for run in runs(iter(sizes), most)]
    assert [size for own in found for size in own] == sizes
    for own, after in zip(found, [*found[1:], None], strict=False):
        assert len(own) == 1 or sum(own) <= most
        # None could have taken one more.
        assert after is None or sum(own) + after[0] > most
