"""What SQuAD's evaluation scripts say of an answer, from their definition, in plain loops."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence


def words(text: str) -> list[str]:
    """Lower case, then no punctuation, then no articles, then split."""
    kept = [each for each in text.lower() if each not in set(string.punctuation)]
    return re.sub(r"\b(a|an|the)\b", " ", "".join(kept)).split()


def exact_match(given: str, references: Sequence[str]) -> float:
    """Whether any reference has the same words."""
    return float(any(words(given) == words(each) for each in references))


def token_f1(given: str, references: Sequence[str]) -> tuple[float, float, float]:
    """F1, precision and recall of the reference with the highest F1."""
    found = []
    for reference in references:
        left, right = words(given), words(reference)
        if not left or not right:
            found.append((float(left == right),) * 3)
            continue
        rest = list(right)
        same = 0
        for word in left:
            if word in rest:
                rest.remove(word)
                same += 1
        if not same:
            found.append((0.0, 0.0, 0.0))
            continue
        precision, recall = 1.0 * same / len(left), 1.0 * same / len(right)
        found.append(((2 * precision * recall) / (precision + recall), precision, recall))
    return max(found, key=lambda each: each[0])
