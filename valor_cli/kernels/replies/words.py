"""Parse a one-word answer from the reply of a language model."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from valor_cli.kernels.replies.json_values import fenced, reply_text

_MARKS = frozenset("`~>|=^+$\ufeff\u200b\u200c\u200d\u2060")
"""Markdown and white space that Unicode does not count as punctuation or space."""

_MORE = 1_000
"""Characters around a word; Unicode's normal forms take long of long texts made for that."""


def word_in_reply(reply: str, words: Sequence[str]) -> str | None:
    """The word in a reply, ignoring quotes, punctuation, emphasis and case, or None.

    A word inside a sentence is none. A reply that is a code fence is what the fence holds.
    """
    text = reply_text(reply)
    return _first(words, text, *_only_fence(text))


def word_of(value: Any, words: Sequence[str]) -> str | None:
    """The word of a JSON value: a string, or true and false as the given words."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    return _first(words, value) if isinstance(value, str) else None


def _first(words: Sequence[str], *texts: str) -> str | None:
    longest = _MORE + max(map(len, words), default=0)
    for text in texts:
        if len(text) > longest:
            continue
        # As it is written first: some words differ in their punctuation alone ("C", "C++").
        for form in (_folded, _bare):
            said = form(text)
            meant = [word for word in words if form(word) == said] if said else []
            if len(meant) == 1:
                return meant[0]
    return None


def _folded(text: str) -> str:
    """A text without case, and with single spaces between its words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _bare(text: str) -> str:
    """The same without quotes, punctuation and emphasis at its ends."""
    folded = _folded(text)
    start, end = 0, len(folded)
    # "!present" may mean that it is not.
    while start < end and folded[start] != "!" and _around(folded[start]):
        start += 1
    while end > start and _around(folded[end - 1]):
        end -= 1
    return folded[start:end]


def _around(character: str) -> bool:
    return (
        character.isspace()
        or character in _MARKS
        or unicodedata.category(character).startswith("P")
    )


def _only_fence(text: str) -> Iterator[str]:
    fences = fenced(text)
    if len(fences) == 1 and text[:1] in "`~":
        start, end = fences[0]
        if not text[end:].strip("`~ \t\r\n"):
            yield text[start:end]
