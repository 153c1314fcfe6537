"""Problems of a run, most severe first, and its insights, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import Names
from valor_cli.results import InsightResult, ProblemResult, RunResult, Scalar

UNCLEAR = "cannot tell"
"""Said of a problem whose severity cannot be told."""

SEVERITIES = ("high", "medium", "low", UNCLEAR)

SAMPLES = 3
"""Samples named of each problem."""

MESSAGE = 400
"""Characters of a message."""


class ShownProblem(Struct, frozen=True):
    """A problem in words; `message` names the model if there are several.

    `samples` names the first of them, whose ids are `sample_ids`.
    """

    severity: str
    kind: str
    message: str
    samples: str
    sample_ids: tuple[Scalar, ...] = ()


def shown_problems(result: RunResult) -> tuple[ShownProblem, ...]:
    """All problems, most severe first, otherwise in run order."""
    names = Names((row.metric, row.parameters) for row in result.coverage)
    several = len(result.models) > 1
    found = [_shown(problem, several, names) for problem in result.problems]
    return tuple(sorted(found, key=lambda problem: SEVERITIES.index(problem.severity)))


def _shown(problem: ProblemResult, several: bool, names: Names) -> ShownProblem:
    message, model = clean(problem.message, MESSAGE), clean(problem.model, 60)
    detail = names.detail(problem.metric or "", problem.parameters)
    if detail:
        message = f"{message} ({detail})"
    if several and problem.model and model not in message:
        message = f"{model}: {message}"
    samples = [clean(str(name), 40) for name in problem.sample_ids[:SAMPLES]]
    more = len(problem.sample_ids) - len(samples)
    return ShownProblem(
        problem.severity or UNCLEAR,
        problem.kind,
        message,
        ", ".join(samples) + (f" and {more:,} more" if more else ""),
        tuple(problem.sample_ids[:SAMPLES]),
    )


def counted(problems: Sequence[ShownProblem]) -> str:
    """Counts by severity: "1 high, 3 low"."""
    counts = Counter(problem.severity for problem in problems)
    return ", ".join(f"{counts[name]:,} {name}" for name in SEVERITIES if counts[name])


RANKS = frozenset({"best_model", "worst_model", "no_best_model"})
"""Kinds of insights that say what a table of models side by side shows."""


def shown_insights(result: RunResult) -> tuple[str, ...]:
    """All but `RANKS`, one of each kind before the second of any."""
    ordered = ordered_insights(one for one in result.insights if one.kind not in RANKS)
    return tuple(clean(insight.message, MESSAGE) for insight in ordered)


def ordered_insights(insights: Iterable[InsightResult]) -> list[InsightResult]:
    """Insights, one of each kind first."""
    seen: Counter[str] = Counter()
    ranked = []
    for insight in insights:
        ranked.append((seen[insight.kind], insight))
        seen[insight.kind] += 1
    return [insight for _, insight in sorted(ranked, key=lambda pair: pair[0])]
