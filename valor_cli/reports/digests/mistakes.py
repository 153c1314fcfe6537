"""Outcomes of objects, and what each kind of error costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import Names
from valor_cli.results import ExampleObject, ExampleResult, MetricResult, RunResult
from valor_cli.results.identity import frozen


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


METRIC = "error_breakdown"

_SIDES = (
    ("false_positive", "all false positives", "every prediction that is wrong, of any kind"),
    (
        "false_negative",
        "all false negatives",
        "every object that is not found, for whatever reason",
    ),
)

NOTHING = 0.0005
"""Smaller costs read as 0.000."""


class Share(Struct, frozen=True):
    """One model's errors of a kind: lost average precision, and count."""

    cost: float | None
    count: float | None
    undefined: str | None


class Kind(Struct, frozen=True):
    """A kind of error, by model; `outcome` is its name in the explorer, if that has just these."""

    name: str
    meaning: str
    shares: tuple[Share, ...]
    outcome: str = ""


class Breakdown(Struct, frozen=True):
    """Kinds of errors, costliest first; `sides` are all false positives and all false negatives."""

    detail: str
    kinds: tuple[Kind, ...]
    sides: tuple[Kind, ...]


def breakdowns(result: RunResult) -> tuple[Breakdown, ...]:
    """Error breakdowns of the whole run, one per parameter setting."""
    rows = [row for row in result.metrics if row.metric == METRIC]
    rows = [row for row in rows if row.label is None and row.slice is None]
    names = Names((row.metric, row.parameters) for row in rows)
    groups: dict[object, list[MetricResult]] = {}
    for row in rows:
        groups.setdefault(frozen(row.parameters), []).append(row)
    return tuple(
        _breakdown(group, result.models, names.detail(METRIC, group[0].parameters))
        for group in groups.values()
    )


def costliest(breakdown: Breakdown, model: int) -> Kind | None:
    """A model's costliest kind of error; None if none costs anything."""
    costs = [(kind.shares[model].cost or 0.0, kind) for kind in breakdown.kinds]
    cost, kind = max(costs, key=lambda pair: pair[0], default=(0.0, None))
    return kind if cost >= NOTHING else None


def _breakdown(rows: Sequence[MetricResult], models: Sequence[str], detail: str) -> Breakdown:
    found = {(row.model, row.output): row for row in rows}
    kinds = [
        Kind(
            error.words,
            error.meaning,
            tuple(_share(found, m, error.name) for m in models),
            "" if error.name == MISSED.name else error.name,
        )
        for error in ERRORS
        if any((m, error.name) in found or (m, f"{error.name}_cost") in found for m in models)
    ]
    kinds.sort(key=lambda kind: -max(share.cost or 0.0 for share in kind.shares))
    sides = [
        Kind(
            words,
            meaning,
            tuple(_share(found, m, name) for m in models),
            "fp" if name == "false_positive" else "fn",
        )
        for name, words, meaning in _SIDES
        if any((m, f"{name}_cost") in found for m in models)
    ]
    return Breakdown(detail, tuple(kinds), tuple(sides))


def _share(found: dict[tuple[str, str], MetricResult], model: str, name: str) -> Share:
    cost, count = found.get((model, f"{name}_cost")), found.get((model, name))
    reason = cost.undefined if cost is not None and cost.undefined else None
    return Share(
        None if cost is None else cost.value,
        None if count is None else count.value,
        None if reason is None else clean(reason, 200),
    )
