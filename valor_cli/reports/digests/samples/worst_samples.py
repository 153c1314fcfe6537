"""The worst samples of each metric and model."""

from __future__ import annotations

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean, number, words
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import ExampleResult, RunResult

WORST = "worst_sample"
UNREADABLE = "unreadable"

PASS = "pass"  # noqa: S105 - the output of metrics that pass or fail


class WorstSample(Struct, frozen=True):
    """A sample with its value under a metric, as text."""

    name: str
    value: str
    reason: str
    example: ExampleResult


class WorstSamples(Struct, frozen=True):
    """The worst samples of one model by one metric, worst first."""

    metric: str
    model: int
    samples: tuple[WorstSample, ...]


def worst_samples(result: RunResult, most: int) -> tuple[WorstSamples, ...]:
    """By metric, then by model, in run order; limited per group."""
    models = {model: index for index, model in enumerate(result.models)}
    examples = [one for one in result.examples if one.kind in (WORST, UNREADABLE)]
    examples = [one for one in examples if one.slice is None and one.model in models]
    calls = [(row.metric, row.parameters) for row in result.coverage]
    names = Names([*calls, *((one.metric, one.parameters) for one in examples)])
    primary: dict[str, tuple[str, str]] = {}
    for row in result.metrics:  # a metric's first output is its primary one
        primary.setdefault(row.metric, (row.output, row.unit))
    groups: dict[tuple[str, object], dict[str, list[ExampleResult]]] = {}
    for one in examples:
        of_call = groups.setdefault((one.metric, frozen(one.parameters)), {})
        of_call.setdefault(one.model, []).append(one)
    return tuple(
        WorstSamples(
            names.title(group[model][0].metric, "", group[model][0].parameters),
            index,
            tuple(_sample(one, *primary.get(one.metric, ("", ""))) for one in group[model][:most]),
        )
        for group in groups.values()
        for model, index in models.items()
        if model in group
    )


def _sample(example: ExampleResult, output: str, unit: str) -> WorstSample:
    if example.value is None:
        value = words(example.kind)
    elif output == PASS and example.value in (0, 1):
        value = "passes" if example.value else "fails"
    else:
        value = number(example.value, unit or "fraction")
    reason = clean(example.reason, 400) if example.reason else ""
    return WorstSample(clean(str(example.sample_id), 80), value, reason, example)
