"""Summarise the rows of a run in words: best and worst models, usage, hardest samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from math import fsum
from typing import Any

from msgspec.structs import replace

from valor_cli.metric import Loaded, ModelUsage, Output
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.problems import is_exceeded
from valor_cli.pipeline.rows import Computation
from valor_cli.reports.digests.compared_values import probability
from valor_cli.reports.digests.naming import output_name
from valor_cli.results import (
    ComparedVerdict,
    ComparisonResult,
    InsightResult,
    MetricResult,
    SamplesResult,
    Scalar,
    SliceSearchResult,
)
from valor_cli.results.identity import frozen

COMPARED = 3
"""Number of headline measures whose best and worst model are named."""

LISTED = 3
"""Maximum number of equally hard samples, and of metrics, that are named."""


def insights_of(
    plan: Plan,
    loaded: Loaded[Any],
    found: Computation,
    comparisons: Sequence[ComparisonResult] = (),
) -> list[InsightResult]:
    """Best and worst models, usage, retrieval, and the hardest sample.

    A model is called best, or worst, if the tests separate it from all others.

    Args:
        plan, loaded, found: The run.
        comparisons: The comparisons of the models with each other.
    """
    outputs = {
        (metric.name, output.name): output
        for metric in plan.task.metrics
        for output in metric.outputs
    }
    overall = [row for row in found.metrics if row.label is None and row.slice is None]
    measures = [pair for pair in plan.task.primary if any(_is(row, pair) for row in overall)]
    insights: list[InsightResult] = []
    if len(loaded.datasets) > 1:
        for pair in measures[:COMPARED]:
            rows = [row for row in overall if _is(row, pair)]
            insights += _extremes(rows, outputs[pair], pair, "model", comparisons)
        insights += _retrieval(overall, outputs, comparisons)
        insights += _spent(loaded.spent)
    whole = {metric.name for metric in plan.task.metrics if not metric.resampled}
    insights += _hardest(found.samples, measures, outputs, whole)
    insights += _told_once(found.insights, loaded)
    insights += _worst_slices(found.searches, loaded)
    insights += _past_usual_limits(plan, found)
    return insights


def _past_usual_limits(plan: Plan, found: Computation) -> Iterator[InsightResult]:
    """Means past a metric's usual limit if the config sets none, one per metric."""
    calls = [call for part in plan.wings for call in part.calls if call.metric.outputs]
    for call in calls:
        output = call.metric.outputs[0]
        limit = None if call.threshold_given or output.better is None else call.threshold
        if limit is None:
            continue
        rows = [one for one in found.rows_of(call) if is_exceeded(one, limit, output) == "past"]
        if rows:
            side = "above" if output.better == "lower" else "below"
            named = _some([f"{one.model} ({one.value:.3f})" for one in rows])
            measure = output_name(call.metric.name, output.name)
            models = [one.model for one in rows]
            message = f"{measure} is {side} {limit:g}, its usual limit (none is set): {named}"
            yield InsightResult("usual_limit", call.metric.name, models, (), limit, message)


def _told_once(told: Sequence[InsightResult], loaded: Loaded[Any]) -> Iterator[InsightResult]:
    """Insights of metrics, merged if they are the same for all models."""
    alike: dict[tuple[object, ...], list[InsightResult]] = defaultdict(list)
    for one in told:
        alike[one.kind, one.metric, one.message].append(one)
    several = len(loaded.datasets) > 1
    for first, *others in alike.values():
        models = [one.models[0] for one in (first, *others)]
        of = "" if not several or len(models) == len(loaded.datasets) else f"{', '.join(models)}: "
        yield replace(first, models=models, message=of + first.message)


