"""Error breakdowns of a run, by kind of error."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.errors.outcomes import ERRORS, MISSED
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import MetricResult, RunResult

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
    """A kind of error, by model; `outcome` is its name in the explorer."""

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
            "fn" if error.name == MISSED.name else error.name,
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
