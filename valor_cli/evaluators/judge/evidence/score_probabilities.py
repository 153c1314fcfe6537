"""Ratings weighted by the probabilities of their tokens.

Liu et al. 2023, G-Eval (https://arxiv.org/abs/2303.16634), section 2: the score is the sum over the
scale of p(i) · i. Endpoints tell the most probable tokens alone, so that the probabilities of the
scale's tokens among these are divided by their sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

PROBABILITIES, UNWEIGHTED = "probabilities", "not_weighted"
"""Keys of details: the weights, or why there are none."""


def weighted(rating: str, scores: Mapping[str, float] | None) -> tuple[float, Mapping[str, Any]]:
    """The expected rating with its weights; without probabilities the rating itself, with a reason.

    Args:
        rating: What the judge wrote.
        scores: As `Reply.scores`.
    """
    if scores is None:
        return float(rating), {UNWEIGHTED: "the endpoint gave no probabilities of tokens"}
    if next(iter(scores), None) != rating:
        return float(rating), {UNWEIGHTED: "the score is not one token of the reply"}
    whole = fsum(scores.values())
    if not whole > 0:
        return float(rating), {UNWEIGHTED: "the probabilities of the scale's tokens are 0"}
    weights = {one: scores[one] / whole for one in sorted(scores, key=int)}
    return fsum(int(one) * weight for one, weight in weights.items()), {PROBABILITIES: weights}


def unweighted(name: str, details: Sequence[Mapping[str, Any] | None]) -> Iterable[str]:
    """What to warn of: ratings that are not weighted, and why."""
    rated = [one for one in details if one is not None and {PROBABILITIES, UNWEIGHTED} & one.keys()]
    reasons = Counter(str(one[UNWEIGHTED]) for one in rated if UNWEIGHTED in one)
    if reasons:
        told = "; ".join(f"{count:,} × {why}" for why, count in sorted(reasons.items()))
        yield f"{name}: {reasons.total():,} of {len(rated):,} ratings are not weighted: {told}"
