"""Edit similarity: Levenshtein similarity of response and reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from valor_cli.evaluators.overlap.reference_texts import compared
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric

MOST_PAIRS: Final = 40_000_000_000
"""Pairs of characters, one of each text, that are compared at most: about a second."""

_FEW: Final = 31
"""Edits that are looked for first; texts that are nearly equal are compared in linear time."""


def max_edits(a: str, b: str) -> int:
    """Number of edits up to which a distance is computed: unlimited unless texts are huge.

    Their characters make `len(a) * len(b)` pairs. Of more than 40,000,000,000 only those along the
    diagonal are compared, so many edits to either side as that number of pairs allows.
    """
    longer = max(len(a), len(b))
    if len(a) * len(b) <= MOST_PAIRS:
        return longer
    return MOST_PAIRS // (2 * longer)


def edit_distance(a: str, b: str) -> int | None:
    """Levenshtein distance of two texts, in characters.

    Returns:
        The fewest that make one the other; None if they are more than `max_edits`.
    """
    from rapidfuzz.distance import Levenshtein

    most = max_edits(a, b)
    found = Levenshtein.distance(a, b, score_cutoff=most, score_hint=_FEW)
    return None if found > most else found


OUTPUTS = ("value",)


def edit_similarity(texts: Texts, *, case_sensitive: bool = True) -> Outcomes:
    """1 − Levenshtein distance / length of the longer text; the best reference counts.

    Two empty texts have 1. Of equal references the first counts. Where case is ignored, texts are
    compared with Unicode case folding. The distance of two texts that have more than
    40,000,000,000 pairs of characters (200,000 against 200,000) is worked out as far as that
    number
    of pairs allows: up to 2,000 edits of 10 MB against 10 MB. Beyond it the sample is skipped,
    unless another reference is nearer than that one could be.

    Formula:
        value = 1 − Levenshtein distance / characters of the longer text

    Pitfalls:
        Characters, not meaning: "The bridge is not safe." has 0.826 against "The bridge is safe.",
        and a sentence that moves costs as if it were rewritten. Unrelated sentences of one language
        have 0.15 to 0.3: 0 is not the floor.

    Example:
        "kitten" against "sitting": 3 edits, and the longer has 7 characters: 1 − 3/7 = 0.571.
    """
    form: Callable[[str], str] = str if case_sensitive else str.casefold
    return Outcomes.of(compared(texts.data, partial(_best, form)), OUTPUTS)


def _best(form: Callable[[str], str], response: str, references: tuple[str, ...]) -> Outcome:
    """How similar the response is to the nearest reference, both in that form."""
    best, at, edits = -1.0, 0, 0
    # What a reference that is too far to be compared may have at most, and why it is.
    unknown, why = -1.0, ""
    answer = form(response)
    for number, reference in enumerate(references):
        right = form(reference)
        distance = edit_distance(answer, right)
        if distance is None:
            most = max_edits(answer, right)
            unknown = max(unknown, _similarity(most + 1, answer, right))
            why = (
                f"too long to compare: {len(answer):,} characters of the response and "
                f"{len(right):,} of references[{number}] differ by more than {most:,} edits"
            )
        elif (found := _similarity(distance, answer, right)) > best:
            best, at, edits = found, number, distance
    if best < unknown:
        return Outcome(status="skipped", reason=why)
    return Outcome({"value": best}, details={"reference": at, "distance": edits})


def _similarity(distance: int, a: str, b: str) -> float:
    longer = max(len(a), len(b))
    return 1.0 - distance / longer if longer else 1.0


EDIT_SIMILARITY = Metric(
    name="edit_similarity",
    measure=edit_similarity,
    compute=mean_of_samples,
    reference="rapidfuzz.distance.Levenshtein.normalized_similarity",
    citation="Levenshtein, Binary codes capable of correcting deletions, insertions, and "
    "reversals, Soviet Physics Doklady, 1966",
    needs=("response", "references"),
    aliases=("EditSimilarity",),
)
