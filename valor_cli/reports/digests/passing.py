"""Decide which samples pass a metric: one rule for the terminal, the files and the page."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from valor_cli.reports.digests.naming import PASS
from valor_cli.results import RunResult, SamplesResult
from valor_cli.results.identity import frozen

_YES_OR_NO: Final = frozenset({0, 1, None})


class PassRule(Struct, frozen=True):
    """Which values of a metric's output pass.

    Attributes:
        output: Of the metric, the value that is looked at.
        limit: The last value that passes.
        higher: Whether high values are good.
        given: Whether a threshold or a gate says so; else the values are 0 or 1.
    """

    output: str
    limit: float
    higher: bool
    given: bool

    def passes(self, value: float) -> bool:
        """Whether a value passes."""
        return value >= self.limit if self.higher else value <= self.limit


def pass_rule(
    result: RunResult, one: SamplesResult, output: str | None = None, threshold: float | None = None
) -> PassRule | None:
    """What decides whether a sample passes under a metric; None if nothing does.

    The first of these that there is: the threshold that is asked for; the metric's own output
    `pass`; its threshold; the limit of a gate on the value of all data, `min` where high values
    are good, else `max`; the better value where every sample of every model has 0 or 1.

    Args:
        result: The run.
        one: The values of a model.
        output: Of the metric; None: the primary one, or `pass` if it has that. Only the primary
            output has the threshold.
        threshold: What is asked for in place of the run's.
    """
    primary = next(iter(one.columns))
    if output is None:
        output = PASS if PASS in one.columns and threshold is None else primary
    # All rows of an output have its direction; a run with many slices has very many.
    named = (one.metric, output)
    rows = (row for row in result.metrics if (row.metric, row.output) == named)
    first = next(rows, None)
    higher = first is None or first.direction != "lower"
    if threshold is not None:
        return PassRule(output, threshold, higher, given=True)
    limit = threshold_of(result, one) if output == primary else None
    if limit is None:
        limit = _gate_limit(result, one, output, "min" if higher else "max")
    if output == PASS:
        return PassRule(PASS, 1.0, higher=True, given=limit is not None)
    if limit is not None:
        return PassRule(output, limit, higher, given=True)
    if _yes_or_no(result, one, output):
        return PassRule(output, 1.0 if higher else 0.0, higher, given=False)
    return None


def threshold_of(result: RunResult, one: SamplesResult) -> float | None:
    """The threshold of a metric's primary value, if it has one."""
    parameters = frozen(one.parameters)
    for row in result.run.thresholds:
        if row.metric == one.metric and frozen(row.parameters) == parameters:
            return float(row.threshold)
    return None


def _gate_limit(result: RunResult, one: SamplesResult, output: str, rule: str) -> float | None:
    """The limit of the first gate of that rule on an output's value of all data."""
    parameters = frozen(one.parameters)
    for gate in result.gates:
        same = (gate.metric, gate.output, gate.model) == (one.metric, output, one.model)
        whole = gate.label is None and gate.slice is None
        if same and whole and gate.rule == rule and frozen(gate.parameters) == parameters:
            return float(gate.limit)
    return None


def _yes_or_no(result: RunResult, one: SamplesResult, output: str) -> bool:
    """Whether the samples of all models have nothing but 0 and 1."""
    return all(
        all(map(_YES_OR_NO.__contains__, other.columns.get(output, ())))
        for other in result.samples
        if (other.metric, other.parameters) == (one.metric, one.parameters)
    )
