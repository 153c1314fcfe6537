"""Two texts in; each in parts that stand in both, and parts that do not, out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Part: TypeAlias = tuple[str, bool]
"""Characters, and whether they differ."""

WORDS = 1_000
"""Words of a text that are held against the other's; what follows stands as it is."""

PAIRS = 300_000
"""Pairs of equal words up to which all are looked at, in about 0.1 s; beyond, frequent words are
left to their neighbours."""

# Scripts without spaces between words are compared character by character.
_WORD = re.compile(
    r"(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|.)\s*", re.DOTALL
)


def word_differences(first: str, second: str) -> tuple[list[Part], list[Part]]:
    """Both texts in parts; one after the other they are the whole text again.

    Spaces count for nothing: they stand behind the word before them.
    """
    left, left_rest = _words(first)
    right, right_rest = _words(second)
    keys = [word.strip() for word in left], [word.strip() for word in right]
    often = Counter(keys[0])
    many = sum(often[word] for word in keys[1]) > PAIRS
    sides: tuple[list[Part], list[Part]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, *keys, autojunk=many).get_opcodes():
        differs = kind != "equal"
        _add(sides[0], left[a:b], differs)
        _add(sides[1], right[c:d], differs)
    _add(sides[0], [left_rest], False)
    _add(sides[1], [right_rest], False)
    return sides


def _words(text: str) -> tuple[list[str], str]:
    found: list[str] = []
    end = 0
    for one in _WORD.finditer(text):
        if len(found) == WORDS:
            break
        found.append(one[0])
        end = one.end()
    return found, text[end:]


def _add(parts: list[Part], words: Sequence[str], differs: bool) -> None:
    """Words as a part; the space behind the last one that differs is no part of it."""
    text = "".join(words)
    end = len(text.rstrip()) or len(text)
    if differs:
        _join(parts, text[:end], True)
        _join(parts, text[end:], False)
    else:
        _join(parts, text, False)


def _join(parts: list[Part], text: str, differs: bool) -> None:
    if parts and parts[-1][1] == differs:
        parts[-1] = (parts[-1][0] + text, differs)
    elif text:
        parts.append((text, differs))
