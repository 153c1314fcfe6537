"""Rows as a computation finds them, without data or metrics that would find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Call, Loaded, Metric, ModelUsage, Output
from valor_cli.results import (
    CoverageResult,
    InsightResult,
    MetricResult,
    SamplesResult,
    Scalar,
    SliceSearchResult,
)


def metric(name: str, *outputs: Output, **more: Any) -> Metric[Any]:
    """A metric that nobody computes."""
    return Metric(name, mean_of_samples, "none", outputs=outputs, **more)


HIT = metric("hit", Output("value", "higher"))
LOSS = metric("loss", Output("value", "lower", (0, None)))
RULE = metric("rule", Output("pass", "higher"), Output("retrieval_failures", "lower"))


def row(one: Metric[Any], value: float | None, **more: Any) -> MetricResult:
    """A value of a whole data set, of model "m" and the first output if nothing else is said."""
    output = one.output(more.pop("output", one.outputs[0].name))
    given: dict[str, Any] = {
        "model": "m",
        "label": None,
        "slice": None,
        "parameters": {},
        "n": 10,
        "interval": None,
        "undefined": None if value is not None else "why",
        **more,
    }
    return MetricResult(
        metric=one.name,
        output=output.name,
        value=value,
        unit=output.unit,
        direction=output.better,
        **given,
    )


def of_samples(
    one: Metric[Any], values: Mapping[Scalar, float | None], model: str = "m"
) -> SamplesResult:
    """Values of single samples, by their ids."""
    columns = {one.outputs[0].name: list(values.values())}
    return SamplesResult(one.name, model, {}, list(values), columns, [None] * len(values))


def covered(one: Metric[Any], model: str = "m", **statuses: int) -> CoverageResult:
    """How many samples have which status."""
    total = sum(statuses.values())
    expected = total - statuses.get("not_applicable", 0)
    share = statuses.get("ok", 0) / expected if expected else None
    return CoverageResult(one.name, model, None, {}, total, statuses, share)


def run(
    calls: Sequence[Call] = (),
    *,
    primary: Sequence[tuple[str, str]] = (),
    models: Sequence[str] = ("m",),
    metrics: Sequence[MetricResult] = (),
    samples: Sequence[SamplesResult] = (),
    coverage: Sequence[CoverageResult] = (),
    perturbed: Mapping[str, Mapping[Scalar, Scalar]] | None = None,
    spent: Mapping[str, ModelUsage] | None = None,
    insights: Sequence[InsightResult] = (),
    searches: Sequence[SliceSearchResult] = (),
) -> tuple[Any, Loaded[Any], Any]:
    """A plan, what was loaded and what was computed, as far as findings look at them."""
    task = SimpleNamespace(metrics=(HIT, LOSS, RULE), primary=tuple(primary))
    plan = SimpleNamespace(task=task, wings=(SimpleNamespace(calls=tuple(calls)),))
    loaded: Loaded[Any] = Loaded(
        dict.fromkeys(models, None),
        perturbed=perturbed or {},
        spent=spent or {},
    )
    found = SimpleNamespace(
        metrics=metrics,
        samples=samples,
        coverage=coverage,
        insights=list(insights),
        searches=searches,
        rows_of=lambda call: [
            row
            for row in metrics
            if row.metric == call.metric.name
            and all(row.parameters.get(name) == value for name, value in call.parameters.items())
        ],
    )
    return plan, loaded, found