def _worst_slices(
    searches: Sequence[SliceSearchResult], loaded: Loaded[Any]
) -> Iterator[InsightResult]:
    """The worst slice of each model, or that no slice is clearly worse."""
    noun = "images" if "images" in loaded.sizes else "samples"
    alike: dict[tuple[str, str, float | None], list[str]] = defaultdict(list)
    for one in searches:
        if one.columns:
            value = one.found[0].value if one.found else None
            alike[one.metric, _searched(one, noun), value].append(one.model)
    for (metric, words, value), models in alike.items():
        of = f"{', '.join(models)}: " if len(loaded.datasets) > len(models) else ""
        yield InsightResult("worst_slice", metric, models, (), value, of + words)


def _searched(one: SliceSearchResult, noun: str) -> str:
    """The result of a search, in words."""
    measure = output_name(one.metric, one.output)
    if not one.searched:
        least = f"at least {one.min_size:,} {noun} in it and outside"
        return f"no slice could be searched for the worst: none has {least}"
    if not one.found:
        parts = f"{one.searched:,} slice{'s' * (one.searched != 1)}"
        return f"no slice is clearly worse by {measure} ({parts} searched)"
    worst, more = one.found[0], len(one.found) - 1
    after = f"{one.searched:,} comparison{'s' * (one.searched != 1)}"
    return (
        f"{worst.slice}: {measure} {worst.value:.3f} against {worst.rest:.3f} elsewhere "
        f"({worst.n:,} {noun}, p {probability(worst.p_adjusted)} after {after})"
        + (f"; {more} more slice{'s' * (more > 1)} found" if more else "")
    )


def _is(row: MetricResult, pair: tuple[str, str]) -> bool:
    return (row.metric, row.output) == pair


def _extremes(
    rows: Sequence[MetricResult],
    output: Output,
    pair: tuple[str, str],
    what: str,
    comparisons: Sequence[ComparisonResult],
) -> Iterator[InsightResult]:
    """The models with the best value, and with the worst; by the first call of a metric."""
    first: dict[str, MetricResult] = {}
    for row in rows:
        if row.value is not None:
            first.setdefault(row.model, row)
    values = {model: row.value for model, row in first.items() if row.value is not None}
    parameters = {frozen(row.parameters) for row in first.values()}
    tested = {
        frozenset((one.model, one.other)): one
        for one in comparisons
        if not one.baseline and (one.metric, one.output) == pair and one.label is None
        if one.slice is None and frozen(one.parameters) in parameters
    }
    kinds = (f"best_{what}", f"worst_{what}")
    for one in _ends(values, output.better == "lower", pair, kinds, ".3f"):
        others = [model for model in values if model not in one.models]
        verdict: ComparedVerdict = "better" if one.kind == kinds[0] else "worse"
        alike = {other for other in others if not _told_apart(one, other, tested, verdict)}
        if not alike:
            yield one
        elif one.kind == kinds[0]:
            yield replace(one, kind=f"no_{kinds[0]}", message=_undecided(one, alike, tested, pair))


def _told_apart(
    best: InsightResult,
    other: str,
    tested: Mapping[frozenset[str], ComparisonResult],
    verdict: ComparedVerdict,
) -> bool:
    """The outcomes of the tests between these models."""
    found = [tested.get(frozenset((model, other))) for model in best.models]
    opposite = {"better": "worse", "worse": "better"}
    return all(
        one is not None and one.verdict == (verdict if one.other == other else opposite[verdict])
        for one in found
    )


