"""Evidence of a run, as it is kept beside its results; and the values at resamples found of it.

A run without `interval:` resamples nothing. What its values rest on is kept instead, so that two
such runs can be compared: both are resampled alike when they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from valor_cli.metric import Call, Evidence, Wing
from valor_cli.pipeline.draws import Draws
from valor_cli.pipeline.found_rows import metric_row, resampled_row
from valor_cli.pipeline.intervals import Around
from valor_cli.pipeline.paired_rows import Sides, value_key
from valor_cli.pipeline.resampling import findings_of, resampled
from valor_cli.results import EvidenceResult, MetricResult, ResampledResult, RunResult, Scalar

MOST_BYTES = 64 << 20
"""Of the arrays of a model's evidence: what is larger is not kept."""

_ROUNDING = 1e-9
_DAMAGED = (LookupError, TypeError, ValueError, AttributeError)
"""What is raised where arrays do not make evidence."""


def stored(
    model: str,
    wing: int,
    calls: Sequence[Call],
    evidence: Evidence,
    classes: Sequence[type[Any]],
    unit_ids: Sequence[Any],
    groups: Sequence[Scalar] | None,
) -> EvidenceResult | None:
    """Evidence as it is kept; None where it is of another kind, or too large.

    Args:
        model: Whose it is.
        wing: The number of its wing among those of the task.
        calls: The metrics that rest on it.
        evidence: That of the whole data.
        classes: From `Wing.stored`.
        unit_ids, groups: Of its units.
    """
    if type(evidence) not in classes:
        return None
    arrays: list[Any] = []
    tree = _taken_apart(evidence, {one: one.__name__ for one in classes}, arrays)
    if sum(one.nbytes for one in arrays) > MOST_BYTES:
        return None
    named = [one.item() if isinstance(one, np.generic) else one for one in unit_ids]
    ids = [one.decode() if isinstance(one, bytes) else one for one in named]
    asked = [(call.metric.name, call.parameters) for call in calls]
    return EvidenceResult(model, wing, asked, ids, groups, tree, arrays)


def _taken_apart(value: Any, names: Mapping[type[Any], str], arrays: list[Any]) -> Any:
    """A value as JSON has it, its arrays put behind those before."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if type(value) in names:
        own = getattr(value, "_fields", None) or [one.name for one in fields(value)]
        kept = [name for name in own if not name.startswith("_")]
        parts = {name: _taken_apart(getattr(value, name), names, arrays) for name in kept}
        return {"class": names[type(value)], "fields": parts}
    if isinstance(value, Mapping):
        pairs = [[_taken_apart(one, names, arrays) for one in item] for item in value.items()]
        return {"map": pairs}
    if isinstance(value, tuple):
        return [_taken_apart(one, names, arrays) for one in value]
    raise TypeError(f"evidence that holds a {type(value).__name__} is not kept")


def _put_together(tree: Any, classes: Mapping[str, type[Any]], arrays: Sequence[Any]) -> Any:
    """What `_taken_apart` took apart; of no other classes than these."""
    if isinstance(tree, list):
        return tuple(_put_together(one, classes, arrays) for one in tree)
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "map" in tree:
        return dict(_put_together(pair, classes, arrays) for pair in tree["map"])
    parts = {name: _put_together(one, classes, arrays) for name, one in tree["fields"].items()}
    return classes[tree["class"]](**parts)


def with_resamples(
    first: RunResult, second: RunResult, pairs: Sequence[tuple[str, str]]
) -> tuple[RunResult, RunResult]:
    """Both runs, with their values at resamples where their evidence has them.

    Args:
        first, second: The runs; they may be one.
        pairs: (model of the second, model of the first) to compare.

    Raises:
        ValueError: Something is no evidence, or not that of its run.
    """
    if second is first:
        found = _joined(first, first, {name for pair in pairs for name in pair})
        return found, found
    # Of two runs, one of which has intervals, both are drawn as these were.
    settings = first if second.intervals is None else second
    return (
        _joined(first, settings, {other for _, other in pairs}),
        _joined(second, settings, {model for model, _ in pairs}),
    )


def _joined(run: RunResult, settings: RunResult, models: set[str]) -> RunResult:
    """The run with the resamples of some models."""
    found = [row for one in run.evidence if one.model in models for row in _of(run, settings, one)]
    return replace(run, resamples=(*run.resamples, *found)) if found else run


def _of(run: RunResult, settings: RunResult, one: EvidenceResult) -> Iterator[ResampledResult]:
    """The values of the whole data that rest on some evidence, at every resample."""
    sides = Sides(settings, "", settings, "")
    wing, calls, evidence = _restored(run, one)
    rows = {value_key(row): row for row in run.metrics if _is_judged(row, one.model)}
    draws = Draws.of(one.unit_ids, sides.resamples, sides.seed, one.groups)
    drawn = draws.digest(one.unit_ids)
    weights = np.array([draws.weights(number) for number in range(sides.resamples)])
    for call in calls:
        values = findings_of(call, evidence, wing.parts).values
        keys = [
            value_key(metric_row(call, one.model, None, value, Around(), 0)) for value in values
        ]
        wanted = [
            at
            for at, (value, key) in enumerate(zip(values, keys, strict=True))
            if value.label is None and key in rows
        ]
        if not wanted:
            continue
        if any(not _is_close(values[at].value, rows[keys[at]].value) for at in wanted):
            raise ValueError("its values are not those of its results.json")
        columns = resampled([call], evidence, wing.parts, weights)
        for at in wanted:
            yield resampled_row(rows[keys[at]], drawn, columns[:, at])


def _restored(
    run: RunResult, one: EvidenceResult
) -> tuple[Wing[Any, Any], Sequence[Call], Evidence]:
    """Evidence as it was, and what rests on it.

    Raises:
        ValueError: It is none.
    """
    # What there is to compute is imported where something is.
    from valor_cli import catalogue

    try:
        wing = catalogue.task(run.task).wings[one.wing]
        metrics = {metric.name: metric for metric in wing.metrics}
        calls = [Call(metrics[name], parameters) for name, parameters in one.calls]
        classes = {kind.__name__: kind for kind in wing.stored}
        evidence: Evidence = _put_together(one.tree, classes, one.arrays)
        if evidence.unit_count != len(one.unit_ids):
            raise ValueError("other units")
    except _DAMAGED as error:
        raise ValueError(f"it is no evidence of {one.model}") from error
    return wing, calls, evidence


def _is_judged(row: MetricResult, model: str) -> bool:
    whole = row.label is None and row.slice is None
    return row.model == model and whole and row.direction is not None


def _is_close(found: float | None, told: float | None) -> bool:
    if found is None or told is None:
        return found is told
    return abs(found - told) <= _ROUNDING * max(abs(told), 1.0)
