"""Windows over texts that are longer than a model sees, and batches as far as memory goes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.errors import ConfigError
from valor_cli.models.language_models import transformers_language_model as scoring
from valor_cli.models.language_models.transformers_language_model import Window
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.text.windows import (
    device_of,
    in_batches,
    tokens_at_once,
    window_shares,
    windows,
)


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        # A quarter of 10 is 2: windows start at 0, 8 and 16; the third reaches 26, ends at 25.
        (25, [slice(0, 10), slice(8, 18), slice(16, 25)]),
        (18, [slice(0, 10), slice(8, 18)]),
        *((tokens, [slice(0, tokens)]) for tokens in (0, 1, 9, 10)),
    ],
)
def test_windows_worked_by_hand(tokens: int, found: list[slice]) -> None:
    assert windows(tokens, 10) == found


@given(st.integers(0, 500), st.integers(1, 60))
def test_windows_cover_all_and_none_is_needless(tokens: int, room: int) -> None:
    found = windows(tokens, room)
    assert {at for span in found for at in range(tokens)[span]} == set(range(tokens))
    assert all(span.stop - span.start <= room for span in found)
    assert [span.stop for span in found] == sorted({span.stop for span in found})
    for before, after in pairwise(found):
        assert before.stop - after.start == room // 4


def test_rooms_worked_by_hand() -> None:
    assert window_shares(8, 2, 10) == (8, 2)  # both fit
    assert window_shares(3, 90, 10) == (3, 7)  # the premise has what is left
    assert window_shares(90, 3, 10) == (5, 5)  # the hypothesis takes half at most
    assert window_shares(0, 90, 10) == (1, 10)  # an empty text leaves all to the other


@given(st.integers(0, 300), st.integers(0, 300), st.integers(2, 60))
def test_two_windows_fit_together(hypothesis: int, premise: int, room: int) -> None:
    mine, rest = window_shares(hypothesis, premise, room)
    longest = [
        max(span.stop - span.start for span in windows(tokens, of))
        for tokens, of in ((hypothesis, mine), (premise, rest))
    ]
    assert sum(longest) <= room
    if hypothesis + premise <= room:
        assert longest == [hypothesis, premise]


# --- of language models --------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("length", "first", "context", "found"),
    [
        (8, 1, 8, [Window(0, 8, 1)]),
        (8, 5, 20, [Window(0, 8, 5)]),
        # Ten tokens through four: 0-3, 2-5, 4-7, 6-9; each scores what the one before did not see.
        (10, 1, 4, [Window(0, 4, 1), Window(2, 6, 4), Window(4, 8, 6), Window(6, 10, 8)]),
        # Windows that score nothing are left out.
        (10, 6, 4, [Window(4, 8, 6), Window(6, 10, 8)]),
        # The documentation's last window would be 2048 to 3001, of 953 tokens.
        (3001, 3000, 1024, [Window(1977, 3001, 3000)]),
        # The first of all tokens is never scored.
        (3, 0, 8, [Window(0, 3, 1)]),
        *((length, first, 4, []) for length, first in ((0, 0), (0, 1), (1, 0), (5, 5), (5, 9))),
    ],
)
def test_windows_that_score_worked_by_hand(
    length: int, first: int, context: int, found: list[Window]
) -> None:
    assert scoring.windows(length, first, context) == found


@pytest.mark.parametrize("stride", [8, 1000])
def test_a_stride_of_the_context_leaves_a_token_before_each(stride: int) -> None:
    assert scoring.windows(20, 1, 8, stride) == scoring.windows(20, 1, 8, 7)


@given(st.integers(2, 200), st.integers(2, 40), st.data())
def test_without_a_prompt_they_are_the_documentations(
    length: int, context: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, context - 1))

    assert scoring.windows(length, 1, context, stride) == documented(length, context, stride)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(2, 40), st.none() | st.integers(1, 50))
def test_every_token_is_scored_once_with_something_before_it(
    length: int, first: int, context: int, stride: int | None
) -> None:
    found = scoring.windows(length, first, context, stride)

    scored = [at for one in found for at in range(one.scored, one.end)]
    assert scored == list(range(max(first, 1), length))
    step = min(context // 2 if stride is None else stride, context - 1)
    for one in found:
        assert 0 <= one.begin < one.scored < one.end <= one.begin + context
        assert one.begin == 0 or one.scored - one.begin >= context - step


@pytest.mark.models
def test_a_device_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    assert device_of("auto").type == "cpu"
    with pytest.raises(ConfigError, match="there is no cuda here; there is cpu"):
        device_of("cuda")


@pytest.mark.models
def test_batches_have_some_tokens_however_little_memory_there_is() -> None:
    assert tokens_at_once(device_of("cpu"), 1 << 40) == 512
    assert tokens_at_once(device_of("cpu"), 1 << 10) == 1 << 20


@pytest.mark.models
def test_a_batch_is_halved_until_memory_holds_it() -> None:
    def run(group: list[int]) -> int:
        if len(group) > 2:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return sum(group)

    found = list(in_batches([[1, 2, 3, 4, 5], [6]], run, Stop()))

    assert found == [([1, 2], 3), ([3], 3), ([4, 5], 9), ([6], 6)]


@pytest.mark.models
@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (MemoryError(), ConfigError, "not enough for a single text"),
        (RuntimeError("shapes differ"), RuntimeError, "shapes differ"),
    ],
)
def test_what_memory_never_holds_and_other_faults(
    error: Exception, kind: type[Exception], told: str
) -> None:
    def run(group: list[int]) -> int:
        raise error

    with pytest.raises(kind, match=told):
        list(in_batches([[1, 2]], run, Stop()))


@pytest.mark.models
def test_between_batches_the_run_may_end() -> None:
    stop = Stop()
    batches = in_batches([[1], [2]], lambda group: group, stop)
    assert next(batches) == ([1], [1])

    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped, match="interrupted"):
        next(batches)
