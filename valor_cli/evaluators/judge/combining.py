"""What several raters, judges or repeats of one, find of a sample; one outcome out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any, Literal, TypeAlias

from valor_cli.evaluators.samples import Outcome
from valor_cli.evaluators.verdicts import RATES
from valor_cli.metric import Metric, Output
from valor_cli.results import Asked, Verdict

Combine: TypeAlias = Literal["majority", "mean"]


def combined(
    metric: Metric[Any],
    names: Sequence[tuple[str, int]],
    found: Sequence[Outcome],
    combine: Combine | None,
) -> Outcome:
    """One outcome of several.

    Repeats of a judge become one first, so that each judge has one voice. By majority the
    value that most found stands; of ties, the worse. Raters who found nothing have no voice; where
    all found nothing, what most met stands.

    Args:
        metric: Whose.
        names: The judge and the number of the repeat, from 0, of each.
        found: What each found.
        combine: How; None: pass or fail by majority, other values by their mean.
    """
    way = combine or ("majority" if _rated(metric) else "mean")
    judges = dict.fromkeys(name for name, _ in names)
    voices = [
        _one(
            [one for (name, _), one in zip(names, found, strict=True) if name == judge], metric, way
        )
        for judge in judges
    ]
    one = _one(voices, metric, way)
    asked = [each.asked or Asked() for each in found]
    several = len(judges) > 1
    return one._replace(
        details={**(one.details or {}), "raters": _told(names, found)},
        verdicts=tuple(
            _by(name, verdict) if several else verdict
            for (name, again), each in zip(names, found, strict=True)
            if again == 0
            for verdict in each.verdicts
        ),
        asked=Asked(
            sum(each.calls for each in asked),
            sum(each.cached for each in asked),
            tuple(reply for each in asked for reply in each.replies),
        ),
    )


def _rated(metric: Metric[Any]) -> bool:
    return metric.outputs[: len(RATES)] == RATES


def _one(found: Sequence[Outcome], metric: Metric[Any], way: Combine) -> Outcome:
    scored = [one for one in found if one.status == "ok"]
    if not scored:
        statuses = Counter(one.status for one in found)
        most = max(statuses, key=lambda status: statuses[status])
        return next(one for one in found if one.status == most)
    primary = metric.outputs[0]
    if way == "majority":
        value = _majority([one.values.get(primary.name) for one in scored], primary)
        return next(one for one in scored if one.values.get(primary.name) == value)
    values = {
        output.name: _mean([one.values.get(output.name) for one in scored])
        for output in metric.outputs
    }
    nearest = min(
        scored,
        key=lambda one: abs((one.values.get(primary.name) or 0) - (values[primary.name] or 0)),
    )
    return nearest._replace(values=values)


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
        }
        for (name, again), one in zip(names, found, strict=True)
    ]


def _by(name: str, verdict: Verdict) -> Verdict:
    said = f"{verdict.reason} ({name})" if verdict.reason else f"({name})"
    return Verdict(verdict.text, verdict.verdict, verdict.good, said)
