"""Names and marks of object outcomes in reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from valor_cli.results import ExampleObject, ExampleResult


class Outcome(Struct, frozen=True):
    """An outcome; `mark` is the letter on its drawing, empty if it is correct."""

    name: str
    words: str
    meaning: str
    mark: str = ""


OUTCOMES: Mapping[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("found", "found", "an object that a prediction found"),
        Outcome("missed", "not found", "a false negative: no prediction is right for it", "N"),
        Outcome("true_positive", "true positive", "right place, right label"),
        Outcome("classification", "classification", "right place, wrong label", "C"),
        Outcome("localisation", "localisation", "right label, too little overlap", "L"),
        Outcome("both", "both", "wrong label and too little overlap", "CL"),
        Outcome("duplicate", "duplicate", "found before by a higher score", "D"),
        Outcome("background", "background", "nothing of any label is there", "B"),
        Outcome("unmatched", "unmatched", "no ground truth is left for it"),
        Outcome("ignored", "ignored", "counts neither for nor against"),
    )
}
"""Every outcome that is drawn, in the order of the legend."""

MISSED = Outcome(
    "missed",
    "missed",
    "found by nothing, and no detection would find it were its label or place right",
)
"""A kind of error. Not every object that is not found: one that a detection of wrong label or place
stands for counts as that error."""

ERRORS = tuple(
    MISSED if outcome.name == MISSED.name else outcome
    for outcome in OUTCOMES.values()
    if outcome.mark
)
"""The kinds of errors that a breakdown tells apart, each of them one error."""

_PREDICTIONS = {
    "true_positive": "true_positive",
    "misclassification": "classification",
    "hallucination": "unmatched",
    "unmatched_prediction": "unmatched",
}
_NOT_FOUND = ("no_prediction", "unmatched_ground_truth", "missed")


def outcome_of(thing: ExampleObject, kind: str) -> Outcome:
    """The object's own outcome, or that of its example's kind."""
    if thing.outcome in OUTCOMES:
        found = thing.outcome
        if thing.role == "ground_truth" and found not in ("missed", "ignored"):
            found = "found"
    elif thing.role == "ground_truth":
        found = "missed" if kind in _NOT_FOUND else "found"
    else:
        found = _PREDICTIONS.get(kind, kind if kind in OUTCOMES else "true_positive")
    return OUTCOMES[found]


def counted(example: ExampleResult) -> dict[str, int]:
    """Number of an example's objects by outcome, in the order of `OUTCOMES`."""
    names = [outcome_of(thing, example.kind).name for thing in example.objects]
    return {name: names.count(name) for name in OUTCOMES if name in names}


def told(counts: Mapping[str, int], names: Iterable[str]) -> str:
    """Counts in words: "3 false negatives, 1 background"."""
    return ", ".join(f"{counts[name]} {OUTCOMES[name].words}" for name in names if name in counts)
