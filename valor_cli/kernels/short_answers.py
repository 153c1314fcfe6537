"""Two short answers in; how alike they are as they are written out.

Of "Yes", "42" or "in May" an embedding says little. Case never counts: texts are case-folded.
"""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\w+")


def edit_likeness(one: str, other: str) -> float:
    """1 - Levenshtein distance / length of the longer, in characters; two empty texts have 1."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(one.casefold(), other.casefold()))


def equality(one: str, other: str) -> float:
    """1 if the texts are equal, else 0."""
    return float(one.casefold() == other.casefold())


def token_jaccard(one: str, other: str) -> float:
    """Distinct words that both have / distinct words that either has, 0 to 1.

    Words are runs of letters, digits and underscores. Where neither text has one ("?", "+"), they
    are 1 or 0 as they are equal or not.
    """
    ours, theirs = (set(_WORD.findall(text.casefold())) for text in (one, other))
    either = ours | theirs
    return len(ours & theirs) / len(either) if either else equality(one, other)
