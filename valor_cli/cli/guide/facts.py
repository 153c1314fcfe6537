"""Summarise what a metric needs, asks and costs, for the guide."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from valor_cli.cli.catalogue_text import asked_by
from valor_cli.evaluators.judge.evidence.call_estimate import JudgeCalls, judge_calls
from valor_cli.metric import Call, Metric

TRUTH = ("ground_truth", "references")
"""What of the inputs says what is right."""

CONTEXTS = "retrieved_contexts"


class Facts(Struct, frozen=True):
    """What a metric needs, calls and costs, with its default parameters.

    Attributes:
        needs: What of the inputs it reads.
        named: Whether its parameters may say that it reads something else.
        truth: What says what is right, "ground truth" or "references"; empty: it needs neither.
        contexts: Whether it needs retrieved contexts.
        asks: The kinds of models that it asks.
        reproducible: Whether the same inputs give the same value.
        calls: What it asks a judge, if it does.
    """

    needs: tuple[str, ...]
    named: bool
    truth: str
    contexts: bool
    asks: tuple[str, ...]
    reproducible: bool
    calls: JudgeCalls | None

    @property
    def inputs(self) -> str:
        """The inputs that it reads, in words."""
        return ", ".join(self.needs) + (" (by default)" if self.named else "")

    @property
    def way(self) -> str:
        """How it computes its value, in words."""
        return f"by {' and '.join(self.asks)}" if self.asks else "computed"

    @property
    def cost(self) -> str:
        """The cost per sample, in words."""
        local = set(self.asks) - {"judge"}
        told = [str(self.calls)] if self.calls else []
        return ", ".join([*told, "a model's time"] if local else told) or "none"


@cache
def facts_of(metric: Metric[Any]) -> Facts:
    """The facts of a metric."""
    needs = Call(metric, {one.name: one.default for one in metric.parameters}).needs
    asks = tuple(asked_by(metric))
    return Facts(
        needs,
        metric.by_parameters.needs is not None,
        next((need.replace("_", " ") for need in needs if need in TRUTH), ""),
        CONTEXTS in needs,
        asks,
        metric.reproducible,
        judge_calls(metric) if "judge" in asks else None,
    )


class Traits(Struct, frozen=True):
    """Traits shared by some metrics: "yes", "no", or "some".

    Attributes:
        truth: Whether they need ground truth or references.
        contexts: Whether they need retrieved contexts.
        reproducible: Whether the same inputs give the same values.
        computed: Whether they ask no model.
    """

    truth: str
    contexts: str
    reproducible: str
    computed: str


def traits_of(facts: Iterable[Facts]) -> Traits:
    """The shared traits of metrics."""
    every = list(facts)
    return Traits(
        _of_how_many(bool(one.truth) for one in every),
        _of_how_many(one.contexts for one in every),
        _of_how_many(one.reproducible for one in every),
        _of_how_many(not one.asks for one in every),
    )


def in_common(facts: Iterable[Facts]) -> str:
    """A sentence on what all metrics of a part have in common."""
    every = list(facts)
    found = traits_of(every)
    if (found.truth, found.computed, found.reproducible) != ("yes", "yes", "yes"):
        return ""
    (truth,) = {one.truth for one in every}
    return (
        f"All of these metrics need {truth}, are computed from the files alone, give the same "
        "value every time, and cost nothing."
    )


def _of_how_many(claims: Iterable[bool]) -> str:
    found = set(claims)
    return "some" if len(found) > 1 else "yes" if True in found else "no"
