"""Combine the outcomes of several raters into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any

from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.verdicts import RATES, is_verdict
from valor_cli.metric import Metric, Output
from valor_cli.models.settings import Combine
from valor_cli.results import JudgeCalls, Verdict

SAID = ("class", "word")
"""What details of one word hold, and what is told of each rater too."""


def combined(
    metric: Metric[Any],
    names: Sequence[tuple[str, int]],
    found: Sequence[Outcome],
    combine: Combine | None,
) -> Outcome:
    """Combine outcomes into one.

    Repeats of a judge become one first, so that each judge has one voice. By majority the
    value that most found stands, output by output among those who found it; of ties, the worse.
    Raters who found nothing have no voice; where all found nothing, what most met stands.

    Args:
        metric: Whose.
        names: The judge and the number of the repeat, from 0, of each.
        found: What each found.
        combine: How; None: pass or fail by majority, other values by their mean.
    """
    judges = dict.fromkeys(name for name, _ in names)
    voices = [
        _one(
            [one for (name, _), one in zip(names, found, strict=True) if name == judge],
            metric,
            combine,
        )
        for judge in judges
    ]
    one = _one(voices, metric, combine)
    asked = [each.asked or JudgeCalls() for each in found]
    any_kept = any(each.prompts for each in asked)
    several = len(judges) > 1
    return one._replace(
        details={**(one.details or {}), "raters": _told(names, found)},
        verdicts=tuple(
            _by(name, verdict) if several else verdict
            for (name, again), each in zip(names, found, strict=True)
            if again == 0
            for verdict in each.verdicts
        ),
        asked=JudgeCalls(
            sum(each.calls for each in asked),
            sum(each.cached for each in asked),
            tuple(reply for each in asked for reply in each.replies),
            tuple(
                prompt
                for each in asked
                for prompt in each.prompts or ("",) * len(each.replies) * any_kept
            ),
        ),
    )


def _one(found: Sequence[Outcome], metric: Metric[Any], combine: Combine | None) -> Outcome:
    scored = [one for one in found if one.status == "ok"]
    if not scored:
        statuses = Counter(one.status for one in found)
        most = max(statuses, key=lambda status: statuses[status])
        return next(one for one in found if one.status == most)
    if combine == "majority":
        return _holders(scored, metric.outputs)[0]
    if combine is None and is_verdict(metric.outputs):
        holders, averaged = _holders(scored, metric.outputs[:1]), metric.outputs[len(RATES) :]
    else:
        holders, averaged = scored, metric.outputs
    means = {
        output.name: _mean([one.values.get(output.name) for one in scored]) for output in averaged
    }
    # The words are those of whoever is nearest to what stands.
    nearest = min(holders, key=lambda one: _distance(one, next(iter(means.items()), None)))
    return nearest._replace(values={**nearest.values, **means})


def _holders(scored: Sequence[Outcome], outputs: Sequence[Output]) -> list[Outcome]:
    """Those who found what most did, output by output."""
    left = list(scored)
    for output in outputs:
        value = _majority([one.values.get(output.name) for one in left], output)
        left = [one for one in left if one.values.get(output.name) == value]
    return left


def _distance(one: Outcome, mean: tuple[str, float | None] | None) -> float:
    if mean is None:
        return 0.0
    name, value = mean
    return abs((one.values.get(name) or 0) - (value or 0))


def _majority(values: Sequence[float | None], output: Output) -> float | None:
    counts = Counter(values)
    most = max(counts.values())
    ties = [value for value, count in counts.items() if count == most]
    known = [value for value in ties if value is not None]
    if not known:
        return None
    return max(known) if output.better == "lower" else min(known)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _told(names: Sequence[tuple[str, int]], found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """What each rater found, as JSON has it."""
    return [
        {
            "judge": name,
            "repeat": again,
            "status": one.status,
            "values": dict(one.values) if one.status == "ok" else {},
            "reason": one.reason,
            **{name: said for name, said in (one.details or {}).items() if name in SAID},
        }
        for (name, again), one in zip(names, found, strict=True)
    ]


def _by(name: str, verdict: Verdict) -> Verdict:
    said = f"{name}: {verdict.reason}" if verdict.reason else name
    return Verdict(verdict.text, verdict.verdict, verdict.good, said)
