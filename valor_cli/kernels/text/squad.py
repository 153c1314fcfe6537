"""Normalise and compare answers as in SQuAD.

The arithmetic is that of SQuAD's evaluate-v1.1.py, and of evaluate-v2.0.py where no word is left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from string import punctuation
from typing import Final, NamedTuple

_PUNCTUATION: Final = str.maketrans("", "", punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")


class Overlap(NamedTuple):
    """Word overlap of two answers, as fractions.

    Attributes:
        f1: Harmonic mean of the two.
        precision: Of the words of the answer that was given.
        recall: Of the words of the answer that is right.
    """

    f1: float
    precision: float
    recall: float


_NONE: Final = Overlap(0.0, 0.0, 0.0)
_ALL: Final = Overlap(1.0, 1.0, 1.0)


def normalised(text: str) -> str:
    """The text in lower case without ASCII punctuation and English articles, single-spaced."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def word_overlap(given: Sequence[str], right: Sequence[str]) -> Overlap:
    """Word overlap of two answers, counting repeated words.

    Of two answers without any word all is 1; of one with and one without, all is 0.

    Args:
        given: Words of the answer to be judged.
        right: Words of the right answer.
    """
    if not given or not right:
        return _NONE if given or right else _ALL
    shared = sum((Counter(given) & Counter(right)).values())
    if not shared:
        return _NONE
    precision, recall = shared / len(given), shared / len(right)
    return Overlap(2 * precision * recall / (precision + recall), precision, recall)
