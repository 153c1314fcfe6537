"""Pair names without the words that all names of a side share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from valor_cli.errors import printable

_WORD: Final = re.compile(r"(?P<text>[^\W_]*)[\W_]+")
"""A word of a name, and what is between it and the next."""


class Words(NamedTuple):
    """What all names of a side begin and end with."""

    begin: str
    end: str

    def __str__(self) -> str:
        words = [f"'{printable(one)}'" for one in self if one]
        return " and ".join(words) or "nothing"

    @property
    def length(self) -> int:
        """How much of a name they are."""
        return len(self.begin) + len(self.end)

    def without(self, name: str) -> str:
        """A name without them."""
        return name[len(self.begin) : len(name) - len(self.end)]


NO_WORDS: Final = Words("", "")


Way: TypeAlias = tuple[tuple[Words, Words], dict[str, str]]
"""Words of both sides, and the names that are equal without them."""


def ways_to_pair(names: Collection[str], others: Collection[str]) -> list[Way]:
    """The ways that pair most names, by the shortest words; none where half of them stay alone.

    Args:
        names, others: The names of both sides; several ways pair other names.
    """
    sides = [sorted(set(names)), sorted(set(others))]
    if not all(sides):
        return []
    stems = [
        {words: {words.without(name): name for name in own} for words in _words_of(own)}
        for own in sides
    ]
    best: list[Way] = []
    most = min(map(len, sides)) // 2 + 1
    for first, second in sorted(product(*stems), key=lambda way: way[0].length + way[1].length):
        there = stems[1][second]
        pairs = {name: there[stem] for stem, name in stems[0][first].items() if stem in there}
        if len(pairs) > most:
            best, most = [], len(pairs)
        if len(pairs) == most and all(pairs != other for _, other in best):
            best.append(((first, second), pairs))
    return best


def _words_of(names: Collection[str]) -> Iterator[Words]:
    """The words that all of several names begin and end with, from none to all of them.

    Numbers are not among them: they tell images apart, even if those here share one. Of a single
    name nothing says which of its words others would have.
    """
    begins, ends = _beginnings(names), _beginnings([one[::-1] for one in names])
    shortest = min(map(len, names))
    for begin, end in product(begins, ends):
        if len(begin) + len(end) < shortest:
            yield Words(begin, end[::-1])


def _beginnings(names: Collection[str]) -> list[str]:
    """What several names begin with, up to behind each word and to the first number; "" first."""
    found = [""]
    if len(names) > 1:
        low, high = min(names), max(names)
        same = next((at for at, one in enumerate(low) if one != high[at]), len(low))
        for word in _WORD.finditer(low[:same]):
            if word["text"].isdigit():
                break
            found.append(low[: word.end()])
    return found
