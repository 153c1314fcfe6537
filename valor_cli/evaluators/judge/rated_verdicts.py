"""A rating that a sample passes or fails by: its outcome, and the values of all samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valor_cli.evaluators.judge.one_word import ruled
from valor_cli.evaluators.samples import Outcome, Sampled
from valor_cli.evaluators.verdicts import RATES
from valor_cli.results import Findings

RATING = "rating"
"""The output with the mean rating."""


def rated(rating: int, reason: str, *, passed: bool, details: Mapping[str, Any]) -> Outcome:
    """Of a sample that a judge gave a rating to."""
    outcome = ruled(str(rating), reason, passed=passed, details={"rating": rating, **details})
    return outcome._replace(values={**outcome.values, RATING: float(rating)})


def rates_and_rating(sampled: Sampled) -> Findings:
    """The rates of those with input; the mean rating of those whose rating could be read."""
    rates = [sampled.rate(output.name) for output in RATES]
    return sampled.findings([*rates, sampled.mean(RATING)])
