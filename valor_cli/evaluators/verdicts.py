"""Outcomes of metrics that pass or fail a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from valor_cli.evaluators.samples.outcomes import UNREADABLE, Outcome
from valor_cli.metric import Output
from valor_cli.results import Mark

RATES = (
    Output("pass", "higher"),
    Output("fail", "lower"),
    Output("retrieval_failures", "lower"),
    Output("generation_failures", "lower"),
    Output(UNREADABLE, "lower"),
)
"""Fractions of the samples with input, whatever became of them."""

OUTPUTS = tuple(output.name for output in RATES)


def is_verdict(outputs: Sequence[Output]) -> bool:
    """Whether a metric with these outputs passes or fails each sample."""
    return tuple(outputs[: len(RATES)]) == RATES


def verdict(
    passed: bool,
    *,
    contexts_passed: bool | None = None,
    reason: str | None = None,
    details: Mapping[str, Any] | None = None,
    marks: tuple[Mark, ...] = (),
) -> Outcome:
    """The outcome of a response that passes or fails.

    Args:
        passed: Whether it passes.
        contexts_passed: Whether the retrieved contexts do; None where none are judged.
        reason: What was found, in words.
        details: What that rests on.
        marks: Where it stands.
    """
    failed = float(not passed)
    return Outcome(
        {
            "pass": float(passed),
            "fail": failed,
            "retrieval_failures": None if contexts_passed is None else float(not contexts_passed),
            "generation_failures": failed,
            UNREADABLE: 0.0,
        },
        reason=reason,
        details=details,
        marks=marks,
    )


def unreadable(reason: str) -> Outcome:
    """The outcome of a sample for which no verdict could be parsed."""
    values = {"pass": 0.0, "fail": 0.0, "generation_failures": 0.0, UNREADABLE: 1.0}
    return Outcome(values, "parse_failure", reason)