def _undecided(
    best: InsightResult,
    alike: Set[str],
    tested: Mapping[frozenset[str], ComparisonResult],
    pair: tuple[str, str],
) -> str:
    """Why the model with the best value is not called the best."""
    pairs = {other: [frozenset((model, other)) for model in best.models] for other in sorted(alike)}
    untested = [
        other
        for other, keys in pairs.items()
        if not any(key in tested and tested[key].p is not None for key in keys)
    ]
    apart = [other for other in pairs if other not in untested]
    told = [f"not told from {_some(apart)} by the test"] if apart else []
    told += [f"not tested against {_some(untested)}"] if untested else []
    what, first = best.kind.replace("_", " "), ", ".join(best.models)
    return f"no {what} by {output_name(*pair)}: {first} ({best.value:.3f}) is {', '.join(told)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _ends(
    values: Mapping[str, float],
    lower: bool,
    pair: tuple[str, str] | None,
    kinds: tuple[str, str],
    form: str,
    unit: str = "",
) -> Iterator[InsightResult]:
    """All models tied for best and for worst; empty if all are equal."""
    if len(set(values.values())) < 2:
        return
    ends = (min, max) if lower else (max, min)
    for kind, end in zip(kinds, ends, strict=True):
        value = end(values.values())
        models = [model for model, own in values.items() if own == value]
        measure = f" by {output_name(*pair)}" if pair else ""
        words = f"{kind.replace('_', ' ')}{measure}: {', '.join(models)} ({value:{form}}{unit})"
        yield InsightResult(kind, pair and pair[0], models, (), value, words)


def _retrieval(
    overall: Sequence[MetricResult],
    outputs: Mapping[tuple[str, str], Output],
    comparisons: Sequence[ComparisonResult],
) -> Iterator[InsightResult]:
    """Best and worst retrieval, by the first metric of contexts."""
    judged = [row for row in overall if row.output == "retrieval_failures"]
    for metric in dict.fromkeys(row.metric for row in judged if row.value is not None):
        rows = [row for row in judged if row.metric == metric]
        pair = metric, "retrieval_failures"
        yield from _extremes(rows, outputs[pair], pair, "retrieval", comparisons)
        return


def _spent(spent: Mapping[str, ModelUsage]) -> Iterator[InsightResult]:
    seconds = {model: one.duration_s for model, one in spent.items() if one.duration_s is not None}
    dollars = {model: one.cost_usd for model, one in spent.items() if one.cost_usd is not None}
    kinds = ("fastest_model", "slowest_model")
    yield from _ends(seconds, True, None, kinds, ".3g", " s a sample")
    kinds = ("cheapest_model", "most_expensive_model")
    yield from _ends(dollars, True, None, kinds, ".4g", " USD")


def _hardest(
    samples: Sequence[SamplesResult],
    measures: Sequence[tuple[str, str]],
    outputs: Mapping[tuple[str, str], Output],
    whole: Set[str],
) -> Iterator[InsightResult]:
    """The samples with the lowest mean over bounded headline measures."""
    goods: dict[Scalar, list[float]] = defaultdict(list)
    used = [
        (one, pair[1])
        for pair in measures
        for one in samples
        if one.metric == pair[0]
        and outputs[pair].better
        and outputs[pair].bounds[1] is not None
        # What is no mean of samples says of none how hard it is.
        and pair[0] not in whole
    ]
    for one, name in used:
        output = outputs[one.metric, name]
        low, high = output.bounds
        worst, best = (high, low) if output.better == "lower" else (low, high)
        if worst is None or best is None:
            continue
        for sample_id, value in zip(one.sample_ids, one.columns[name], strict=True):
            if value is not None:
                goods[sample_id].append((value - worst) / (best - worst))
    means = {sample_id: fsum(values) / len(values) for sample_id, values in goods.items()}
    if not means or min(means.values()) == max(means.values()):
        return
    lowest = min(means.values())
    hardest = sorted((one for one, mean in means.items() if mean == lowest), key=str)
    metrics = list(dict.fromkeys(one.metric for one, _ in used))
    what = f"by {', '.join(metrics)}" if len(metrics) <= LISTED else f"over {len(metrics)} metrics"
    models = list(dict.fromkeys(one.model for one, _ in used))
    shown = _some([str(one) for one in hardest])
    words = f"hardest sample: {shown} ({lowest:.3f} of 1 on average, {what})"
    yield InsightResult("hardest_sample", None, models, hardest[:LISTED], lowest, words)
