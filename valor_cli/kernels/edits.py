"""Pairs of texts in; the edits that make one the other, within a bound on the work, out."""

from __future__ import annotations

from typing import Final

MOST_PAIRS: Final = 40_000_000_000
"""Pairs of characters, one of each text, that are compared at most: about a second."""

_FEW: Final = 31
"""Edits that are looked for first; texts that are nearly equal are compared in linear time."""


def most_edits(a: str, b: str) -> int:
    """Edits up to which the distance of two texts is worked out: all, unless they are huge.

    Their characters make `len(a) * len(b)` pairs. Of more than 40,000,000,000 only those along the
    diagonal are compared, so many edits to either side as that number of pairs allows.
    """
    longer = max(len(a), len(b))
    if len(a) * len(b) <= MOST_PAIRS:
        return longer
    return MOST_PAIRS // (2 * longer)


def edit_distance(a: str, b: str) -> int | None:
    """Insertions, deletions and substitutions of characters between two texts (Levenshtein).

    Returns:
        The fewest that make one the other; None if they are more than `most_edits`.
    """
    from rapidfuzz.distance import Levenshtein

    most = most_edits(a, b)
    found = Levenshtein.distance(a, b, score_cutoff=most, score_hint=_FEW)
    return None if found > most else found
