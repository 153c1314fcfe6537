"""Places in texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.secrets.spans import MASK, Span, disjoint, masked

SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6)).map(
        lambda pair: Span(pair[0], pair[0] + pair[1], "x")
    )
)


def test_the_earlier_wins_and_of_those_the_longer() -> None:
    spans = [Span(3, 9, "c"), Span(0, 2, "a"), Span(0, 4, "b"), Span(4, 5, "d")]
    assert disjoint(spans) == [Span(0, 4, "b"), Span(4, 5, "d")]


def test_letters_and_digits_are_masked_and_the_shape_stays() -> None:
    assert masked("call 555-1234 now", [Span(5, 13, "PHONE")]) == "call •••-•••• now"
    assert masked("abc", []) == "abc"


@given(st.text(max_size=16), SPANS)
def test_nothing_inside_a_span_can_be_read(text: str, spans: list[Span]) -> None:
    shown = masked(text, spans)
    assert len(shown) == len(text)
    inside = {at for span in spans for at in range(span.start, min(span.end, len(text)))}
    for at, (before, after) in enumerate(zip(text, shown, strict=True)):
        assert after == (MASK if at in inside and before.isalnum() else before)
