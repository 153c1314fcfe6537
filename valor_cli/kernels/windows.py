"""The length of a sequence of tokens in; the windows through which a model sees all of it out."""

from __future__ import annotations

from typing import NamedTuple


class Window(NamedTuple):
    """Some successive tokens that a model sees together.

    Attributes:
        begin: The first token seen.
        end: One after the last.
        scored: The first whose probability is taken here; those before it are its context.
    """

    begin: int
    end: int
    scored: int


def windows(length: int, first: int, context: int, stride: int | None = None) -> list[Window]:
    """Windows in which every token from `first` on is scored once.

    They are those of the perplexity page of transformers' documentation: the k-th begins at
    k · stride, and scores what the one before did not see. Windows that would score nothing are
    left out. A first one that is the last, too, moves back until it is full, so that a short
    target after a long prompt has as much context as there can be. At least `context - stride`
    tokens stand before every token scored, or all there are.

    Args:
        length: Tokens of the sequence.
        first: The first token to be scored; that at 0 has nothing before it and never is.
        context: Tokens of a window, at least 2.
        stride: Tokens from one window to the next; None: half the context. One of the context's
            size or more would leave tokens with nothing before them, and is `context - 1`.
    """
    first = max(first, 1)
    if first >= length:
        return []
    step = max(1, min(context // 2 if stride is None else stride, context - 1))
    passed = max(0, -(-(first + 1 - context) // step))
    nominal = context + passed * step
    end = min(nominal, length)
    found = [Window(max(0, end - context if end == length else nominal - context), end, first)]
    while end < length:
        nominal += step
        scored, end = end, min(nominal, length)
        found.append(Window(nominal - context, end, scored))
    return found
