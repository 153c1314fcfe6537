"""Windows: those of transformers' documentation, and every token scored once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.models.language_models.transformers_language_model import Window, windows


def documented(length: int, context: int, stride: int) -> list[Window]:
    """The loop of https://huggingface.co/docs/transformers/perplexity.

    There labels are shifted by one within a window, so that its first token is never scored.
    """
    found = []
    previous = 0
    for begin in range(0, length, stride):
        end = min(begin + context, length)
        target = end - previous
        found.append(Window(begin, end, max(end - target, begin + 1)))
        previous = end
        if end == length:
            break
    return found


def test_a_text_that_fits_is_seen_at_once() -> None:
    assert windows(8, 1, 8) == [Window(0, 8, 1)]
    assert windows(8, 5, 20) == [Window(0, 8, 5)]


def test_a_long_text_is_seen_half_a_context_further_each_time() -> None:
    # Ten tokens through four: 0-3, 2-5, 4-7, 6-9; each scores what the one before did not see.
    assert windows(10, 1, 4) == [
        Window(0, 4, 1),
        Window(2, 6, 4),
        Window(4, 8, 6),
        Window(6, 10, 8),
    ]


def test_windows_that_score_nothing_are_left_out() -> None:
    assert windows(10, 6, 4) == [Window(4, 8, 6), Window(6, 10, 8)]


def test_a_short_target_after_a_long_prompt_has_a_full_window() -> None:
    # The documentation's last window would be 2048 to 3001, of 953 tokens.
    assert windows(3001, 3000, 1024) == [Window(1977, 3001, 3000)]


def test_the_first_of_all_tokens_is_never_scored() -> None:
    assert windows(3, 0, 8) == [Window(0, 3, 1)]


@pytest.mark.parametrize(("length", "first"), [(0, 0), (0, 1), (1, 0), (1, 1), (5, 5), (5, 9)])
def test_nothing_to_score_is_no_window(length: int, first: int) -> None:
    assert windows(length, first, 4) == []


@pytest.mark.parametrize("stride", [8, 9, 1000])
def test_a_stride_of_the_context_leaves_a_token_before_each(stride: int) -> None:
    assert windows(20, 1, 8, stride) == windows(20, 1, 8, 7)


@given(st.integers(2, 200), st.integers(2, 40), st.data())
def test_without_a_prompt_they_are_the_documentations(
    length: int, context: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, context - 1))

    assert windows(length, 1, context, stride) == documented(length, context, stride)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(2, 40), st.none() | st.integers(1, 50))
def test_every_token_is_scored_once_with_something_before_it(
    length: int, first: int, context: int, stride: int | None
) -> None:
    found = windows(length, first, context, stride)

    scored = [at for one in found for at in range(one.scored, one.end)]
    assert scored == list(range(max(first, 1), length))
    step = min(context // 2 if stride is None else stride, context - 1)
    for one in found:
        assert 0 <= one.begin < one.scored < one.end <= one.begin + context
        assert one.begin == 0 or one.scored - one.begin >= context - step
