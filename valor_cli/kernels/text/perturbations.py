"""Make small, realistic changes to a text, given a seed.

Changes depend only on the text and the seed. No thesaurus is used: every change keeps the words or
misspells them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, Literal, TypeAlias

Intensity: TypeAlias = Literal["low", "medium", "high"]
Change: TypeAlias = Callable[[str, Random, float], str]
"""A text, where chance comes from, and the part of its words to change."""

SHARES: Final[Mapping[Intensity, float]] = {"low": 0.1, "medium": 0.25, "high": 0.5}
"""The part of the words that an intensity changes; at least one, where there is one to change."""

COPIES: Final[Mapping[Intensity, int]] = {"low": 1, "medium": 3, "high": 9}
"""How many copies `copy` makes."""

_WORD = re.compile(r"\S+")
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LOOK_ALIKE: Final = {
    "rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv", "l": "1", "I": "l",
    "1": "l", "O": "0", "0": "O", "o": "0", "S": "5", "5": "S", "B": "8", "8": "B", "e": "c",
    "c": "e", "h": "b", "i": "j", "t": "f", "u": "ii", "a": "o", "g": "q", "Z": "2", "2": "Z",
}  # fmt: skip
"""What optical character recognition takes for what."""

_HOMOGLYPHS: Final = dict(zip("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ", strict=True))
"""Latin letters, and the Cyrillic ones that look the same."""


def perturbed(text: str, kind: str, intensity: Intensity, seed: str) -> str:
    """The changed text.

    Args:
        text: Any text.
        kind: A key of `CHANGES`.
        intensity: How much to change.
        seed: What chance hangs on; name the sample in it, or all are changed alike.
    """
    # Only random() gives the same numbers in every version of Python.
    return CHANGES[kind](text, Random(seed), SHARES[intensity])  # noqa: S311 - no secret


def _below(chance: Random, n: int) -> int:
    return int(chance.random() * n)


def _chosen(chance: Random, among: Sequence[int], share: float) -> list[int]:
    """Some of these positions, at least one of any; ascending."""
    count = min(len(among), max(1, round(share * len(among))))
    order = sorted(among, key=lambda at: (chance.random(), at))
    return sorted(order[:count])


def _words(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _WORD.finditer(text)]


def _rewritten(text: str, spans: Sequence[tuple[int, int]], change: Callable[[str], str]) -> str:
    """The text with some parts of it, in order, changed."""
    pieces, last = [], 0
    for start, end in spans:
        pieces += [text[last:start], change(text[start:end])]
        last = end
    return "".join([*pieces, text[last:]])


def _by_word(change: Callable[[str, Random], str], fits: Callable[[str], bool]) -> Change:
    """A change of single words, of those that fit."""

    def changed(text: str, chance: Random, share: float) -> str:
        spans = _words(text)
        fitting = [at for at, (start, end) in enumerate(spans) if fits(text[start:end])]
        chosen = [spans[at] for at in _chosen(chance, fitting, share)]
        return _rewritten(text, chosen, lambda word: change(word, chance))

    return changed


def _typo(word: str, chance: Random) -> str:
    """A neighbouring key, two letters the wrong way round, one left out, or one typed twice."""
    letters = [at for at, each in enumerate(word) if each.isalnum()]
    at = letters[_below(chance, len(letters))]
    kind = _below(chance, 4)
    if kind == 0 and (near := _neighbours(word[at])):
        return word[:at] + near[_below(chance, len(near))] + word[at + 1 :]
    if kind == 1:
        swaps = [i for i in range(len(word) - 1) if word[i] != word[i + 1]]
        if swaps:
            i = swaps[_below(chance, len(swaps))]
            return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    if kind == 2 and len(letters) > 1:
        return word[:at] + word[at + 1 :]
    return word[: at + 1] + word[at:]


def _neighbours(letter: str) -> str:
    """Adjacent keys of a letter; none if it is not on the keyboard."""
    for row in _KEYBOARD:
        at = row.find(letter.lower())
        if at >= 0:
            near = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            return near.upper() if letter.isupper() else near
    return ""


def _case(word: str, chance: Random) -> str:
    """All capitals, or, of what has some, the other way round."""
    return word.swapcase() if word.isupper() or _below(chance, 2) else word.upper()


def _ocr(word: str, chance: Random) -> str:
    places = [
        (at, word[at : at + width])
        for at in range(len(word))
        for width in (2, 1)
        if word[at : at + width] in _LOOK_ALIKE and at + width <= len(word)
    ]
    at, seen = places[_below(chance, len(places))]
    return word[:at] + _LOOK_ALIKE[seen] + word[at + len(seen) :]


def _homoglyph(word: str, chance: Random) -> str:
    places = [at for at, each in enumerate(word) if each in _HOMOGLYPHS]
    at = places[_below(chance, len(places))]
    return word[:at] + _HOMOGLYPHS[word[at]] + word[at + 1 :]


def _swap_words(text: str, chance: Random, share: float) -> str:
    """Words that change places with the next one; white space stays where it is."""
    spans = _words(text)
    words = [text[start:end] for start, end in spans]
    unlike = [at for at in range(len(words) - 1) if words[at] != words[at + 1]]
    done = -1
    for at in _chosen(chance, unlike, share / 2):
        if at > done:
            words[at], words[at + 1] = words[at + 1], words[at]
            done = at + 1
    ends = [0, *(end for _, end in spans)]
    gaps = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return "".join(gap + word for gap, word in zip(gaps, words, strict=True)) + text[ends[-1] :]


def _encoded(encode: Callable[[bytes], bytes]) -> Change:
    """The longest words encoded; from half of them on, the whole text."""

    def changed(text: str, chance: Random, share: float) -> str:
        if share >= SHARES["high"]:
            return encode(text.encode()).decode() if text else text
        spans = _words(text)
        longest = sorted(spans, key=lambda span: (span[0] - span[1], span))
        chosen = sorted(longest[: max(1, round(share * len(spans)))])
        return _rewritten(text, chosen, lambda word: encode(word.encode()).decode())

    return changed


def _cased(word: str) -> bool:
    return word.upper() != word or word.swapcase() != word


CHANGES: Final[Mapping[str, Change]] = {
    "typo": _by_word(_typo, lambda word: any(map(str.isalnum, word))),
    "case": _by_word(_case, _cased),
    "word_swap": _swap_words,
    "ocr": _by_word(_ocr, lambda word: any(seen in word for seen in _LOOK_ALIKE)),
    "comma": _by_word(lambda word, chance: f"{word},", lambda word: word[-1].isalnum()),
    "punctuation": _by_word(
        lambda word, chance: "".join(filter(str.isalnum, word)),
        lambda word: any(map(str.isalnum, word)) and not word.isalnum(),
    ),
    "word_repeat": _by_word(lambda word, chance: f"{word} {word}", lambda word: True),
    "homoglyph": _by_word(_homoglyph, lambda word: any(each in _HOMOGLYPHS for each in word)),
    "base16": _encoded(base64.b16encode),
    "base64": _encoded(base64.b64encode),
    "copy": lambda text, chance, share: text,
}
"""By kind, what it does to a text. What has nothing to change stays as it is."""
